"""The reported queue depth, the lowest that reaches 95 % of the best; and whether a sweep falls.

Throughput rises with the number of I/Os in flight until the drive is busy all the time; beyond that, more
of them only wait longer. A single fixed depth therefore favours some drives over others, and the peak itself
may need an extreme depth for the last per cent. Enterprise drive reviews sweep the depth and report the
lowest depth within 5 % of the best, and take throughput, latency and efficiency from that one point.

Source: AnandTech, review of the Kingston DC500 series (2019), page "Peak Throughput And Steady State".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ssdlab.analysis.steady_state import MAX_RANGE

SHARE_OF_BEST = 0.95
"""The reviews' share: two runs of one point differ by about 5 %, so a lower depth this close is as good."""
_AS_GOOD = 0.99
"""Of the best: what a plateau rises by from one depth to the next is noise, and no peak of its own."""


@dataclass(frozen=True)
class Saturation:
    """Where a curve of throughput over depth saturates. `chosen` and `best` are positions in the curve.

    `deciding` are those of the points that the choice rests on. The lowest that is as good as the best is
    what the share is of. The next lower one is not good enough, and the next deeper one shows that the curve
    no longer rises. What lies further on a plateau decides nothing.
    """

    chosen: int
    best: int
    threshold: float
    lowest: float
    highest: float
    deciding: tuple[int, ...]


def saturation(
    depths: Sequence[int], throughputs: Sequence[float], share: float = SHARE_OF_BEST
) -> Saturation:
    """Find the lowest depth whose throughput is at least `share` of the best.

    Parameters
    ----------
    depths
        I/Os in flight, strictly rising.
    throughputs
        Of each depth, in any one unit. The curve need not rise: a dip before the chosen point does not
        matter, for the rule asks for the lowest depth that is good enough and not for the first one after
        which all are.
    share
        Share of the best that is good enough, above 0 and up to 1.

    Returns
    -------
    Saturation
        Of several equally good depths the lowest is `best` as well.

    Raises
    ------
    ValueError
        No points, depths that do not rise, or a share out of bounds.
    """
    if not depths or len(depths) != len(throughputs):
        raise ValueError(f"{len(depths)} depths and {len(throughputs)} throughputs make no curve")
    if any(later <= earlier for earlier, later in pairwise(depths)):
        raise ValueError(f"depths must rise: {list(depths)}")
    if not 0 < share <= 1:
        raise ValueError(f"a share of {share} is not above 0 and up to 1")
    highest = max(throughputs)
    threshold = share * highest
    chosen = next(index for index, value in enumerate(throughputs) if value >= threshold)
    as_good = next(index for index, value in enumerate(throughputs) if value >= _AS_GOOD * highest)
    around = {chosen - 1, chosen, chosen + 1, as_good}
    deciding = tuple(sorted(around.intersection(range(len(depths)))))
    return Saturation(chosen, throughputs.index(highest), threshold, min(throughputs), highest, deciding)


# Whether throughput falls with rising depth, which a drive in one state does not do by itself.
#
# More I/Os in flight can be of no use, and they can cost a little; they do not cost a fifth. A sweep of
# writes that loses more than that has rather met a drive whose fresh blocks, or whose cache, ran out on the
# way: its first points are then those of another state than its last. The first point taken again at the
# end tells the two apart. That a fifth is allowed is the range that SNIA's rule allows a steady window (PTS
# 2.0.2, 2.1.24).


@dataclass(frozen=True, slots=True)
class Fall:
    """The deepest fall of a series: positions of the value that it fell from, and of the one it fell to."""

    high: int
    low: int
    share: float
    """Of the higher value that was lost, 0 to 1."""


def deepest_fall(values: Sequence[float], by_host: Sequence[bool]) -> Fall | None:
    """Return the deepest fall of throughput with rising depth; None where none is over the fifth allowed.

    Parameters
    ----------
    values
        Throughput by rising depth, in any one unit.
    by_host
        Of each, whether the host was its limit: what the host costs says nothing of the drive's state.
    """
    found: Fall | None = None
    high = 0
    for at, value in enumerate(values):
        if by_host[at]:
            continue
        if value > values[high] or by_host[high]:
            high = at
        lost = 1 - value / values[high] if values[high] > 0 else 0.0
        if lost > MAX_RANGE and (found is None or lost > found.share):
            found = Fall(high, at, lost)
    return found


def came_back(first: float, again: float) -> bool:
    """Return whether a point that was taken again is within the fifth of what it was."""
    return abs(again - first) <= MAX_RANGE * first
