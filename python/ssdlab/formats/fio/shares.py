"""Whole numbers that sum to what was shared out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def percents(weights: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Return the weights as whole percents that sum to 100, and whether they say the same exactly.

    By the largest remainders: rounded one by one, three equal weights would be 99.
    """
    total = sum(weights)
    whole = [100 * weight // total for weight in weights]
    rest = [100 * weight % total for weight in weights]
    largest = sorted(range(len(weights)), key=lambda index: (-rest[index], index))
    for index in largest[: 100 - sum(whole)]:
        whole[index] += 1
    return tuple(whole), not any(rest)


def share(total: int, index: int, parts: int) -> int:
    """Return what the one of `parts` gets: the shares sum to the total, as those of the engine's sources."""
    return total * (index + 1) // parts - total * index // parts
