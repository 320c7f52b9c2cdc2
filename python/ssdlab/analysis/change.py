"""Where a series of speeds drops for good: the end of a cache, or the beginning of collection.

A drive that writes into a fast part of its flash first shows two plateaus over the bytes written. The split
between them is the one that leaves the least squared deviation from the two means, in logarithms, so that a
drop to a half weighs the same at every speed. It counts as a drop if the later plateau is slower by a
quarter at least: less than that is the unevenness of an ordinary drive. And both must be plateaus, nine
tenths of each on its own side of the middle: a drive that throttles again and again is slow in between, and
no cache of it has ended.

Source: the two-segment case of least-squares change-point estimation (Bai, "Estimating multiple breaks one
at a time", Econometric Theory 13, 1997); the quarter and the nine tenths are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

MIN_DROP = 1.25
"""First plateau divided by the second from which on it is one."""
OWN_SIDE = 0.9
"""Share of the values of a plateau that must lie on its side of the geometric middle of both."""
MIN_POINTS = 3
"""Points of each plateau."""


@dataclass(frozen=True)
class Drop:
    """A drop: `at` is the position of the first slow value; `before` and `after` are the means."""

    at: int
    before: float
    after: float


def find_drop(values: Sequence[float], min_drop: float = MIN_DROP) -> Drop | None:
    """Find where the values drop for good; None where they do not.

    Parameters
    ----------
    values
        Speeds in any one unit, all above 0, at even distances.
    min_drop
        How many times faster the first plateau must be.

    Raises
    ------
    ValueError
        A value that is not above 0.
    """
    if any(value <= 0 for value in values):
        raise ValueError("speeds must be above 0")
    n = len(values)
    if n < 2 * MIN_POINTS:
        return None
    sums = [0.0, *accumulate(math.log(value) for value in values)]
    # With two means the squared deviation is least where the sum of squared sums over counts is greatest.
    at = max(
        range(MIN_POINTS, n - MIN_POINTS + 1),
        key=lambda split: sums[split] ** 2 / split + (sums[n] - sums[split]) ** 2 / (n - split),
    )
    before, after = fmean(values[:at]), fmean(values[at:])
    if before < min_drop * after:
        return None
    middle = math.sqrt(before * after)
    fast, slow = sum(value > middle for value in values[:at]), sum(value < middle for value in values[at:])
    plateaus = fast >= OWN_SIDE * at and slow >= OWN_SIDE * (n - at)
    return Drop(at, before, after) if plateaus else None
