"""Pages of SNIA PTS's tests of rounds: convergence, the steady-state window, and the cells.

The cells of a round are drawn as maps with values, as lines over block sizes, and as tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from math import inf, log
from statistics import fmean
from typing import TYPE_CHECKING

from ssdlab.analysis.records import merged
from ssdlab.plugin import (
    NO_SIDE,
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Figure,
    HeatChart,
    HeatView,
    Line,
    Section,
    Table,
    Upright,
    XyChart,
    XyView,
    block_text,
    cells,
    count_text,
    leads,
    named,
    rates,
    significant,
    throughput_text,
    together,
    with_result,
)

from .charts import LASTING, LEAD, RULE, Judged, histogram_figure, round_ticks, window_table, window_view
from .findings import (
    ART,
    IOPS,
    LOWER_BOUND,
    MB_S,
    MRT,
    NAMES,
    NINES,
    Measure,
    cuts_text,
    findings,
    grid,
    mix_text,
    nines_table,
)
from .header import section_of
from .result import PtsHistogram, PtsResult, PtsRounds
from .series import tail_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    Tested = tuple[Shown, PtsResult]
    Page = tuple[str, Figure]


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, PtsResult)
    found = list(_pages(runs[0].run.manifest.method.name, kept))
    return section_of(
        kept,
        findings,
        [histogram_figure for _, histogram_figure in found],
        groups=[group for group, _ in found],
    )


def _pages(name: str, kept: Sequence[Tested]) -> Iterator[Page]:
    """Yield the pages of a test, each with its group of cells.

    A standard test has the standard's order. A review's practice begins with the drives' figures, and shows
    steady state after them.
    """
    how = _how(kept[0][1])
    judged = list(_judged(name, kept, how))
    if kept[0][1].standard:
        yield from judged
        yield from _cells(name, kept, how)
        return
    if kept[0][1].test == "latency":
        yield "", latency_bars(f"{name}-mean", "Mean latency", kept, ART, how)
        yield "", latency_bars(f"{name}-max", "Maximum latency", kept, MRT, how)
    yield from _cells(name, kept, how)
    yield from judged


def _judged(name: str, kept: Sequence[Tested], how: str) -> Iterator[Page]:
    test = kept[0][1].test
    for group in dict.fromkeys(group.group for _, result in kept for group in result.groups):
        of = f"{name}-{group.replace(' ', '')}" if group else name
        title = f"{NAMES[test]}{f', {group}' if group else ''}"
        yield group, _convergence(of, title, kept, group, how)
        yield group, _window(of, title, kept, group)
        if group:
            yield group, bars(f"{of}-cells", f"{title}: reads and writes", kept, group, MB_S, how)


def _cells(name: str, kept: Sequence[Tested], how: str) -> Iterator[Page]:
    test = kept[0][1].test
    if test == "iops":
        pair = (
            heat_map(f"{name}-cells", "IOPS by block and mix", kept, [IOPS], how),
            over_blocks(f"{name}-blocks", "IOPS over block sizes", kept, IOPS, how),
        )
        yield from (("", each) for each in (pair if kept[0][1].standard else reversed(pair)))
    elif test == "latency":
        # A review's practice already shows mean and maximum as bars; IOPS repeat the mean.
        measures = [ART, NINES, MRT, IOPS] if kept[0][1].standard else [NINES]
        title = "Latency by block and mix" if len(measures) > 1 else "99.999 % latency by block and mix"
        cells = heat_map(f"{name}-cells", title, kept, measures, how)
        nines = (named(shown, nines_table(result)) for shown, result in kept)
        yield "", replace(cells, tables=(*cells.tables, *nines))
        yield from _histogram(name, kept)


def _convergence(name: str, title: str, kept: Sequence[Tested], group: str, how: str) -> Figure:
    """Return a chart of every round: IOPS, throughput of reads and writes, or mean and maximum latency."""
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
            ", ".join(filter(None, (label, shown.style.short if len(kept) > 1 else ""))),
            Axis("round", "count", ticks=round_ticks(1, highest), range=(0.5, highest + 0.5)),
            Axis(f"{of.title}, log", of.quantity, "log"),
            _series(shown, result, group, read_pct, field),
            uprights=tuple(
                upright for each in result.groups if each.group == group for upright in _edges(each)
            ),
        )
        for label, read_pct, field, of in asked
        for shown, result in kept
    )
    return Figure(
        id=f"{name}-convergence",
        title=f"{title}: convergence",
        lead="Each line is a block size, round after round"
        + (" of writes. " if test != "throughput" else ". ")
        + "Upright lines enclose the judged window"
        + (
            ", then the rounds of the reported mean."
            if any(each.reported[0] > each.last for _, result in kept for each in result.groups)
            else "."
        )
        + "".join(f" {text}" for text in _cuts(kept, group)),
        described=" ".join(leads(kept, findings)),
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
    """Return a line for each block size, broken at each interruption."""
    return tuple(
        Line(
            shown.index,
            block_text(cell.block_bytes),
            read_pct == 0,
            tuple(
                Dot(float(at + 1), value)
                for at in range(begins - 1, after - 1)
                if (value := getattr(cell, field)[at]) is not None
            ),
        )
        for each in result.groups
        if each.group == group
        for cell in each.cells
        if cell.read_pct == read_pct and not cell.missing
        for begins, after in pairwise([1, *each.cuts, each.rounds + 1])
    )


def _edges(rounds: PtsRounds) -> Iterator[Upright]:
    """Yield the edges of the window and of the reported rounds, each between two rounds."""
    begins, ends = rounds.reported
    apart = begins > rounds.last
    also = "" if apart or rounds.reports_window else f"; mean: {begins} to {ends}"
    yield Upright(rounds.first - 0.5, f"window{also}")
    yield Upright(rounds.last + 0.5, "mean" if begins == rounds.last + 1 else "")
    if apart:
        yield Upright(ends + 0.5, "")


def _cuts(kept: Sequence[Tested], group: str) -> Iterator[str]:
    """Yield a sentence for each interruption that let the drive's state change."""
    for shown, result in kept:
        for each in result.groups:
            if each.group == group and each.cuts:
                yield f"{shown.label}: {cuts_text(each.cuts)}, where an interruption let its state change."


