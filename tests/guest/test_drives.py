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
    assert details == {"nvme": None, "ata": None, "scsi": None, "zoned": None, "unanswered": []}


def test_scsi(guest) -> None:
    """A drive of the kernel's SCSI simulation: real VPD, mode and log pages through the real ioctl."""
    guest.must("exec 2>&1; modprobe scsi_debug dev_size_mb=8 lbpu=1 lbprz=1; sleep 1")
    try:
        found = told(guest, "/dev/sdb")
    finally:
        guest.must("exec 2>&1; modprobe -r scsi_debug; ! test -b /dev/sdb")
    details = found["details"]
    assert details["ata"] is None
    assert details["scsi"]["provisioning"] == {
        "unmap": True,
        "write_same_unmap": False,
        "unmapped_reads": "zeroes",
    }
    assert details["scsi"]["characteristics"]["solid_state"] is True
    assert details["scsi"]["temperature_c"] == 38
    assert details["scsi"]["write_cache_enabled"] is True
    assert details["scsi"]["used_pct"] is None
    # It has the page of a SATA drive behind a translator, and takes no ATA command: asked by SCSI then.
    assert [question for question, _ in details["unanswered"]] == ["identify", "wear"]
