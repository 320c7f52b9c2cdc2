"""The procedure and the results of the two demand tests.

A demand is a thread count with a queue depth. A test preconditions the drive, repeats rounds over a grid of
demands, and records histograms at three of them. The result holds the means over the window, the three points
and their histograms.

Source: SNIA SSS PTS 2.0.1, section 14, as an open implementation of all eight tests follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from ssdlab.analysis.records import merged
from ssdlab.analysis.steady_state import WINDOW, first_steady
from ssdlab.plugin import (
    NS_PER_S,
    Metric,
    RunData,
    Seconds,
    Until,
    block_text,
    counted,
    param,
    rising,
    significant,
    span_text,
)
from ssdlab.plugin import Load as MetricLoad

from .result import (
    DemandCell,
    DemandPoint,
    DemandResult,
    PointName,
    PtsHistogram,
    PtsRecords,
    PtsRounds,
    PtsSamples,
    Stimulus,
)
from .rounds import Cell, Tracked, epochs_of, group_label, iops, mean_ns, run_rounds
from .series import (
    Load,
    Shape,
    blocks_of,
    common,
    picked,
    ranges_of,
    records_of,
    samples_of,
    samples_text,
    tail_of,
    why_left_out,
    written_rows,
)
from .specification import LoopParams, begin
from .window import collect, rounds_text, was_purged

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Step

    from .result import PtsCell


COUNTS = (1, 2, 4, 6, 8, 16, 32)
Counts = Annotated[tuple[Annotated[int, Field(ge=1, le=512)], ...], AfterValidator(rising)]

PRECONDITION = "PC"
PRE_WRITE = "pre-write"
POINTS: tuple[PointName, ...] = ("MaxIOPS", "MidIOPS", "MinIOPS")
"""The three points, in the order of their measurement."""
MIN_SHARE_NAMED = 0.001
"""Smallest share of reads from unwritten blocks that a result mentions."""
ART_LIMIT_MS = 5.0
"""Limit of the average response time (ART) at MaxIOPS and MidIOPS, in ms."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One cell of the grid: `threads` with `depth` I/Os in flight each, and its means over the window."""

    threads: int
    depth: int
    iops: float
    art_ns: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """The three points; `highest` and `middle` are None if no cell is below the ART limit."""

    highest: Demand | None
    middle: Demand | None
    lowest: Demand


def choose(grid: Sequence[Demand], limit_ns: float) -> Chosen:
    """Choose MaxIOPS, MidIOPS and MinIOPS among the measured demands.

    MaxIOPS is the cell with the highest IOPS among those whose average response time (ART) is below a limit.
    Beyond the limit, additional I/Os only queue. MinIOPS is the cell with the fewest I/Os in flight, TC1 QD1.
    MidIOPS is the cell below the limit whose IOPS are nearest to half-way between the two. Both figures of a
    cell are its means over the measurement window, reads and writes together.

    The limit is a parameter because only the open implementation gives it: 5 ms, for MidIOPS too. No source
    decides between two cells that are equally near to half-way; this function takes the one with the lower
    ART.

    Parameters
    ----------
    grid
        All cells, in any order.
    limit_ns
        Limit that the ART of MaxIOPS and MidIOPS must stay below.

    Raises
    ------
    ValueError
        The grid has no cell.
    """
    if not grid:
        raise ValueError("a grid without cells has no points")
    lowest = min(grid, key=lambda each: (each.threads * each.depth, each.threads))
    swift = [each for each in grid if each.art_ns < limit_ns]
    if not swift:
        return Chosen(None, None, lowest)
    highest = max(swift, key=lambda each: (each.iops, -each.art_ns))
    half_way = (highest.iops + lowest.iops) / 2
    middle = min(swift, key=lambda each: (abs(each.iops - half_way), each.art_ns))
    return Chosen(highest, middle, lowest)