def _rounds(one: Tested, group: str, read_pct: int, field: str, of: Measure) -> Table:
    shown, result = one
    cuts = {cut for each in result.groups if each.group == group for cut in each.cuts}
    lines = [
        (block_text(cell.block_bytes), getattr(cell, field))
        for each in result.groups
        if each.group == group
        for cell in each.cells
        if cell.read_pct == read_pct and not cell.missing
    ]
    rows = tuple(
        (
            cells.Cell(f"{at}, first after a cut", str(at)) if at in cuts else cells.count(at),
            *(of.cell(value) for value in values),
        )
        for at, values in enumerate(zip(*(values for _, values in lines), strict=True), start=1)
    )
    title = f"{shown.label}: {of.title} of R/W {read_pct}/{100 - read_pct}, round by round"
    return Table(title, ("Round", *(name for name, _ in lines)), rows)


def _window(name: str, title: str, kept: Sequence[Tested], group: str) -> Figure:
    judged = [
        Judged(shown, variable, each.verdict, each.first, each.last, cuts=each.cuts)
        for shown, result in kept
        for each in result.groups
        if each.group == group
        for variable in each.tracked
        if variable.mean is not None
    ]
    views = tuple(
        window_view(
            one, f"{one.variable.name}, {one.shown.style.short}" if len(kept) > 1 else one.variable.name
        )
        for one in judged
    )
    return Figure(
        id=f"{name}-window",
        title=f"{title}: steady-state window",
        lead=LEAD,
        described=" ".join(leads(kept, findings)),
        chart=XyChart(views),
        tables=(window_table(judged),),
        measured=(RULE, LASTING),
        buttons=(Buttons("view", "Variable", tuple(window_view.label for window_view in views)),)
        if len(views) > 1
        else (),
        wide=True,
    )


def _histogram(name: str, kept: Sequence[Tested]) -> Iterator[Page]:
    """Yield the histogram page of the single writes after steady state, if a run has them."""
    found = [
        (shown, histogram)
        for shown, result in kept
        if (histogram := _of_step(shown, result.histogram_ordinal)) is not None
    ]
    if found:
        of = "; ".join(f"{count_text(one.iops)} IOPS, {throughput_text(one.mb_s)}" for _, one in found)
        yield "", histogram_figure(f"{name}-histogram", f"4 KiB writes one by one: {of}", found)


