"""Which files count as ours: the inode that we made, and no copy, link, restoration or successor of it."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from ssdlab.drives.guard import mark
from ssdlab.drives.guard.mark import mark_of, ownership, read_mark, write_mark
from ssdlab.host.held_folder import FileDetails

MIB = 1 << 20


def make(path: Path, *, writing: bool = False) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    os.pwrite(descriptor, b"x" * MIB, 0)
    write_mark(descriptor, path, mark_of(descriptor, size_bytes=MIB, complete=True, writing=writing))
    os.close(descriptor)


def owned(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return ownership(descriptor, read_mark(descriptor, path))
    finally:
        os.close(descriptor)


@pytest.fixture
def no_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without extended attributes."""

    def none(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no attributes")

    monkeypatch.setattr(mark.os, "getxattr", none)
    monkeypatch.setattr(mark.os, "setxattr", none)


@pytest.fixture
def state(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of this test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))
    return scratch / "state"


@pytest.fixture(params=["attribute", "record"])
def marked(request: pytest.FixtureRequest, scratch: Path, state: Path) -> Path:
    """A file of ours, once with its mark on it, once on a file system that takes none."""
    if request.param == "record":
        request.getfixturevalue("no_attributes")
    path = scratch / "ours.bin"
    make(path)
    assert state.exists() == (request.param == "record")
    return path


def test_ours(marked: Path) -> None:
    assert owned(marked) == "ours"


def test_renamed_is_still_ours_only_where_the_mark_goes_along(marked: Path) -> None:
    with_attribute = not (marked.parent / "state").exists()
    moved = marked.rename(marked.with_name("moved.bin"))
    assert owned(moved) == ("ours" if with_attribute else "foreign")


def test_a_copy_with_its_attributes_is_foreign(marked: Path) -> None:
    copy = marked.with_name("copy.bin")
    shutil.copy2(marked, copy)
    assert owned(copy) == "foreign"


def test_a_successor_under_the_same_name_is_foreign(marked: Path) -> None:
    """Its inode number may well be the same: file systems use them again at once."""
    marked.unlink()
    marked.write_bytes(b"precious" * (MIB // 8))
    assert owned(marked) == "foreign"


def test_a_foreign_file_linked_over_it_is_foreign(marked: Path) -> None:
    precious = marked.with_name("precious")
    precious.write_bytes(b"precious" * (MIB // 8))
    marked.unlink()
    marked.hardlink_to(precious)
    assert owned(marked) == "foreign"


def test_written_by_something_else_since(marked: Path) -> None:
    later = marked.stat().st_mtime + 60
    with marked.open("r+b") as file:
        file.write(b"precious")
    os.utime(marked, (later, later))
    assert owned(marked) == "changed"


@pytest.mark.parametrize(
    ("moved_ns", "ownership"),
    [(0, "ours"), (1, "changed"), (10**9, "changed"), (-(10**9), "ours"), (-3 * 10**9, "changed")],
)
def test_a_time_may_have_been_cut_but_is_never_later(marked: Path, moved_ns: int, ownership: str) -> None:
    """FAT cuts to two seconds; a file system that was made right after our last write is later."""
    then = marked.stat().st_mtime_ns
    os.utime(marked, ns=(then, then + moved_ns))
    assert owned(marked) == ownership


def test_another_size_is_a_change(marked: Path) -> None:
    os.truncate(marked, MIB // 2)
    assert owned(marked) == "changed"


def test_killed_while_we_wrote_it(scratch: Path) -> None:
    """No time of a last write is known then: whoever wrote it last, it need not have been us."""
    path = scratch / "killed.bin"
    make(path, writing=True)
    assert owned(path) == "unknown"


def test_marks_of_an_older_version_count(scratch: Path) -> None:
    path = scratch / "older.bin"
    make(path)
    fields = json.loads(os.getxattr(path, mark.ATTRIBUTE))
    older = {name: value for name, value in fields.items() if name not in {"token", "whole"}}
    os.setxattr(path, mark.ATTRIBUTE, json.dumps({**older, "schema": 1}).encode())
    assert owned(path) == "ours"


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"made by me", b'{"schema": 99}', b"\xff\xfe", b"null"]
)
def test_a_mark_that_is_not_understood_is_none(scratch: Path, content: bytes) -> None:
    path = scratch / "odd.bin"
    make(path)
    os.setxattr(path, mark.ATTRIBUTE, content)
    assert owned(path) == "foreign"


def test_without_a_birth_time_a_record_is_not_trusted(
    scratch: Path, state: Path, no_attributes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "file_details", lambda _: FileDetails(None, None))
    path = scratch / "ours.bin"
    make(path)
    assert state.exists()
    assert owned(path) == "foreign"
