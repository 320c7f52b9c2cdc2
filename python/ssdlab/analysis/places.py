"""Places of drives in one figure: tied drives share one.

Two figures are level where they lie closer than two samples of a model do, or closer than either of them
varies by its own evidence: rounds that differ by 4 % do not show which of two drives is 1 % ahead.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.01
"""Closer than this, two figures are called level: less than what two samples of a model differ by."""


def places(ordered: Sequence[float], varied: Sequence[float | None] = ()) -> list[int]:
    """Return the place of each value, from 1; those that are level with the best of their place share it.

    Parameters
    ----------
    ordered
        Values from the best to the worst, whichever way that is.
    varied
        How far each of them varies, in their unit; empty: nothing shows that.
    """
    found: list[int] = []
    best, best_varies = 0, 0.0
    for at, (value, varies) in enumerate(zip(ordered, varied or repeat(None))):  # noqa: B905 - may have no end
        if not at or not level(value, ordered[best], max(varies or 0.0, best_varies)):
            best, best_varies = at, varies or 0.0
        found.append(best + 1)
    return found


def level(value: float, best: float, varies: float | None = None) -> bool:
    """Whether a value differs from the best of a place by less than what counts."""
    counts = max(LEVEL * abs(best), varies or 0.0)
    return value == best or abs(value - best) < counts
