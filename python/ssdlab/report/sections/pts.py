"""SNIA PTS, tests of rounds: convergence, the window that proves steady state, and the cells, in pages.

What was measured in the cells of a round is drawn as maps with values, lines over block sizes, and tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.methods.results.pts import PtsHistogram, PtsResult
from ssdlab.model.units import block_text, count_text, latency_text, significant, throughput_text
from ssdlab.report import numbers
from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Dot,
    HeatChart,
    HeatView,
    Line,
    XyChart,
    XyView,
)
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.sections.pts_charts import (
    LEAD,
    RULE,
    Judged,
    histogram_figure,
    round_ticks,
    window_table,
    window_view,
)
from ssdlab.report.sections.pts_header import section_of
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.pts import TrackedVariable
    from ssdlab.report.runs import Shown

    Tested = tuple[Shown, PtsResult]
    Page = tuple[str, Figure]
    from collections.abc import Callable

    from ssdlab.methods.results.pts import PtsCell, PtsRounds
    from ssdlab.report.charts import Quantity


_NAMES = {"iops": "IOPS", "throughput": "Throughput", "latency": "Latency"}


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of one test of the specification."""
    kept = with_result(runs, PtsResult)
    found = list(_pages(runs[0].run.manifest.method.name, kept))
    return section_of(
        kept,
        finding,
        [histogram_figure for _, histogram_figure in found],
        groups=[group for group, _ in found],
    )


def finding(shown: Shown, result: PtsResult) -> str:
    """Return the verdict on steady state as a sentence."""
    parts = []
    for group in result.groups:
        name = f"{group.group}: " if group.group else ""
        verdict = f"steady in rounds {group.first} to {group.last}" if group.steady else "NOT ACHIEVED"
        values = ", ".join(
            f"{each.name} {_format_tracked(each)}" for each in group.tracked if each.mean is not None
        )
        parts.append(f"{name}{verdict} ({values})")
    of = f"{_NAMES[result.test]} by {result.setting} of {result.specification}"
    return f"{shown.label}, {of}: {'; '.join(parts)}."


def _format_tracked(each: TrackedVariable) -> str:
    if each.unit == "ns":
        return latency_text(each.mean or 0.0)
    return of_unit(each.mean, each.unit)


def _pages(name: str, kept: Sequence[Tested]) -> Iterator[Page]:
    """Yield the pages of a test in the standard's order, each with the group of cells that it is about."""
    test = kept[0][1].test
    how = _how(kept[0][1])
    for group in dict.fromkeys(group.group for _, result in kept for group in result.groups):
        of = f"{name}-{group.replace(' ', '')}" if group else name
        title = f"{_NAMES[test]}{f', {group}' if group else ''}"
        yield group, _convergence(of, title, kept, group, how)
        yield group, _window(of, title, kept, group)
        if group:
            yield group, bars(f"{of}-cells", f"{title}: reads and writes", kept, group, MB_S, how)
    if test == "iops":
        yield "", heat_map(f"{name}-cells", "IOPS by block and mix", kept, [IOPS], how)
        yield "", over_blocks(f"{name}-blocks", "IOPS over block sizes", kept, IOPS, how)
    elif test == "latency":
        measures = [ART, NINES, MRT, IOPS]
        yield "", heat_map(f"{name}-cells", "Latency by block and mix", kept, measures, how)
        yield from _histogram(name, kept)


