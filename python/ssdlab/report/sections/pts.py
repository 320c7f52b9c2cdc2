"""SNIA PTS: convergence of the rounds, the window that proves steady state, and the table of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.view import Buttons, Figure, Section
from ssdlab.results.pts import PtsCell, PtsResult, PtsRounds, TrackedVariable
from ssdlab.units import block_text, latency_text, significant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.charts import Quantity
    from ssdlab.report.numbers import Cell
    from ssdlab.report.runs import Shown

_NAMES = {"iops": "IOPS", "throughput": "Throughput", "latency": "Latency"}
Tested = tuple["Shown", PtsResult]

_WHAT: dict[str, tuple[str, Quantity, str]] = {
    "iops": ("iops", "iops", "IOPS"),
    "throughput": ("mb_s", "mb_s", "MB/s (decimal)"),
    "latency": ("mean_ns", "ns", "mean latency"),
}
"""Of each test: the figure of a cell, its quantity, and the title of its axis."""


def section(runs: Sequence[Shown]) -> Section:
    """Return the sections of one test of the specification."""
    kept = [(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, PtsResult)]
    tests = list(dict.fromkeys(result.test for _, result in kept))
    figures = tuple(
        figure for test in tests for figure in _figures([one for one in kept if one[1].test == test])
    )
    return Section(
        id="pts",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=figures,
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


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


def _figures(kept: Sequence[Tested]) -> tuple[Figure, ...]:
    return (_convergence(kept), _window(kept), _cells(kept))


def _convergence(kept: Sequence[Tested]) -> Figure:
    test = kept[0][1].test
    field, quantity, title = _WHAT[test]
    mixes = (0, 100) if test == "throughput" else (0,)
    views = []
    for read_pct in mixes:
        lines = tuple(
            Line(
                shown.index,
                block_text(cell.block_bytes),
                read_pct == 0,
                tuple(Dot(float(at + 1), value) for at, value in enumerate(getattr(cell, field))),
            )
            for shown, result in kept
            for group in result.groups
            for cell in group.cells
            if cell.read_pct == read_pct and not cell.missing
        )
        label = f"R/W {read_pct}/{100 - read_pct}"
        views.append(XyView(label, Axis("round", "count"), Axis(f"{title}, log", quantity, "log"), lines))
    return Figure(
        id=f"pts-{test}-convergence",
        title=f"{_NAMES[test]}: convergence",
        lead="Each line is a block size, round after round.",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(tuple(views)),
        tables=(),
        measured=(_how(kept[0][1]),),
        buttons=(Buttons("view", "Mix", tuple(view.label for view in views), 0),) if len(views) > 1 else (),
        wide=True,
    )


def _how(result: PtsResult) -> str:
    return (
        f"{result.specification}, {result.setting}: {result.threads} threads of {result.depth} I/Os in "
        f"flight, active range {result.active_range_pct} %, {significant(result.seconds)} s a cell."
    )


def _window(kept: Sequence[Tested]) -> Figure:
    test = kept[0][1].test
    views = tuple(
        _window_view(shown, group, each, _WHAT[test][1])
        for shown, result in kept
        for group in result.groups
        for each in group.tracked
        if each.mean is not None
    )
    return Figure(
        id=f"pts-{test}-window",
        title=f"{_NAMES[test]}: steady-state window",
        lead="Five rounds, their least-squares line, and 90 and 110 % of their mean as aids for the eye.",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(_window_table(kept),),
        measured=(
            f"Steady: largest minus smallest at most {MAX_RANGE:.0%} of the mean, and the line rises or "
            f"falls by at most {MAX_RISE:.0%} of it over the window (section 2.1.24).",
        ),
        buttons=(Buttons("view", "Variable", tuple(view.label for view in views), 0),),
        wide=True,
    )


def _window_view(shown: Shown, group: PtsRounds, each: TrackedVariable, quantity: Quantity) -> XyView:
    first = group.first
    values = each.values[first - 1 : group.last]
    mean, slope, intercept = each.mean or 0.0, each.slope or 0.0, each.intercept or 0.0
    fitted = tuple(Dot(float(first + at), intercept + slope * at, quiet=True) for at in (0, WINDOW - 1))
    lines = (
        Line(shown.index, "", True, tuple(Dot(float(first + at), value) for at, value in enumerate(values))),
        Line(shown.index, "fit", False, fitted, plain=True),
    )
    rules = tuple(
        Rule(shown.index, mean * share, text)
        for share, text in ((0.9, "90 %"), (1.0, "mean"), (1.1, "110 %"))
    )
    label = f"{each.name}{f', {group.group}' if group.group and group.group not in each.name else ''}"
    return XyView(label, Axis("round", "count"), Axis(f"{each.name}, {each.unit}", quantity), lines, rules)


def _window_table(kept: Sequence[Tested]) -> Table:
    head = (
        "Run",
        "Variable",
        "Rounds",
        "Steady",
        "Mean",
        "Range, at most 20 %",
        "Rise, at most 10 %",
        "Line",
    )
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(each.name),
            numbers.words(f"{group.first} to {group.last} of {group.rounds}"),
            numbers.words("yes" if group.steady else "NOT ACHIEVED"),
            numbers.words(_told(each) if each.mean is not None else "—"),
            numbers.share(each.range_share),
            numbers.share(each.rise_share),
            numbers.words(
                "—"
                if each.slope is None or each.intercept is None
                else f"{significant(each.intercept)} {'+' if each.slope >= 0 else '-'} "
                f"{significant(abs(each.slope))} · (round - {group.first})"
            ),
        )
        for shown, result in kept
        for group in result.groups
        for each in group.tracked
    )
    return Table("The window, unrounded in the CSV", head, rows)


def _cells(kept: Sequence[Tested]) -> Figure:
    test = kept[0][1].test
    field, quantity, title = _WHAT[test]
    lines = []
    for shown, result in kept:
        mixes = dict.fromkeys(cell.read_pct for group in result.groups for cell in group.cells)
        for read_pct in mixes:
            dots = [
                Dot(float(cell.block_bytes), value)
                for group in result.groups
                for cell in group.cells
                if cell.read_pct == read_pct and (value := group.of_window(getattr(cell, field))) is not None
            ]
            dots.sort(key=lambda dot: dot.x)
            lines.append(Line(shown.index, f"{read_pct}/{100 - read_pct}", read_pct < 50, tuple(dots)))
    sizes = sorted(
        {cell.block_bytes for _, result in kept for group in result.groups for cell in group.cells}
    )
    ticks = tuple((float(size), block_text(size)) for size in sizes)
    view = XyView(
        title, Axis("block, log", "bytes", "log", ticks), Axis(f"{title}, log", quantity, "log"), tuple(lines)
    )
    return Figure(
        id=f"pts-{test}-cells",
        title=f"{_NAMES[test]}: means of the window",
        lead="Each line is a share of reads.",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart((view,)),
        tables=tuple(table for one in kept for table in _cell_tables(*one)),
        measured=(_how(kept[0][1]),),
        wide=True,
    )


def _cell_tables(shown: Shown, result: PtsResult) -> tuple[Table, ...]:
    """Return blocks down and mixes across, as the specification prints them."""
    if result.test != "latency":
        field, _, title = _WHAT[result.test]
        of = numbers.iops if result.test == "iops" else numbers.throughput
        return (_grid(shown, result, title, lambda group, cell: of(group.of_window(getattr(cell, field)))),)

    def mean(group: PtsRounds, cell: PtsCell) -> Cell:
        return numbers.latency(group.of_window(cell.mean_ns))

    def nines(group: PtsRounds, cell: PtsCell) -> Cell:
        return numbers.latency(group.most_of_window(cell.five_nines_ns))

    def most(group: PtsRounds, cell: PtsCell) -> Cell:
        return numbers.latency(group.most_of_window(cell.max_ns))

    def rate(group: PtsRounds, cell: PtsCell) -> Cell:
        return numbers.iops(group.of_window(cell.iops))

    named = (("mean", mean), ("99.999 %, worst round", nines), ("maximum", most), ("IOPS", rate))
    return tuple(_grid(shown, result, name, of) for name, of in named)


def _grid(shown: Shown, result: PtsResult, title: str, of: Callable[[PtsRounds, PtsCell], Cell]) -> Table:
    every = [(group, cell) for group in result.groups for cell in group.cells]
    mixes = sorted({cell.read_pct for _, cell in every}, reverse=True)
    sizes = sorted({cell.block_bytes for _, cell in every})
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        found = {cell.read_pct: (group, cell) for group, cell in every if cell.block_bytes == size}
        missing = next((cell.missing for _, cell in found.values() if cell.missing), None)
        if missing is not None:
            reason = numbers.Cell(f"not measured: {missing}", numeric=False, span=len(mixes))
            rows.append((numbers.block(size), reason))
            continue
        cells = (of(*found[mix]) if mix in found else numbers.words("") for mix in mixes)
        rows.append((numbers.block(size), *cells))
    head = ("Block", *(f"{mix}/{100 - mix}" for mix in mixes))
    return Table(f"{shown.label}: {title}, by R/W mix", head, tuple(rows))
