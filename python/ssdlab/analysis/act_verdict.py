"""ACT's verdict: how many I/Os of each slice took too long, under the rules of 2019 and of ACT 6.

A drive passes at a load when in every slice of an hour fewer than 5 % of the reads take 1 ms or longer, fewer
than 1 % 8 ms, and fewer than 0.1 % 64 ms. The limits never changed; what is counted did. Up to version 5
a read counted from when it was queued (here: `response`), since 6.0 from when a thread issues it (`service`),
so that ratings of the two are not comparable. A slice only counts if at least 99.5 % of what was asked of
each stream was done: ACT loses what it is late with when a test ends, and says nothing.

Source: Aerospike ACT, README (verdict) and analysis/act_latency.py (slices, thresholds and table).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

NS_PER_MS = 1_000_000
LIMITS = {1: 0.05, 8: 0.01, 64: 0.001}
"""Shares of reads that must take less than so many ms: fewer than this share may be slower."""
THRESHOLDS_MS = (1, 2, 4, 8, 16, 32, 64)
"""Columns of ACT's table."""
LEAST_DONE = 0.995
"""Share of what is due in a slice that must be done. An hour that ends 10 s late has 99.7 %, so that in a
test of full length ACT's own rule is the stricter."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a test.

    Attributes
    ----------
    number
        From 1.
    ios
        I/Os that it is judged by.
    rate
        Of them, per second.
    over
        Share of them that took so many ms or longer, by threshold.
    """

    number: int
    ios: int
    rate: float
    over: Mapping[int, float]

    @property
    def passes(self) -> bool:
        """Whether all limits hold."""
        return all(self.over[ms] < limit for ms, limit in LIMITS.items())


def share_over(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], limit_ns: int
) -> float:
    """Return the share of latencies of at least `limit_ns`, of histogram buckets.

    The bucket that the limit cuts counts by the part of it that lies above: latencies within a bucket, which
    is at most 1.6 % wide, are taken as evenly spread.
    """
    total = int(count.sum())
    if not total:
        return 0.0
    widths = np.maximum(high_ns - low_ns, 1)
    above = np.clip((high_ns - limit_ns) / widths, 0.0, 1.0)
    return float((above * count).sum() / total)


def slices(
    row: npt.NDArray[Any],
    buckets: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
    rows: int,
    rows_a_slice: int,
    slice_s: float,
) -> list[Slice]:
    """Cut a test into slices of equal length; as in ACT, what is left at the end is no slice.

    Parameters
    ----------
    row
        Interval row of each bucket, from 0.
    buckets
        Their low and high edges in ns, and their counts.
    rows, rows_a_slice
        Rows of the test, and of a slice.
    slice_s
        Length of a slice in seconds.
    """
    low, high, count = buckets
    number = row // rows_a_slice
    found = []
    for at in range(rows // rows_a_slice):
        mine = number == at
        part = (low[mine], high[mine], count[mine])
        ios = int(part[2].sum())
        over = {ms: share_over(*part, ms * NS_PER_MS) for ms in THRESHOLDS_MS}
        found.append(Slice(at + 1, ios, ios / slice_s, over))
    return found
