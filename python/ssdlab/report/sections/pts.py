"""SNIA PTS, tests of rounds: convergence, the window that proves steady state, and the cells, in pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from ssdlab.methods.results.pts import PtsResult
from ssdlab.methods.results.pts_series import PtsHistogram
from ssdlab.model.units import block_text, count_text, latency_text, significant, throughput_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.sections import pts_cells, pts_histogram, pts_window
from ssdlab.report.sections.pts_cells import ART, IOPS, MB_S, MRT, NINES, Measure
from ssdlab.report.sections.pts_section import of_kind, section_of
from ssdlab.report.sections.pts_window import Judged
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.pts import TrackedVariable
    from ssdlab.report.runs import Shown

    Tested = tuple[Shown, PtsResult]
    Page = tuple[str, Figure]

_NAMES = {"iops": "IOPS", "throughput": "Throughput", "latency": "Latency"}
_MEASURES: dict[str, Measure] = {"iops": IOPS, "throughput": MB_S, "latency": ART}


def section(runs: Sequence[Shown]) -> Section:
    """Return the pages of one test of the specification."""
    kept = of_kind(runs, PtsResult)
    found = list(_pages(runs[0].run.manifest.method.name, kept))
    return section_of(kept, finding, [figure for _, figure in found], groups=[group for group, _ in found])


def finding(shown: Shown, result: PtsResult) -> str:
    """Return the verdict on steady state as a sentence."""
    told = []
    for group in result.groups:
        name = f"{group.group}: " if group.group else ""
        verdict = f"steady in rounds {group.first} to {group.last}" if group.steady else "NOT ACHIEVED"
        values = ", ".join(f"{each.name} {_told(each)}" for each in group.tracked if each.mean is not None)
        told.append(f"{name}{verdict} ({values})")
    of = f"{_NAMES[result.test]} by {result.setting} of {result.specification}"
    return f"{shown.label}, {of}: {'; '.join(told)}."


def _told(each: TrackedVariable) -> str:
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
            yield group, pts_cells.bars(f"{of}-cells", f"{title}: reads and writes", kept, group, MB_S, how)
    if test == "iops":
        yield "", pts_cells.heat_map(f"{name}-cells", "IOPS by block and mix", kept, [IOPS], how)
        yield "", pts_cells.over_blocks(f"{name}-blocks", "IOPS over block sizes", kept, IOPS, how)
    elif test == "latency":
        measures = [ART, NINES, MRT, IOPS]
        yield "", pts_cells.heat_map(f"{name}-cells", "Latency by block and mix", kept, measures, how)
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
    most = max(each.rounds for _, result in kept for each in result.groups if each.group == group)
    views = tuple(
        XyView(
            ", ".join(filter(None, (label, shown.label if len(kept) > 1 else ""))),
            Axis("round", "count", ticks=pts_window.round_ticks(1, most)),
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
        buttons=(Buttons("view", "Shown", tuple(view.label for view in views)),) if len(views) > 1 else (),
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
        pts_window.view(
            one, f"{one.variable.name}, {one.shown.label}" if len(kept) > 1 else one.variable.name
        )
        for one in judged
    )
    return Figure(
        id=f"{name}-window",
        title=f"{title}: steady-state window",
        lead=pts_window.LEAD,
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(pts_window.table(judged),),
        measured=(pts_window.RULE,),
        buttons=(Buttons("view", "Variable", tuple(view.label for view in views)),) if len(views) > 1 else (),
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
        yield "", pts_histogram.figure(f"{name}-histogram", f"4 KiB writes one by one: {of}", found)


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
