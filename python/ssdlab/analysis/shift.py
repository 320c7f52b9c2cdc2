"""How much one set of repeats exceeds another, and whether the shift is significant.

Latencies and rates of repeats are skewed and have outliers. Nothing here therefore relies on means or on a
normal distribution. The test is that of Mann and Whitney (Ann. Math. Statist. 18, 1947), with mid-ranks for
ties, and with the exact conditional distribution for up to `EXACT` values in total. The estimate is that of
Hodges and Lehmann (Ann. Math. Statist. 34, 1963): the median of all pairwise differences. Differences are of
logarithms, so a shift is a factor. The interval contains the differences that the test would not reject
(Moses, 1965).

The test is one-sided, since a gate asks for one direction. The two-sided interval thus has the confidence 1 -
2 `SIGNIFICANCE`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

SIGNIFICANCE = 0.01
"""Accepted probability of a false alarm in each test. With 0.05 a gate over five figures would raise a false
alarm in every fourth build."""
REPEATS_MIN = 5
"""Minimum repeats on each side. With four on each, the smallest possible p is 1/70 = 0.014, which is never
significant."""
EXACT = 100


@dataclass(frozen=True)
class Shift:
    """How much higher the new values are than the base values; 0.05 is 5 % more.

    Attributes
    ----------
    base, new
        Number of values on each side.
    share
        Estimated shift, as a share of the base.
    low, high
        Interval of the shift with confidence 1 - 2 `SIGNIFICANCE`; None if there are too few values.
    p_higher, p_lower
        One-sided p-values: probability of values at least so much higher, or lower, without a shift.
    detectable
        Smallest shift that values with this spread would show as significant; None if there is no interval.
    """

    base: int
    new: int
    share: float
    low: float | None
    high: float | None
    p_higher: float
    p_lower: float
    detectable: float | None


def shift_of(base: Sequence[float], new: Sequence[float]) -> Shift:
    """Return the shift between two sets of positive values.

    Raises
    ------
    ValueError
        A set is empty, or a value is not positive and finite.
    """
    one, other = np.asarray(base, float), np.asarray(new, float)
    both = np.concatenate([one, other])
    if not len(one) or not len(other) or not np.all(np.isfinite(both) & (both > 0)):
        raise ValueError("shifts are of positive values on both sides")
    differences = np.sort(np.subtract.outer(np.log(other), np.log(one)), axis=None)
    left = _left_out(len(one), len(other))
    low, high, half = None, None, None
    if left is not None:
        ends = float(differences[left]), float(differences[-1 - left])
        low, high = math.expm1(ends[0]), math.expm1(ends[1])
        half = math.expm1((ends[1] - ends[0]) / 2)
    share = math.expm1(float(np.median(differences)))
    higher, lower = p_of_higher(one, other), p_of_higher(other, one)
    return Shift(len(one), len(other), share, low, high, higher, lower, half)


def p_of_higher(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Return the one-sided p-value of the Mann-Whitney test that `other` is higher than `one`.

    Exact for up to `EXACT` values in total, else by the normal approximation.
    """
    first, second = np.asarray(one, float), np.asarray(other, float)
    ranks = _doubled_ranks(np.concatenate([first, second]))
    m, total = len(first), len(first) + len(second)
    found = int(ranks[:m].sum())
    if total <= EXACT:
        return min(1.0, float(_rank_sums(tuple(sorted(ranks.tolist())), m)[: found + 1].sum()))
    _, counts = np.unique(ranks, return_counts=True)
    ties = float((counts**3 - counts).sum()) / (total * (total - 1))
    spread = math.sqrt(m * (total - m) / 12 * (total + 1 - ties))
    if spread == 0:
        return 1.0
    below = (m * (total + 1) - found) / 2 - 0.5  # deviation of the rank sum, with half a unit for continuity
    return math.erfc(below / spread / math.sqrt(2)) / 2


def _doubled_ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return twice the mid-rank of each value, a whole number."""
    ordered = np.sort(values)
    first = np.searchsorted(ordered, values, side="left")
    last = np.searchsorted(ordered, values, side="right")
    return (first + last + 1).astype(np.int64)


@lru_cache(maxsize=64)
def _rank_sums(ranks: tuple[int, ...], chosen: int) -> npt.NDArray[np.float64]:
    """Return the probability of each sum of `chosen` of the ranks, if all choices are equally likely."""
    choices = np.zeros((chosen + 1, sum(ranks[len(ranks) - chosen :]) + 1))
    choices[0, 0] = 1
    for rank in ranks:
        choices[1:, rank:] += choices[:-1, : choices.shape[1] - rank]
    shares: npt.NDArray[np.float64] = choices[chosen] / choices[chosen].sum()
    return shares


def _left_out(m: int, n: int) -> int | None:
    """Return how many ordered differences lie outside the interval at each end; None if all do."""
    if m + n <= EXACT:
        shares = _rank_sums(tuple(range(2, 2 * (m + n) + 1, 2)), m)
        lowest = m * (m + 1)  # twice the smallest rank sum; U is half of the amount above it
        tail = np.cumsum(shares[lowest::2])
        count = int(np.searchsorted(tail, SIGNIFICANCE, side="right"))
        return count - 1 if count else None
    quantile = 2.3263478740408  # normal quantile at 1 - SIGNIFICANCE
    left = math.floor(m * n / 2 - 0.5 - quantile * math.sqrt(m * n * (m + n + 1) / 12))
    return left if left >= 0 else None