def unwritten_reads(fills: float, parts: Sequence[tuple[float, float]]) -> float:
    """Return the share (0 to 1) of random reads from blocks that random writes have not yet reached.

    Random writes leave gaps: a block that gets n writes on average is still unwritten with a probability of
    exp(-n), the Poisson limit of the binomial.

    Parameters
    ----------
    fills
        Bytes written since the purge, divided by the bytes of the active range.
    parts
        For each LBA range, its share of the I/Os and its share of the bytes, both 0 to 1.
    """
    return sum(ios * exp(-fills * ios / span) for ios, span in parts)


class DemandParams(LoopParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "the mean response time below which MaxIOPS is sought: here art_limit, read from one implementation",
    )

    threads: int = param(
        32,
        "thread count (TC) of preconditioning and pre-writes",
        unit="threads",
        ge=1,
        le=512,
    )
    depth: int = param(32, "I/Os in flight per thread (QD) of preconditioning and pre-writes", ge=1, le=4096)
    thread_counts: Counts = param(
        COUNTS,
        "thread counts (TC) of the grid, rising; measured from the greatest down",
        unit="threads",
        quick=(1, 8, 32),
        min_length=1,
    )
    depths: Counts = param(
        COUNTS,
        "queue depths (QD) of the grid, rising; measured from the greatest down",
        unit="I/Os",
        quick=(1, 8, 32),
        min_length=1,
    )
    seconds: Seconds = param(
        60.0,
        "length of a cell, and of a record of the preconditioning",
        unit="s",
        quick=0.2,
        ge=0.01,
        le=3600,
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
        25,
        "maximum samples of the preconditioning; the rounds then begin, steady or not",
        quick=5,
        ge=5,
        le=1000,
    )
    pre_write_seconds: Seconds = param(
        300.0, "duration of the writes before each round", unit="s", quick=0.5, ge=0.01, le=86_400
    )
    settle_seconds: Seconds = param(
        3600.0,
        "duration of the writes before each of the three histograms",
        unit="s",
        quick=0.5,
        ge=0.01,
        le=86_400,
    )
    histogram_seconds: Seconds = param(
        600.0, "duration of each histogram", unit="s", quick=1.0, ge=0.01, le=86_400
    )
    art_limit: float = param(
        ART_LIMIT_MS,
        "limit of the mean response time (ART) of MaxIOPS and MidIOPS; 5 is read from one "
        "implementation, not from the text",
        unit="ms",
        gt=0,
        le=60_000,
    )

    @property
    def recommended(self) -> Shape:
        """Threads and depth of preconditioning and pre-writes."""
        return (32, 32)

    @property
    def grid(self) -> list[Shape]:
        """The demands in the specification's order: from the greatest down, depths in the inner loop."""
        return [(threads, depth) for threads in self.thread_counts[::-1] for depth in self.depths[::-1]]


def vary_demand(lab: Lab, p: DemandParams, load: Load) -> None:
    """Precondition to steady state, run rounds of the grid, then record histograms at three demands."""
    begin(lab, p)
    _precondition(lab, p, load)
    steps = run_rounds(lab, p, cells_of(p, load), [tracked_of(p)])
    done = RunData(tuple(steps), lab.capacity_bytes, lab.logical_block_bytes)
    with lab.on_interruption("re-precondition"):
        for name, shape in _shapes(p, done, load):
            lab.group(label=point_label(name, begins=True))
            certain = name == "MinIOPS"  # MaxIOPS and MidIOPS need a cell below the limit
            before = load.workload(shape, p.settle_seconds, writes=True)
            lab.run(before, label=point_label(name, writes=True), certain=certain)
            lab.run(load.workload(shape, p.histogram_seconds), label=point_label(name), certain=certain)


