"""SNIA's demand intensity test: IOPS and response time under rising demand.

Question
    IOPS and response time over the number of I/Os in flight, and the distribution of response times at
    three points: the highest rate, one I/O in flight, and half-way between.

Procedure
    1. Set the write cache as the setting says, and purge. The drive is not written before the test.
    2. Precondition: random writes of the chosen block from 32 threads with 32 I/Os in flight each. One
       minute in each half hour is a sample. Writing ends when five samples in a row are steady, or after 25.
    3. Rounds: 5 minutes of the same writes, then a minute of the chosen mix at each demand. Outer loop: 32,
       16, 8, 6, 4, 2 and 1 threads. Inner loop: 32, 16, 8, 6, 4, 2 and 1 I/Os in flight per thread. They
       end when the IOPS of 32 threads of 32 are steady over five rounds, or after 25.
    4. Three demands are chosen by the means over these five rounds. MaxIOPS: the highest IOPS with a mean
       response time below 5 ms. MinIOPS: one I/O in flight. MidIOPS: the IOPS nearest to half-way between,
       again below 5 ms.
    5. At each of them: an hour of writes, then 10 minutes of the mix, with every response time in a
       histogram.

Source
    SNIA SSS PTS 2.0.1, section 14 (DIRTH), from an open implementation, as the text itself was not
    available. The operator chooses block and mix; 8 KiB, 65/35 and the 5 ms come from that implementation.

What it cannot show
    What limits the rate. It may be the host, so the CPU share is shown; a simulated drive has no host.
    Random writes leave gaps, and reads of unwritten blocks touch no flash: if there are many, the run says
    so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.plugin import Block, Bytes, Method, RunData, Uniform, UsageError, block_text, param

from . import PTS_DEMAND
from .demand import DemandParams, conclude_demand, vary_demand
from .result import DemandResult
from .rounds import needed
from .series import Load
from .specification import KIB, pts_remarks

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class PtsDemandIntensityParams(DemandParams):
    choices: ClassVar[frozenset[str]] = DemandParams.choices | {"block", "read_pct"}

    block: Bytes = param(8 * KIB, "block size (BS), the operator's choice", unit="B", ge=512, le=1 << 24)
    read_pct: int = param(
        65, "share of reads of the mix (RW1), the operator's choice", unit="%", ge=0, le=100
    )


def procedure(lab: Lab, p: PtsDemandIntensityParams) -> None:
    if why := needed(p.block, lab.logical_block_bytes):
        raise UsageError(f"a block of {block_text(p.block)} cannot be used: {why}", "set another block")
    vary_demand(lab, p, load_of(p))


def conclude(data: RunData, p: PtsDemandIntensityParams) -> DemandResult:
    return conclude_demand(data, p, load_of(p), "demand-intensity")


def load_of(p: PtsDemandIntensityParams) -> Load:
    return Load(f"RND {block_text(p.block)}", p.read_pct, (Block(bytes=p.block),), Uniform())


METHOD = Method(
    name="pts-demand-intensity",
    version=2,
    title="SNIA PTS: demand intensity",
    params=PtsDemandIntensityParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS_DEMAND,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    engine="uring",
    remarks=pts_remarks,
    reads_unwritten=True,
)
