"""Quantiles of a row of values, between two of them by their distance: definition 7, numpy's own.

The same numbers as of `numpy.quantile` and `numpy.median`, to the bit. Those load numpy's masked arrays, and
take ten times as long for a short row, which a page would wait for.

Source: R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
(1996).
"""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def quantile(values: npt.NDArray[np.float64], share: float) -> float:
    """Return what a share of the values, 0 to 1, do not exceed; there is at least one, and no NaN."""
    ranks = _sorted(values)
    place = (len(ranks) - 1) * share
    below = min(floor(place), len(ranks) - 1)
    low, high = float(ranks[below]), float(ranks[min(below + 1, len(ranks) - 1)])
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def median(values: npt.NDArray[np.float64]) -> float:
    """Return the value in the middle, or the mean of the two there; there is at least one, and no NaN."""
    ranks = _sorted(values)
    return (float(ranks[(len(ranks) - 1) // 2]) + float(ranks[len(ranks) // 2])) / 2


def _sorted(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    ranks = values.copy()
    ranks.sort()
    return ranks
