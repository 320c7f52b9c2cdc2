"""Places of drives in one figure: those that are level share one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.01
"""Closer than this, two figures are called level: less than what two samples of a model differ by."""


def places(ordered: Sequence[float]) -> list[int]:
    """Return the place of each value, from 1; those that are level with the best of their place share it.

    Parameters
    ----------
    ordered
        Values from the best to the worst, whichever way that is.
    """
    found: list[int] = []
    best = 0
    for at, value in enumerate(ordered):
        if not level(value, ordered[best]):
            best = at
        found.append(best + 1)
    return found


def level(value: float, best: float) -> bool:
    """Whether a value differs from the best of a place by less than what counts."""
    return value == best or abs(value - best) < LEVEL * abs(best)
