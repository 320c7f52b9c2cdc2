"""Reads and writes samples of a drive past the page cache; not for measurements."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ssdlab.host.reach import reopen
from ssdlab.model.closing import Closing
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    import ssdlab._core as _core

_ALIGNMENT_BYTES = 4096


class Medium(Protocol):
    """Content of a drive, by byte offsets that are multiples of its logical block."""

    @property
    def size_bytes(self) -> int: ...

    @property
    def block_bytes(self) -> int:
        """Bytes of a logical block."""

    @property
    def in_file_system(self) -> bool:
        """Whether a file system lies between the medium and the device."""

    def read(self, at: int, length: int) -> bytes:
        """Read from the drive itself; raises `OSError` if the drive cannot read."""

    def write(self, at: int, content: bytes) -> None:
        """Write past the page cache."""

    def discard(self, at: int, length: int) -> None:
        """Discard a range; raises `DriveError` if that is impossible."""

    def flush(self) -> None: ...


class DeviceMedium(Closing):
    """The medium of a held target; use it as a context manager.

    Parameters
    ----------
    target
        It must be held, and claimed, for as long as this is used.
    """

    def __init__(self, target: _core.Target) -> None:
        self._target = target
        access, path = os.O_RDWR if target.writable else os.O_RDONLY, Path(target.path)
        try:
            self._descriptor = reopen(target.fileno(), access | os.O_DIRECT, path)
        except OSError as error:
            if error.errno != errno.EINVAL or target.kind != "file":
                raise
            # A file system without direct I/O.
            self._descriptor = reopen(target.fileno(), access, path)

    @property
    def size_bytes(self) -> int:
        return self._target.size_bytes

    @property
    def block_bytes(self) -> int:
        return self._target.logical_block_bytes

    @property
    def in_file_system(self) -> bool:
        return self._target.kind == "file"

    def read(self, at: int, length: int) -> bytes:
        with mmap.mmap(-1, _whole(length)) as buffer, memoryview(buffer)[:length] as view:
            done = os.preadv(self._descriptor, [view], at)
            return bytes(view[:done])

    def write(self, at: int, content: bytes) -> None:
        with mmap.mmap(-1, _whole(len(content))) as buffer:
            buffer[: len(content)] = content
            with memoryview(buffer)[: len(content)] as view:
                done = os.pwritev(self._descriptor, [view], at)
        if done != len(content):
            raise OSError(f"only {bytes_text(done)} of {bytes_text(len(content))} at byte {at} were written")

    def discard(self, at: int, length: int) -> None:
        self._target.trim(at, length)

    def flush(self) -> None:
        self._target.flush()

    def close(self) -> None:
        """Close the descriptor; the target stays held."""
        os.close(self._descriptor)


def _whole(length: int) -> int:
    """Round a length up to whole pages, as direct I/O requires of its buffers."""
    return -(-length // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


SAMPLE_BYTES = 4096
SAMPLES = 64
"""All samples miss an unpurged 5 % of a drive with a probability of 0.95^64 = 4 %, and 10 % with 0.1 %."""


def places(start: int, length: int, unit_bytes: int, seed: int, count: int = SAMPLES) -> tuple[int, ...]:
    """Return offsets of samples in a range: its first and last unit, and a drawn one of each part between.

    >>> places(0, 1 << 20, 4096, seed=1, count=4)[0], places(0, 1 << 20, 4096, seed=1, count=4)[-1]
    (0, 1044480)
    """
    units = length // unit_bytes
    if units <= count:
        return tuple(start + unit * unit_bytes for unit in range(units))
    chosen = {0, units - 1}
    for part in range(count - 2):
        first, end = 1 + part * (units - 2) // (count - 2), 1 + (part + 1) * (units - 2) // (count - 2)
        drawn = int.from_bytes(hashlib.sha256(f"{seed}:{part}".encode()).digest()[:8], "little")
        chosen.add(first + drawn % max(end - first, 1))
    return tuple(start + unit * unit_bytes for unit in sorted(chosen))


def unit_of(medium: Medium) -> int:
    """Return the bytes of one sample, at least a logical block."""
    return max(SAMPLE_BYTES, medium.block_bytes)


def pattern(seed: int, at: int, length: int) -> bytes:
    """Return the content of a mark at an offset: no two marks are alike, and none can be compressed."""
    return hashlib.shake_256(f"ssdlab mark {seed} {at}".encode()).digest(length)


def read_all(medium: Medium, offsets: Iterable[int], length: int) -> dict[int, bytes | None]:
    """Read samples by offset; None for those that cannot be read."""
    found: dict[int, bytes | None] = {}
    for at in offsets:
        found[at] = None
        with suppress(OSError):
            content = medium.read(at, length)
            found[at] = content if len(content) == length else None
    return found


@dataclass(frozen=True, slots=True)
class Kinds:
    """Number of samples that read as all 00h, all FFh, as before, as something else, or not at all."""

    zero: int
    ones: int
    unchanged: int
    other: int
    unreadable: int


def kinds_of(before: dict[int, bytes | None], after: dict[int, bytes | None]) -> Kinds:
    """Count samples by content; `unchanged` wins if two kinds apply."""
    counts = dict.fromkeys(Kinds.__slots__, 0)
    for at, content in after.items():
        counts[_kind(before.get(at), content)] += 1
    return Kinds(**counts)


def _kind(before: bytes | None, after: bytes | None) -> str:
    if after is None:
        return "unreadable"
    if after == before:
        return "unchanged"
    return {0x00: "zero", 0xFF: "ones"}.get(after[0], "other") if len(set(after)) == 1 else "other"
