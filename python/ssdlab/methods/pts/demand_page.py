"""SNIA PTS pages 1 to 14 of the demand tests, and page 15 of the composite, in the specification's order.

They show preconditioning, the grid of demands, and the pre-writes and response times at MaxIOPS, MidIOPS and
MinIOPS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Choice,
    Dot,
    Exhibit,
    Figure,
    HeatChart,
    HeatView,
    Line,
    Section,
    SeriesChart,
    Table,
    XyChart,
    XyView,
    cells,
    each_of,
    ends_text,
    fixed_share_text,
    over_time,
    span_text,
    together,
    with_result,
)

from . import demand_findings as pts_demand
from .charts import LEAD, RULE, Judged, histogram_figure, round_ticks, window_table, window_view
from .header import demand_page, section_of
from .result import DemandResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.plugin import Shown

    from .result import DemandCell, DemandPoint, PointName


Tested = tuple["Shown", DemandResult]
Value = Callable[["DemandResult", "DemandCell"], "float | None"]
_FIRST_PAGE: dict[PointName, int] = {"MaxIOPS": 9, "MidIOPS": 11, "MinIOPS": 13}


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, DemandResult)
    test = kept[0][1].test
    figures = (
        _preconditioning(kept),
        _samples_window(kept),
        _pre_writes(kept),
        convergence(kept),
        _rounds_window(kept),
        variation(kept),
        intensity(kept),
        system_cpu(kept),
        *pages_of_points(kept),
        *((outstanding(kept),) if test == "composite" else ()),
    )
    return section_of(kept, pts_demand.findings, figures, exhibits=(summary(kept), _load(kept)))


def _preconditioning(kept: Sequence[Tested]) -> Figure:
    lines = tuple(_samples(*one) for one in kept)
    result = kept[0][1]
    lead = (
        f"Random writes, {result.threads} threads of {result.depth}. Ringed: the samples of the window, "
        f"if it can be judged, one every {span_text(result.samples.every * result.writes.seconds)}."
    )
    chart = XyChart((XyView("IOPS", Axis("time since the purge", "s"), Axis("IOPS", "iops"), lines),))
    tables = tuple(_samples_table(*one) for one in kept)
    return demand_page(kept, 1, "preconditioning, IOPS over time", lead, chart, tables=tables)


def _samples_table(shown: Shown, result: DemandResult) -> Table:
    ends_s = result.writes.ends_s()[:: result.samples.every]
    rows = tuple(
        (cells.count(at), cells.seconds(ends), cells.iops(value))
        for at, (ends, value) in enumerate(zip(ends_s, result.samples.variable.values, strict=True), start=1)
    )
    return Table(f"{shown.label}: samples", ("Sample", "Ends after", "IOPS"), rows)


def _samples(shown: Shown, result: DemandResult) -> Line:
    cycle = result.samples.every
    found = result.samples
    window = range((found.first - 1) * cycle, (found.last - 1) * cycle + 1, cycle)
    if not found.judged:
        window = range(0)
    samples = zip(result.writes.ends_s(), result.writes.iops, strict=True)
    dots = tuple(
        Dot(ends_s, value, chosen=(at in window) or None, quiet=(at % cycle != 0) or None)
        for at, (ends_s, value) in enumerate(samples)
    )
    return Line(shown.index, "", True, dots)


def _samples_window(kept: Sequence[Tested]) -> Figure:
    found = [
        Judged(shown, each.variable, each.verdict, each.first, each.last, "sample")
        for shown, result in kept
        for each in (result.samples,)
    ]
    return _window(kept, 2, "preconditioning, steady-state window", found)


def _rounds_window(kept: Sequence[Tested]) -> Figure:
    found = [
        Judged(
            shown,
            result.rounds.tracked[0],
            result.rounds.verdict,
            result.rounds.first,
            result.rounds.last,
            cuts=result.rounds.cuts,
        )
        for shown, result in kept
    ]
    return _window(kept, 5, "demand variation, steady-state window", found)


def _window(kept: Sequence[Tested], number: int, title: str, found: Sequence[Judged]) -> Figure:
    views = tuple(window_view(judged, judged.shown.label) for judged in found)
    return demand_page(
        kept,
        number,
        title,
        LEAD,
        XyChart(views),
        tables=(window_table(found),),
        measured=(RULE,),
    )


def _pre_writes(kept: Sequence[Tested]) -> Figure:
    values = ((shown.index, result.pre_writes.iops) for shown, result in kept)
    lines = tuple(Line(run, "", True, by_round(iops)) for run, iops in values)
    chart = XyChart((XyView("IOPS", rounds_axis(kept), Axis("IOPS", "iops"), lines),))
    lead = f"Mean IOPS of the writes before each round, {kept[0][1].threads} threads of {kept[0][1].depth}."
    tables = tuple(rounds_table(shown.label, {"IOPS": result.pre_writes.iops}) for shown, result in kept)
    return demand_page(kept, 3, "pre-writes between rounds", lead, chart, tables=tables)


def _load(kept: Sequence[Tested]) -> Exhibit:
    result = kept[0][1]
    sizes = tuple((cells.block(each.block_bytes), cells.share(each.share)) for each in result.blocks)
    tables = [Table("Block sizes", ("Block", "Share of the I/Os"), sizes)]
    if result.ranges:
        rows, begun = [], 0.0
        for each in result.ranges:
            ends = begun + each.range_share
            places = ends_text(fixed_share_text(begun), fixed_share_text(ends))
            rows.append((cells.words(places), cells.share(each.share)))
            begun = ends
        tables.append(Table("Places", ("LBAs in use", "Share of the I/Os"), tuple(rows)))
    lead = f"At random, {result.read_pct} % reads in the rounds and histograms; writes only before them."
    if result.left_out:
        lead += f" Left out: {', '.join(result.left_out)} ({result.left_out_why})."
    return Exhibit("Access pattern", lead, tuple(tables))


def convergence(kept: Sequence[Tested]) -> Figure:
    """Return page P4: IOPS of the greatest thread count by round, with a line for each depth."""
    highest = max(cell.threads for _, result in kept for cell in result.cells)

    def lines(shown: Shown, result: DemandResult) -> tuple[Line, ...]:
        own = (cell for cell in result.cells if cell.threads == highest)
        return tuple(Line(shown.index, f"QD{cell.depth}", False, by_round(cell.iops)) for cell in own)

    chart = _by_run(kept, rounds_axis(kept), Axis("IOPS", "iops"), lines)
    tables = tuple(
        rounds_table(shown.label, {f"QD{c.depth}": c.iops for c in result.cells if c.threads == highest})
        for shown, result in kept
    )
    lead = f"{highest} threads; each line is a depth, round after round."
    title = f"demand variation, TC{highest} IOPS by round"
    return demand_page(kept, 4, title, lead, chart, tables=tables, wide=True)


def rounds_table(name: str, columns: Mapping[str, Sequence[float]]) -> Table:
    """Return a table of IOPS with a row for each round; `columns` holds the values by heading."""
    rows = tuple(
        (cells.count(at), *(cells.iops(value) for value in values))
        for at, values in enumerate(zip(*columns.values(), strict=True), start=1)
    )
    return Table(f"{name}: IOPS by round", ("Round", *columns), rows)


def rounds_axis(kept: Sequence[Tested]) -> Axis:
    highest = max(result.rounds.rounds for _, result in kept)
    return Axis("round", "count", ticks=round_ticks(1, highest))


def by_round(values: Sequence[float]) -> tuple[Dot, ...]:
    return tuple(Dot(float(at), value) for at, value in enumerate(values, start=1))


def variation(kept: Sequence[Tested]) -> Figure:
    """Return page P6: IOPS over depth, with a line for each thread count."""
    chart = _by_run(kept, _depths(kept), Axis("IOPS", "iops"), partial(_by_threads, _depth, pts_demand.iops))
    lead = "Means of the window; each line is a thread count."
    tables = each_of(kept, pts_demand.iops_grid)
    return demand_page(kept, 6, "demand variation, IOPS by depth", lead, chart, tables=tables, wide=True)


def intensity(kept: Sequence[Tested]) -> Figure:
    """Return page P7: response time over IOPS, with a line for each thread count."""
    axes = (Axis("IOPS", "iops"), Axis("ART, log", "ns", "log"))
    chart = _by_run(kept, *axes, partial(_by_threads, pts_demand.iops, pts_demand.art_ns))
    lead = "Means of the window; each line is a thread count, from its smallest depth to its greatest."
    tables = each_of(kept, pts_demand.art_grid)
    return demand_page(kept, 7, "demand intensity, ART by IOPS", lead, chart, tables=tables, wide=True)


def _by_run(
    kept: Sequence[Tested], x: Axis, y: Axis, lines: Callable[[Shown, DemandResult], tuple[Line, ...]]
) -> XyChart:
    """Return a view for each run, because the lines of a run differ only by their names."""
    return XyChart(tuple(XyView(shown.label, x, y, lines(shown, result)) for shown, result in kept))


def system_cpu(kept: Sequence[Tested]) -> Figure:
    """Return page P8: the host's CPU load in each cell, or why it is unknown, with a view for each run."""
    rows = sorted({cell.threads for _, result in kept for cell in result.cells})
    columns = sorted({cell.depth for _, result in kept for cell in result.cells})
    views = tuple(_cpu_view(*one, rows, columns) for one in kept)
    tables = each_of(kept, pts_demand.cpu_grid)
    unknown = dict.fromkeys(view.absent for view in views if view.absent)
    lead = (
        "; ".join(filter(None, unknown)) or "Means of the window, of all CPUs. All load on the host counts."
    )
    chart = HeatChart(
        tuple(f"TC{count}" for count in rows), tuple(f"QD{count}" for count in columns), "depth (QD)", views
    )
    return demand_page(kept, 8, "system CPU utilisation", lead, chart, tables=tables, wide=True)


