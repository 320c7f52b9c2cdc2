"""How the figures of drives change from one repeat to the next, and which drive changes unlike the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import median, quantiles
from typing import TYPE_CHECKING

from ssdlab.analysis.outliers import Spread, spread_of
from ssdlab.fleet.population import FALSE_ALARMS, MIN_SIGMA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.fleet.population import Population, Sample

REPEATS_MAX = 60
"""Newest repeats that are looked at: slopes take the square of their number."""


@dataclass(frozen=True)
class Level:
    """All drives at one repeat, as shares of each drive's own first: quartiles, and how many drives."""

    repeat: int
    low: float
    middle: float
    high: float
    drives: int


@dataclass(frozen=True)
class Drift:
    """One figure over the repeats of all drives.

    Attributes
    ----------
    levels
        From the first repeat on.
    slopes
        Of each drive with repeats: growth from one to the next, as a logarithm.
    spread
        Where the slopes lie.
    """

    population: Population
    levels: tuple[Level, ...]
    slopes: tuple[tuple[Sample, float], ...]
    spread: Spread

    @property
    def outliers(self) -> tuple[tuple[Sample, float], ...]:
        """The drives that change unlike the others, with their growth from one repeat to the next."""
        return tuple(each for each in self.slopes if self.spread.is_far(each[1]))


def drifts(found: Sequence[Population]) -> tuple[Drift, ...]:
    """Return the drift of each figure that any drive has more than once."""
    repeated = [each for each in found if any(len(one.values) > 1 for one in each.samples)]
    return tuple(_drift(each, FALSE_ALARMS / len(repeated)) for each in repeated)


def _drift(population: Population, alpha: float) -> Drift:
    several = [each for each in population.samples if len(each.values) > 1]
    slopes = [(each, slope(each.values[-REPEATS_MAX:])) for each in several]
    longest = max(len(each.values) for each in several)
    levels = [
        _level(n, [e.values[n] / e.values[0] for e in several if len(e.values) > n]) for n in range(longest)
    ]
    spread = spread_of([each for _, each in slopes], alpha, min_sigma=MIN_SIGMA)
    return Drift(population, tuple(levels[:REPEATS_MAX]), tuple(slopes), spread)


def slope(values: Sequence[float]) -> float:
    """Return the median growth between any two repeats, for each step between them, as a logarithm.

    Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968).

    >>> round(slope([100.0, 110.0, 121.0]), 4)
    0.0953
    """
    pairs = combinations(enumerate(map(math.log, values)), 2)
    return median((later - earlier) / (j - i) for (i, earlier), (j, later) in pairs)


def _level(number: int, shares: Sequence[float]) -> Level:
    low, middle, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else [*shares] * 3
    return Level(number + 1, low, middle, high, len(shares))