def _precondition(lab: Lab, p: DemandParams, load: Load) -> None:
    """Write without a pause until the first records of five cycles in a row are steady, or to the maximum."""

    def holds(rows: Sequence[Any]) -> bool:
        samples = written_rows(rows[:: p.cycle])[0]
        return (len(rows) - 1) % p.cycle == 0 and first_steady([samples[-WINDOW:]]) is not None

    max_s, min_s = (((samples - 1) * p.cycle + 1) * p.seconds for samples in (p.most_samples, WINDOW))
    writes = load.workload(p.shape, max_s, writes=True, record_s=p.seconds)
    min_ns = round(min_s * NS_PER_S)
    until = Until("steady samples", {"cycle": p.cycle, "sample": "first", "least_ns": min_ns}, holds)
    lab.precondition(writes, label=PRECONDITION, until=until, policy="from-purge")


def cells_of(p: DemandParams, load: Load) -> list[Cell]:
    """Return the cells of a round in the specification's order: the pre-write, then the grid."""
    block_bytes = min(block.bytes for block in load.blocks)
    before = load.workload(p.shape, p.pre_write_seconds, writes=True)
    grid = [
        Cell(cell_name(shape), load.read_pct, block_bytes, load.workload(shape, p.seconds))
        for shape in p.grid
    ]
    return [Cell(PRE_WRITE, 0, block_bytes, before), *grid]


def cell_name(shape: Shape) -> str:
    """Return the specification's name of a cell: ``TC32 QD16``."""
    return f"TC{shape[0]} QD{shape[1]}"


def point_label(name: PointName, *, writes: bool = False, begins: bool = False) -> str:
    """Return the label of a point's pre-writes, of its histogram, or of the group that holds both."""
    return f"before {name}" if begins else f"{name}, {PRE_WRITE if writes else 'histogram'}"


def points_after_a_cut(data: RunData, rounds: int) -> tuple[PointName, ...]:
    """Return the points that were measured after an interruption that followed the last round."""
    begun = epochs_of(data)
    of_window = begun.get(group_label("", rounds))
    return tuple(name for name in POINTS if begun.get(point_label(name, begins=True), of_window) != of_window)


def tracked_of(p: DemandParams) -> Tracked:
    """Return the variable that must be steady: the IOPS at the greatest demand."""
    name = cell_name(p.grid[0])
    return Tracked(name, "IOPS", name, iops)


def chosen_of(p: DemandParams, rounds: PtsRounds) -> Chosen:
    grid = [
        Demand(*shape, rounds.of_window(cell.iops) or 0.0, rounds.of_window(cell.mean_ns) or 0.0)
        for shape, cell in zip(p.grid, rounds.cells[1:], strict=True)
    ]
    return choose(grid, p.art_limit * 1e6)


def _shapes(p: DemandParams, done: RunData, load: Load) -> list[tuple[PointName, Shape]]:
    """Return the points to measure, each with its demand.

    A plan has no measurements, so it uses the greatest demand for MaxIOPS and MidIOPS.
    """
    if all(step.result.measurement is None for step in done.steps):
        return [("MaxIOPS", p.grid[0]), ("MidIOPS", p.grid[0]), ("MinIOPS", p.grid[-1])]
    chosen = chosen_of(p, collect(done, cells_of(p, load), [tracked_of(p)], [], group=""))
    found = zip(POINTS, (chosen.highest, chosen.middle, chosen.lowest), strict=True)
    return [(name, (each.threads, each.depth)) for name, each in found if each is not None]


def conclude_demand(
    data: RunData, p: DemandParams, load: Load, test: Literal["demand-intensity", "composite"]
) -> DemandResult:
    step = data.step(PRECONDITION)
    assert step is not None  # a finished run has it
    records = records_of(data, step)
    planned = (p.most_samples - 1) * p.cycle + 1  # later records only drain the queue
    records = picked(records, range(min(planned, len(records.iops))))
    samples = samples_of(data, step, records, p.cycle, at=0)
    rounds = collect(data, cells_of(p, load), [tracked_of(p)], [], group="")
    before, *grid = (
        _cell(data, shape, cell) for shape, cell in zip([p.shape, *p.grid], rounds.cells, strict=True)
    )
    chosen = chosen_of(p, rounds)
    points = tuple(_points(data, p, chosen))
    return DemandResult(
        **common(data, p),
        test=test,
        preconditioning=tuple(_preconditioning(p, load, samples, rounds)),
        stimuli=tuple(_stimuli(p, load, rounds, points)),
        left_out=tuple(block_text(each) for each in load.left_out_bytes),
        left_out_why=why_left_out(data, load),
        seconds=p.seconds,
        simulated=_simulated(data),
        read_pct=load.read_pct,
        blocks=tuple(blocks_of(load)),
        ranges=tuple(ranges_of(load)),
        writes=records,
        samples=samples,
        rounds=rounds.model_copy(update={"cells": ()}),
        pre_writes=before,
        cells=tuple(grid),
        art_limit_ms=p.art_limit,
        points=points,
        measured_anew=points_after_a_cut(data, rounds.rounds),
        unwritten_share=_unwritten(data, p, load, records),
        scalars=tuple(_scalars(test, points, rounds, grid)),
    )


