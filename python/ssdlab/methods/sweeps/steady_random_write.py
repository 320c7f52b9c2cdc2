"""What random writes a drive keeps up for hours, once it is full and every block has been written before.

Question
    4 KiB random write in steady state, at the lowest queue depth that reaches 95 % of the best.

Procedure
    The drive is filled from end to end, then overwritten at random without a pause: two capacities and an
    hour at least, until five rounds in a row satisfy SNIA's steady-state rule; a time limit ends it where
    they never do, and the result then says so. From there, without a rest and in rising order, depths 1, 2,
    4 ... 512 for ten minutes each: n threads, each with one synchronous 4 KiB write in flight at a uniformly
    random block of the whole span. Where throughput fell by over a fifth with rising depth, and not for the
    host, the first depth and the one that it fell from are taken again at the end: if they do not come back
    there is no headline figure. An interruption lets the drive rest, so the writing is done again. The
    scheduler is none.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": full drive,
    hours of writes, sweep within steady state, 95 % rule. SNIA PTS 2.0.2, section 2.1.24: the criterion.
    Durations, the two capacities and the length of a round are ours; the review states none.

What it cannot show
    How fast the drive is after a rest, and what reads beside the writes see. A drive that is never steady
    within the time limit is reported as such, at the state it had then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Method, RandomSteadyParams, RunData

from . import PEAK, steady_write
from .result import PeakResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

BLOCK_BYTES = 4096


class SteadyRandomWriteParams(steady_write.SteadyWriteParams, RandomSteadyParams):
    """As of both steady-state writes, and how the state is brought about."""


def procedure(lab: Lab, p: SteadyRandomWriteParams) -> None:
    """Write 4 KiB at random to steady state, then sweep the depth."""
    steady_write.procedure(lab, p, "random", BLOCK_BYTES)


def conclude(data: RunData, p: SteadyRandomWriteParams) -> PeakResult:
    """Report the lowest depth with at least 95 % of the best, in the state that is proven beside it."""
    return steady_write.conclude(data, p, "random", BLOCK_BYTES)


METHOD = Method(
    name="steady-random-write",
    version=1,
    title="Steady-state random write",
    params=SteadyRandomWriteParams,
    procedure=procedure,
    conclude=conclude,
    result=PEAK,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
