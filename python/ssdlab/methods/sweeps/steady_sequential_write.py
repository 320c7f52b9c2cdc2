"""The 128 KiB sequential write throughput that a full drive sustains for hours.

Question
    128 KiB sequential writes in steady state, reported at the lowest queue depth that reaches 95 % of the
    best.

Procedure
    1. Fill: the drive is written once from end to end.
    2. Precondition: 128 KiB sequential writes by one thread without a pause, for at least 2 drive writes
       and 1 hour. They end when five rounds in a row satisfy SNIA's steady-state rule. After 24 h they end
       in any case; the result then says that steady state was not reached.
    3. Sweep, without a rest: queue depths 1, 2, 4 ... 512 in rising order, ten minutes each. A depth of n
       is n threads, each with its own sequential stream and one synchronous 128 KiB write in flight. Thread
       i starts at i/n of the span.
    4. Check: if throughput fell by over 20 % with rising depth, two depths are measured again: the first,
       and the last before the fall. If either result does not repeat, there is no headline figure.
       A fall for which the host was the limit does not count.

    An interruption lets the drive rest, so preconditioning starts again.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": uncoordinated
    sequential streams of depth 1, sweep in steady state, 95 % rule. SNIA PTS 2.0.2, section 2.1.24: the
    steady-state criterion. Durations, the 2 drive writes and the length of a round are ssdlab's; the review
    gives none.

What it cannot show
    One stream at a high queue depth. More streams can slow a drive, and the method is meant to show that.
    The state is reached by sequential writing; after random writes a drive is slower, as
    `steady-random-write` shows.
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
    precondition_depth: int = param(
        1, "streams while preconditioning: one, so that blocks are rewritten whole", ge=1, le=512
    )


def procedure(lab: Lab, p: SteadySequentialWriteParams) -> None:
    steady_write.procedure(lab, p, "sequential", BLOCK_BYTES)


def conclude(data: RunData, p: SteadySequentialWriteParams) -> PeakResult:
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