def _cell(data: RunData, shape: Shape, cell: PtsCell) -> DemandCell:
    steps = {step.ordinal: step for step in data.steps}
    hosts = [steps[ordinal].result.host for ordinal in cell.ordinals]
    return DemandCell(
        threads=shape[0],
        depth=shape[1],
        ordinals=cell.ordinals,
        iops=cell.iops,
        mb_s=cell.mb_s,
        mean_ns=cell.mean_ns,
        five_nines_ns=cell.five_nines_ns,
        max_ns=cell.max_ns,
        cpu_busy_share=tuple(None if host is None else host.cpu_busy_share for host in hosts),
    )


def _points(data: RunData, p: DemandParams, chosen: Chosen) -> Iterator[DemandPoint]:
    why = f"no cell of the grid has a mean response time below {significant(p.art_limit)} ms"
    for name, demand in zip(POINTS, (chosen.highest, chosen.middle, chosen.lowest), strict=True):
        before, counted = data.step(point_label(name, writes=True)), data.step(point_label(name))
        if demand is None or before is None or counted is None:
            yield DemandPoint(name=name, missing=why)
        else:
            yield _point(data, name, demand, (before, counted))


def _point(data: RunData, name: PointName, demand: Demand, steps: tuple[Step, Step]) -> DemandPoint:
    before, counted = steps
    return DemandPoint(
        name=name,
        threads=demand.threads,
        depth=demand.depth,
        window_iops=demand.iops,
        window_mean_ns=demand.art_ns,
        pre_write_ordinal=before.ordinal,
        ordinal=counted.ordinal,
        histogram=_histogram(data, counted),
    )


def _histogram(data: RunData, step: Step) -> PtsHistogram:
    """Return all response times of a step, reads and writes together."""
    summary = step.measured
    columns = data.buckets(step)
    longest = summary.slower("max")
    # Without this maximum, the middle of the last bucket could exceed the slowest I/O.
    total = merged(columns, columns["clock"] == "response", longest or inf)
    return PtsHistogram(
        seconds=summary.elapsed_s,
        iops=summary.iops,
        mb_s=summary.mb_s,
        mean_ns=mean_ns(summary),
        **tail_of(total),
        max_ns=longest,
        low_ns=tuple(total.low_ns.tolist()),
        high_ns=tuple(total.high_ns.tolist()),
        count=tuple(total.count.tolist()),
    )


def _simulated(data: RunData) -> bool:
    return any(summary.engine == "sim" for step in data.steps if (summary := step.summary) is not None)


def _preconditioning(
    p: DemandParams, load: Load, samples: PtsSamples, rounds: PtsRounds
) -> Iterator[Stimulus]:
    writes = f"{load.name} 0/100"
    lasted = span_text(((len(samples.variable.values) - 1) * p.cycle + 1) * p.seconds)
    outcome = samples_text(samples)
    yield Stimulus(
        what=writes, threads=p.threads, depth=p.depth, lasted=f"{lasted}; {outcome}", outcome=outcome
    )
    yield Stimulus(
        dependent=True,
        what=f"{writes}, between rounds",
        threads=p.threads,
        depth=p.depth,
        outcome=f"{span_text(p.pre_write_seconds)} before each of {rounds.rounds}",
    )


