"""Files as drives: made, laid out, completed, measured, and never taken from anybody else."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.drives import open_drive
from ssdlab.drives.guard.mark import read_mark
from ssdlab.host.extents import gaps
from ssdlab.model.errors import DriveError, Refused, UsageError
from ssdlab.model.workload import Mix, Sequential, Stop, Stream, Workload

MIB = 1 << 20


def stream(read_pct: int, ios: int = 64, **options: object) -> Workload:
    return Workload.of(Stream(ops=Mix(read_pct=read_pct), stop=Stop(ios=ios), **options))  # type: ignore[arg-type]


def holes(path: Path) -> tuple[object, ...]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return gaps(descriptor, 0, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


@pytest.fixture
def made(scratch: Path) -> Path:
    path = scratch / "scratch.bin"
    open_drive(path, size=8 * MIB).close()
    return path


def test_a_missing_file_is_made_and_really_written(made: Path) -> None:
    assert made.stat().st_size == 8 * MIB
    assert made.stat().st_blocks * 512 >= 8 * MIB
    assert holes(made) == ()
    content = made.read_bytes()
    blocks = {content[at : at + 4096] for at in range(0, len(content), 4096)}
    assert len(blocks) == 2048, "each block has its own content: nothing below can share them"


def test_a_file_that_is_made_is_its_owner_s_to_write(scratch: Path) -> None:
    path, before = scratch / "scratch.bin", os.umask(0)
    try:
        open_drive(path, size=MIB).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_size_that_is_no_multiple_of_the_layout_block(scratch: Path) -> None:
    path = scratch / "odd.bin"
    size = 3 * MIB + 5 * 4096
    with open_drive(path, size=size) as drive:
        assert drive.capacity_bytes == size
    assert holes(path) == ()


def test_ours_may_be_written_again_without_consent(made: Path) -> None:
    for _ in range(2):
        with open_drive(made, writing=True) as drive:
            assert drive.run(stream(0)).summary()["write"]["ios"] == 64


def test_its_mark_is_durable_before_the_first_write_and_once_it_is_closed(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    durably = os.fsync

    def fsync(descriptor: int) -> None:
        mark = read_mark(descriptor, made)
        assert mark is not None
        flushed.append("being written" if mark.written_ns is None else "written")
        durably(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with open_drive(made) as drive:
        drive.run(stream(100))
    assert flushed == [], "what is only read has no mark to keep"
    with open_drive(made, writing=True) as drive:
        for _ in range(2):  # between them the drive is not made to flush
            drive.run(stream(0))
            assert flushed == ["being written"]
    assert flushed == ["being written", "written"]


def test_what_something_else_changed_may_not(made: Path) -> None:
    with made.open("r+b") as file:
        file.write(b"precious")
    later = time.time() + 60
    os.utime(made, (later, later))
    with pytest.raises(Refused) as caught:
        open_drive(made, writing=True)
    assert caught.value.facts["reason"] == "no-consent"
    assert "changed" in caught.value.what
    assert made.read_bytes().startswith(b"precious")


def test_consent_by_name_covers_a_foreign_file_and_does_not_make_it_ours(scratch: Path) -> None:
    path = scratch / "given.bin"
    path.write_bytes(os.urandom(MIB))
    with open_drive(path, writing=True, destroy="given.bin") as drive:
        drive.run(stream(0))
    with pytest.raises(Refused):
        open_drive(path, writing=True)


def test_a_drive_opened_for_reading_is_not_written(made: Path) -> None:
    content = made.read_bytes()
    with open_drive(made) as drive:
        for workload in (stream(0), stream(50), Workload.of(Stream(ops="trim", stop=Stop(ios=4)))):
            with pytest.raises(Refused, match="opened for reading"):
                drive.run(workload)
        with pytest.raises(Refused):
            drive.trim(0, MIB)
        drive.run(stream(100))
    assert made.read_bytes() == content


@pytest.mark.parametrize("kind", ["hole", "unwritten"])
def test_reads_of_what_was_never_written_are_refused(scratch: Path, kind: str) -> None:
    path = scratch / "sparse.bin"
    with path.open("wb") as file:
        file.write(os.urandom(MIB))
        file.flush()
        if kind == "hole":
            file.truncate(2 * MIB)
        else:
            os.posix_fallocate(file.fileno(), 0, 2 * MIB)
    with open_drive(path) as drive:
        with pytest.raises(Refused, match="would not reach the drive") as caught:
            drive.run(stream(100))
        facts = caught.value.facts
        assert (facts["reason"], facts["gap"]) == ("unwritten", kind)
        assert (facts["offset"], facts["length"]) == (MIB, MIB)
        assert "--allow-unwritten" in caught.value.advice
        assert drive.written(0, MIB) is True
        assert drive.written(0, 2 * MIB) is False
        assert drive.run(stream(100, span=f"0..{MIB}")).summary()["read"]["ios"] == 64
    with open_drive(path, allow_unwritten=True) as drive:
        assert drive.run(stream(100)).summary()["read"]["ios"] == 64


def test_a_file_made_for_unwritten_reads_is_completed_when_it_is_needed(scratch: Path) -> None:
    path = scratch / "tool.bin"
    with open_drive(path, size=4 * MIB, allow_unwritten=True) as drive:
        drive.run(stream(100))
        assert drive.written(0, 4 * MIB) is False
    with open_drive(path) as drive:
        assert drive.written(0, 4 * MIB) is True


def test_a_punched_file_of_ours_is_completed(made: Path) -> None:
    with open_drive(made, writing=True) as drive:
        drive.trim(MIB, MIB)
        assert drive.written(0, 8 * MIB) is False
    with open_drive(made) as drive:
        assert drive.written(0, 8 * MIB) is True
        drive.run(stream(100))


def test_an_interrupted_layout_is_completed(scratch: Path) -> None:
    path = scratch / "killed.bin"
    size = 2048 * MIB
    script = f"from ssdlab import open_drive; open_drive({str(path)!r}, size={size})"
    process = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 30
    while not (path.exists() and path.stat().st_blocks and written_bytes(path) > 64 * MIB):
        assert time.monotonic() < deadline
        assert process.poll() is None, "the layout was over before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert holes(path) != ()
    with open_drive(path, size=size, writing=True) as drive:
        assert drive.written(0, size) is True


def written_bytes(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        return size - sum(gap.length for gap in gaps(descriptor, 0, size))
    finally:
        os.close(descriptor)


def test_one_lab_at_a_time(made: Path) -> None:
    with open_drive(made):
        with pytest.raises(Refused) as caught:
            open_drive(made)
        assert caught.value.facts["reason"] == "open"
    open_drive(made).close()


def test_two_readers_of_a_foreign_file_are_told_apart_by_their_lock(scratch: Path) -> None:
    """Neither has it open for writing, and yet the figures of both would be worthless."""
    path = scratch / "given.bin"
    path.write_bytes(os.urandom(MIB))
    with open_drive(path), pytest.raises(Refused, match="another ssdlab"):
        open_drive(path)


def test_a_file_replaced_while_it_is_held_is_not_written(made: Path) -> None:
    precious = os.urandom(8 * MIB)
    with open_drive(made, writing=True) as drive:
        drive.run(stream(0))
        made.rename(made.with_name("moved"))
        made.write_bytes(precious)
        with pytest.raises(Refused) as caught:
            drive.run(stream(0))
        assert caught.value.facts["reason"] == "replaced"
    assert made.read_bytes() == precious


@pytest.mark.parametrize("size", [4 * MIB, 8 * MIB + 4096], ids=["shrunk", "grown"])
@pytest.mark.parametrize("read_pct", [0, 100], ids=["writes", "reads"])
def test_a_file_that_grows_or_shrinks_ends_the_run(made: Path, size: int, read_pct: int) -> None:
    """Between steps, and within one: by a look while it goes on, or when it is over."""
    whole = made.read_bytes()
    with open_drive(made, writing=True) as drive:

        def change(_: object = None) -> None:
            os.truncate(made, size)

        def seen(seconds: float, on_tick: Callable[[object], None] | None = None) -> None:
            stop = Stop(time_ns=int(seconds * 1e9))
            with pytest.raises(DriveError) as caught:
                drive.run(Workload.of(Stream(ops=Mix(read_pct=read_pct), stop=stop)), on_tick=on_tick)
            assert caught.value.facts["reason"] == "changed"
            assert caught.value.facts["size_bytes"] == size or not read_pct
            made.write_bytes(whole)

        began = time.monotonic()
        seen(30, change)
        assert time.monotonic() - began < 15, "it is seen while the step goes on"
        if read_pct:  # writes fill the rest anew
            seen(0.07, change)
        change()
        seen(0.07)


def test_a_workload_beyond_the_file_is_refused(made: Path) -> None:
    with open_drive(made) as drive:
        with pytest.raises(UsageError):
            drive.run(stream(100, span=f"0..{16 * MIB}"))
        with pytest.raises(UsageError):
            drive.run(stream(100, block=16 * MIB))


def test_what_is_known_of_a_file(made: Path) -> None:
    with open_drive(made) as drive:
        identity = drive.identity
        assert (identity.kind, identity.name, identity.consent_id) == ("file", "scratch.bin", "scratch.bin")
        assert identity.capacity_bytes == 8 * MIB
        conditions = drive.conditions()
        assert conditions is None or identity.backing is not None
        drive.run(stream(100, pattern=Sequential()))
        drive.flush()


def test_tmpfs_has_no_device_beneath(tmp_path: Path) -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no tmpfs at /dev/shm")
    path = Path("/dev/shm") / f"ssdlab-test-{os.getpid()}"
    try:
        with open_drive(path, size=MIB) as drive:
            assert drive.conditions() is None
            assert drive.counters() is None
            assert drive.written(0, MIB) is True
    finally:
        path.unlink(missing_ok=True)
