"""The 4 KiB random write rate that a full drive sustains for hours.

Question
    4 KiB random writes in steady state, reported at the lowest queue depth that reaches 95 % of the best.

Procedure
    1. Fill: the drive is written once from end to end.
    2. Precondition: 4 KiB random writes without a pause, for at least 2 drive writes and 1 hour. They end
       when five rounds in a row satisfy SNIA's steady-state rule. After 24 h they end in any case; the
       result then says that steady state was not reached.
    3. Sweep, without a rest: queue depths 1, 2, 4 ... 512 in rising order, ten minutes each. A depth of n
       is n threads, each with one synchronous 4 KiB write in flight at a uniformly random block of the
       whole span.
    4. Check: if throughput fell by over 20 % with rising depth, two depths are measured again: the first,
       and the last before the fall. If either result does not repeat, there is no headline figure.
       A fall for which the host was the limit does not count.

    An interruption lets the drive rest, so preconditioning starts again.

Source
    AnandTech, review of the Kingston DC500 series (2019), "Peak Throughput And Steady State": full drive,
    hours of writes, sweep in steady state, 95 % rule. SNIA PTS 2.0.2, section 2.1.24: the steady-state
    criterion. Durations, the 2 drive writes and the length of a round are ssdlab's; the review gives none.

What it cannot show
    Speed after a rest, or what reads see during the writes. A drive that is not steady within the time
    limit is reported as such, in the state it had then.
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
    """Parameters of preconditioning to steady state, and of the sweep."""


def procedure(lab: Lab, p: SteadyRandomWriteParams) -> None:
    steady_write.procedure(lab, p, "random", BLOCK_BYTES)


def conclude(data: RunData, p: SteadyRandomWriteParams) -> PeakResult:
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