def _stimuli(
    p: DemandParams, load: Load, rounds: PtsRounds, points: Sequence[DemandPoint]
) -> Iterator[Stimulus]:
    mix = f"{load.name} {load.read_pct}/{100 - load.read_pct}"
    counts, depths = (", ".join(map(str, each[::-1])) for each in (p.thread_counts, p.depths))
    yield Stimulus(
        what=f"{mix}, TC {counts} (outer) x QD {depths} (inner)",
        lasted=f"{significant(p.seconds)} s a cell, {counted(rounds.rounds, 'round')}",
        outcome=rounds_text(rounds),
    )
    for point in points:
        if point.missing is None:
            yield Stimulus(
                what=f"{point.name}: {mix}",
                threads=point.threads,
                depth=point.depth,
                lasted=f"{span_text(p.histogram_seconds)} after {span_text(p.settle_seconds)} of writes",
            )


def _unwritten(data: RunData, p: DemandParams, load: Load, writes: PtsRecords) -> float | None:
    """Return the share of reads from blocks not written since the purge; None if it is negligible.

    Such reads touch no flash. They occur because random writes leave gaps, and the test has no sequential
    preconditioning (WIPC).
    """
    if not was_purged(data) or load.read_pct == 0:
        return None
    fills = sum(writes.written_bytes) / p.range_bytes(data.capacity_bytes)
    parts = [(each.share, each.range_share) for each in ranges_of(load)] or [(1.0, 1.0)]
    share = unwritten_reads(fills, parts)
    return share if share >= MIN_SHARE_NAMED else None


def _scalars(
    test: str, points: Sequence[DemandPoint], rounds: PtsRounds, grid: Sequence[DemandCell]
) -> Iterator[Metric]:
    """Yield IOPS and mean response time of the three points, from the window.

    Each drive has its own points. A response time is comparable only at the same demand, so it carries its
    load. IOPS carry none, because the points are chosen by IOPS.

    The choice depends on the points, and on the demands next above MaxIOPS. Demands beyond these decide
    nothing: they only add I/Os in flight.
    """
    key = test.replace("-", "_")
    cells = {(cell.threads, cell.depth): cell for cell in grid}
    shapes = {(point.threads, point.depth) for point in points if point.missing is None}
    if points and points[0].missing is None:
        shapes.update(_next_above((points[0].threads, points[0].depth), cells))
    among = {step for shape in shapes for step in rounds.reported_of(cells[shape].ordinals)}
    unproven = rounds.unproven([grid[0].ordinals])  # the greatest demand is tracked
    for point in points:
        if point.missing is not None:
            continue
        name, shape = f"pts_{key}_{point.name.lower()}", (point.threads, point.depth)
        rate, art_us, own = point.window_iops, point.window_mean_ns / 1000, cells[shape]
        steps = rounds.reported_of(own.ordinals)
        evidence: dict[str, Any] = {
            "steps": steps,
            "chosen_among": tuple(sorted(among.difference(steps))),
            "qualifiers": unproven,
        }
        varies = rounds.range_of(rate, own.iops)
        label = f"{point.name} at {cell_name(shape)}"
        yield Metric.more(name, label, rate, "IOPS", varies=varies, **evidence)
        varies, load = rounds.range_of(art_us, own.mean_ns), MetricLoad(threads=shape[0], depth=shape[1])
        label = f"ART of {point.name}"
        yield Metric.less(f"{name}_art", label, art_us, "µs", varies=varies, load=load, **evidence)


def _next_above(shape: Shape, cells: Iterable[Shape]) -> Iterator[Shape]:
    """Yield the next greater demands of the grid: the one with more threads, and the one with more depth."""
    threads, depth = shape
    same_depth = [each for each in cells if each[1] == depth and each[0] > threads]
    same_threads = [each for each in cells if each[0] == threads and each[1] > depth]
    yield from (min(found) for found in (same_depth, same_threads) if found)
