"""How ssdlab recognises a file that it created; only such a file may be overwritten without consent.

The mark is an extended attribute, `user.ssdlab.made`. It names the inode and device that it was written to.
So neither a copy with the same attributes counts, nor another file that a hard link puts in its place. The
mark also holds the time of our last write: a file that something else has written since is no longer ours
alone.

While we write, this time is unknown, and a kill leaves it unknown. Such a file needs consent again, because
somebody may have made a file system in it since. There are two exceptions, which the content of the file must
confirm. The first is a resume of the same run, known by the token in its marks. The second is a first layout
that was cut short, which has written from the front on, and nothing behind. In both, size and extents must be
as we would have left them, and all samples must be data that only the engine writes (`fingerprint`).

Where the file system has no extended attributes, a record in the XDG state folder has the same content. A
record is not in the file, and an inode number is used again at once after a file is deleted. So a record
counts only together with the birth time of the file. If the file system keeps no birth time, the file stays
foreign.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from ssdlab.host.extents import gaps
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder, file_details
from ssdlab.host.sysfs import device_number
from ssdlab.host.user_folders import state_folder
from ssdlab.model.errors import Refused

ATTRIBUTE = "user.ssdlab.made"

_SCHEMA = 2
"""Version 1 had neither `token` nor `whole`."""
_COARSEST_NS = 2 * 10**9
"""Some file systems cut times to two seconds (FAT), or to one after the inode has left memory (old ext)."""

_NO_ATTRIBUTES = {errno.EOPNOTSUPP, errno.ENOSYS}

Ownership = Literal["ours", "foreign", "changed", "unknown"]
"""`changed`: ssdlab created the file, and something else has written to it since.

`unknown`: ssdlab was killed while it wrote the file, so that anything may have happened since."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The record about a file that ssdlab created.

    Attributes
    ----------
    inode, device, birth_ns
        Identity of the file; `device` is `major:minor`.
    complete
        Whether the first layout reached the end.
    written_ns
        Modification time after our last write; None while we are writing (and after a kill meanwhile).
    token
        Token of the run that has written the file; the same in all its sessions.
    whole
        While we are writing: whether all of the file was written before, and nothing is trimmed.
    """

    inode: int
    device: str
    birth_ns: int | None
    size_bytes: int
    complete: bool
    written_ns: int | None
    token: str | None = None
    whole: bool = False


def mark_of(
    descriptor: int,
    *,
    size_bytes: int,
    complete: bool,
    writing: bool,
    token: str | None = None,
    whole: bool = False,
) -> Mark:
    """Return the mark that an open file should have now."""
    status = os.fstat(descriptor)
    return Mark(
        inode=status.st_ino,
        device=device_number(status.st_dev),
        birth_ns=file_details(descriptor).birth_ns,
        size_bytes=size_bytes,
        complete=complete,
        written_ns=None if writing else status.st_mtime_ns,
        token=token,
        whole=whole,
    )


def write_mark(descriptor: int, path: Path, mark: Mark, *, durable: bool = True) -> None:
    """Record a mark, on the file if its file system has attributes, else in the state folder.

    Without `durable` the drive is not made to flush. After a power loss there may be an older mark, by which
    the file counts as changed.
    """
    content = json.dumps({"schema": _SCHEMA, **asdict(mark)}).encode()
    try:
        os.setxattr(descriptor, ATTRIBUTE, content)
    except OSError as error:
        if error.errno not in _NO_ATTRIBUTES:
            raise
        _write_record(path, content)
    if durable:
        os.fsync(descriptor)


def read_mark(descriptor: int, path: Path) -> Mark | None:
    """Return the mark of an open file; None if it has none, or the mark of another file."""
    try:
        content: bytes | None = os.getxattr(descriptor, ATTRIBUTE)
        beside = False
    except OSError as error:
        beside = error.errno in _NO_ATTRIBUTES
        content = _read_record(path) if beside else None
    mark = _parse(content)
    if mark is None:
        return None
    status = os.fstat(descriptor)
    same = (mark.inode, mark.device) == (status.st_ino, device_number(status.st_dev))
    if beside:
        same = same and mark.birth_ns is not None and mark.birth_ns == file_details(descriptor).birth_ns
    return mark if same else None


def ownership(descriptor: int, mark: Mark | None, token: str | None = None) -> Ownership:
    """Return whether an open file is ours alone.

    Parameters
    ----------
    descriptor
        Open for reading.
    mark
        The file's mark, from `read_mark`.
    token
        Token of the run to resume with the file, if the run was cut short.
    """
    if mark is None:
        return "foreign"
    status = os.fstat(descriptor)
    if status.st_size != mark.size_bytes:
        return "changed"
    if mark.written_ns is None:
        return "ours" if _as_we_left_it(descriptor, mark, token) else "unknown"
    # A time that the file system cut is earlier than ours; a later writer leaves a later time.
    as_noted = 0 <= mark.written_ns - status.st_mtime_ns < _COARSEST_NS
    return "ours" if as_noted else "changed"


def _as_we_left_it(descriptor: int, mark: Mark, token: str | None) -> bool:
    """Return whether a file holds only what we can have left in it, if we were killed while writing it."""
    resumed = token is not None and token == mark.token
    if not resumed and mark.complete:
        return False
    try:
        missing = gaps(descriptor, 0, mark.size_bytes)
    except OSError:
        return False
    if resumed and mark.complete:
        as_left = not (mark.whole and missing)
    else:
        # The layout writes from the first byte to the last, so only one stretch at the end may be missing.
        as_left = not missing or missing[-1].start + missing[-1].length == mark.size_bytes
        as_left = as_left and all(one.start + one.length == other.start for one, other in pairwise(missing))
    if not as_left:
        return False
    if sum(each.length for each in missing) == mark.size_bytes:
        return True  # nobody has written to it yet
    from ssdlab.drives.guard.fingerprint import only_drawn  # imports numpy, which is seldom needed here

    return only_drawn(descriptor, mark.size_bytes)


def _parse(content: bytes | None) -> Mark | None:
    try:
        fields = json.loads(content or b"")
        if fields.pop("schema") not in (1, _SCHEMA):
            return None
        return Mark(**fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # not written by us, or by an unknown version: foreign


def _record_name(path: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}.json"


def _records() -> Path:
    return state_folder() / "made"


def _read_record(path: Path) -> bytes | None:
    """Return a record that this user wrote; a record that others could have put there is ignored."""
    try:
        with HeldFolder(_records(), writing=True) as folder:
            return folder.read_bytes(_record_name(path), own=True)
    except (OSError, Refused):
        return None


def _write_record(path: Path, content: bytes) -> None:
    with HeldFolder(_records(), make=FOLDER_MODE, writing=True) as folder:
        folder.replace(_record_name(path), content)
