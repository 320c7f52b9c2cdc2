"""Where random writes from the fresh drive on begin to slow down for good: the write cliff.

As long as there is empty flash, what is written goes there and nothing is collected. When so much was
written as there is flash, less what the drive keeps free, every write costs what collection moves for it.

Source: SNIA SSS PTS 2.0.2, section 10 (write saturation), whose plots name the fall the write cliff. That it
is found by a share of the level before it is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
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
