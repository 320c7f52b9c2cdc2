"""Outliers among comparable values, with a stated probability of a false alarm.

A value is far when it is further from the median than `g` times the median absolute deviation (Hampel's
identifier). Both stay what they are while fewer than half of the values are bad, so outliers do not hide
each other, as they do from mean and standard deviation. `g` is chosen so that of `n` values of one normal
distribution any is named with the probability `alpha` at most: for all of them together, not for each.

Sources: F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974); L. Davies and
U. Gather, "The identification of multiple outliers", JASA 88 (1993), for a bound on all values together;
P. J. Rousseeuw and C. Croux, "Alternatives to the median absolute deviation", JASA 88 (1993), for how much
the deviation itself varies: as a standard deviation of 0.37 as many values, hence Student's t below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VALUES_MIN = 8
"""Of fewer values the deviation says too little for any to be called far."""
MAD_OF_SIGMA = 0.6744897501960817
"""Median absolute deviation of a normal distribution with standard deviation 1."""
EFFICIENCY = 0.37
_STEPS = 2000
_DECAYS = 40.0


@dataclass(frozen=True)
class Spread:
    """Where values lie, and how far from there one is an outlier.

    Attributes
    ----------
    middle
        The median.
    sigma
        Robust standard deviation: the median absolute deviation, scaled.
    judged_sigma
        What the limit is a multiple of: sigma, or the least that the values are judged by where that is more.
    limit
        Distance from the middle beyond which a value is an outlier; infinite with too few values.
    """

    middle: float
    sigma: float
    judged_sigma: float
    limit: float

    @property
    def judged(self) -> bool:
        """Whether there are values enough for any to be called an outlier."""
        return math.isfinite(self.limit)

    def is_far(self, value: float) -> bool:
        """Whether a value is an outlier."""
        return abs(value - self.middle) > self.limit


def spread_of(values: Sequence[float], alpha: float, *, min_sigma: float = 0.0) -> Spread:
    """Return where values lie, and the limit beyond which one is an outlier.

    Parameters
    ----------
    values
        One or more, in any unit; of times and rates their logarithms, whose spread is the same both ways.
    alpha
        Bound on the probability that any of them is named, if all are of one normal distribution.
    min_sigma
        What they are known to at best: values that agree better than that are no reason to call the next far.
    """
    middle = median(values)
    sigma = median(abs(each - middle) for each in values) / MAD_OF_SIGMA
    judged = max(sigma, min_sigma)
    enough = len(values) >= VALUES_MIN
    return Spread(middle, sigma, judged, judged * far(len(values), alpha) if enough else math.inf)


def far(count: int, alpha: float) -> float:
    """Return how many robust standard deviations off a value is far, of `count` values.

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
    """Return the probability that Student's t is greater, by Simpson's rule.

    With t = sqrt(freedom) tan(u) the density is a power of cos(u), on a finite range. Where there are many
    values it is followed until it has fallen by e^40.
    """
    if t <= 0:
        return 0.5
    begin = math.atan(t / math.sqrt(freedom))
    end = min(math.pi / 2, begin + _DECAYS / (math.sqrt(freedom) * max(t, 1.0)))
    width = (end - begin) / _STEPS
    power = freedom - 1
    total: float = math.cos(begin) ** power
    for step in range(1, _STEPS):  # the last term is nothing
        total += (4 if step % 2 else 2) * math.cos(begin + step * width) ** power
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(math.pi)
    return math.exp(log_scale) * total * width / 3