def _cpu_view(shown: Shown, result: DemandResult, rows: Sequence[int], columns: Sequence[int]) -> HeatView:
    by_pair = {(cell.threads, cell.depth): cell for cell in result.cells}
    values = tuple(
        tuple(
            None if at not in by_pair else _cpu_pct(result, by_pair[at])
            for at in ((tc, qd) for qd in columns)
        )
        for tc in rows
    )
    absent = None
    if all(value is None for row in values for value in row):
        absent = "not applicable: the drive is simulated"
        if not result.simulated:
            absent = "unknown: the cells are too short"
    return HeatView(
        shown.label, shown.index, "% of all CPUs busy", "plain", values, (1.0, 100.0), "lower", absent
    )


def outstanding(kept: Sequence[Tested]) -> Figure:
    """Return page P15: IOPS, throughput and response time over the total of I/Os in flight."""
    asked = (
        ("IOPS", Axis("IOPS", "iops"), pts_demand.iops),
        ("MB/s", Axis("MB/s (decimal)", "mb_s"), pts_demand.mb_s),
    )
    every = (*asked, ("ART", Axis("ART, log", "ns", "log"), pts_demand.art_ns))
    counts = sorted({cell.in_flight for _, result in kept for cell in result.cells})
    ticks = tuple((float(count), str(count)) for count in counts if count & (count - 1) == 0)
    x = Axis("I/Os in flight (TOIO), log", "count", "log", ticks)
    views = tuple(XyView(name, x, axis, _by_in_flight(kept, value)) for name, axis, value in every)
    lead = "Thread count times depth; a range where several demands have the same number of I/Os in flight."
    tables = each_of(kept, pts_demand.by_flight)
    return demand_page(kept, 15, "IOPS by I/Os in flight", lead, XyChart(views), tables=tables, wide=True)


