"""Whether a queue before the drive grows: arrivals that come faster than they are served.

The share that was done of what arrived tells little of a short measurement, since what still waits at its end
is served afterwards. What tells is the wait itself: where the drive falls behind by a constant share, it
rises in proportion to the time, so that its means over four equal quarters are as 1, 3, 5 and 7. Where the
drive keeps up, the wait varies and does not rise: four of them are in rising order once in 24 times, and then
hardly ever so far apart.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

QUARTERS = 4
RISE = 3.0
"""Last quarter against the first: 7 of a queue that grows evenly, 3 of one that began to at a third."""
MIN_WAIT_NS = 1e6
"""A wait below that is the host's own lateness, whatever its course: the engine calls 1 ms late."""


def backlog_grows(waits_ns: Sequence[float]) -> bool:
    """Return whether the wait of arrivals, row by row, is that of a growing queue.

    Parameters
    ----------
    waits_ns
        Wait from the intended start to the submission in each interval row, in order of time; of fewer than
        four rows nothing is said.

    >>> backlog_grows([0.0, 2e6, 4e6, 6e6, 8e6, 10e6, 12e6, 14e6])
    True
    >>> backlog_grows([5e6, 1e6, 9e6, 2e6, 7e6, 1e6, 8e6, 3e6])
    False
    """
    import numpy as np

    if len(waits_ns) < QUARTERS:
        return False
    means = [float(np.mean(part)) for part in np.array_split(np.asarray(waits_ns, float), QUARTERS)]
    rising = all(later > earlier for earlier, later in pairwise(means))
    return rising and means[-1] >= MIN_WAIT_NS and means[-1] >= RISE * means[0]
