"""Purge and trim through the real ioctls, and a program that ends with 0 and erases nothing."""

from __future__ import annotations

import json
import os

MIB = 1 << 20
SIZE = 256 * MIB
ALL = 64


def purge(guest, drive: str, consent: str, *words: str, status: int = 0) -> dict:
    done = guest.ssdlab("purge", drive, "--destroy", consent, *words, "--json", limit_s=120)
    assert done.status == status, done
    return json.loads(done.out)


def fill(guest, disk: str, at: int, length: int = 4 * MIB) -> bytes:
    """Put random data on a disk, from outside: the drive holds it, and no cache in the guest does."""
    content = os.urandom(length)
    with (guest.folder / f"{disk}.raw").open("r+b") as file:
        file.seek(at)
        file.write(content)
    return content


def held(guest, disk: str, at: int = 0, length: int = SIZE) -> bytes:
    """What a disk holds, seen from outside."""
    with (guest.folder / f"{disk}.raw").open("rb") as file:
        file.seek(at)
        return file.read(length)


def test_format_leaves_zeroes_and_its_neighbour_alone(guest) -> None:
    fill(guest, "nvme1", 100 * MIB)
    neighbour = fill(guest, "nvme2", 100 * MIB)
    told = purge(guest, "/dev/nvme0n1", "GUEST-NVME-1/1")
    assert (told["method"], told["substitute"], told["siblings"]) == ("nvme-format-user-data", False, [])
    assert (told["sampling"]["marked"], told["sampling"]["zero"]) == (ALL, ALL)
    assert [method for method, _ in told["passed_over"]] == [
        "nvme-sanitize-block",
        "nvme-sanitize-crypto",
        "nvme-format-crypto",
    ]
    assert held(guest, "nvme1") == bytes(SIZE)
    assert held(guest, "nvme2", 100 * MIB, 4 * MIB) == neighbour
    assert guest.must("cat /sys/block/nvme0n1/queue/logical_block_size").strip() == "512"


def test_what_the_drive_cannot_do_is_said_and_nothing_done(guest) -> None:
    before = fill(guest, "nvme2", 0)
    told = purge(guest, "/dev/nvme0n2", "GUEST-NVME-1/2", "--method", "nvme-sanitize-block", status=2)
    assert told["facts"]["offers"] == ["nvme-format-user-data", "discard", "zero-fill"]
    assert held(guest, "nvme2", 0, 4 * MIB) == before


def test_an_erase_that_lies_is_found_out(guest) -> None:
    """The SATA drive has no Security feature set; `hdparm --security-erase` ends with 0 all the same."""
    fill(guest, "sata", 0, SIZE)
    told = purge(guest, "/dev/sda", "GUEST-SATA-1", "--method", "ata-security-erase", status=3)
    assert (told["error"], told["facts"]["reason"]) == ("drive", "not-purged")
    assert told["facts"]["record"]["sampling"]["survived"] == ALL
    assert any("--security-erase " in command for command in told["facts"]["record"]["commands"])
    kept = json.loads(guest.must(f"cat {told['facts']['kept']}"))
    assert (kept["status"], kept["record"]["sampling"]["survived"]) == ("failed", ALL)
    assert held(guest, "sata").count(0) < SIZE // 128


def test_where_there_is_no_command_discards_stand_in(guest) -> None:
    fill(guest, "sata", 7 * MIB)
    told = purge(guest, "/dev/sda", "GUEST-SATA-1")
    assert (told["method"], told["substitute"]) == ("discard", True)
    assert "does not announce" in dict(told["passed_over"])["ata-security-erase"]
    assert (told["sampling"]["marked"], told["sampling"]["survived"]) == (ALL, 0)
    assert held(guest, "sata") == bytes(SIZE)


TRIM = """
import json, sys
from ssdlab.drives import open_drive
found = {}
for path, consent in zip(sys.argv[1::2], sys.argv[2::2]):
    with open_drive(path, writing=True, destroy=consent) as drive:
        record = drive.trim(64 << 20, 32 << 20)
    found[path] = record.as_dict()
print(json.dumps(found))
"""


def test_trims_are_proven_by_tracepoint(guest) -> None:
    """The kernel's counters of the guest are the second witness."""
    drives = {
        "/dev/nvme0n1": ("nvme1", "GUEST-NVME-1/1"),
        "/dev/sda": ("sata", "GUEST-SATA-1"),
    }
    whole = {drive: fill(guest, disk, 60 * MIB, 40 * MIB) for drive, (disk, _) in drives.items()}
    before = discarded(guest)
    words = [word for drive, (_, consent) in drives.items() for word in (drive, consent)]
    done = guest.python(TRIM, *words, limit_s=110)
    assert done.status == 0, done
    found = json.loads(done.out)
    after = discarded(guest)
    for drive, record in found.items():
        assert (record["reached_device"], record["evidence"]) == (True, "tracepoint"), record
        assert record["discarded_bytes"] == after[drive] - before[drive] == 32 * MIB
        assert (record["reads"], record["samples"]["zero"]) == ("zeroes", ALL)
        now = held(guest, drives[drive][0], 60 * MIB, 40 * MIB)
        assert now[4 * MIB : 36 * MIB] == bytes(32 * MIB)
        assert now[: 4 * MIB] + now[36 * MIB :] == whole[drive][: 4 * MIB] + whole[drive][36 * MIB :]


def discarded(guest) -> dict[str, int]:
    """Bytes discarded since the guest began, by the kernel's counters, of each disk."""
    lines = [line.split() for line in guest.must("cat /proc/diskstats").splitlines()]
    return {f"/dev/{fields[2]}": int(fields[16]) * 512 for fields in lines}