def _convergence(name: str, title: str, kept: Sequence[Tested], group: str, how: str) -> Figure:
    """Return the values of every round: averages and maxima of latency, both streams of throughput."""
    test = kept[0][1].test
    measure = _MEASURES[test]
    asked = {
        "iops": [("", 0, "iops", measure)],
        "throughput": [("writes", 0, "mb_s", measure), ("reads", 100, "mb_s", measure)],
        "latency": [("average", 0, "mean_ns", ART), ("maximum", 0, "max_ns", MRT)],
    }[test]
    highest = max(each.rounds for _, result in kept for each in result.groups if each.group == group)
    views = tuple(
        XyView(
            ", ".join(filter(None, (label, shown.label if len(kept) > 1 else ""))),
            Axis("round", "count", ticks=round_ticks(1, highest)),
            Axis(f"{of.title}, log", of.quantity, "log"),
            _series(shown, result, group, read_pct, field),
        )
        for label, read_pct, field, of in asked
        for shown, result in kept
    )
    return Figure(
        id=f"{name}-convergence",
        title=f"{title}: convergence",
        lead="Each line is a block size, round after round"
        + (" of writes." if test != "throughput" else "."),
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=tuple(
            _rounds(one, group, read_pct, field, of) for _, read_pct, field, of in asked for one in kept
        ),
        measured=(how,),
        buttons=(Buttons("view", "Shown", tuple(window_view.label for window_view in views)),)
        if len(views) > 1
        else (),
        wide=True,
    )


def _series(shown: Shown, result: PtsResult, group: str, read_pct: int, field: str) -> tuple[Line, ...]:
    return tuple(
        Line(
            shown.index,
            block_text(cell.block_bytes),
            read_pct == 0,
            tuple(
                Dot(float(at), value)
                for at, value in enumerate(getattr(cell, field), start=1)
                if value is not None
            ),
        )
        for each in result.groups
        if each.group == group
        for cell in each.cells
        if cell.read_pct == read_pct and not cell.missing
    )


def _rounds(one: Tested, group: str, read_pct: int, field: str, of: Measure) -> Table:
    """Return every round of the lines of a convergence page."""
    shown, result = one
    lines = [
        (block_text(cell.block_bytes), getattr(cell, field))
        for each in result.groups
        if each.group == group
        for cell in each.cells
        if cell.read_pct == read_pct and not cell.missing
    ]
    rows = tuple(
        (numbers.count(at), *(of.cell(value) for value in values))
        for at, values in enumerate(zip(*(values for _, values in lines), strict=True), start=1)
    )
    title = f"{shown.label}: {of.title} of R/W {read_pct}/{100 - read_pct}, round by round"
    return Table(title, ("Round", *(name for name, _ in lines)), rows)


def _window(name: str, title: str, kept: Sequence[Tested], group: str) -> Figure:
    judged = [
        Judged(shown, variable, each.steady, each.first, each.last)
        for shown, result in kept
        for each in result.groups
        if each.group == group
        for variable in each.tracked
        if variable.mean is not None
    ]
    views = tuple(
        window_view(one, f"{one.variable.name}, {one.shown.label}" if len(kept) > 1 else one.variable.name)
        for one in judged
    )
    return Figure(
        id=f"{name}-window",
        title=f"{title}: steady-state window",
        lead=LEAD,
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(window_table(judged),),
        measured=(RULE,),
        buttons=(Buttons("view", "Variable", tuple(window_view.label for window_view in views)),)
        if len(views) > 1
        else (),
        wide=True,
    )


def _histogram(name: str, kept: Sequence[Tested]) -> Iterator[Page]:
    """Yield the page of the writes one by one that follow steady state, where a run has them."""
    found = [
        (shown, histogram)
        for shown, result in kept
        if (histogram := _of_step(shown, result.histogram_ordinal)) is not None
    ]
    if found:
        of = "; ".join(f"{count_text(one.iops)} IOPS, {throughput_text(one.mb_s)}" for _, one in found)
        yield "", histogram_figure(f"{name}-histogram", f"4 KiB writes one by one: {of}", found)


def _of_step(shown: Shown, ordinal: int | None) -> PtsHistogram | None:
    """Return the response times of a step of writes, from the buckets that the run keeps of it."""
    step = shown.run.step(ordinal)
    if step is None or step.result.measurement is None:
        return None
    summary = cast("dict[str, Any]", step.result.measurement)
    times = summary["write"]["response_ns"]
    buckets = shown.run.buckets(ordinal)
    kept = (buckets["clock"] == "response") & (buckets["direction"] == "write")
    low, high, count = (tuple(buckets[name][kept].tolist()) for name in ("low_ns", "high_ns", "count"))
    return PtsHistogram(
        seconds=summary["elapsed_s"],
        iops=summary["iops"],
        mb_s=summary["mb_s"],
        mean_ns=times["mean"],
        percentiles_ns={name: times.get(f"p{name}") for name in ("99.9", "99.99", "99.999")},
        max_ns=times["max"],
        low_ns=low,
        high_ns=high,
        count=count,
    )


