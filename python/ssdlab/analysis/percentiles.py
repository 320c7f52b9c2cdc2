"""Percentiles of latency from histogram buckets, and how many samples each needs.

The definition is the nearest rank: the p-th percentile is the smallest sample that at least p per cent of the
samples do not exceed. It is always a latency that occurred; from buckets, its error is at most the width of a
bucket. A percentile is worth printing only if several samples lie beyond it. With fewer than 10, its own
error (of a binomial count, about 1/sqrt(n)) is over 30 %.

If a standard requires a percentile whatever the count, it is given with bounds. The number of samples below
the true value is binomial, so two order statistics enclose the value with 95 % confidence. With few samples
there is no upper bound.

A percentile weighted by time is the latency up to which that share of all waiting time was spent. Rare slow
I/Os weigh by their length: F(t) = sum of latencies up to t / sum of all.

Sources: R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
(1996), definition 1; for the count beyond, W. J. Conover, "Practical Nonparametric Statistics" (1999),
section 3.2 (bounds of a quantile as well); the weighting by time is that of PC Perspective, "Latency Weighted
Percentile" (2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, inf, lgamma, log, sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

SAMPLES_BEYOND = 10
BUCKET_WIDTH = 1 / 64
"""Maximum width of a bucket of the histograms, as a share of its latency: an octave has 64."""
CONFIDENCE = 0.95
"""Probability that the bounds of an estimate enclose the true percentile."""
_REACH = 12
"""Range of a binomial count that is summed, in standard deviations around its mean: the rest is below
1e-32."""


@dataclass(frozen=True)
class Estimate:
    """A percentile with the number of samples and the bounds of its true value.

    Attributes
    ----------
    value_ns
        The percentile by nearest rank.
    samples
        Number of samples that it is computed from.
    low_ns, high_ns
        Order statistics that enclose the true percentile with `CONFIDENCE`; None if there are too few samples
        to bound it on that side.
    """

    value_ns: float
    samples: int
    low_ns: float | None
    high_ns: float | None


def rank(percent: Fraction | str, samples: int) -> int:
    """Return the rank of a percentile among `samples` samples, from 1; exact, as `percent` is a fraction.

    Raises
    ------
    ValueError
        There are no samples, or the percentile is outside 0 to 100.
    """
    exact = Fraction(percent)
    if samples < 1 or not 0 <= exact <= 100:
        raise ValueError(f"percentile {percent} of {samples} samples is not defined")
    return max(1, ceil(exact * samples / 100))


def sayable(percent: Fraction | str, samples: int, beyond: int = SAMPLES_BEYOND) -> bool:
    """Return whether enough samples lie beyond a percentile for it to be printed."""
    return samples >= 1 and samples - rank(percent, samples) >= beyond


def of_buckets(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], percent: Fraction | str
) -> float:
    """Return a percentile of histogram buckets, as the middle of the bucket that holds it.

    Parameters
    ----------
    low_ns, high_ns
        Edges of the buckets, rising; the high edge does not belong to the bucket.
    count
        Samples in each bucket.
    percent
        The percentile, as text or a fraction so that 99.9 is exact.
    """
    total = int(count.sum())
    at = int(count.cumsum().searchsorted(rank(percent, total)))
    return (float(low_ns[at]) + float(high_ns[at]) - 1) / 2


def bounding_ranks(
    percent: Fraction | str, samples: int, confidence: float = CONFIDENCE
) -> tuple[int | None, int | None]:
    """Return the ranks, from 1, of the order statistics that enclose the true percentile.

    Each side has at most half of the allowed error. A rank is None if no order statistic bounds that side.
    """
    beyond = float(1 - Fraction(percent) / 100)
    error = (1 - confidence) / 2
    mean, reach = samples * beyond, _REACH * sqrt(samples * beyond) + _REACH
    above, below, total = None, None, 0.0
    for count in range(max(0, int(mean - reach)), min(samples, int(mean + reach)) + 1):
        total += _binomial(count, samples, beyond)
        if total <= error:
            below = count  # fewer samples beyond are improbable enough to leave out
        if above is None and 1 - total <= error:
            above = count
    low = None if above is None or above >= samples else samples - above
    return low, None if below is None else samples - below


def _binomial(count: int, samples: int, share: float) -> float:
    ways = lgamma(samples + 1) - lgamma(count + 1) - lgamma(samples - count + 1)
    return exp(ways + count * log(share) + (samples - count) * log(1 - share))


def estimate(
    low_ns: npt.NDArray[Any],
    high_ns: npt.NDArray[Any],
    count: npt.NDArray[Any],
    percent: Fraction | str,
    max_ns: float = inf,
) -> Estimate | None:
    """Return a percentile of buckets with its count and bounds; None without samples.

    `max_ns` is the greatest sample, if known: the middle of a bucket may lie above it.
    """
    total = int(count.sum())
    if not total:
        return None
    reached = count.cumsum()

    def at(place: int | None) -> float | None:
        if place is None:
            return None
        bucket = int(reached.searchsorted(place))
        return min((float(low_ns[bucket]) + float(high_ns[bucket]) - 1) / 2, max_ns)

    low, high = bounding_ranks(percent, total)
    value = at(rank(percent, total))
    assert value is not None  # there is a sample of every rank
    return Estimate(value, total, at(low), at(high))


def of_time(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], percent: Fraction | str
) -> float | None:
    """Return the latency up to which a share of all waiting time was spent; buckets as in `of_buckets`.

    None without samples, or if fewer than 10 samples lie beyond it.
    """
    if not count.size:
        return None
    middle = (low_ns.astype(float) + high_ns.astype(float) - 1) / 2
    waited = (middle * count).cumsum()
    at = int(waited.searchsorted(float(Fraction(percent)) / 100 * waited[-1]))
    at = min(at, count.size - 1)
    return float(middle[at]) if int(count[at + 1 :].sum()) >= SAMPLES_BEYOND else None
