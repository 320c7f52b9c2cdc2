"""SNIA's latency test: one I/O at a time until steady, then a histogram of 20 minutes of writes.

Question
    Latency of a single I/O in steady state: mean, 99.999 % (five nines), and maximum.

Procedure
    1. Set the write cache as the setting says, purge, and write the user capacity twice in 128 KiB
       sequential blocks.
    2. Rounds of random I/O, a minute per cell, by one thread with one I/O in flight. Outer loop: R/W 100/0,
       65/35 and 0/100. Inner loop: blocks of 8, 4 and 0.5 KiB. They end when the mean latency of 4 KiB
       0/100 is steady over five rounds, or after 25.
    3. 20 minutes of 4 KiB 0/100, with every I/O in a histogram.

    The result gives the means over the five rounds, and the greatest maximum in them.

Source
    SNIA SSS PTS 2.0.2, section 9.

What it cannot show
    Latency under load. On a drive with 4 KiB sectors the row of 0.5 KiB stays empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from ssdlab.plugin import Method, RunData, Seconds, param, significant

from . import PTS
from .result import PtsCell, PtsResult, Stimulus, cell_label
from .rounds import Cell, Tracked, access, mean_ns, needed, run_rounds
from .specification import KIB, RoundsParams, begin, precondition, pts_remarks
from .window import conclude_rounds

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

MIXES = (100, 65, 0)
BLOCKS = (8 * KIB, 4 * KIB, KIB // 2)
ONE_BY_ONE = (1, 1)
HISTOGRAM = "histogram, 0/100 4 KiB"


class PtsLatencyParams(RoundsParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "the maximum response time of a cell: here the greatest of the window",
    )

    histogram_seconds: Seconds = param(
        1200.0, "duration of the single writes after steady state", unit="s", quick=1.0, gt=0, le=86_400
    )

    @property
    def engine(self) -> Literal["sync", "uring"]:
        """Synchronous: the test has one I/O in flight. Preconditioning may use another engine."""
        return "sync"


def procedure(lab: Lab, p: PtsLatencyParams) -> None:
    begin(lab, p)
    precondition(lab, p, 128 * KIB)
    cells, _ = cells_of(p, lab.logical_block_bytes, ONE_BY_ONE)
    run_rounds(lab, p, cells, tracked_of())
    with lab.on_interruption("re-precondition"):
        single = access(0, 4 * KIB, p, shape=ONE_BY_ONE, seconds=p.histogram_seconds)
        lab.run(single, label=HISTOGRAM)


def conclude(data: RunData, p: PtsLatencyParams) -> PtsResult:
    cells, missing = cells_of(p, data.logical_block_bytes, ONE_BY_ONE)
    found = conclude_rounds(data, p, "latency", [("", cells, tracked_of(), missing)], shape=ONE_BY_ONE)
    step = data.step(HISTOGRAM)
    if step is None:
        return found
    lasted = f"{significant(p.histogram_seconds)} s"
    singly = Stimulus(what="RND 4 KiB 0/100, each I/O counted", threads=1, depth=1, lasted=lasted)
    stimuli = (*found.stimuli, singly)
    return found.model_copy(update={"histogram_ordinal": step.ordinal, "stimuli": stimuli})


def cells_of(
    p: RoundsParams, logical_block_bytes: int, shape: tuple[int, int]
) -> tuple[list[Cell], list[PtsCell]]:
    """Return the cells in the specification's order, then those with blocks below the drive's sector size."""
    done, missing = [], []
    for read_pct in MIXES:
        for block_bytes in BLOCKS:
            if why := needed(block_bytes, logical_block_bytes):
                missing.append(PtsCell(read_pct=read_pct, block_bytes=block_bytes, missing=why))
                continue
            workload = access(read_pct, block_bytes, p, shape=shape)
            done.append(Cell(cell_label(read_pct, block_bytes), read_pct, block_bytes, workload))
    return done, missing


def tracked_of() -> list[Tracked]:
    """Return the variable that must be steady: the mean latency of 4 KiB writes."""
    label = cell_label(0, 4 * KIB)
    return [Tracked(label, "ns", label, mean_ns)]


METHOD = Method(
    name="pts-latency",
    version=3,
    title="SNIA PTS: latency",
    params=PtsLatencyParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    remarks=pts_remarks,
)