def _how(result: PtsResult) -> str:
    return (
        f"{result.specification}, {result.setting}: thread count {result.threads}, depth {result.depth}, "
        f"active range {result.active_range_pct} %, {significant(result.seconds)} s a cell."
    )


@dataclass(frozen=True)
class Measure:
    """A figure of a cell over the reported rounds."""

    title: str
    short: str
    quantity: Quantity
    better: Literal["higher", "lower"]
    of: Callable[[PtsRounds, PtsCell], float | None]
    cell: Callable[[float | None], numbers.Cell]


IOPS = Measure("IOPS", "IOPS", "iops", "higher", lambda g, c: g.of_window(c.iops), numbers.iops)
MB_S = Measure(
    "MB/s (decimal)", "MB/s", "mb_s", "higher", lambda g, c: g.of_window(c.mb_s), numbers.throughput
)
ART = Measure(
    "average response time", "ART", "ns", "lower", lambda g, c: g.of_window(c.mean_ns), numbers.latency
)

_MEASURES: dict[str, Measure] = {"iops": IOPS, "throughput": MB_S, "latency": ART}
NINES = Measure(
    "99.999 %, worst round",
    "99.999 %",
    "ns",
    "lower",
    lambda g, c: g.max_of_window(c.five_nines_ns),
    numbers.latency,
)
MRT = Measure(
    "maximum response time", "MRT", "ns", "lower", lambda g, c: g.max_of_window(c.max_ns), numbers.latency
)


