"""SNIA's IOPS test: random I/O of eight block sizes and seven mixes, in rounds until steady.

Question
    IOPS in steady state for every block size and share of reads.

Procedure
    1. Set the write cache as the setting says, purge, and write the user capacity twice in 128 KiB
       sequential blocks.
    2. Rounds of random I/O, a minute per cell. Outer loop: R/W 100/0, 95/5, 65/35, 50/50, 35/65, 5/95 and
       0/100. Inner loop: blocks of 1024, 128, 64, 32, 16, 8, 4 and 0.5 KiB.
    3. After each round, steady state is judged by three variables at once: 4 KiB 0/100, 64 KiB 65/35 and
       1024 KiB 100/0. The test ends when all three are steady in the same five rounds, or after 25.

    Each cell reports its mean over these five rounds, the window. Under the rule of PTS-E 1.1 only 4 KiB
    0/100 is tracked. A named practice follows a published review: always 25 rounds, the mean of the
    four rounds after the window, 32 I/Os in flight. A window then counts only if it lasts: no later round
    of a tracked variable is more than 20 % from its mean.

Source
    SNIA SSS PTS 2.0.2, section 7; PTS-E 1.1 for the rule of one variable; TheSSDReview's reviews of
    enterprise SATA drives (2016) for the practices.

What it cannot show
    Latency: at these queue depths it mainly reflects the depth. On a drive with 4 KiB sectors the row of
    0.5 KiB stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ssdlab.plugin import Method, Params, RunData, param

from . import PTS
from .result import SPECIFICATION, PtsCell, PtsResult, cell_label
from .rounds import Cell, Tracked, access, iops, needed, run_rounds
from .specification import KIB, REVIEW_PRACTICE, RoundsParams, begin, precondition, pts_remarks
from .window import conclude_rounds

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

MIXES = (100, 95, 65, 50, 35, 5, 0)
BLOCKS = tuple(round(kib * KIB) for kib in (1024, 128, 64, 32, 16, 8, 4, 0.5))
PRACTICES = {
    "review-uring": {"fixed_rounds": "true", "reported": "four-after", "threads": "1", "depth": "32"},
    "review-threads": {"fixed_rounds": "true", "reported": "four-after", "threads": "32", "depth": "1"},
}
"""Parameters of the named variants. The review's queue depth of 32 can mean one worker or 32 threads."""


class PtsIopsParams(RoundsParams):
    practice: Literal["standard", "review-uring", "review-threads"] = param(
        "standard",
        "named variant: always 25 rounds, the mean of four, 32 I/Os in flight by one io_uring worker "
        "or 32 synchronous threads; each value can still be set",
    )
    rule: Literal["2.0.2", "1.1"] = param(
        "2.0.2", "tracked variables that have to be steady. 2.0.2: three; 1.1: one"
    )

    @property
    def _practice(self) -> dict[str, str]:
        return PRACTICES.get(self.practice, {})

    @property
    def source(self) -> str:
        """The specification, or the review whose practice the run follows."""
        return REVIEW_PRACTICE if self._practice else SPECIFICATION

    @property
    def followed(self) -> Mapping[str, object]:
        """Parameters in which the practice differs from the specification."""
        if not self._practice:
            return {}
        values = type(self).model_validate(self._practice)
        return {name: getattr(values, name) for name in self._practice} | {"practice": self.practice}

    @property
    def recommended(self) -> tuple[int, int] | None:
        if not self._practice:
            return super().recommended
        return int(self._practice["threads"]), int(self._practice["depth"])

    @classmethod
    def build(cls, settings: Mapping[str, str] | None = None, *, quick: bool = False) -> Params:
        """Return a run's parameters; the user's own settings override those of a named practice."""
        given = dict(settings or {})
        return super().build({**PRACTICES.get(given.get("practice", ""), {}), **given}, quick=quick)


def procedure(lab: Lab, p: PtsIopsParams) -> None:
    begin(lab, p)
    precondition(lab, p, 128 * KIB)
    cells, _ = cells_of(p, lab.logical_block_bytes)
    run_rounds(lab, p, cells, tracked_of(p))


def conclude(data: RunData, p: PtsIopsParams) -> PtsResult:
    cells, missing = cells_of(p, data.logical_block_bytes)
    return conclude_rounds(data, p, "iops", [("", cells, tracked_of(p), missing)])


def cells_of(p: PtsIopsParams, logical_block_bytes: int) -> tuple[list[Cell], list[PtsCell]]:
    """Return the cells in the specification's order, then those with blocks below the drive's sector size."""
    done, missing = [], []
    for read_pct in MIXES:
        for block_bytes in BLOCKS:
            if why := needed(block_bytes, logical_block_bytes):
                missing.append(PtsCell(read_pct=read_pct, block_bytes=block_bytes, missing=why))
                continue
            label = cell_label(read_pct, block_bytes)
            done.append(Cell(label, read_pct, block_bytes, access(read_pct, block_bytes, p)))
    return done, missing


def tracked_of(p: PtsIopsParams) -> list[Tracked]:
    asked = [(0, 4 * KIB), (65, 64 * KIB), (100, 1024 * KIB)]
    return [
        Tracked(cell_label(*each), "IOPS", cell_label(*each), iops)
        for each in asked[: 1 if p.rule == "1.1" else 3]
    ]


METHOD = Method(
    name="pts-iops",
    version=3,
    title="SNIA PTS: IOPS",
    params=PtsIopsParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    remarks=pts_remarks,
)
