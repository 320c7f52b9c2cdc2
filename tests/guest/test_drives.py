"""Identity: what real drivers and drives answer, through the real ioctls."""

from __future__ import annotations

import json


def told(guest, drive: str) -> dict:
    done = guest.ssdlab("drives", drive, "--json", limit_s=90)
    assert done.status == 0, done
    return json.loads(done.out)


def test_nvme(guest) -> None:
    one, two = told(guest, "/dev/nvme0n1"), told(guest, "/dev/nvme0n2")
    assert [drive["identity"]["siblings"] for drive in (one, two)] == [["nvme0n2"], ["nvme0n1"]]
    for drive, block in ((one, 512), (two, 4096)):
        details = drive["details"]["nvme"]
        space = details["namespace"]
        assert (
            space["formats"][space["format"]]["data_bytes"]
            == block
            == drive["identity"]["logical_block_bytes"]
        )
        assert space["size_blocks"] * block == drive["identity"]["capacity_bytes"]
        assert details["controller"]["serial"] == drive["identity"]["serial"]
        assert details["active_namespaces"] == [1, 2]
        assert details["health"]["temperature_c"] == 50
        assert drive["details"]["unanswered"] == []
    assert one["details"]["nvme"]["controller"]["sanitize"] == {
        "block": False,
        "crypto": False,
        "overwrite": False,
    }


def test_sata(guest) -> None:
    drive = told(guest, "/dev/sda")
    device = drive["details"]["ata"]["device"]
    assert (device["model"], device["serial"]) == (drive["identity"]["model"], drive["identity"]["serial"])
    assert device["capacity_bytes"] == drive["identity"]["capacity_bytes"]
    assert (device["solid_state"], device["trim"], device["security"]["supported"]) == (True, True, False)
    assert [question for question, _ in drive["details"]["unanswered"]] == [
        f"statistics page {n}" for n in (1, 5, 7)
    ]


def test_virtio_says_nothing_of_itself(guest) -> None:
    details = told(guest, "/dev/vda")["details"]
    assert details == {"nvme": None, "ata": None, "zoned": None, "unanswered": []}
