"""Mean and tail of the response times in each record of a long run, from histogram buckets.

A record is an interval row: one minute of a test of hours. Its mean comes from the exact sums stored beside
the buckets, or else from the middles of the buckets, which are exact to 0.8 %. Its percentile is the nearest
rank, as in `percentiles`. SNIA's five nines are never left out. They are given with the number of samples and
the bounds of the true value (`percentiles.estimate`). Reads and writes of a record count together, each by
its I/Os, so the mean of a mix is the mean of the I/Os performed.

Source: SNIA SSS PTS 2.0.2, section 9 (average, five nines and maximum response time).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from ssdlab.analysis.percentiles import Estimate, estimate, of_buckets, sayable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

FIVE_NINES = Fraction("99.999")


@dataclass(frozen=True)
class Buckets:
    """A histogram of latencies.

    Attributes
    ----------
    low_ns, high_ns
        Edges of the buckets, rising; the high edge does not belong to its bucket.
    count
        Samples in each bucket.
    max_ns
        The exact greatest sample; the last bucket may end above it.
    sum_ns
        Sum of all samples, exact below 2**53; None if it is not known.
    """

    low_ns: npt.NDArray[Any]
    high_ns: npt.NDArray[Any]
    count: npt.NDArray[Any]
    max_ns: float
    sum_ns: float | None = None

    @property
    def samples(self) -> int:
        return int(self.count.sum())

    @property
    def mean_ns(self) -> float | None:
        """Mean of the samples, or of the buckets' middles; None without samples."""
        if self.sum_ns is not None and self.samples:
            return self.sum_ns / self.samples
        middle = np.minimum((self.low_ns.astype(np.float64) + self.high_ns - 1) / 2, self.max_ns)
        return float((middle * self.count).sum()) / self.samples if self.samples else None

    def percentile(self, percent: Fraction) -> float | None:
        """Return a percentile; None if too few samples lie beyond it."""
        if not sayable(percent, self.samples):
            return None
        return min(of_buckets(self.low_ns, self.high_ns, self.count, percent), self.max_ns)

    def estimate(self, percent: Fraction) -> Estimate | None:
        """Return a percentile with its bounds, however few samples there are; None without samples."""
        return estimate(self.low_ns, self.high_ns, self.count, percent, self.max_ns)


def merged(columns: Mapping[str, npt.NDArray[Any]], kept: npt.NDArray[Any], max_ns: float = inf) -> Buckets:
    """Return the chosen lines of a table of buckets as one histogram; equal buckets are added up.

    `max_ns` is the exact greatest sample, if known.
    """
    low, high, count = (columns[key][kept] for key in ("low_ns", "high_ns", "count"))
    edges, which = np.unique(low, return_inverse=True)
    upper = np.zeros(edges.size, dtype=np.int64)
    upper[which] = high
    total = float(columns["sum_ns"][kept].sum()) if "sum_ns" in columns else None
    summed = np.bincount(which, weights=count, minlength=edges.size).astype(np.int64)
    return Buckets(edges, upper, summed, max_ns, total)


def by_record(columns: Mapping[str, npt.NDArray[Any]], max_ns: Sequence[float]) -> list[Buckets]:
    """Return the histogram of each record: all directions together, by the service clock.

    In a closed loop an I/O is due when it is submitted, so service time and response time are equal.

    Parameters
    ----------
    columns
        Table of a step's buckets, with the number of the record in `row`, from 0.
    max_ns
        The greatest response time of each record.
    """
    records = len(max_ns)
    ours = np.flatnonzero(
        (columns["clock"] == "service") & (columns["row"] >= 0) & (columns["row"] < records)
    )
    ours = ours[np.argsort(columns["row"][ours], kind="stable")]
    edges = np.searchsorted(columns["row"][ours], np.arange(records + 1))
    return [merged(columns, ours[edges[at] : edges[at + 1]], max_ns[at]) for at in range(records)]
