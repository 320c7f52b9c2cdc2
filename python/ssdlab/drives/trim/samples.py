"""Samples spread over a drive: where they lie, a pattern to write there, and what reading them back shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from ssdlab.drives.trim.medium import Medium

SAMPLE_BYTES = 4096
SAMPLES = 64
"""A part of 5 % that was left out is missed by all of them with a probability of 0.95^64 = 4 %, one of 10 %
with 0.1 %."""


def places(start: int, length: int, unit_bytes: int, seed: int, count: int = SAMPLES) -> tuple[int, ...]:
    """Return offsets of samples in a range: its first and last unit, and one drawn from each part between.

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
    """Return the bytes of one sample on a drive: at least a logical block."""
    return max(SAMPLE_BYTES, medium.block_bytes)


def pattern(seed: int, at: int, length: int) -> bytes:
    """Return what a mark at an offset holds: no two marks are alike, and none can be compressed."""
    return hashlib.shake_256(f"ssdlab mark {seed} {at}".encode()).digest(length)


def read_all(medium: Medium, offsets: Iterable[int], length: int) -> dict[int, bytes | None]:
    """Read samples; None for those that cannot be read."""
    found: dict[int, bytes | None] = {}
    for at in offsets:
        found[at] = None
        with suppress(OSError):
            content = medium.read(at, length)
            found[at] = content if len(content) == length else None
    return found


@dataclass(frozen=True, slots=True)
class Kinds:
    """How many of some samples read as all 00h, all FFh, as they did before, otherwise, or not at all."""

    zero: int
    ones: int
    unchanged: int
    other: int
    unreadable: int


def kinds_of(before: dict[int, bytes | None], after: dict[int, bytes | None]) -> Kinds:
    """Sort samples by what they read as now; `unchanged` comes first where two would be true."""
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
