"""Speed over the position on a drive that was written from its first block on, and where it drops for good.

Rows tell how much was written by when; the position is what was written. A curve of equal parts gives each
place the same weight, whatever its speed: the time of a part is interpolated between the ends of rows.

Source: throughput over the logical block address as HD Tach and h2benchw plotted it; AnandTech's whole-drive
fill has a value for each gigabyte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


PART_BYTES = 10**9
MIN_PARTS = 50
BESIDE = 3
"""Parts that tell the speed just before and just behind a drop."""


def written_over_time(
    tables: Sequence[Mapping[str, npt.NDArray[Any]]],
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return bytes written by the end of each row, and these ends in s, both from 0 on.

    Parameters
    ----------
    tables
        Rows of steps that followed one another: `end_ns` and `bytes` of each.
    """
    import numpy as np

    ends, moved, before_s = [np.zeros(1)], [np.zeros(1)], 0.0
    for rows in tables:
        ends.append(before_s + rows["end_ns"].astype(np.float64) / NS_PER_S)
        moved.append(rows["bytes"].astype(np.float64))
        before_s = float(ends[-1][-1]) if ends[-1].size else before_s
    return np.cumsum(np.concatenate(moved)), np.concatenate(ends)


def speeds_over(
    rows: Mapping[str, npt.NDArray[Any]], max_parts: int, min_parts: int = MIN_PARTS
) -> tuple[list[float], float]:
    """Return the speed over each equal part of what was written in MB/s, and the bytes of a part."""
    import numpy as np

    written, ends_s = written_over_time([rows])
    total = float(written[-1])
    # A part needs several rows, or its speed would be that of the rows' edges.
    parts = int(max(min_parts, min(max_parts, total / PART_BYTES)))
    parts = max(1, min(parts, (written.size - 1) // 2))
    edges = np.linspace(0.0, total, parts + 1)
    seconds = np.diff(np.interp(edges, written, ends_s))
    part_bytes = total / parts
    return [float(part_bytes / each / 1e6) for each in seconds], part_bytes


def written_ns(rows: Mapping[str, npt.NDArray[Any]], position_bytes: float) -> int:
    """Return by when so much of what one step wrote was written, in ns since it began."""
    import numpy as np

    written, ends_s = written_over_time([rows])
    return round(float(np.interp(position_bytes, written, ends_s)) * NS_PER_S)


def drop_bytes(speeds: Sequence[float], part_bytes: float, at: int) -> float:
    """Return after how many bytes the speed drops, finer than a part.

    The parts on both sides of the drop hold the end of the one speed and the beginning of the other: their
    time tells how much was written at each, by the speeds of the parts next to them.

    Parameters
    ----------
    speeds, part_bytes
        Of equal parts, as `speeds_over` returns them.
    at
        First part behind the drop; two parts at least on either side.
    """
    before = mean_speed(speeds[max(0, at - 1 - BESIDE) : at - 1])
    after = mean_speed(speeds[at + 1 : at + 1 + BESIDE])
    took = 1 / speeds[at - 1] + 1 / speeds[at]
    if before <= after:
        return at * part_bytes
    fast = (took - 2 / after) / (1 / before - 1 / after)
    return (at - 1 + min(2.0, max(0.0, fast))) * part_bytes


def beside_drop(speeds: Sequence[float], at: int) -> tuple[float, float]:
    """Return the mean speeds before a drop and behind it, in the unit of the speeds.

    The drop lies in one of the parts on both sides of `at`, as `drop_bytes` has it: neither counts, or of a
    cache of few parts the speed would be told too low.

    Parameters
    ----------
    speeds
        Of equal parts.
    at
        First part behind the drop; two parts at least on either side.

    >>> beside_drop([500.0, 500.0, 300.0, 100.0, 100.0], 3)
    (500.0, 100.0)
    """
    return mean_speed(speeds[: at - 1]), mean_speed(speeds[at + 1 :])


def mean_speed(speeds: Sequence[float]) -> float:
    """Return the speed over parts of equal bytes: their times add up, not their speeds."""
    return len(speeds) / sum(1 / speed for speed in speeds)


def speed_until(tables: Sequence[Mapping[str, npt.NDArray[Any]]], seconds: float) -> float:
    """Return the mean speed in MB/s over the first seconds of steps that followed one another."""
    import numpy as np

    written, ends_s = written_over_time(tables)
    until_s = min(seconds, float(ends_s[-1]))
    return float(np.interp(until_s, ends_s, written)) / until_s / 1e6


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
    """Find where the values drop for good: the end of a cache, or the beginning of collection; None: nowhere.

    A drive that writes into a fast part of its flash first shows two plateaus over the bytes written. The
    split between them is the one that leaves the least squared deviation from the two means, in logarithms,
    so that a drop to a half weighs the same at every speed. It counts as a drop if the later plateau is
    slower by a quarter at least: less than that is the unevenness of an ordinary drive. And both must be
    plateaus, nine tenths of each on its own side of the middle: a drive that throttles again and again is
    slow in between, and no cache of it has ended.

    Source: the two-segment case of least-squares change-point estimation (Bai, "Estimating multiple breaks
    one at a time", Econometric Theory 13, 1997); the quarter and the nine tenths are ours.

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
