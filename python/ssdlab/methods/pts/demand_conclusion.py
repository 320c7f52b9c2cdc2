"""What the two demand tests conclude: the grid over the window, three points, and their histograms. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.analysis.demand import Chosen, Demand, unwritten_reads
from ssdlab.analysis.records import merged
from ssdlab.methods.pts.cells import mean_ns, worst
from ssdlab.methods.pts.collecting import collect
from ssdlab.methods.pts.conclusion import rounds_text, was_purged
from ssdlab.methods.pts.demand import (
    POINTS,
    PRECONDITION,
    DemandParams,
    Load,
    Shape,
    cell_name,
    cells_of,
    chosen_of,
    point_label,
    tracked_of,
)
from ssdlab.methods.pts.series import TAIL, common, picked, records_of, samples_of, samples_text
from ssdlab.methods.results.pts import PtsRounds, Stimulus
from ssdlab.methods.results.pts_demand import (
    BlockShare,
    DemandCell,
    DemandPoint,
    DemandResult,
    PointName,
    RangeShare,
)
from ssdlab.methods.results.pts_series import PtsHistogram, PtsRecords, PtsSamples
from ssdlab.model.pattern import Bands
from ssdlab.model.units import block_text, significant, span_text
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.methods.results.pts import PtsCell
    from ssdlab.results.run_folder import Step

LEAST_SAID = 0.001
"""Share of the reads below which gaps do not matter."""


def conclude_demand(
    data: RunData, p: DemandParams, load: Load, test: Literal["demand-intensity", "composite"]
) -> DemandResult:
    """Return the result of one of the two tests."""
    step = data.step(PRECONDITION)
    assert step is not None  # a finished run has it
    records = records_of(data, step)
    planned = (p.most_samples - 1) * p.cycle + 1  # what comes later only drains
    records = picked(records, range(min(planned, len(records.iops))))
    samples = samples_of(records, p.cycle, data.capacity_bytes, at=0)
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
        left_out_why=_why_left_out(data, load),
        seconds=p.seconds,
        simulated=_simulated(data),
        read_pct=load.read_pct,
        blocks=tuple(_blocks(load)),
        ranges=tuple(_ranges(load)),
        writes=records,
        samples=samples,
        rounds=rounds.model_copy(update={"cells": ()}),
        pre_writes=before,
        cells=tuple(grid),
        art_limit_ms=p.art_limit,
        points=points,
        caveats=(*_caveats(samples, rounds, points), *_unwritten(data, p, load, records)),
        scalars=tuple(_scalars(test, points)),
    )


def _cell(data: RunData, shape: Shape, cell: PtsCell) -> DemandCell:
    """Return a cell of the round loop with its demand, and how busy the host was in it."""
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
    for name, demand in zip(POINTS, (chosen.most, chosen.middle, chosen.least), strict=True):
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
    summary = cast("dict[str, Any]", step.result.measurement)
    columns = data.buckets(step)
    total = merged(columns, columns["clock"] == "response")
    longest = worst(summary, "max")
    tail = {name: total.percentile(Fraction(name)) for name in TAIL}
    return PtsHistogram(
        seconds=summary["elapsed_s"],
        iops=summary["iops"],
        mb_s=summary["mb_s"],
        mean_ns=mean_ns(summary),
        # The middle of the last bucket may lie beyond what the slowest I/O took.
        percentiles_ns={name: ns if ns is None else min(ns, longest or ns) for name, ns in tail.items()},
        max_ns=longest,
        low_ns=tuple(total.low_ns.tolist()),
        high_ns=tuple(total.high_ns.tolist()),
        count=tuple(total.count.tolist()),
    )


def _simulated(data: RunData) -> bool:
    summaries = (cast("dict[str, Any] | None", step.result.measurement) for step in data.steps)
    return any(summary is not None and summary.get("engine") == "sim" for summary in summaries)


def _blocks(load: Load) -> Iterator[BlockShare]:
    total = sum(block.weight for block in load.blocks)
    for block in load.blocks:
        yield BlockShare(block_bytes=block.bytes, share=block.weight / total)


def _ranges(load: Load) -> Iterator[RangeShare]:
    if isinstance(load.pattern, Bands):
        bands = load.pattern.bands
        spans, accesses = (
            sum(getattr(band, name) for band in bands) for name in ("span_weight", "access_weight")
        )
        for band in bands:
            yield RangeShare(range_share=band.span_weight / spans, share=band.access_weight / accesses)


def _why_left_out(data: RunData, load: Load) -> str:
    if not load.left_out_bytes:
        return ""
    sectors = block_text(data.logical_block_bytes)
    return f"the drive's sectors are of {sectors}; the other sizes keep their proportions"


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
        lasted=f"{significant(p.seconds)} s a cell, {rounds.rounds} rounds",
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


def _caveats(samples: PtsSamples, rounds: PtsRounds, points: Sequence[DemandPoint]) -> Iterator[str]:
    if not samples.steady:
        yield (
            f"preconditioning: steady state was NOT ACHIEVED in {len(samples.variable.values)} samples; the "
            "rounds began nevertheless"
        )
    if not rounds.steady:
        yield f"steady state was NOT ACHIEVED in {rounds.rounds} rounds"
    missing = [point for point in points if point.missing is not None]
    if missing:
        yield f"{' and '.join(point.name for point in missing)} left out: {missing[0].missing}"


def _unwritten(data: RunData, p: DemandParams, load: Load, writes: PtsRecords) -> Iterator[str]:
    """Say how many reads touched no flash: without WIPC, random writes leave gaps."""
    if not was_purged(data) or load.read_pct == 0:
        return
    fills = sum(writes.written_bytes) / (data.capacity_bytes * p.range_pct / 100)
    parts = [(each.share, each.range_share) for each in _ranges(load)] or [(1.0, 1.0)]
    share = unwritten_reads(fills, parts)
    if share >= LEAST_SAID:
        yield (
            f"up to {100 * share:.2g} % of the reads went where nothing had been written since the purge: "
            "the test has no sequential preconditioning, and such reads touch no flash"
        )


def _scalars(test: str, points: Sequence[DemandPoint]) -> Iterator[Scalar]:
    """Yield IOPS and mean response time of the three points, by the window."""
    key = test.replace("-", "_")
    for point in points:
        if point.missing is None:
            name = f"pts_{key}_{point.name.lower()}"
            where = f"{point.name} at {cell_name((point.threads, point.depth))}"
            yield Scalar(name=name, label=where, value=point.window_iops, unit="IOPS", better="higher")
            art_us = point.window_mean_ns / 1000
            yield Scalar(
                name=f"{name}_art", label=f"ART of {point.name}", value=art_us, unit="µs", better="lower"
            )
