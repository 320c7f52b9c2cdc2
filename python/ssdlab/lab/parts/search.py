"""Searches for the highest load that passes: by doubling and bisecting a rate, or in steps of a fixed size.

They depend on neither drive nor workload.
"""

from __future__ import annotations

from collections.abc import Callable

SHARE_DONE = 0.99
"""Share of the offered I/Os that must complete for a rate to pass."""
Holds = Callable[[int, bool], bool]
"""Function that tries a load and returns whether it passed.

Its second argument says whether the try is certain, so that it counts in a plan's lower bounds.
"""


def search_highest(first: int, maximum: int, resolution: float, holds: Holds) -> None:
    """Double the rate until it fails, then bisect down to the resolution.

    Parameters
    ----------
    first, maximum
        First and highest rate.
    resolution
        Final width of the interval, as a share of the lowest failed rate.
    holds
        Tries a rate; the steps that it records give the result.
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


def step_to_highest(
    first: int, coarse: int, fine: int, holds: Holds, *, maximum: int, upwards: bool, again: bool = True
) -> None:
    """Approach the limit in `coarse` steps, then close the gap in `fine` steps.

    The drive may change during the search. So if the last try failed, the loads that held are tried again,
    the highest first, and then lower ones in coarse steps, until one holds.

    Parameters
    ----------
    first
        First load. The coarse steps go up if it passes, else down.
    coarse, fine
        Step sizes. Loads below `fine` are not tried.
    holds
        Tries a load; the steps that it records give the result.
    maximum
        Highest load to try.
    upwards
        Whether the fine steps go up until a load fails, or down until a load passes.
    again
        Whether loads that held are tried again; needless if each try finds the drive in the same state.
    """
    held: list[int] = []

    def tried(load: int, certain: bool) -> bool:
        if found := holds(load, certain):
            held.append(load)
        return found

    if tried(first, True):
        low, high = _climb(first, coarse, maximum, tried)
        last_held = low == high
    else:
        low, high = _descend(first, coarse, fine, tried)
        last_held = low > 0
    between = range(low + fine, high, fine)
    for load in between if upwards else reversed(between):
        last_held = tried(load, False)
        if last_held != upwards:
            break
    if not again or last_held or not held:
        return
    if not any(holds(load, False) for load in sorted(held, reverse=True)):
        _descend(min(held), coarse, fine, holds)


def _climb(held: int, coarse: int, maximum: int, holds: Holds) -> tuple[int, int]:
    """Step up from a load that passed; return the last that passed and the first that failed.

    If no load up to the maximum failed, both are the maximum, so that nothing lies between them.
    """
    while held < maximum:
        load = min(held + coarse, maximum)
        if not holds(load, False):
            return held, load
        held = load
    return held, held


def _descend(failed: int, coarse: int, fine: int, holds: Holds) -> tuple[int, int]:
    """Step down from a load that failed; return the first that passed (or 0), and the last that failed."""
    while failed > fine:
        load = max(failed - coarse, fine)
        if holds(load, False):
            return load, failed
        failed = load
    return 0, failed
