"""Whether a file holds only data that ssdlab wrote, if a kill has left the last writer unknown.

All data that the engine writes is drawn by SplitMix64, which can be run backwards. One word of 64 bits gives
its state, and the state gives every later word. So a block shows by itself whether it was drawn, with any
seed, and no copy of the data is needed. Each 512 bytes are one such sequence. If data had to be compressible,
zeroes fill the sequence up; the first word may be a stamp. Blocks that were never written, or were trimmed,
read as zeroes. Data with more than 95 % zeroes leaves too little to judge.

The samples are both ends of the file, and blocks spread over the part between. File systems, partition
tables, arrays and archives have their signatures at the ends. So a file system made in the file is always
found; a few blocks that somebody changed may be missed.

Sources: Steele, Lea, Flood 2014 (SplitMix64); `fill` in crates/engine/src/buffers.rs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT_BYTES = 512
_END_BYTES = 1 << 20
"""At each end: backup headers of GPT, md and ZFS lie within the last 512 KiB, front headers earlier."""
_BLOCK_BYTES = 4096
_BLOCKS = 256
_GAMMA = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Factors of SplitMix64's mixing function."""
_BACK_FIRST, _BACK_SECOND = pow(_FIRST, -1, 1 << 64), pow(_SECOND, -1, 1 << 64)


def only_drawn(descriptor: int, size_bytes: int) -> bool:
    """Return whether all samples of an open file are data of the engine, or empty."""
    for start, length in _places(size_bytes):
        content = os.pread(descriptor, length, start)
        if not _all_drawn(content):
            return False
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)  # later reads must reach the drive
    return True


def _places(size_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield start and length of each sample, in order."""
    if size_bytes <= 2 * _END_BYTES:
        yield 0, size_bytes
        return
    yield 0, _END_BYTES
    between = range(_END_BYTES, size_bytes - _END_BYTES - _BLOCK_BYTES, _BLOCK_BYTES)
    drawn = random.Random(size_bytes)  # any seed: the places may be the same each time
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
    body = units[:, 1:].astype(np.uint64)  # without the stamp
    counts = np.arange(body.shape[1], dtype=np.uint64) * np.uint64(_GAMMA)
    expected = _mixed(_unmixed(body[:, 0])[:, None] + counts)
    drawn = np.logical_and.accumulate(body == expected, axis=1)
    # The first word proves nothing, as the state was taken from it; a second word that fits is proof.
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
    """Undo `_folded`; two terms are enough, because three times the shift exceeds 64 bits."""
    twice: NDArray[np.uint64] = word >> np.uint64(2 * shift)
    return word ^ (word >> np.uint64(shift)) ^ twice
