"""Outliers among comparable values, with a stated probability of a false alarm.

A value is an outlier if it is further from the median than `g` times the median absolute deviation (Hampel's
identifier). Median and deviation change little while fewer than half of the values are bad. Outliers thus do
not hide each other, as they do with mean and standard deviation. `g` is chosen so that among `n` values of
one normal distribution any is called an outlier with a probability of at most `alpha`: all values together,
not each.

Sources: F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974); L. Davies and
U. Gather, "The identification of multiple outliers", JASA 88 (1993), for a bound on all values together; P.
J. Rousseeuw and C. Croux, "Alternatives to the median absolute deviation", JASA 88 (1993), for the variation
of the deviation itself. It varies as a standard deviation of 0.37 times as many values does, hence Student's
t below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUES_MIN = 8
"""With fewer values the deviation is too uncertain to call any value an outlier."""
MAD_OF_SIGMA = 0.6744897501960817
"""Median absolute deviation of a normal distribution with standard deviation 1."""
EFFICIENCY = 0.37
_STEPS = 2000
_DECAYS = 40.0


@dataclass(frozen=True)
class Spread:
    """Middle and spread of values, and the limit for outliers.

    Attributes
    ----------
    middle
        The median.
    sigma
        Robust standard deviation: the scaled median absolute deviation.
    judged_sigma
        Sigma, or the minimum given to `spread_of` if that is greater. The limit is a multiple of it.
    limit
        Distance from the middle beyond which a value is an outlier; infinite with too few values.
    """

    middle: float
    sigma: float
    judged_sigma: float
    limit: float

    @property
    def judged(self) -> bool:
        """Whether there are enough values to call any an outlier."""
        return math.isfinite(self.limit)

    def is_far(self, value: float) -> bool:
        return abs(value - self.middle) > self.limit


def spread_of(values: Sequence[float], alpha: float, *, min_sigma: float = 0.0) -> Spread:
    """Return middle and spread of values, and the limit for outliers.

    Parameters
    ----------
    values
        At least one value, in any unit. Give times and rates as logarithms, whose spread is symmetric.
    alpha
        Maximum probability that any value is called an outlier, if all come from one normal distribution.
    min_sigma
        Precision of the values, as a standard deviation. Values that agree better by chance do not make the
        next one an outlier.
    """
    middle = median(values)
    sigma = median(abs(each - middle) for each in values) / MAD_OF_SIGMA
    judged = max(sigma, min_sigma)
    enough = len(values) >= VALUES_MIN
    return Spread(middle, sigma, judged, judged * far(len(values), alpha) if enough else math.inf)


def far(count: int, alpha: float) -> float:
    """Return the limit for outliers among `count` values, in robust standard deviations.

    >>> round(far(200, 0.01), 1)
    4.3
    """
    single = alpha / (2 * count)
    freedom = EFFICIENCY * (count - 1)
    low, high = 0.0, 1.0
    while _tail(high, freedom) > single:
        low, high = high, 2 * high
    while high - low > 1e-6 * high:
        half = (low + high) / 2
        low, high = (half, high) if _tail(half, freedom) > single else (low, half)
    return high


def _tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t is greater than `t`, by Simpson's rule.

    With t = sqrt(freedom) tan(u) the density is a power of cos(u), on a finite range. With many values the
    integration ends where the density has fallen by e^40.
    """
    if t <= 0:
        return 0.5
    begin = math.atan(t / math.sqrt(freedom))
    end = min(math.pi / 2, begin + _DECAYS / (math.sqrt(freedom) * max(t, 1.0)))
    width = (end - begin) / _STEPS
    power = freedom - 1
    total: float = math.cos(begin) ** power
    for step in range(1, _STEPS):  # the last term is zero
        total += (4 if step % 2 else 2) * math.cos(begin + step * width) ** power
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(math.pi)
    return math.exp(log_scale) * total * width / 3
