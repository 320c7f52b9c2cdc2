"""SNIA's throughput test: sequential I/O of 1024 and 128 KiB, in rounds until steady.

Question
    MB/s of reads and writes in steady state, with large sequential blocks.

Procedure
    For 1024 KiB, then for 128 KiB:

    1. Set the write cache as the setting says, purge, and write the user capacity twice with that block.
    2. Rounds: a minute of reads and a minute of writes, by one thread at depth 32. Each minute continues
       where the last of its kind stopped. The test ends when the throughput of the writes is steady over
       five rounds, or after 25.

    The result gives the means over these five rounds.

Source
    SNIA SSS PTS 2.0.2, section 8.

What it cannot show
    Which variable the specification tracks, as the available text names none. Open implementations track
    the write stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.plugin import Method, RunData, block_text, param

from . import PTS
from .result import cell_label
from .rounds import Cell, Tracked, access, mb_s, run_rounds
from .specification import KIB, RoundsParams, begin, precondition, pts_remarks
from .window import Group, conclude_rounds

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

    from .result import PtsResult

BLOCKS = (1024 * KIB, 128 * KIB)


class PtsThroughputParams(RoundsParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "the tracked variable: here the throughput of the writes",
        "the order of the block sizes: here 1024 KiB, then 128 KiB",
    )

    threads: int = param(1, "thread count (TC)", unit="threads", ge=1, le=512)
    depth: int = param(32, "I/Os in flight per thread (QD)", ge=1, le=4096)

    @property
    def recommended(self) -> tuple[int, int]:
        return 1, 32


def procedure(lab: Lab, p: PtsThroughputParams) -> None:
    for block_bytes in BLOCKS:
        name = block_text(block_bytes)
        begin(lab, p, label=f"purge, {name}")
        precondition(lab, p, block_bytes, label=f"WIPC, {name}")
        run_rounds(lab, p, _cells(p, block_bytes), _tracked(block_bytes), group=name)


def conclude(data: RunData, p: PtsThroughputParams) -> PtsResult:
    groups: list[Group] = [(block_text(each), _cells(p, each), _tracked(each), []) for each in BLOCKS]
    return conclude_rounds(data, p, "throughput", groups)


def _cells(p: PtsThroughputParams, block_bytes: int) -> list[Cell]:
    return [
        Cell(
            cell_label(read_pct, block_bytes),
            read_pct,
            block_bytes,
            access(read_pct, block_bytes, p, random=False),
        )
        for read_pct in (100, 0)
    ]


def _tracked(block_bytes: int) -> list[Tracked]:
    label = cell_label(0, block_bytes)
    return [Tracked(label, "MB/s", label, mb_s)]


METHOD = Method(
    name="pts-throughput",
    version=3,
    title="SNIA PTS: throughput",
    params=PtsThroughputParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    remarks=pts_remarks,
)
