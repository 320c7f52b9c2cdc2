"""What sequential writes a drive keeps up for hours, once it is full.

Question
    128 KiB sequential write in steady state, at the lowest queue depth that reaches 95 % of the best.

Procedure
    The drive is filled from end to end, then overwritten sequentially, by one thread, without a pause: two
    capacities and an hour at least, until five rounds in a row satisfy SNIA's steady-state rule; a time
    limit ends it where they never do, and the result then says so. From there, without a rest and in rising
    order, depths 1, 2, 4 ... 512 for ten minutes each: n threads, each writing a sequential stream of its
    own with one synchronous 128 KiB write in flight, thread i of n from i/n of the span on. Where throughput
    fell by over a fifth with rising depth, and not for the host, the first depth and the one that it fell
    from are taken again at the end: if they do not come back there is no headline figure. An interruption
    lets the drive rest, so the writing is done again. The scheduler is none.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": uncoordinated
    sequential streams of depth 1, sweep within steady state, 95 % rule. SNIA PTS 2.0.2, section 2.1.24: the
    criterion. Durations, the two capacities and the length of a round are ours; the review states none.

What it cannot show
    One stream at great depth: more streams may hurt a drive, and that is meant to be seen. The state is that
    of sequential writing; after random writes a drive is slower, which the other steady-state method shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Method, RunData, param

from . import PEAK, steady_write
from .result import PeakResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

BLOCK_BYTES = 128 * 1024


class SteadySequentialWriteParams(steady_write.SteadyWriteParams):
    """As of both steady-state writes, but for the depth of the preparation."""

    precondition_depth: int = param(
        1, "streams while writing to steady state: one, so that blocks are rewritten whole", ge=1, le=512
    )


def procedure(lab: Lab, p: SteadySequentialWriteParams) -> None:
    """Write 128 KiB sequentially to steady state, then sweep the depth."""
    steady_write.procedure(lab, p, "sequential", BLOCK_BYTES)


def conclude(data: RunData, p: SteadySequentialWriteParams) -> PeakResult:
    """Report the lowest depth with at least 95 % of the best, in the state that is proven beside it."""
    return steady_write.conclude(data, p, "sequential", BLOCK_BYTES)


METHOD = Method(
    name="steady-sequential-write",
    version=1,
    title="Steady-state sequential write",
    params=SteadySequentialWriteParams,
    procedure=procedure,
    conclude=conclude,
    result=PEAK,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