def _of_step(shown: Shown, ordinal: int | None) -> PtsHistogram | None:
    """Return a write step's response times from the run's histogram buckets; None without the step."""
    step = shown.run.step(ordinal)
    if step is None or step.summary is None:
        return None
    summary = step.summary
    times = (summary.write or NO_SIDE).response_ns
    buckets = shown.run.buckets(ordinal)
    kept = (buckets["clock"] == "response") & (buckets["direction"] == "write")
    low, high, count = (tuple(buckets[name][kept].tolist()) for name in ("low_ns", "high_ns", "count"))
    return PtsHistogram(
        seconds=summary.elapsed_s,
        iops=summary.iops,
        mb_s=summary.mb_s,
        mean_ns=times.get("mean") or 0.0,
        **tail_of(merged(buckets, kept, times.get("max") or inf)),
        max_ns=times.get("max"),
        low_ns=low,
        high_ns=high,
        count=count,
    )


def _how(result: PtsResult) -> str:
    return (
        f"{result.specification}, {result.setting}: thread count {result.threads}, depth {result.depth}, "
        f"active range {result.active_range_pct} %, {significant(result.seconds)} s a cell."
    )


_MEASURES: dict[str, Measure] = {"iops": IOPS, "throughput": MB_S, "latency": ART}


def heat_map(name: str, title: str, kept: Sequence[Tested], measures: Sequence[Measure], how: str) -> Figure:
    """Return a heat map of block sizes by mixes, with a view for each measure and run."""
    mixes = _mixes(kept)
    sizes = _sizes(kept)
    views = tuple(
        _heat_view(one, measure, kept, mixes, sizes, _view_name(measure, one, kept, measures))
        for measure in measures
        for one in kept
    )
    return Figure(
        id=name,
        title=title,
        lead=f"{_of_rounds(measures)} Lighter is better in each row."
        + (f" {LOWER_BOUND}" if any(view.bounds for view in views) else ""),
        described=f"{title}: {len(sizes)} block sizes by {len(mixes)} mixes; the numbers are in the table.",
        chart=HeatChart(
            tuple(block_text(size) for size in sizes),
            tuple(mix_text(mix) for mix in mixes),
            "R/W mix, %",
            views,
        ),
        tables=tuple(named(shown, grid(result, measure)) for shown, result in kept for measure in measures),
        measured=(how,),
        buttons=(Buttons("view", "Shown", tuple(view.label for view in views)),) if len(views) > 1 else (),
        wide=True,
    )


def _of_rounds(measures: Sequence[Measure]) -> str:
    """Return a sentence on what each measure is of the reported rounds; most are means."""
    if len(measures) == 1:
        return f"{measures[0].over[0].upper()}{measures[0].over[1:]} of the reported rounds."
    others = (f"; {each.short}: {each.over}" for each in measures if each.over != IOPS.over)
    return f"Means of the reported rounds{''.join(others)}."


def _heat_view(
    one: Tested,
    measure: Measure,
    kept: Sequence[Tested],
    mixes: Sequence[int],
    sizes: Sequence[int],
    label: str,
) -> HeatView:
    shown, result = one
    found = _values(result, measure)
    every = [
        [v for other in kept for (_, of), v in _values(other[1], measure).items() if of == size and v]
        for size in sizes
    ]
    ranges = tuple((min(row, default=1.0), max(row, default=1.0)) for row in every)
    low = {
        (cell.read_pct, cell.block_bytes)
        for group in result.groups
        for cell in group.cells
        if measure.bound(cell)
    }
    missing = [cell.missing for group in result.groups for cell in group.cells if cell.missing]
    return HeatView(
        label=label,
        run=shown.index,
        title=measure.title,
        quantity=measure.quantity,
        values=tuple(tuple(found.get((mix, size)) for mix in mixes) for size in sizes),
        range=(min(chain(*every), default=1.0), max(chain(*every), default=1.0)),
        better=measure.better,
        absent=f"not measured: {missing[0]}" if missing else None,
        row_ranges=ranges,
        bounds=tuple(tuple((mix, size) in low for mix in mixes) for size in sizes) if low else None,
    )


def _view_name(measure: Measure, one: Tested, kept: Sequence[Tested], measures: Sequence[Measure]) -> str:
    """Return what distinguishes a view: its measure, its run, or both."""
    run = one[0].style.short if len(kept) > 1 else ""
    return ", ".join(filter(None, (measure.short if len(measures) > 1 or not run else "", run)))


