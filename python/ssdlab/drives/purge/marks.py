"""Marks: samples written before a purge, which must be gone after it. What the drive says is not proof."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from ssdlab.drives.purge.record import Sampling
from ssdlab.drives.trim.medium import Medium
from ssdlab.drives.trim.samples import kinds_of, pattern, places, read_all, unit_of


@dataclass(frozen=True, slots=True)
class Marks:
    """Where samples lie, and which of them were seen to hold their pattern before the purge."""

    seed: int
    sample_bytes: int
    offsets: tuple[int, ...]
    marked: tuple[int, ...]


def mark(medium: Medium, seed: int) -> Marks:
    """Write a pattern at places spread over the drive, make it durable, and see that it is there.

    A place that cannot be written is left unmarked: a drive whose sanitize failed takes no writes, and is to
    be purged all the same.
    """
    unit = unit_of(medium)
    offsets = places(0, medium.size_bytes, unit, seed)
    for at in offsets:
        with suppress(OSError):
            medium.write(at, pattern(seed, at, unit))
    with suppress(OSError):
        medium.flush()
    held = read_all(medium, offsets, unit)
    return Marks(seed, unit, offsets, tuple(at for at in offsets if held[at] == pattern(seed, at, unit)))


def read_back(medium: Medium, marks: Marks) -> Sampling:
    """Read the samples after a purge and sort them by what they hold."""
    unit = marks.sample_bytes
    after = read_all(medium, marks.offsets, unit)
    found = kinds_of({at: pattern(marks.seed, at, unit) for at in marks.offsets}, after)
    survived = sum(after[at] == pattern(marks.seed, at, unit) for at in marks.marked)
    return Sampling(
        samples=len(marks.offsets),
        sample_bytes=unit,
        marked=len(marks.marked),
        survived=survived,
        zero=found.zero,
        ones=found.ones,
        other=found.other + found.unchanged - survived,
        unreadable=found.unreadable,
    )
