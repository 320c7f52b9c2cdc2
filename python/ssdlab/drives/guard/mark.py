"""How ssdlab knows a file as its own making, which alone may be overwritten without consent.

An extended attribute, `user.ssdlab.made`, names the inode and device that it was written to, so that neither
a copy that took its attributes along nor a hard link laid over it counts. It also holds the time of our last
write: a file that something else has written since is no longer ours alone.

While we write, that time is not known, and a kill leaves it so. Such a file counts as changed: whoever came
after us may have made a file system in it. Two cases are told apart by what the file holds. The same run,
resumed, is known by the token that its marks bear; and a first layout that was cut short has written from the
front on, and nothing behind. Both need that size and extents are as we would have left them, and that all
samples are data that only the engine writes (`fingerprint`).

Where the file system has no extended attributes, a record in the XDG state folder says the same. A record
lies beside the file, not in it, and an inode number is used again at once when a file is deleted; so it
counts only together with the birth time of the file, and where the file system keeps none the file stays
foreign.

Whether a file holds nothing but what ssdlab wrote: asked after a kill, when nobody knows who wrote last.

All data that the engine writes is drawn by SplitMix64, which can be run backwards: from one word of 64 bits
its state is known, and with that every word after it. So a block tells by itself whether it was drawn, with
any seed, and no copy of it need have been kept. Each stretch of 512 bytes is one such sequence, filled up
with zeroes where data was to be compressible; its first word may be a stamp. What was never written, or was
trimmed, reads as zeroes. Of data with more than 95 % zeroes too little is left to tell.

Looked at are both ends of the file, where file systems, partition tables, arrays and archives put what they
are known by, and blocks spread over what lies between: a file system made in the file is always found, a few
blocks that somebody changed somewhere may not be.

Sources: Steele, Lea, Flood 2014 (SplitMix64); `fill` in crates/engine/src/buffers.rs.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ssdlab.host.extents import gaps
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder, file_details
from ssdlab.host.state_folder import state_folder
from ssdlab.host.sysfs import device_number
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT_BYTES = 512
_END_BYTES = 1 << 20
"""At either end: backup headers of GPT, md and ZFS lie within the last 512 KiB, those in front earlier."""
_BLOCK_BYTES = 4096
_BLOCKS = 256
_GAMMA = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Factors of the mixing function."""
_BACK_FIRST, _BACK_SECOND = pow(_FIRST, -1, 1 << 64), pow(_SECOND, -1, 1 << 64)


def only_drawn(descriptor: int, size_bytes: int) -> bool:
    """Say whether all samples of an open file are the engine's own, or empty."""
    for start, length in _places(size_bytes):
        content = os.pread(descriptor, length, start)
        if not _all_drawn(content):
            return False
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)  # nothing of it shall be in the cache later
    return True