def over_blocks(name: str, title: str, kept: Sequence[Tested], measure: Measure, how: str) -> Figure:
    """Return a chart over block sizes with a line for each mix; with several runs, a view for each mix."""
    sizes = _sizes(kept)
    ticks = tuple((float(size), block_text(size)) for size in sizes)
    axes = (Axis("block, log", "bytes", "log", ticks), Axis(f"{measure.title}, log", measure.quantity, "log"))
    lines = {
        mix: tuple(
            Line(shown.index, mix_text(mix) if len(kept) == 1 else "", mix < 50, _dots(result, measure, mix))
            for shown, result in kept
        )
        for mix in _mixes(kept)
    }
    if len(kept) > 1:
        views = [XyView(f"R/W {mix_text(mix)}", *axes, of_mix) for mix, of_mix in lines.items()]
    else:
        views = [XyView(measure.short, *axes, tuple(line for of_mix in lines.values() for line in of_mix))]
    return Figure(
        id=name,
        title=title,
        lead=f"Each line is a drive, each button a mix of reads and writes. {APART}"
        if len(kept) > 1
        else "Each line is a share of reads; mixes with more writes than reads are dashed.",
        described=f"{title}: {measure.title} over {len(sizes)} block sizes.",
        chart=XyChart(tuple(views)),
        tables=tuple(named(shown, grid(result, measure)) for shown, result in kept),
        measured=(how,),
        buttons=(
            Buttons(
                "view",
                "Mix",
                tuple(view.label for view in views),
                furthest_apart([_over_sizes(kept, measure, mix) for mix in lines]),
            ),
        )
        if len(views) > 1
        else (),
        wide=True,
    )


def bars(name: str, title: str, kept: Sequence[Tested], group: str, measure: Measure, how: str) -> Figure:
    """Return bars of a group's cells, with reads and writes apart."""
    of_group = [(shown, each) for shown, result in kept for each in result.groups if each.group == group]
    names = dict.fromkeys(cell.read_pct for _, each in of_group for cell in each.cells)
    groups = tuple(
        BarGroup(
            f"R/W {mix_text(mix)}",
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
        tables=tuple(named(shown, grid(result, measure, group)) for shown, result in kept),
        measured=(how,),
        wide=True,
    )


def latency_bars(name: str, title: str, kept: Sequence[Tested], measure: Measure, how: str) -> Figure:
    """Return bars with a view for each mix, and all runs side by side at each block size."""
    views = tuple(
        BarsView(
            f"R/W {mix_text(mix)}",
            Axis(measure.title, measure.quantity),
            measure.better,
            tuple(
                BarGroup(block_text(size), rates.ranked(_bars(kept, measure, mix, size), measure.better))
                for size in _sizes(kept)
            ),
        )
        for mix in _mixes(kept)
    )
    table = together(kept, lambda result: grid(result, measure))
    return Figure(
        id=name,
        title=title,
        lead=" ".join(
            filter(
                None,
                (
                    f"{'Mean' if measure is ART else 'The longest I/O'} of the reported rounds; "
                    "lower is better.",
                    _by_the_rate(kept[0][1]) if measure is ART else "",
                    APART if len(kept) > 1 else "",
                ),
            )
        ),
        described=f"{title} over {len(_sizes(kept))} block sizes; the numbers are in the table.",
        chart=BarsChart(views),
        tables=(table,),
        measured=(how,),
        buttons=(
            Buttons(
                "view",
                "R/W mix",
                tuple(view.label for view in views),
                furthest_apart([_over_sizes(kept, measure, mix) for mix in _mixes(kept)]),
            ),
        ),
    )


APART = "It opens on the mix in which the drives differ most."


def furthest_apart(views: Sequence[Sequence[Sequence[float]]]) -> int:
    """Return the index of the view in which the drives differ most; the first if there is one drive.

    A view has the figures of all drives at each place. Two drives differ by the logarithm of their ratio, of
    which the mean over the places counts.
    """
    apart = [
        fmean(log(max(drives) / min(drives)) for drives in view if drives) if any(view) else 0.0
        for view in views
    ]
    return apart.index(max(apart))


def _over_sizes(kept: Sequence[Tested], measure: Measure, mix: int) -> list[list[float]]:
    """Return the figures of all drives at each block size of a mix."""
    every = [_values(result, measure) for _, result in kept]
    return [[v for values in every if (v := values.get((mix, size)))] for size in _sizes(kept)]


def _by_the_rate(result: PtsResult) -> str:
    """Return what a mean is worth with several I/Os in flight; empty with one."""
    held = result.threads * result.depth
    return f"With {held} I/Os in flight it is {held} divided by the IOPS (Little's law)." if held > 1 else ""


def _bars(kept: Sequence[Tested], measure: Measure, mix: int, size: int) -> Iterator[Bar]:
    """Yield the bar of each run in a cell, marked with the qualifiers of its figures."""
    for shown, result in kept:
        if (value := _values(result, measure).get((mix, size))) is not None:
            yield rates.marked(Bar(shown.index, value, ""), next(iter(result.scalars), None))


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
