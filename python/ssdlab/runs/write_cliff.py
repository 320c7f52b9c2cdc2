"""The write cliff of a simulated drive, and the part that limits its random writes after the cliff.

As long as there is erased flash, writes go there and nothing is collected. When all flash except the reserve
is written, each write also costs what collection moves for it.

Source: SNIA SSS PTS 2.0.2, section 10 (write saturation); its plots name the drop the write cliff. Finding it
by a share of the level before it is ssdlab's own rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import exp
from statistics import median
from typing import TYPE_CHECKING

from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.runs.rating_check import scale_for
from ssdlab.runs.rating_limits import Parts, random_writes

if TYPE_CHECKING:
    from ssdlab.host.documents import Document
    from ssdlab.runs.rating_limits import Limit


PIECES = 50
"""Number of pieces into which each physical capacity of writes is divided."""
BEFORE = (0.6, 0.85)
"""Range of physical capacities written that gives the level before the cliff; any cache is full by then."""
FALLEN = 0.85
"""Share of that level below which the speed has dropped; background work of a cache costs less."""


def cliff_begins(speeds: Sequence[float], pieces: int = PIECES) -> float | None:
    """Return after how many physical capacities written the speed drops for good; None if it does not.

    Parameters
    ----------
    speeds
        Speed of each piece written, in any one unit.
    pieces
        Number of pieces in a physical capacity.

    Raises
    ------
    ValueError
        Less than one physical capacity was written.
    """
    if len(speeds) < pieces:
        raise ValueError(f"{len(speeds)} pieces are less than a physical capacity of {pieces}")
    first, last = (round(pieces * edge) for edge in BEFORE)
    level = median(speeds[first:last])
    standing = max(at for at, speed in enumerate(speeds) if speed >= FALLEN * level)
    return None if standing == len(speeds) - 1 else (standing + 1) / pieces


def fresh_amplification(alpha: float, steps: int = 500) -> Iterator[tuple[float, float]]:
    """Yield the growing write amplification of uniform random writes to an erased drive, without end.

    Nothing is collected until the flash is full; then the oldest superblock is collected. Of data that is `a`
    old, a share of exp(-a) is still valid; the age is in user capacities written. Host writes and moved data
    together advance the log. The oldest superblock is `alpha` user capacities behind its end. This is the
    model of Desnoyers (SYSTOR 2012) before steady state; its limit is his closed form.

    Parameters
    ----------
    alpha
        Ratio of flash capacity, without the drive's reserve, to user capacity.
    steps
        Steps per user capacity.

    Yields
    ------
    tuple of float
        User capacities written, and the write amplification at that point.

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


_BLOCK_BYTES = 4096
_DEPTH = 32
_CAPACITIES = 3
_AFTER = _CAPACITIES - 0.1
"""Middle of the last fifth of a physical capacity, over which the final speed is taken."""
_SMALL_BYTES = 3 << 30
"""Capacity to scale the drive down to; it keeps as many superblocks as a large drive."""
_INTERVAL_NS = 2_000_000


@dataclass(frozen=True)
class Cliff:
    """The result of random writes from the fresh state.

    Attributes
    ----------
    scale
        Scale of the drive.
    begins
        Physical capacities written when the speed drops for good; None: it does not.
    predicted
        The same by theory: when the write amplification lets the slowest part fall below the threshold.
    before_iops, after_iops
        IOPS just before one physical capacity was written, and after three.
    predicted_after
        IOPS after three, by theory.
    before, limit
        The slowest part by closed form before anything is collected, and in steady state.
    """

    scale: int
    begins: float | None
    predicted: float | None
    before_iops: float
    after_iops: float
    predicted_after: float
    before: Limit
    limit: Limit


def predicted_cliff(made: Document) -> tuple[float | None, float]:
    """Return after how many physical capacities random writes drop by theory, and their IOPS after three.

    They drop when the slowest part, by its closed form, allows less than `FALLEN` of the IOPS before any
    collection. Collection does not load the link. While the link is the slowest part, amplification grows
    without effect. None: they do not drop within three capacities.

    Parameters
    ----------
    made
        The drive, from `check_profile`.
    """
    fallen = FALLEN * random_writes(made, 1.0).value
    user_share = made["capacity_bytes"] / made["raw_bytes"]
    together = Parts(made).units_together
    begins, allowed = None, 0.0
    for user_capacities, amplification in fresh_amplification(1 / (1 - made["effective_spare"])):
        # Writing a part of a mapping unit programs the whole unit.
        written = user_share * user_capacities / together
        if written > _AFTER:
            break
        allowed = random_writes(made, amplification).value
        if begins is None and allowed < fallen:
            begins = written
    return begins, allowed


def write_cliff(name: str, scale: int | None = None) -> Cliff:
    """Overwrite a fresh drive three times at random, and find where it slows down."""
    import numpy as np

    scale = scale or scale_for(name, _SMALL_BYTES)
    made = check_profile(name, scale=scale)
    physical = made["raw_bytes"]
    drive = SimulatedDrive(SimulatedText(name, scale=scale), writing=True, allow_unwritten=True)
    stop = Stop(bytes=_CAPACITIES * physical // _BLOCK_BYTES * _BLOCK_BYTES)
    stream = Stream(ops=Mix(read_pct=0), engine="uring", depth=_DEPTH, stop=stop)
    rows = drive.run(Workload(seed=1, interval_ns=_INTERVAL_NS, streams=(stream,))).rows()
    written = np.concatenate(([0.0], np.cumsum(rows["bytes"], dtype=float)))
    ends = np.concatenate(([0.0], (rows["start_ns"] + rows["duration_ns"]).astype(float)))
    edges = np.arange(_CAPACITIES * PIECES) * (physical / PIECES)
    iops = physical / PIECES / _BLOCK_BYTES / (np.diff(np.interp(edges, written, ends)) / 1e9)
    last = PIECES * 17 // 20
    predicted, predicted_after = predicted_cliff(made)
    return Cliff(
        scale=scale,
        begins=cliff_begins([float(each) for each in iops]),
        predicted=predicted,
        predicted_after=predicted_after,
        before_iops=float(np.median(iops[last - PIECES // 5 : last])),
        after_iops=float(np.median(iops[-PIECES // 5 :])),
        before=random_writes(made, 1.0),
        limit=random_writes(made),
    )
