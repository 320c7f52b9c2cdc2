"""Whether throughput falls with rising depth, which a drive in one state does not do by itself.

More I/Os in flight can be of no use, and they can cost a little; they do not cost a fifth. A sweep of writes
that loses more than that has rather met a drive whose fresh blocks, or whose cache, ran out on the way: its
first points are then those of another state than its last. The first point taken again at the end tells the
two apart. That a fifth is allowed is the range that SNIA's rule allows a steady window (PTS 2.0.2, 2.1.24).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.analysis.steady_state import MAX_RANGE


@dataclass(frozen=True, slots=True)
class Fall:
    """The deepest fall of a series: positions of the value that it fell from, and of the one it fell to."""

    high: int
    low: int
    share: float
    """Of the higher value that was lost, 0 to 1."""


def deepest_fall(values: Sequence[float], by_host: Sequence[bool]) -> Fall | None:
    """Return the deepest fall of throughput with rising depth; None where none is over the fifth allowed.

    Parameters
    ----------
    values
        Throughput by rising depth, in any one unit.
    by_host
        Of each, whether the host was its limit: what the host costs says nothing of the drive's state.
    """
    found: Fall | None = None
    high = 0
    for at, value in enumerate(values):
        if by_host[at]:
            continue
        if value > values[high] or by_host[high]:
            high = at
        lost = 1 - value / values[high] if values[high] > 0 else 0.0
        if lost > MAX_RANGE and (found is None or lost > found.share):
            found = Fall(high, at, lost)
    return found


def came_back(first: float, again: float) -> bool:
    """Return whether a point that was taken again is within the fifth of what it was."""
    return abs(again - first) <= MAX_RANGE * first
