"""Speed over the position on a drive that is written in order, and where the speed drops for good.

Interval rows give the bytes written over time. On a drive that is written from its first block on, the bytes
written are the position. A curve of equal parts gives each position the same weight, whatever its speed. The
time of a part is interpolated between the ends of rows.

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
"""Number of parts that give the speed just before and just after a drop."""


def written_over_time(
    tables: Sequence[Mapping[str, npt.NDArray[Any]]],
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return cumulative bytes written, and the end of each row in s; both arrays begin with 0.

    Parameters
    ----------
    tables
        Rows of consecutive steps, with columns `end_ns` and `bytes`.
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
    """Return the speed of each equal part of the bytes written, in MB/s, and the bytes of a part."""
    import numpy as np

    written, ends_s = written_over_time([rows])
    total = float(written[-1])
    # A part needs several rows; otherwise the edges of rows would decide its speed.
    parts = int(max(min_parts, min(max_parts, total / PART_BYTES)))
    parts = max(1, min(parts, (written.size - 1) // 2))
    edges = np.linspace(0.0, total, parts + 1)
    seconds = np.diff(np.interp(edges, written, ends_s))
    part_bytes = total / parts
    return [float(part_bytes / each / 1e6) for each in seconds], part_bytes


def written_ns(rows: Mapping[str, npt.NDArray[Any]], position_bytes: float) -> int:
    """Return when a step had written `position_bytes`, in ns since the step began."""
    import numpy as np

    written, ends_s = written_over_time([rows])
    return round(float(np.interp(position_bytes, written, ends_s)) * NS_PER_S)


def drop_bytes(speeds: Sequence[float], part_bytes: float, at: int) -> float:
    """Return after how many bytes the speed drops, to a fraction of a part.

    The two parts beside the drop hold the end of the first speed and the beginning of the second. Their total
    time shows how much was written at each speed, by the speeds of the parts next to them.

    Parameters
    ----------
    speeds, part_bytes
        Speeds of equal parts and the bytes of a part, as `speeds_over` returns them.
    at
        First part after the drop; at least two parts must lie on either side.
    """
    before = mean_speed(speeds[max(0, at - 1 - BESIDE) : at - 1])
    after = mean_speed(speeds[at + 1 : at + 1 + BESIDE])
    took = 1 / speeds[at - 1] + 1 / speeds[at]
    if before <= after:
        return at * part_bytes
    fast = (took - 2 / after) / (1 / before - 1 / after)
    return (at - 1 + min(2.0, max(0.0, fast))) * part_bytes


def beside_drop(speeds: Sequence[float], at: int) -> tuple[float, float]:
    """Return the mean speeds before and after a drop, in the unit of `speeds`.

    The drop lies in one of the two parts beside `at` (see `drop_bytes`). Neither part counts, since it would
    lower the speed of a cache of few parts.

    Parameters
    ----------
    speeds
        Speeds of equal parts.
    at
        First part after the drop; at least two parts must lie on either side.

    >>> beside_drop([500.0, 500.0, 300.0, 100.0, 100.0], 3)
    (500.0, 100.0)
    """
    return mean_speed(speeds[: at - 1]), mean_speed(speeds[at + 1 :])


def mean_speed(speeds: Sequence[float]) -> float:
    """Return the mean speed over parts of equal bytes: their harmonic mean, as their times add up."""
    return len(speeds) / sum(1 / speed for speed in speeds)


def speed_until(tables: Sequence[Mapping[str, npt.NDArray[Any]]], seconds: float) -> float:
    """Return the mean speed in MB/s over the first seconds of consecutive steps."""
    import numpy as np

    written, ends_s = written_over_time(tables)
    until_s = min(seconds, float(ends_s[-1]))
    return float(np.interp(until_s, ends_s, written)) / until_s / 1e6


MIN_DROP = 1.25
"""Minimum ratio of the first plateau to the second for a drop."""
OWN_SIDE = 0.9
"""Minimum share of a plateau's values on its side of the geometric middle of both plateaus."""
MIN_POINTS = 3
"""Minimum number of values of each plateau."""


@dataclass(frozen=True)
class Drop:
    """A drop: `at` is the index of the first slow value; `before` and `after` are means of the plateaus."""

    at: int
    before: float
    after: float


def find_drop(values: Sequence[float], min_drop: float = MIN_DROP) -> Drop | None:
    """Find where the values drop for good: the end of a cache, or the start of collection; None if nowhere.

    A drive that writes into a fast part of its flash first shows two plateaus over the bytes written. The
    split between them leaves the least squared deviation from the two means. It is computed in logarithms, so
    that a drop to a half weighs the same at every speed.

    The split counts as a drop if the first plateau is at least a quarter faster; an ordinary drive is uneven
    by less. Also, nine tenths of each plateau must lie on its own side of the middle. A drive that throttles
    repeatedly fails this test: it is slow in between, and no cache has ended.

    Source: the two-segment case of least-squares change-point estimation (Bai, "Estimating multiple breaks
    one at a time", Econometric Theory 13, 1997); the quarter and the nine tenths are ours.

    Parameters
    ----------
    values
        Speeds in any one unit, all above 0, at equal distances.
    min_drop
        How many times faster the first plateau must be.

    Raises
    ------
    ValueError
        A value is not above 0.
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
