"""What the two demand tests do to a drive: preconditioning, rounds over a grid of demands, three histograms.

Source: SNIA SSS PTS 2.0.1, section 14, as an open implementation of all eight tests follows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field

from ssdlab.analysis.demand import ART_LIMIT_MS, Chosen, Demand, choose
from ssdlab.analysis.steady_state import WINDOW, first_steady
from ssdlab.methods.method import RunData, Seconds, param, rising
from ssdlab.methods.pts.cells import Cell, Tracked, engine_of, iops
from ssdlab.methods.pts.collecting import collect
from ssdlab.methods.pts.params import LoopParams
from ssdlab.methods.pts.preparing import begin
from ssdlab.methods.pts.rounds import run_rounds
from ssdlab.methods.pts.series import written_rows
from ssdlab.methods.results.pts_demand import PointName
from ssdlab.methods.steps import Until
from ssdlab.model.pattern import Bands, Sequential, Uniform
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab
    from ssdlab.methods.results.pts import PtsRounds

Shape = tuple[int, int]
"""Thread count (TC), and I/Os in flight of each thread (QD)."""
COUNTS = (1, 2, 4, 6, 8, 16, 32)
Counts = Annotated[tuple[Annotated[int, Field(ge=1, le=512)], ...], AfterValidator(rising)]

PRECONDITION = "PC"
PRE_WRITE = "pre-write"
POINTS: tuple[PointName, ...] = ("MaxIOPS", "MidIOPS", "MinIOPS")
"""In the order in which they are measured."""


class DemandParams(LoopParams):
    """Of the two tests."""

    threads: int = param(
        32,
        "thread count (TC) of preconditioning and of the writes before rounds",
        unit="threads",
        ge=1,
        le=512,
    )
    depth: int = param(32, "I/Os in flight of each of those threads (QD)", ge=1, le=4096)
    thread_counts: Counts = param(
        COUNTS,
        "TC of the grid, rising; done from the greatest down",
        unit="threads",
        quick=(1, 8, 32),
        min_length=1,
    )
    depths: Counts = param(
        COUNTS,
        "QD of the grid, rising; done from the greatest down",
        unit="I/Os",
        quick=(1, 8, 32),
        min_length=1,
    )
    seconds: Seconds = param(
        60.0, "of a cell, or of a record of the preconditioning", unit="s", quick=0.2, ge=0.01, le=3600
    )
    cycle: int = param(
        30,
        "records from one sample of the preconditioning to the next: minutes 1, 31, 61 and so on count",
        unit="records",
        quick=2,
        ge=1,
        le=1440,
    )
    most_samples: int = param(
        25, "of the preconditioning, after which the rounds begin, steady or not", quick=5, ge=5, le=1000
    )
    pre_write_seconds: Seconds = param(
        300.0, "of writes before each round", unit="s", quick=0.5, ge=0.01, le=86_400
    )
    settle_seconds: Seconds = param(
        3600.0, "of writes before each of the three histograms", unit="s", quick=0.5, ge=0.01, le=86_400
    )
    histogram_seconds: Seconds = param(600.0, "of each histogram", unit="s", quick=1.0, ge=0.01, le=86_400)
    art_limit: float = param(
        ART_LIMIT_MS,
        "that the mean response times (ART) of MaxIOPS and MidIOPS stay below; 5 is read from one "
        "implementation, not from the text",
        unit="ms",
        gt=0,
        le=60_000,
    )

    @property
    def recommended(self) -> Shape:
        """That of preconditioning and pre-writes."""
        return (32, 32)

    @property
    def grid(self) -> list[Shape]:
        """The demands in the written order: from the greatest down, depths within thread counts."""
        return [(threads, depth) for threads in self.thread_counts[::-1] for depth in self.depths[::-1]]


@dataclass(frozen=True, slots=True)
class Load:
    """What a test asks of the drive: sizes, places, and the share of reads of its grid (RW1)."""

    name: str
    read_pct: int
    blocks: tuple[Block, ...]
    pattern: Uniform | Sequential | Bands
    left_out_bytes: tuple[int, ...] = ()
    """Sizes that the drive's sectors do not allow."""

    def workload(
        self, shape: Shape, seconds: float, *, writes: bool = False, record_s: float | None = None
    ) -> Workload:
        """Return it at thread count and depth for some seconds.

        `writes`: nothing but writes (0/100). Rows are of `record_s`, by default of a second at most.
        """
        threads, depth = shape
        stop_ns = round(seconds * NS_PER_S)
        stream = Stream(
            ops=Mix(read_pct=0 if writes else self.read_pct),
            block=self.blocks,
            pattern=self.pattern,
            workers=threads,
            depth=depth,
            engine=engine_of(depth),
            stop=Stop(time_ns=stop_ns),
        )
        row_ns = min(NS_PER_S, stop_ns // 10) if record_s is None else round(record_s * NS_PER_S)
        return Workload.of(stream, interval_ns=max(1_000_000, row_ns))


def vary_demand(lab: Lab, p: DemandParams, load: Load) -> None:
    """Precondition until steady, do rounds of the grid, and take the histograms of three of its demands."""
    begin(lab, p)
    _precondition(lab, p, load)
    steps = run_rounds(lab, p, cells_of(p, load), [tracked_of(p)])
    done = RunData(tuple(steps), lab.capacity_bytes, lab.logical_block_bytes)
    with lab.on_interruption("re-precondition"):
        for name, shape in _shapes(p, done, load):
            certain = name == "MinIOPS"  # the others need a cell below the limit
            before = load.workload(shape, p.settle_seconds, writes=True)
            lab.run(before, label=point_label(name, writes=True), certain=certain)
            lab.run(load.workload(shape, p.histogram_seconds), label=point_label(name), certain=certain)


def _precondition(lab: Lab, p: DemandParams, load: Load) -> None:
    """Write without a pause until the first records of five cycles in a row are steady."""

    def holds(rows: Sequence[Any]) -> bool:
        samples = written_rows(rows[:: p.cycle])[0]
        return (len(rows) - 1) % p.cycle == 0 and first_steady([samples[-WINDOW:]]) is not None

    most_s, least_s = (((samples - 1) * p.cycle + 1) * p.seconds for samples in (p.most_samples, WINDOW))
    writes = load.workload(p.shape, most_s, writes=True, record_s=p.seconds)
    least_ns = round(least_s * NS_PER_S)
    until = Until("steady samples", {"cycle": p.cycle, "sample": "first", "least_ns": least_ns}, holds)
    lab.precondition(writes, label=PRECONDITION, until=until, policy="from-purge")


def cells_of(p: DemandParams, load: Load) -> list[Cell]:
    """Return the cells of a round in the written order: the pre-write, then the grid."""
    block_bytes = min(block.bytes for block in load.blocks)
    before = load.workload(p.shape, p.pre_write_seconds, writes=True)
    grid = [
        Cell(cell_name(shape), load.read_pct, block_bytes, load.workload(shape, p.seconds))
        for shape in p.grid
    ]
    return [Cell(PRE_WRITE, 0, block_bytes, before), *grid]


def cell_name(shape: Shape) -> str:
    """Return a cell's name as the specification writes it: thread count and depth."""
    return f"TC{shape[0]} QD{shape[1]}"


def point_label(name: PointName, *, writes: bool = False) -> str:
    """Return the label of a point's step: the writes before it, or the histogram."""
    return f"{name}, {PRE_WRITE if writes else 'histogram'}"


def tracked_of(p: DemandParams) -> Tracked:
    """Return what has to be steady: the IOPS of the greatest demand."""
    name = cell_name(p.grid[0])
    return Tracked(name, "IOPS", name, iops)


def chosen_of(p: DemandParams, rounds: PtsRounds) -> Chosen:
    """Choose the three points by the means of the measurement window."""
    grid = [
        Demand(*shape, rounds.of_window(cell.iops) or 0.0, rounds.of_window(cell.mean_ns) or 0.0)
        for shape, cell in zip(p.grid, rounds.cells[1:], strict=True)
    ]
    return choose(grid, p.art_limit * 1e6)


def _shapes(p: DemandParams, done: RunData, load: Load) -> list[tuple[PointName, Shape]]:
    """Return the points to be measured; a plan, which cannot know them, takes the greatest demand."""
    if all(step.result.measurement is None for step in done.steps):
        return [(name, p.grid[0]) for name in POINTS]
    chosen = chosen_of(p, collect(done, cells_of(p, load), [tracked_of(p)], [], group=""))
    found = zip(POINTS, (chosen.most, chosen.middle, chosen.least), strict=True)
    return [(name, (each.threads, each.depth)) for name, each in found if each is not None]
