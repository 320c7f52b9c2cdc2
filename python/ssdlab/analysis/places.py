"""Places of drives in a ranking of one figure; tied drives share a place.

Two figures are tied if they differ by less than two samples of one model do, or by less than either figure
varies. Rounds that vary by 4 % do not show which of two drives is 1 % ahead.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.01
"""Relative difference below which two figures are tied: two samples of a model differ by more."""


def places(ordered: Sequence[float], varied: Sequence[float | None] = ()) -> list[int]:
    """Return the place of each value, from 1. Values tied with the best of a place share it.

    Parameters
    ----------
    ordered
        Values from the best to the worst, in either direction.
    varied
        Variation of each value, in its unit; empty if it is not known.
    """
    found: list[int] = []
    best, best_varies = 0, 0.0
    for at, (value, varies) in enumerate(zip(ordered, varied or repeat(None))):  # noqa: B905 - may have no end
        if not at or not level(value, ordered[best], max(varies or 0.0, best_varies)):
            best, best_varies = at, varies or 0.0
        found.append(best + 1)
    return found


def level(value: float, best: float, varies: float | None = None) -> bool:
    """Return whether a value is tied with the best value of a place."""
    counts = max(LEVEL * abs(best), varies or 0.0)
    return value == best or abs(value - best) < counts
