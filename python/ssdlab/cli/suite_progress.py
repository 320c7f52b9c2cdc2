"""Progress of a suite: its parts by drive and number with live figures, and an estimate of the whole."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.cli.progress import range_text
from ssdlab.model import units
from ssdlab.model.units import fixed_share_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.results.progress import Progress

_ALIKE = (0.5, 2.0)
"""How much the time of a part varies between drives, which differ in speed ..."""
_OTHERS = (0.2, 5.0)
"""... and between parts: reads take minutes, steady writes hours."""


class Place(NamedTuple):
    """A part of a suite: its drive (empty if there is only one), its number, the total, and its name."""

    drive: str
    number: int
    total: int
    part: str

    @property
    def words(self) -> str:
        """The start of a line: ``DC500M 3.84 TB, 3 of 6: steady-random-write``."""
        return f"{self.drive}{', ' if self.drive else ''}{self.number} of {self.total}: {self.part}"


class Left(NamedTuple):
    """Seconds left for the whole: the best estimate, and its range."""

    best_s: float
    min_s: float
    max_s: float


def left_of(
    running: Sequence[Progress], waiting: Sequence[int], took: Mapping[int, Sequence[float]]
) -> Left | None:
    """Return the time left for a suite; None if it cannot be estimated.

    Parameters
    ----------
    running
        Of the running parts.
    waiting
        The numbers of waiting parts, within their drives.
    took
        Seconds that finished parts took, by their numbers: the same part of other drives predicts best.
    """
    at_once = max(len(running), 1)
    own = [Left(_middle(each), each.remaining_least_s, each.remaining_most_s) for each in running]
    known = [seconds for each in took.values() for seconds in each]
    known += [each.run_elapsed_s + left.best_s for each, left in zip(running, own, strict=True)]
    if not known:
        return None
    for number in waiting:
        alike = took.get(number, ())
        typical = _mean(alike or known)
        low, high = _ALIKE if alike else _OTHERS
        own.append(Left(typical, low * typical, high * typical))
    longest = [max((each[at] for each in own[: len(running)]), default=0.0) for at in range(3)]
    return Left(*(max(longest[at], sum(each[at] for each in own) / at_once) for at in range(3)))


def live_lines(
    running: Mapping[Place, Progress], waiting: Sequence[int], took: Mapping[int, Sequence[float]]
) -> tuple[str, ...]:
    """Return a line for each running part, and one for the whole."""
    lines = [f"{place.words}: {_of_part(progress)}" for place, progress in running.items()]
    left = left_of([*running.values()], waiting, took)
    if left is not None:
        span = units.span_text(round(left.best_s))
        lines.append(f"total: about {span} left ({range_text(left.min_s, left.max_s)})")
    return tuple(lines)


def _of_part(progress: Progress) -> str:
    """Return the progress of a part, and its last interval row."""
    whole_s = progress.run_elapsed_s + _middle(progress)
    parts = [fixed_share_text(round(progress.run_elapsed_s / whole_s, 2)) if whole_s else "", progress.label]
    if progress.iops is not None:
        parts.append(f"{units.count_text(progress.iops)} IOPS")
    if progress.p99_ns is not None:
        parts.append(f"p99 {units.latency_text(progress.p99_ns)}")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    return ", ".join(filter(None, parts))


def _middle(progress: Progress) -> float:
    """Return the geometric mean of the bounds; if the lower is near zero, a tenth of the upper counts."""
    max_s = progress.remaining_most_s
    return max(sqrt(progress.remaining_least_s * max_s), max_s / 10)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
