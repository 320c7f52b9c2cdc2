"""Percentiles of latency, of samples and of histogram buckets, and how many samples one needs to be said.

The definition is the nearest rank: the p-th percentile is the smallest sample that at least p per cent of
the samples do not exceed. It is always a latency that occurred, and at a bucket it is off by no more than
the bucket's width. A percentile is worth printing only while several samples lie beyond it: with fewer than
10 its own error (that of a binomial count, about 1/sqrt(n)) is over 30 %.

Weighted by time a percentile is the latency up to which that share of all waiting was spent: rare slow I/Os
weigh by their length, F(t) = sum of latencies up to t / sum of all.

Sources: R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
(1996), definition 1; for the count beyond, W. J. Conover, "Practical Nonparametric Statistics" (1999),
section 3.2; the weighting by time is that of PC Perspective, "Latency Weighted Percentile" (2016).
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

SAMPLES_BEYOND = 10


def rank(percent: Fraction | str, samples: int) -> int:
    """Return the rank, from 1, of a percentile among so many samples; exact, as `percent` is a fraction.

    Raises
    ------
    ValueError
        No samples, or a percentile outside 0 to 100.
    """
    exact = Fraction(percent)
    if samples < 1 or not 0 <= exact <= 100:
        raise ValueError(f"percentile {percent} of {samples} samples is not defined")
    return max(1, ceil(exact * samples / 100))


def sayable(percent: Fraction | str, samples: int, beyond: int = SAMPLES_BEYOND) -> bool:
    """Say whether enough samples lie beyond a percentile for it to be printed."""
    return samples >= 1 and samples - rank(percent, samples) >= beyond


def of_samples(samples: Sequence[float], percent: Fraction | str) -> float:
    """Return a percentile of samples in any order."""
    ordered = sorted(samples)
    return ordered[rank(percent, len(ordered)) - 1]


def of_buckets(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], percent: Fraction | str
) -> float:
    """Return a percentile of histogram buckets, as the middle of the bucket that holds it.

    Parameters
    ----------
    low_ns, high_ns
        Edges of the buckets, rising; the high edge does not belong to the bucket.
    count
        Samples in each.
    percent
        The percentile, as text or a fraction so that 99.9 is exact.
    """
    total = int(count.sum())
    at = int(np.searchsorted(np.cumsum(count), rank(percent, total)))
    return (float(low_ns[at]) + float(high_ns[at]) - 1) / 2


def of_time(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], percent: Fraction | str
) -> float | None:
    """Return the latency up to which a share of all time waited was spent; of buckets as in `of_buckets`.

    None without samples, and where fewer than 10 lie beyond it.
    """
    if not count.size:
        return None
    middle = (low_ns.astype(np.float64) + high_ns.astype(np.float64) - 1) / 2
    waited = np.cumsum(middle * count)
    at = int(np.searchsorted(waited, float(Fraction(percent)) / 100 * waited[-1]))
    at = min(at, count.size - 1)
    return float(middle[at]) if int(count[at + 1 :].sum()) >= SAMPLES_BEYOND else None
