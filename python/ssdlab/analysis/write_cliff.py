"""Where random writes from the fresh drive on begin to slow down for good: the write cliff.

As long as there is empty flash, what is written goes there and nothing is collected. When so much was
written as there is flash, less what the drive keeps free, every write costs what collection moves for it.

Source: SNIA SSS PTS 2.0.2, section 10 (write saturation), whose plots name the fall the write cliff. That it
is found by a share of the level before it is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import exp
from statistics import median

PIECES = 50
"""Into so many pieces each physical capacity is cut."""
BEFORE = (0.6, 0.85)
"""Physical capacities written at which the level before the cliff is taken: behind the end of any cache."""
FALLEN = 0.85
"""Share of that level below which the speed has fallen: what a cache does beside the writes costs less."""


def cliff_begins(speeds: Sequence[float], pieces: int = PIECES) -> float | None:
    """Return after how many physical capacities the speed falls for good; None where it does not.

    Parameters
    ----------
    speeds
        Of the pieces of what was written, in any one unit; `pieces` of them make a physical capacity.

    Raises
    ------
    ValueError
        Less was written than one physical capacity.
    """
    if len(speeds) < pieces:
        raise ValueError(f"{len(speeds)} pieces are less than a physical capacity of {pieces}")
    first, last = (round(pieces * edge) for edge in BEFORE)
    level = median(speeds[first:last])
    standing = max(at for at, speed in enumerate(speeds) if speed >= FALLEN * level)
    return None if standing == len(speeds) - 1 else (standing + 1) / pieces


def fresh_amplification(alpha: float, steps: int = 500) -> Iterator[tuple[float, float]]:
    """Yield how the write amplification of uniform random writes grows from an erased drive on, without end.

    Nothing is collected until the flash is full. Then the oldest superblock is: of what was written an age
    `a` ago a share of exp(-a) is still valid, ages in user capacities written. A user capacity moves the log
    on by as many as were written with what was moved, and the oldest is `alpha` of them behind its end. It
    is the model of Desnoyers (SYSTOR 2012) before its steady state, whose limit is his closed form.

    Parameters
    ----------
    alpha
        Capacity of the flash to that of the user, without what the drive keeps free.
    steps
        To each user capacity.

    Yields
    ------
    tuple of float
        User capacities written, and the write amplification then.

    >>> grown = fresh_amplification(1.3)
    >>> [round(cost, 2) for at, cost in (next(grown) for _ in range(10_000)) if at in (1.0, 1.3, 19.0)]
    [1.0, 1.37, 2.36]
    """
    log, oldest = [0.0], 0
    for at in count():
        amplification = 1.0
        if log[-1] >= alpha:
            behind = log[-1] - alpha
            while log[oldest + 1] <= behind:
                oldest += 1
            within = (behind - log[oldest]) / (log[oldest + 1] - log[oldest])
            amplification = 1 / (1 - exp(-(at - oldest - within) / steps))
        yield at / steps, amplification
        log.append(log[-1] + amplification / steps)
