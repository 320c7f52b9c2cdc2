"""The highest load that holds: of a rate, by doubling and halving; of whole loads, by steps.

Knows no drive and no workload.
"""

from __future__ import annotations

from collections.abc import Callable

SHARE_DONE = 0.99
"""Of what arrived, the share that must be done for a rate to hold."""
Holds = Callable[[int, bool], bool]
"""Tries a rate and returns whether it held; plans need to know whether a try is certain to be made."""


def search_highest(first: int, maximum: int, resolution: float, holds: Holds) -> None:
    """Double the rate until it does not hold, then halve the interval until it is within the resolution.

    Parameters
    ----------
    first, maximum
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
        if rate >= maximum:
            return
        rate = min(2 * rate, maximum)
    while failed - held > max(1, resolution * failed):
        middle = (held + failed) // 2
        if holds(middle, False):
            held = middle
        else:
            failed = middle


def step_to_highest(first: int, coarse: int, fine: int, holds: Holds, *, maximum: int, upwards: bool) -> None:
    """Step towards the limit by `coarse`, then across the gap that is left by `fine`.

    Parameters
    ----------
    first
        Load to begin with: above the limit, or with `upwards` below it. On the other side of it already, the
        steps turn round.
    coarse, fine
        Steps. Loads below `fine` are not tried.
    holds
        Keeps account of what it tried: what the search found follows from that.
    maximum
        Highest load tried.
    upwards
        Come from below, in both passes.
    """
    if holds(first, True):
        low, high = _climb(first, coarse, maximum, holds)
    else:
        low, high = _descend(first, coarse, fine, holds)
    between = range(low + fine, high, fine)
    for load in between if upwards else reversed(between):
        if holds(load, False) != upwards:
            return


def _climb(held: int, coarse: int, maximum: int, holds: Holds) -> tuple[int, int]:
    """Step up from a load that held; returns the last that did and the first that did not.

    If none failed up to the highest, both are that one, so that nothing lies between them.
    """
    while held < maximum:
        load = min(held + coarse, maximum)
        if not holds(load, False):
            return held, load
        held = load
    return held, held


def _descend(failed: int, coarse: int, fine: int, holds: Holds) -> tuple[int, int]:
    """Step down from a load that failed; returns the first that held, or 0, and the last that did not."""
    while failed > fine:
        load = max(failed - coarse, fine)
        if holds(load, False):
            return load, failed
        failed = load
    return 0, failed
