"""What several runs say together: the median and a confidence interval that assumes nothing of their spread.

The chance that exactly k of n independent runs lie below the median is binomial with probability one half,
whatever the distribution is. So the interval from the k-th smallest to the k-th largest value holds the
median with the chance that at least k, and at most n - k, lie below it. The narrowest interval that reaches
the wanted confidence is given; where too few runs are there for any, the interval is from least to greatest,
and the confidence is what that has: 50 % for two runs, 75 % for three, 93.75 % for five.

Source: H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition (2003), section 7.1; J.-Y. Le Boudec,
"Performance Evaluation of Computer and Communication Systems" (2010), theorem 2.1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class MedianInterval:
    """A median with the interval that holds that of all runs, and the chance that it does, 0 to 1."""

    median: float
    low: float
    high: float
    confidence: float


def median_interval(values: Sequence[float], wanted: float = CONFIDENCE) -> MedianInterval:
    """Return the median of runs and its confidence interval.

    Parameters
    ----------
    values
        One figure of each run, in any order.
    wanted
        Confidence to reach, above 0 and below 1.

    Raises
    ------
    ValueError
        No values, or a confidence out of bounds.

    >>> median_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    MedianInterval(median=3.5, low=1.0, high=6.0, confidence=0.96875)
    """
    if not values:
        raise ValueError("no runs have no median")
    if not 0 < wanted < 1:
        raise ValueError(f"a confidence of {wanted} is not between 0 and 1")
    ordered = sorted(values)
    n = len(ordered)
    # Of every other width the interval from least to greatest is the widest, so it is the fallback.
    best, confidence = 1, _confidence(n, 1)
    for k in range(2, n // 2 + 1):
        if _confidence(n, k) >= wanted:
            best, confidence = k, _confidence(n, k)
    return MedianInterval(statistics.median(ordered), ordered[best - 1], ordered[n - best], confidence)


def _confidence(n: int, k: int) -> float:
    """Return the chance that the median lies between the k-th smallest and the k-th largest of n values."""
    outside = sum(math.comb(n, below) for below in range(k))
    return max(0.0, 1.0 - math.ldexp(outside, 1 - n))
