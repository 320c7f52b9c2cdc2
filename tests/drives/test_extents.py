"""What was written and what was not, as two file systems tell it."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssdlab.host import extents
from ssdlab.host.extents import Gap, gaps
from ssdlab.host.held_folder import allocate, file_details

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def descriptor(scratch: Path) -> Iterator[int]:
    number = os.open(scratch / "file", os.O_RDWR | os.O_CREAT)
    yield number
    os.close(number)


def test_a_written_file_has_no_gaps(descriptor: int) -> None:
    os.pwrite(descriptor, os.urandom(MIB), 0)
    assert gaps(descriptor, 0, MIB) == ()


def test_delayed_allocation_counts_as_written(descriptor: int) -> None:
    """Data still in the page cache: the extents are asked for after they are written out."""
    os.pwrite(descriptor, b"x" * 64 * KIB, 64 * KIB)
    assert gaps(descriptor, 0, 128 * KIB) == (Gap(0, 64 * KIB, "hole"),)


def test_allocated_is_not_written(descriptor: int) -> None:
    assert allocate(descriptor, MIB)
    assert gaps(descriptor, 0, MIB) == (Gap(0, MIB, "unwritten"),)
    os.pwrite(descriptor, b"x" * 64 * KIB, 256 * KIB)
    assert gaps(descriptor, 0, MIB) == (
        Gap(0, 256 * KIB, "unwritten"),
        Gap(320 * KIB, 704 * KIB, "unwritten"),
    )


def test_only_the_range_asked_for_counts(descriptor: int) -> None:
    os.ftruncate(descriptor, MIB)
    os.pwrite(descriptor, b"x" * 64 * KIB, 256 * KIB)
    assert gaps(descriptor, 256 * KIB, 64 * KIB) == ()
    assert gaps(descriptor, 252 * KIB, 64 * KIB) == (Gap(252 * KIB, 4 * KIB, "hole"),)
    assert gaps(descriptor, 312 * KIB, 16 * KIB) == (Gap(320 * KIB, 8 * KIB, "hole"),)


@pytest.fixture(params=["fiemap", "seek"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of asking, whatever the file system has."""

    def fail(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no FIEMAP")

    if request.param == "seek":
        monkeypatch.setattr(extents.fcntl, "ioctl", fail)


@pytest.mark.usefixtures("either_way")
def test_beyond_the_end_is_a_hole(descriptor: int) -> None:
    os.pwrite(descriptor, b"x" * 64 * KIB, 0)
    assert gaps(descriptor, 0, 128 * KIB) == (Gap(64 * KIB, 64 * KIB, "hole"),)
    assert gaps(descriptor, 96 * KIB, 32 * KIB) == (Gap(96 * KIB, 32 * KIB, "hole"),)


def test_more_extents_than_one_answer_holds(descriptor: int) -> None:
    count = 1500  # an answer holds 512
    os.ftruncate(descriptor, count * 8 * KIB)
    for index in range(count):
        os.pwrite(descriptor, b"x" * 4 * KIB, index * 8 * KIB)
    found = gaps(descriptor, 0, count * 8 * KIB)
    assert [gap.start for gap in found] == [index * 8 * KIB + 4 * KIB for index in range(count)]


@pytest.mark.usefixtures("either_way")
def test_both_ways_agree_on_holes(descriptor: int) -> None:
    os.ftruncate(descriptor, 2 * MIB)
    os.pwrite(descriptor, b"x" * 128 * KIB, 512 * KIB)
    assert gaps(descriptor, 0, 2 * MIB) == (
        Gap(0, 512 * KIB, "hole"),
        Gap(640 * KIB, 2 * MIB - 640 * KIB, "hole"),
    )
    assert gaps(descriptor, 512 * KIB, 128 * KIB) == ()


def test_a_file_system_without_fiemap() -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no tmpfs at /dev/shm")
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        os.ftruncate(file.fileno(), MIB)
        os.pwrite(file.fileno(), b"x" * 64 * KIB, 64 * KIB)
        assert gaps(file.fileno(), 0, MIB) == (
            Gap(0, 64 * KIB, "hole"),
            Gap(128 * KIB, MIB - 128 * KIB, "hole"),
        )


def test_an_error_is_not_taken_for_an_answer(descriptor: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(extents.fcntl, "ioctl", fail)
    with pytest.raises(OSError, match="broken"):
        gaps(descriptor, 0, MIB)


@pytest.mark.parametrize("failing", [os.SEEK_HOLE, os.SEEK_DATA])
@pytest.mark.parametrize("either_way", ["seek"], indirect=True)
@pytest.mark.usefixtures("either_way")
def test_nor_is_one_of_the_other_way(descriptor: int, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    seek = os.lseek

    def fail(number: int, at: int, whence: int) -> int:
        if whence == failing:
            raise OSError(errno.EIO, "broken")
        return seek(number, at, whence)

    os.ftruncate(descriptor, MIB)
    monkeypatch.setattr(os, "lseek", fail)
    with pytest.raises(OSError, match="broken"):
        gaps(descriptor, 0, MIB)


def test_birth_time_is_that_of_the_file(scratch: Path) -> None:
    first = os.open(scratch / "a", os.O_RDWR | os.O_CREAT)
    second = os.open(scratch / "b", os.O_RDWR | os.O_CREAT)
    born = [file_details(descriptor).birth_ns for descriptor in (first, second)]
    assert None not in born
    assert born[0] <= born[1] <= os.fstat(second).st_ctime_ns  # type: ignore[operator]
    os.close(first)
    os.close(second)
