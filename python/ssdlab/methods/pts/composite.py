"""SNIA's composite workload: twelve block sizes at once, mostly in a small part of the drive.

Question
    IOPS and response time over the number of I/Os in flight, under a load like that of many programs.

Procedure
    The procedure of `pts-demand-intensity`, with these block sizes and LBA ranges:

    - Block sizes, by share of the I/Os: 0.5 KiB 4 %; 1, 1.5, 2, 2.5, 3 and 3.5 KiB 1 % each; 4 KiB 67 %; 8
      KiB 10 %; 16 KiB 7 %; 32 KiB 3 %; 64 KiB 3 %.
    - LBA ranges, by share of the I/Os: 50 % in the first 5 % of the LBAs, 30 % in the next 15 %, 20 % in
      the other 80 %. Each I/O is aligned to its own size.
    - Mix of the rounds and the histograms: R/W 40/60. Preconditioning and pre-writes have the same sizes
      and ranges, but no reads.

Source
    SNIA SSS PTS 2.0.1 (CBW; called ECW in PTS-E 1.1), from an open implementation, as the text itself was
    not available. JEDEC JESD219 has the same sizes and ranges.

What it cannot show
    Figures of a single block size: each figure covers all sizes. A drive with 4 KiB sectors cannot do the
    smaller sizes, which are 10 % of the I/Os. They are left out, the others keep their proportions, and the
    run says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.plugin import Band, Bands, Block, Method, RunData, param

from . import PTS_DEMAND
from .demand import DemandParams, conclude_demand, vary_demand
from .rounds import needed
from .series import Load
from .specification import KIB, pts_remarks

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

    from .result import DemandResult

SIZES_PCT = {
    KIB // 2: 4,
    KIB: 1,
    3 * KIB // 2: 1,
    2 * KIB: 1,
    5 * KIB // 2: 1,
    3 * KIB: 1,
    7 * KIB // 2: 1,
    4 * KIB: 67,
    8 * KIB: 10,
    16 * KIB: 7,
    32 * KIB: 3,
    64 * KIB: 3,
}
"""Share of the I/Os in percent, by block size in bytes."""
ACCESS = Bands(
    bands=(
        Band(access_weight=50, span_weight=5),
        Band(access_weight=30, span_weight=15),
        Band(access_weight=20, span_weight=80),
    )
)
"""LBA ranges in order, each with its share of the I/Os and of the LBAs in percent."""


class PtsCompositeParams(DemandParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "the share of reads of the composite of 1.1 (ECW): here that of 2.0",
        "the number of the section",
    )

    read_pct: int = param(40, "share of reads of the mix (RW1)", unit="%", ge=0, le=100)


def procedure(lab: Lab, p: PtsCompositeParams) -> None:
    vary_demand(lab, p, load_of(p, lab.logical_block_bytes))


def conclude(data: RunData, p: PtsCompositeParams) -> DemandResult:
    return conclude_demand(data, p, load_of(p, data.logical_block_bytes), "composite")


def load_of(p: PtsCompositeParams, logical_block_bytes: int) -> Load:
    """Return the test's load, without block sizes that the drive's sectors do not allow."""
    left_out = tuple(size for size in SIZES_PCT if needed(size, logical_block_bytes))
    blocks = tuple(Block(bytes=size, weight=pct) for size, pct in SIZES_PCT.items() if size not in left_out)
    return Load("composite", p.read_pct, blocks, ACCESS, left_out)


METHOD = Method(
    name="pts-composite",
    version=2,
    title="SNIA PTS: composite block sizes",
    params=PtsCompositeParams,
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