def _by_in_flight(kept: Sequence[Tested], value: Value) -> tuple[Line, ...]:
    lines = []
    for shown, result in kept:
        found: dict[int, list[float]] = {}
        for cell in result.cells:
            if (figure := value(result, cell)) is not None:
                found.setdefault(cell.in_flight, []).append(figure)
        dots = tuple(
            Dot(float(count), fmean(known), min(known), max(known)) for count, known in sorted(found.items())
        )
        lines.append(Line(shown.index, "", False, dots))
    return tuple(lines)


def _by_threads(x: Value, y: Value, shown: Shown, result: DemandResult) -> tuple[Line, ...]:
    """Return a line for each thread count, with its dots in order of depth."""
    lines = []
    for threads in sorted({cell.threads for cell in result.cells}):
        own = sorted((cell for cell in result.cells if cell.threads == threads), key=lambda cell: cell.depth)
        places = [(x(result, cell), y(result, cell)) for cell in own]
        dots = tuple(Dot(across, up) for across, up in places if across is not None and up is not None)
        lines.append(Line(shown.index, f"TC{threads}", False, dots))
    return tuple(lines)


def _depths(kept: Sequence[Tested]) -> Axis:
    depths = sorted({cell.depth for _, result in kept for cell in result.cells})
    return Axis("QD, log", "count", "log", tuple((float(depth), str(depth)) for depth in depths))


