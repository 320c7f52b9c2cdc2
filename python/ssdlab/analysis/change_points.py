"""Change points of a series, by the divisive energy method (E-divisive).

Source: Matteson and James, A nonparametric approach for multiple change point analysis of multivariate data,
Journal of the American Statistical Association 109 (2014).

Two segments differ by their energy distance (Szekely and Rizzo, 2005) with exponent 1: distances between
values of both segments, compared with distances within each segment. A permutation test judges the best split
of a series. If the split is significant, both parts are split again. Latencies have outliers, therefore
values are logarithms and distances are not squared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STRETCH_MIN = 5
"""Minimum number of values in a segment: one or three slow nights are not a change."""
SIGNIFICANCE = 0.05
"""Accepted probability of a false change. It may be this high, as a change is only shown and fails
nothing."""
PERMUTATIONS = 199
"""With so many permutations the smallest p is 1/200, a tenth of `SIGNIFICANCE`."""


@dataclass(frozen=True)
class Change:
    """A place where the series changed.

    Attributes
    ----------
    at
        Index of the first value after the change.
    before, after
        Medians of the segments on both sides.
    p
        p-value of the permutation test against no change.
    """

    at: int
    before: float
    after: float
    p: float

    @property
    def share(self) -> float:
        """Relative change of the median; 0.05 is 5 % more."""
        return self.after / self.before - 1


def change_points(values: Sequence[float], seed: int = 0) -> tuple[Change, ...]:
    """Return where a series of positive values changed, in order.

    Raises
    ------
    ValueError
        A value is not positive and finite.
    """
    series = np.asarray(values, float)
    if not np.all(np.isfinite(series) & (series > 0)):
        raise ValueError("changes are found in positive values")
    random = np.random.default_rng(seed)
    found: dict[int, float] = {}
    logarithms = np.log(series)
    _part(logarithms, 0, random, found)
    edges = [0, *sorted(found), len(series)]
    changes = []
    for index in range(1, len(edges) - 1):
        before = series[edges[index - 1] : edges[index]]
        after = series[edges[index] : edges[index + 1]]
        at = edges[index]
        changes.append(Change(at, float(np.median(before)), float(np.median(after)), found[at]))
    return tuple(changes)


def _part(
    series: npt.NDArray[np.float64], first: int, random: np.random.Generator, found: dict[int, float]
) -> None:
    """Split a segment at its best place if that is significant, then split both parts again.

    `first` is the index of the segment in the whole series; `found` receives places and their p-values.
    """
    if len(series) < 2 * STRETCH_MIN:
        return
    distances = np.abs(np.subtract.outer(series, series))
    best, place = _best_place(distances)
    best -= 1e-12 * abs(best)  # sums in another order differ in their last digits
    beyond = 1
    for _ in range(PERMUTATIONS):
        order = random.permutation(len(series))
        beyond += _best_place(distances[np.ix_(order, order)])[0] >= best
        if beyond > SIGNIFICANCE * (PERMUTATIONS + 1):
            return  # the remaining permutations cannot make p smaller
    found[first + place] = beyond / (PERMUTATIONS + 1)
    _part(series[:place], first, random, found)
    _part(series[place:], first + place, random, found)


def _best_place(distances: npt.NDArray[np.float64]) -> tuple[float, int]:
    """Return the greatest scaled energy distance, and the place where the left part ends.

    The right part may end before the segment does; a later change would otherwise hide an earlier one.
    """
    n = len(distances)
    # sums[i, j]: sum of the distances within the first i rows and the first j columns.
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = distances.cumsum(0).cumsum(1)
    place, end = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    left, right = place.astype(float), (end - place).astype(float)
    allowed = (left >= STRETCH_MIN) & (right >= STRETCH_MIN)
    within_left = sums[place, place]
    between = sums[place, end] - within_left
    within_right = sums[end, end] - within_left - 2 * between
    with np.errstate(divide="ignore", invalid="ignore"):
        energy = 2 * between / (left * right)
        energy -= within_left / (left * (left - 1)) + within_right / (right * (right - 1))
        scaled = np.where(allowed, energy * left * right / (left + right), -math.inf)
    index = int(scaled.argmax())
    return float(scaled.flat[index]), index // (n + 1)
