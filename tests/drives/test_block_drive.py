"""Block devices as drives: claimed, measured, counted by the kernel, and let go."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ssdlab.drives import open_drive
from ssdlab.model.errors import Refused
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20


def stream(read_pct: int, ios: int = 64) -> Workload:
    return Workload.of(Stream(ops=Mix(read_pct=read_pct), stop=Stop(ios=ios)))


def test_measured_and_let_go(zram: Path) -> None:
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        assert (drive.capacity_bytes, drive.logical_block_bytes) == (1 << 30, 4096)
        assert drive.written(0, MIB) is None
        summary = drive.run(stream(0)).summary()
        assert summary["write"]["ios"] == 64
        assert summary["drive"]["consent_id"] == zram.name
        drive.trim(0, MIB)
        drive.flush()
    os.close(os.open(zram, os.O_RDONLY | os.O_EXCL))


@pytest.mark.parametrize("writing", [False, True])
def test_nobody_else_gets_a_claim_meanwhile(zram: Path, writing: bool) -> None:
    with open_drive(zram, writing=writing, destroy=zram.name):
        with pytest.raises(OSError) as caught:
            os.open(zram, os.O_RDONLY | os.O_EXCL)
        assert caught.value.errno == errno.EBUSY
        with pytest.raises(Refused):
            open_drive(zram)


def test_a_drive_opened_for_reading_is_not_written(zram: Path) -> None:
    with open_drive(zram) as drive, pytest.raises(Refused, match="opened for reading"):
        drive.run(stream(0))


def test_a_link_leads_to_the_device(zram: Path, tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(zram)
    with open_drive(link) as drive:
        assert (drive.identity.path, drive.identity.name) == (str(zram), zram.name)


def test_the_kernel_counts_the_same(zram: Path) -> None:
    Path(f"/sys/block/{zram.name}/queue/iostats").write_text("1")
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        before = drive.counters()
        drive.run(stream(0, ios=100))
        drive.run(stream(100, ios=200))
        after = drive.counters()
    assert before is not None
    assert after is not None
    assert (after.writes - before.writes, after.reads - before.reads) == (100, 200)
    assert after.written_bytes - before.written_bytes == 100 * 4096
    assert after.read_bytes - before.read_bytes == 200 * 4096


def test_no_accounting_no_counters(zram: Path) -> None:
    Path(f"/sys/block/{zram.name}/queue/iostats").write_text("0")
    with open_drive(zram) as drive:
        assert drive.counters() is None


def test_another_attachment_under_the_same_name_is_not_written(zram: Path) -> None:
    """The kernel's number of the attachment decides, not the name; here the noted one is made stale."""
    from dataclasses import replace

    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        drive._as_seen = replace(drive.identity, diskseq=drive.identity.diskseq - 1)
        with pytest.raises(Refused) as caught:
            drive.run(stream(0))
        assert caught.value.facts["reason"] == "replaced"
