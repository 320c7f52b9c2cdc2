"""The write cliff of a simulated drive, and the part of it that limits its random writes behind it.

As long as there is empty flash, what is written goes there and nothing is collected. When so much was
written as there is flash, less what the drive keeps free, every write costs what collection moves for it.

Source: SNIA SSS PTS 2.0.2, section 10 (write saturation), whose plots name the fall the write cliff. That it
is found by a share of the level before it is ours.
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


_BLOCK_BYTES = 4096
_DEPTH = 32
_CAPACITIES = 3
_AFTER = _CAPACITIES - 0.1
"""In the middle of the fifth of a capacity that is taken for their end."""
_SMALL_BYTES = 3 << 30
"""A drive is made so small; it has as many superblocks as a large one."""
_INTERVAL_NS = 2_000_000


@dataclass(frozen=True)
class Cliff:
    """The result of random writes from the fresh state.

    Attributes
    ----------
    scale
        Scale of the drive.
    begins
        Physical capacities written when the speed falls for good; None: it does not.
    predicted
        The same by theory: where the amplification has grown so far that the slowest part allows no more.
    before_iops, after_iops
        Just before one physical capacity was written, and when three were.
    predicted_after
        IOPS when three were, by theory.
    before, limit
        The part whose closed form is the lowest while nothing is collected, and in steady state.
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
    """Return after how many physical capacities random writes fall by theory, and their IOPS after three.

    They fall where the slowest part, by its closed form, allows less than `FALLEN` of what the slowest one
    allows before anything is collected. Link and cores do not feel collection: while one of them is the
    slowest, the amplification grows unseen. None: they do not fall within those three.

    Parameters
    ----------
    made
        What `check_profile` returns of the drive.
    """
    fallen = FALLEN * random_writes(made, 1.0).value
    user_share = made["capacity_bytes"] / made["raw_bytes"]
    together = Parts(made).units_together
    begins, allowed = None, 0.0
    for user_capacities, amplification in fresh_amplification(1 / (1 - made["effective_spare"])):
        # A write of part of a mapping unit programs all of it.
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
