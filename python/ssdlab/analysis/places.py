"""Places of drives in one figure: those that are level share one.

Two figures are level where they lie closer than two samples of a model do, or closer than either of them
varies by its own evidence: rounds that differ by 4 % do not show which of two drives is 1 % ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEVEL = 0.01
"""Closer than this, two figures are called level: less than what two samples of a model differ by."""


@dataclass(frozen=True)
class Variation:
    """How far a figure varies by its own evidence.

    Attributes
    ----------
    amount
        In the unit of the figure.
    words
        What shows it, with a place for the share: `rounds differ by {share}`.
    """

    amount: float
    words: str


def largest(found: Iterable[Variation | None]) -> Variation | None:
    """Return the one that a figure varies most by; None where nothing shows any."""
    return max((each for each in found if each is not None), key=lambda each: each.amount, default=None)


def places(ordered: Sequence[float], varied: Sequence[Variation | None] = ()) -> list[int]:
    """Return the place of each value, from 1; those that are level with the best of their place share it.

    Parameters
    ----------
    ordered
        Values from the best to the worst, whichever way that is.
    varied
        How far each of them varies; empty: nothing shows that.
    """
    found: list[int] = []
    best, best_varies = 0, None
    for at, (value, varies) in enumerate(zip(ordered, varied or repeat(None))):  # noqa: B905 - may have no end
        if not at or not level(value, ordered[best], largest((varies, best_varies))):
            best, best_varies = at, varies
        found.append(best + 1)
    return found


def level(value: float, best: float, varies: Variation | None = None) -> bool:
    """Whether a value differs from the best of a place by less than what counts."""
    counts = max(LEVEL * abs(best), 0.0 if varies is None else varies.amount)
    return value == best or abs(value - best) < counts
