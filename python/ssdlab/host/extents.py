"""Which parts of a file were actually written.

Reads of holes, or of extents that were allocated but never written, are answered from memory. No I/O reaches
the drive, and a benchmark measures the kernel.

Sources: Documentation/filesystems/fiemap.rst; lseek(2), `SEEK_HOLE`, for file systems without FIEMAP (tmpfs).
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FS_IOC_FIEMAP = 0xC020660B
_FLAG_SYNC = 0x1
_EXTENT_LAST = 0x1
_EXTENT_UNWRITTEN = 0x800
_HEADER = struct.Struct("=QQIIII")  # start, length, flags, mapped, room, reserved
_EXTENT = struct.Struct("=QQQQQIIII")  # logical, physical, length, two reserved, flags, three reserved
_ROOM = 512
_NO_FIEMAP = {errno.ENOTTY, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of a file, in bytes, without written data: a `hole`, or `unwritten` (allocated only)."""

    start: int
    length: int
    kind: str


def gaps(descriptor: int, start: int, length: int) -> tuple[Gap, ...]:
    """Return the parts of a range of an open file that were never written, in order, adjacent ones joined.

    Raises
    ------
    OSError
        The file system reports neither extents nor holes.
    """
    end = start + length
    try:
        extents = list(_extents(descriptor, start, end))
    except OSError as error:
        if error.errno not in _NO_FIEMAP:
            raise
        return tuple(_join(_holes(descriptor, start, end)))
    return tuple(_join(_between(extents, start, end)))


def _extents(descriptor: int, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield logical start, end and flags of each extent in a range."""
    at = start
    while at < end:
        request = bytearray(_HEADER.size + _ROOM * _EXTENT.size)
        # SYNC: data in the page cache has no extent until it is written out.
        _HEADER.pack_into(request, 0, at, end - at, _FLAG_SYNC, 0, _ROOM, 0)
        fcntl.ioctl(descriptor, _FS_IOC_FIEMAP, request, True)
        mapped = _HEADER.unpack_from(request)[3]
        if mapped == 0:
            return
        for index in range(mapped):
            logical, _, extent_length, _, _, flags, *_ = _EXTENT.unpack_from(
                request, _HEADER.size + index * _EXTENT.size
            )
            at = logical + extent_length
            yield logical, at, flags
            if flags & _EXTENT_LAST:
                return


def _between(extents: Iterable[tuple[int, int, int]], start: int, end: int) -> Iterator[Gap]:
    at = start
    for first, last, flags in extents:
        first, last = max(first, at), min(last, end)
        if first > at:
            yield Gap(at, first - at, "hole")
        if flags & _EXTENT_UNWRITTEN and last > first:
            yield Gap(first, last - first, "unwritten")
        at = max(at, last)
    if at < end:
        yield Gap(at, end - at, "hole")


def _holes(descriptor: int, start: int, end: int) -> Iterator[Gap]:
    at = start
    while at < end:
        try:
            hole = os.lseek(descriptor, at, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # ENXIO: `at` is beyond the end of the file
                raise
            hole = at
        if hole >= end:
            return
        try:
            data = min(os.lseek(descriptor, hole, os.SEEK_DATA), end)
        except OSError as error:
            if error.errno != errno.ENXIO:  # ENXIO: no data beyond the hole
                raise
            data = end
        yield Gap(hole, data - hole, "hole")
        at = data


def _join(found: Iterable[Gap]) -> Iterator[Gap]:
    last: Gap | None = None
    for gap in found:
        if last is not None and last.kind == gap.kind and last.start + last.length == gap.start:
            last = Gap(last.start, last.length + gap.length, last.kind)
            continue
        if last is not None:
            yield last
        last = gap
    if last is not None:
        yield last
