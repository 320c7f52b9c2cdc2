"""The queue depth to report, the lowest that reaches 95 % of the best throughput; and falls in a sweep.

Throughput rises with the number of I/Os in flight until the drive is always busy. Beyond that, more I/Os only
wait longer. A fixed depth therefore favours some drives, and the peak may need an extreme depth for the last
per cent. Reviews of enterprise drives sweep the depth and report the lowest one within 5 % of the best. They
take throughput, latency and efficiency from that one point.

Source: AnandTech, review of the Kingston DC500 series (2019), page "Peak Throughput And Steady State".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ssdlab.analysis.steady_state import MAX_RANGE

SHARE_OF_BEST = 0.95
"""The reviews' share: two runs of one point differ by about 5 %, so a lower depth within 5 % is as good."""
_AS_GOOD = 0.99
"""Share of the best that counts as equal: smaller rises of a plateau between depths are noise."""


@dataclass(frozen=True)
class Saturation:
    """Where a curve of throughput over depth saturates. `chosen` and `best` are indices into the curve.

    `threshold` is the required share of the best. `deciding` are the indices of the points that decide the
    choice: the chosen point, the lowest depth that is as good as the best, and the two neighbours of the
    chosen point. The lower neighbour is not good enough; the deeper one shows that the curve no longer rises.
    Deeper points on a plateau decide nothing.
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
        Throughput at each depth, in any one unit. The curve need not rise. The rule asks for the lowest depth
        that is good enough, so a dip before it does not matter.
    share
        Share of the best that is good enough, above 0 and up to 1.

    Returns
    -------
    Saturation
        `best` is the lowest of several equally good depths.

    Raises
    ------
    ValueError
        There are no points, the depths do not rise, or the share is out of bounds.
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


# Whether throughput falls with rising depth, which does not happen while a drive stays in one state.
#
# More I/Os in flight may gain nothing or cost a little, but not a fifth. If a sweep of writes loses more, the
# drive has probably run out of fresh blocks or of cache during the sweep. Its first points then show another
# state than its last. Repeating the first point at the end tells the two cases apart. The fifth is the range
# that SNIA's rule allows in a steady window (PTS 2.0.2, 2.1.24).


@dataclass(frozen=True, slots=True)
class Fall:
    """The deepest fall of a series: `high` is the index of the value before it, `low` of the value after."""

    high: int
    low: int
    share: float
    """Share of the higher value that was lost, 0 to 1."""


def deepest_fall(values: Sequence[float], by_host: Sequence[bool]) -> Fall | None:
    """Return the deepest fall of throughput with rising depth; None if no fall exceeds a fifth.

    Parameters
    ----------
    values
        Throughput by rising depth, in any one unit.
    by_host
        Whether the host limited each value. Such values are skipped, as they do not show the drive's state.
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
    """Return whether a repeated point is within a fifth of its first value."""
    return abs(again - first) <= MAX_RANGE * first