def heat_map(name: str, title: str, kept: Sequence[Tested], measures: Sequence[Measure], how: str) -> Figure:
    """Return blocks down and mixes across, each cell with its value; a view for each measure and run."""
    mixes = _mixes(kept)
    sizes = _sizes(kept)
    views = tuple(
        _heat_view(one, measure, kept, mixes, sizes, several=len(kept) > 1)
        for measure in measures
        for one in kept
    )
    return Figure(
        id=name,
        title=title,
        lead="Mean over the reported rounds; of maxima, the greatest in them. The better, the lighter.",
        described=f"{title}: {len(sizes)} block sizes by {len(mixes)} mixes; the numbers are in the table.",
        chart=HeatChart(
            tuple(block_text(size) for size in sizes), tuple(_mix(mix) for mix in mixes), "R/W mix, %", views
        ),
        tables=tuple(grid(one, measure) for one in kept for measure in measures),
        measured=(how,),
        buttons=(Buttons("view", "Shown", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def _heat_view(
    one: Tested,
    measure: Measure,
    kept: Sequence[Tested],
    mixes: Sequence[int],
    sizes: Sequence[int],
    *,
    several: bool,
) -> HeatView:
    shown, result = one
    every = [v for other in kept for v in _values(other[1], measure).values() if v]
    found = _values(result, measure)
    missing = [cell.missing for group in result.groups for cell in group.cells if cell.missing]
    return HeatView(
        label=f"{measure.short}, {shown.label}" if several else measure.short,
        run=shown.index,
        title=measure.title,
        quantity=measure.quantity,
        values=tuple(tuple(found.get((mix, size)) for mix in mixes) for size in sizes),
        range=(min(every, default=1.0), max(every, default=1.0)),
        better=measure.better,
        absent=f"not measured: {missing[0]}" if missing else None,
    )


def over_blocks(name: str, title: str, kept: Sequence[Tested], measure: Measure, how: str) -> Figure:
    """Return lines over block sizes: a line for each mix; of several runs, a view for each mix."""
    sizes = _sizes(kept)
    ticks = tuple((float(size), block_text(size)) for size in sizes)
    axes = (Axis("block, log", "bytes", "log", ticks), Axis(f"{measure.title}, log", measure.quantity, "log"))
    lines = {
        mix: tuple(
            Line(shown.index, _mix(mix) if len(kept) == 1 else "", mix < 50, _dots(result, measure, mix))
            for shown, result in kept
        )
        for mix in _mixes(kept)
    }
    if len(kept) > 1:
        views = [XyView(f"R/W {_mix(mix)}", *axes, of_mix) for mix, of_mix in lines.items()]
    else:
        views = [XyView(measure.short, *axes, tuple(line for of_mix in lines.values() for line in of_mix))]
    return Figure(
        id=name,
        title=title,
        lead="Each line is a share of reads; mixes with more writes than reads are dashed.",
        described=f"{title}: {measure.title} over {len(sizes)} block sizes.",
        chart=XyChart(tuple(views)),
        tables=tuple(grid(one, measure) for one in kept),
        measured=(how,),
        buttons=(Buttons("view", "Mix", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def bars(name: str, title: str, kept: Sequence[Tested], group: str, measure: Measure, how: str) -> Figure:
    """Return a group's cells as bars, reads and writes apart."""
    of_group = [(shown, each) for shown, result in kept for each in result.groups if each.group == group]
    names = dict.fromkeys(cell.read_pct for _, each in of_group for cell in each.cells)
    groups = tuple(
        BarGroup(
            f"R/W {_mix(mix)}",
            tuple(
                Bar(shown.index, value, "")
                for shown, each in of_group
                for cell in each.cells
                if cell.read_pct == mix and (value := measure.of(each, cell)) is not None
            ),
        )
        for mix in names
    )
    view = BarsView(measure.short, Axis(measure.title, measure.quantity), measure.better, groups)
    return Figure(
        id=name,
        title=title,
        lead="Mean over the reported rounds; further right is better.",
        described=f"{title}: see the table.",
        chart=BarsChart((view,)),
        tables=tuple(grid(one, measure, group) for one in kept),
        measured=(how,),
        wide=True,
    )


def grid(one: Tested, measure: Measure, group: str | None = None) -> Table:
    """Return blocks down and mixes across, as the specification prints them."""
    shown, result = one
    every = [(each, cell) for each in result.groups if group in (None, each.group) for cell in each.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    rows: list[tuple[numbers.Cell, ...]] = []
    for size in sorted({cell.block_bytes for _, cell in every}):
        found = {cell.read_pct: (each, cell) for each, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            reason = numbers.Cell(f"not measured: {missing}", numeric=False, span=len(mixes))
            rows.append((numbers.block(size), reason))
            continue
        cells = (
            measure.cell(measure.of(*found[mix])) if mix in found else numbers.words("") for mix in mixes
        )
        rows.append((numbers.block(size), *cells))
    head = ("Block", *(_mix(mix) for mix in mixes))
    return Table(f"{shown.label}: {measure.title}, by R/W mix", head, tuple(rows))


def _values(result: PtsResult, measure: Measure) -> dict[tuple[int, int], float]:
    return {
        (cell.read_pct, cell.block_bytes): value
        for group in result.groups
        for cell in group.cells
        if not cell.missing and (value := measure.of(group, cell)) is not None
    }


def _dots(result: PtsResult, measure: Measure, mix: int) -> tuple[Dot, ...]:
    found = sorted((size, value) for (of, size), value in _values(result, measure).items() if of == mix)
    return tuple(Dot(float(size), value) for size, value in found)


def _mixes(kept: Sequence[Tested]) -> list[int]:
    return sorted(
        {cell.read_pct for _, r in kept for group in r.groups for cell in group.cells}, reverse=True
    )


def _sizes(kept: Sequence[Tested]) -> list[int]:
    return sorted({cell.block_bytes for _, r in kept for group in r.groups for cell in group.cells})


def _mix(read_pct: int) -> str:
    return f"{read_pct}/{100 - read_pct}"