def _depth(result: DemandResult, cell: DemandCell) -> float | None:
    del result
    return float(cell.depth)


def _cpu_pct(result: DemandResult, cell: DemandCell) -> float | None:
    share = pts_demand.cpu_share(result, cell)
    return None if share is None else 100 * share


def pages_of_points(kept: Sequence[Tested]) -> Iterator[Figure]:
    """Yield pages P9 to P14: for each point, the writes before it and its histogram."""
    for name, number in _FIRST_PAGE.items():
        points = [(shown, point) for shown, result in kept for point in result.points if point.name == name]
        found = [(shown, point) for shown, point in points if point.missing is None]
        if not found:
            why = points[0][1].missing or "not reached"
            chart = _nothing(name, why)
            yield demand_page(kept, number, f"{name}, pre-writes", f"Not measured: {why}.", chart)
            yield demand_page(
                kept, number + 1, f"{name}, response time histogram", f"Not measured: {why}.", chart
            )
            continue
        yield _writes(kept, name, found)
        yield _histogram(kept, name, found)


def summary(kept: Sequence[Tested]) -> Exhibit:
    limit = f"{kept[0][1].art_limit_ms:g} ms"
    lead = (
        f"By the means of the window: MaxIOPS has the highest IOPS with an ART below {limit}, MinIOPS the "
        "fewest I/Os in flight, and MidIOPS the IOPS nearest to half-way between, below that limit too."
    )
    return Exhibit("The three points", lead, (together(kept, pts_demand.three_points),))


def _writes(kept: Sequence[Tested], name: PointName, found: Sequence[tuple[Shown, DemandPoint]]) -> Figure:
    """Return the chart of a point's pre-writes over time, with the id and title of its page."""
    where = ", ".join(dict.fromkeys(pts_demand.demand(point) for _, point in found))
    lead = f"Writes at {where}, before the histogram."
    frame = demand_page(
        kept, _FIRST_PAGE[name], f"{name}, pre-writes", lead, _nothing(name, "no rows were kept")
    )
    watched = [
        over_time.Watched(shown, point.pre_write_ordinal, name)
        for shown, point in found
        if point.pre_write_ordinal is not None
    ]
    shown = over_time.figure(frame.id, watched, "")
    if shown is None:
        return frame
    return replace(shown, id=frame.id, title=frame.title, lead=f"{lead} {shown.lead}")


def _nothing(name: str, why: str) -> SeriesChart:
    return SeriesChart(over_time.MEASURES[:1], (Choice(name, (), why),))


def _histogram(kept: Sequence[Tested], name: PointName, found: Sequence[tuple[Shown, DemandPoint]]) -> Figure:
    number = _FIRST_PAGE[name] + 1
    where = ", ".join(dict.fromkeys(pts_demand.demand(point) for _, point in found))
    counted = [(shown, point.histogram) for shown, point in found if point.histogram is not None]
    title = f"P{number}: {name} response time histogram, {where}"
    return histogram_figure(f"pts-{kept[0][1].test}-p{number}", title, counted)
