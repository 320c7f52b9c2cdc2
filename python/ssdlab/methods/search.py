"""The highest rate that holds, found by doubling and halving. Knows no drive and no workload."""

from __future__ import annotations

from collections.abc import Callable

Holds = Callable[[int, bool], bool]
"""Tries a rate and says whether it held; told whether the try is certain to come, for plans."""


def search_highest(first: int, most: int, resolution: float, holds: Holds) -> None:
    """Double the rate until it does not hold, then halve the interval until it is within the resolution.

    Parameters
    ----------
    first, most
        Rates to begin and to end with.
    resolution
        Width of the interval left, as a share of the lowest rate that failed.
    holds
        Keeps account of what it tried: what the search found follows from that.
    """
    held, failed, rate = 0, None, first
    while failed is None:
        if not holds(rate, rate == first):
            failed = rate
            break
        held = rate
        if rate >= most:
            return
        rate = min(2 * rate, most)
    while failed - held > max(1, resolution * failed):
        middle = (held + failed) // 2
        if holds(middle, False):
            held = middle
        else:
            failed = middle