def _places(size_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield start and length of each sample, in order."""
    if size_bytes <= 2 * _END_BYTES:
        yield 0, size_bytes
        return
    yield 0, _END_BYTES
    between = range(_END_BYTES, size_bytes - _END_BYTES - _BLOCK_BYTES, _BLOCK_BYTES)
    drawn = random.Random(size_bytes)  # any: there is no need for other places each time
    for at in sorted(drawn.sample(between, min(_BLOCKS, len(between)))):
        yield at, _BLOCK_BYTES
    yield size_bytes - _END_BYTES, _END_BYTES


def _all_drawn(content: bytes) -> bool:
    whole = len(content) // _UNIT_BYTES * _UNIT_BYTES
    if any(content[whole:]):
        return False  # shorter than a unit: cannot be judged
    units = np.frombuffer(content[:whole], dtype="<u8").reshape(-1, _UNIT_BYTES // 8)
    units = units[units.any(axis=1)]
    if len(units) == 0:
        return True
    body = units[:, 1:].astype(np.uint64)  # behind the stamp
    counts = np.arange(body.shape[1], dtype=np.uint64) * np.uint64(_GAMMA)
    expected = _mixed(_unmixed(body[:, 0])[:, None] + counts)
    drawn = np.logical_and.accumulate(body == expected, axis=1)
    # One word follows from nothing; from the second on it is proof.
    return bool(drawn[:, 1].all() and (drawn | (body == 0)).all())


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = _folded(state, 30) * np.uint64(_FIRST)
    return _folded(_folded(state, 27) * np.uint64(_SECOND), 31)


def _unmixed(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    word = _unfolded(word, 31) * np.uint64(_BACK_SECOND)
    return _unfolded(_unfolded(word, 27) * np.uint64(_BACK_FIRST), 30)


def _folded(word: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    return word ^ (word >> np.uint64(shift))


def _unfolded(word: NDArray[np.uint64], shift: int) -> NDArray[np.uint64]:
    """Undo `_folded`; three times the shift is more than the word has."""
    twice: NDArray[np.uint64] = word >> np.uint64(2 * shift)
    return word ^ (word >> np.uint64(shift)) ^ twice


ATTRIBUTE = "user.ssdlab.made"
"""Name of the extended attribute."""

_SCHEMA = 2
"""Version 1 had neither `token` nor `whole`."""
_COARSEST_NS = 2 * 10**9
"""Some file systems cut times to two seconds (FAT), or to one once the inode has left memory (old ext)."""

_NO_ATTRIBUTES = {errno.EOPNOTSUPP, errno.ENOSYS}

Ownership = Literal["ours", "foreign", "changed", "unknown"]
"""`changed`: ssdlab made the file, and something else has written to it since. `unknown`: ssdlab was killed
while it wrote it, so that anything may have happened since."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What is recorded of a file that ssdlab made.

    Attributes
    ----------
    inode, device, birth_ns
        The file itself; `device` as `major:minor`.
    size_bytes
        Its size.
    complete
        Whether the first layout reached the end.
    written_ns
        Modification time after our last write; None while we are writing (and after a kill in mid-write).
    token
        Of the run that has written it; the same in all its sessions.
    whole
        While we are writing: all of the file had been written before, and nothing is trimmed.
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
    """Return the mark that an open file should bear now."""
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
    """Record a mark: on the file if it takes attributes, else in the state folder.

    Without `durable` it may be lost with the power, and the drive is not made to flush: what stands there
    then is an older mark, by which the file counts as changed.
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
    """Return the mark of an open file if it is really its own, else None."""
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
    """Say whether an open file is ours alone.

    Parameters
    ----------
    descriptor
        Open for reading.
    mark
        Its own, as `read_mark` found it.
    token
        Of the run that wants to resume with it, if that run was cut short.
    """
    if mark is None:
        return "foreign"
    status = os.fstat(descriptor)
    if status.st_size != mark.size_bytes:
        return "changed"
    if mark.written_ns is None:
        return "ours" if _as_we_left_it(descriptor, mark, token) else "unknown"
    # A time that was cut is earlier than ours, and whoever wrote after us has a later one.
    as_noted = 0 <= mark.written_ns - status.st_mtime_ns < _COARSEST_NS
    return "ours" if as_noted else "changed"


def _as_we_left_it(descriptor: int, mark: Mark, token: str | None) -> bool:
    """Say whether a file that we were killed over holds what we alone can have left in it."""
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
        # The layout goes from the first byte to the last.
        as_left = not missing or missing[-1].start + missing[-1].length == mark.size_bytes
        as_left = as_left and all(one.start + one.length == other.start for one, other in pairwise(missing))
    if not as_left:
        return False
    if sum(each.length for each in missing) == mark.size_bytes:
        return True  # nothing was written into it yet, by anybody

    return only_drawn(descriptor, mark.size_bytes)


def _parse(content: bytes | None) -> Mark | None:
    try:
        fields = json.loads(content or b"")
        if fields.pop("schema") not in (1, _SCHEMA):
            return None
        return Mark(**fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # not written by us, or by a version that we do not know: foreign


def _record_name(path: Path) -> str:
    return f"{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}.json"


def _records() -> Path:
    return state_folder() / "made"


def _read_record(path: Path) -> bytes | None:
    """Return what a record of our own says; what somebody else could have put there says nothing."""
    try:
        with HeldFolder(_records(), writing=True) as folder:
            return folder.read_bytes(_record_name(path), own=True)
    except (OSError, Refused):
        return None


def _write_record(path: Path, content: bytes) -> None:
    with HeldFolder(_records(), make=FOLDER_MODE, writing=True) as folder:
        folder.replace(_record_name(path), content)
