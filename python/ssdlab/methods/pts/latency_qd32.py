"""Mean and maximum latency at 32 I/Os in flight, as a review reports it with SNIA's matrix.

Question
    Mean and maximum latency of an I/O when 32 are in flight.

Procedure
    SNIA's latency test, with 32 I/Os in flight instead of one:

    1. Set the write cache as the setting says, purge, and write the user capacity twice in 128 KiB
       sequential blocks.
    2. Rounds of random I/O, a minute per cell, by one io_uring worker or by 32 threads with one synchronous
       I/O each. Outer loop: R/W 100/0, 65/35 and 0/100. Inner loop: blocks of 8, 4 and 0.5 KiB. They end
       when the mean latency of 4 KiB 0/100 is steady over five rounds, or after 25.

    The result gives each cell's mean over the reported rounds, and the greatest maximum in them. These are
    the five rounds, the window. Under the review's practice (`fixed_rounds`, `reported=four-after`) all 25
    rounds are done, and reported are the four after the window. A window then counts only if it lasts: no
    later round of 4 KiB 0/100 is more than 20 % from its mean.

Source
    TheSSDReview's reviews of enterprise SATA drives (2016), which call it latency and do not give its
    depth: 32 is inferred from their other tests. SNIA SSS PTS 2.0.2, sections 2.1.24 and 9, for the rounds.

What it cannot show
    Latency of a single I/O: by Little's law the mean is 32 divided by the rate, so it adds nothing
    to a throughput test. SNIA's own test has one I/O in flight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from ssdlab.plugin import Method, RunData, param

from . import PTS
from .latency import cells_of, tracked_of
from .rounds import run_rounds
from .specification import KIB, REVIEW_PRACTICE, RoundsParams, begin, precondition, pts_remarks
from .window import conclude_rounds

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

    from .result import PtsResult

IN_FLIGHT = 32


class LatencyQd32Params(RoundsParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "the maximum response time of a cell: here the greatest of the window",
    )

    issued: Literal["uring", "threads"] = param(
        "uring",
        "inferred: 32 I/Os in flight by one io_uring worker, or by 32 threads with one each",
    )

    allowed: ClassVar[Mapping[str, frozenset[object]]] = {
        "issued": frozenset({"threads"}),
        "fixed_rounds": frozenset({True}),
        "reported": frozenset({"four-after"}),
    }
    """The review describes rounds only for its IOPS test, and does not say how 32 I/Os are kept in flight."""

    @property
    def source(self) -> str:
        return REVIEW_PRACTICE

    @property
    def recommended(self) -> tuple[int, int]:
        """Threads and depth that keep 32 I/Os in flight."""
        return (1, IN_FLIGHT) if self.issued == "uring" else (IN_FLIGHT, 1)


def procedure(lab: Lab, p: LatencyQd32Params) -> None:
    begin(lab, p)
    precondition(lab, p, 128 * KIB)
    cells, _ = cells_of(p, lab.logical_block_bytes, p.shape)
    run_rounds(lab, p, cells, tracked_of())


def conclude(data: RunData, p: LatencyQd32Params) -> PtsResult:
    cells, missing = cells_of(p, data.logical_block_bytes, p.shape)
    return conclude_rounds(data, p, "latency", [("", cells, tracked_of(), missing)])


METHOD = Method(
    name="latency-qd32",
    version=2,
    title="Latency at 32 I/Os in flight",
    params=LatencyQd32Params,
    procedure=procedure,
    conclude=conclude,
    result=PTS,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    remarks=pts_remarks,
)
