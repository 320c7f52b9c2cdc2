"""SNIA PTS: the grid of demands: by round, over depth, response time over IOPS, and the host's CPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, HeatChart, HeatView, Line, XyChart, XyView
from ssdlab.report.numbers import Table
from ssdlab.report.sections.pts_demand_page import page
from ssdlab.report.sections.pts_window import round_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.methods.results.pts_demand import DemandCell, DemandResult
    from ssdlab.report.numbers import Cell
    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.pts_demand_page import Tested
    from ssdlab.report.view import Figure

Value = Callable[["DemandResult", "DemandCell"], "float | None"]


def convergence(kept: Sequence[Tested]) -> Figure:
    """Return P4: the IOPS of the greatest thread count in each round, a line for each depth."""
    most = max(cell.threads for _, result in kept for cell in result.cells)

    def lines(shown: Shown, result: DemandResult) -> tuple[Line, ...]:
        cells = (cell for cell in result.cells if cell.threads == most)
        return tuple(Line(shown.index, f"QD{cell.depth}", False, by_round(cell.iops)) for cell in cells)

    chart = _by_run(kept, rounds_axis(kept), Axis("IOPS", "iops"), lines)
    tables = tuple(
        rounds_table(shown.label, {f"QD{c.depth}": c.iops for c in result.cells if c.threads == most})
        for shown, result in kept
    )
    lead = f"{most} threads; each line is a depth, round after round."
    title = f"demand variation, TC{most} IOPS by round"
    return page(kept, 4, title, lead, chart, tables=tables, wide=True)


def rounds_table(name: str, columns: Mapping[str, Sequence[float]]) -> Table:
    """Return IOPS with a row for each round."""
    rows = tuple(
        (numbers.count(at), *(numbers.iops(value) for value in values))
        for at, values in enumerate(zip(*columns.values(), strict=True), start=1)
    )
    return Table(f"{name}: IOPS by round", ("Round", *columns), rows)


def rounds_axis(kept: Sequence[Tested]) -> Axis:
    """Return the axis of rounds, up to the last of all runs."""
    most = max(result.rounds.rounds for _, result in kept)
    return Axis("round", "count", ticks=round_ticks(1, most))


def by_round(values: Sequence[float]) -> tuple[Dot, ...]:
    """Return a dot for the value of each round."""
    return tuple(Dot(float(at), value) for at, value in enumerate(values, start=1))


def variation(kept: Sequence[Tested]) -> Figure:
    """Return P6: IOPS over depth, a line for each thread count."""
    chart = _by_run(kept, _depths(kept), Axis("IOPS", "iops"), partial(_by_threads, _depth, _iops))
    lead = "Means of the window; each line is a thread count."
    tables = tuple(_table(*one, "IOPS", lambda *each: numbers.iops(_iops(*each))) for one in kept)
    return page(kept, 6, "demand variation, IOPS by depth", lead, chart, tables=tables, wide=True)


def intensity(kept: Sequence[Tested]) -> Figure:
    """Return P7: response time over IOPS, a line for each thread count."""
    axes = (Axis("IOPS", "iops"), Axis("ART, log", "ns", "log"))
    chart = _by_run(kept, *axes, partial(_by_threads, _iops, _art_ns))
    lead = "Means of the window; each line is a thread count, from its smallest depth to its greatest."
    tables = tuple(_table(*one, "ART", lambda *each: numbers.latency(_art_ns(*each))) for one in kept)
    return page(kept, 7, "demand intensity, ART by IOPS", lead, chart, tables=tables, wide=True)


def _by_run(
    kept: Sequence[Tested], x: Axis, y: Axis, lines: Callable[[Shown, DemandResult], tuple[Line, ...]]
) -> XyChart:
    """Return a view for each run: its lines are told apart by their names alone."""
    return XyChart(tuple(XyView(shown.label, x, y, lines(shown, result)) for shown, result in kept))


def system_cpu(kept: Sequence[Tested]) -> Figure:
    """Return P8: how busy the host was in each cell, a view for each run; where none knows it, the reason."""
    rows = sorted({cell.threads for _, result in kept for cell in result.cells})
    columns = sorted({cell.depth for _, result in kept for cell in result.cells})
    views = tuple(_cpu_view(*one, rows, columns) for one in kept)
    tables = tuple(
        _table(*one, "busy share of all CPUs", lambda *each: numbers.share(_cpu_share(*each))) for one in kept
    )
    unknown = dict.fromkeys(view.absent for view in views if view.absent)
    lead = (
        "; ".join(filter(None, unknown)) or "Means of the window, of all CPUs. All work on the host counts."
    )
    chart = HeatChart(
        tuple(f"TC{count}" for count in rows), tuple(f"QD{count}" for count in columns), "depth (QD)", views
    )
    return page(kept, 8, "system CPU utilisation", lead, chart, tables=tables, wide=True)


def _cpu_view(shown: Shown, result: DemandResult, rows: Sequence[int], columns: Sequence[int]) -> HeatView:
    cells = {(cell.threads, cell.depth): cell for cell in result.cells}
    values = tuple(
        tuple(None if at not in cells else _cpu_pct(result, cells[at]) for at in ((tc, qd) for qd in columns))
        for tc in rows
    )
    absent = None
    if all(value is None for row in values for value in row):
        absent = "not applicable: the drive is simulated"
        if not result.simulated:
            absent = "unknown: the cells are too short to tell"
    return HeatView(
        shown.label, shown.index, "% of all CPUs busy", "plain", values, (1.0, 100.0), "lower", absent
    )


def outstanding(kept: Sequence[Tested]) -> Figure:
    """Return P15: IOPS, throughput and response time over all I/Os in flight."""
    asked = (("IOPS", Axis("IOPS", "iops"), _iops), ("MB/s", Axis("MB/s (decimal)", "mb_s"), _mb_s))
    every = (*asked, ("ART", Axis("ART, log", "ns", "log"), _art_ns))
    counts = sorted({cell.in_flight for _, result in kept for cell in result.cells})
    ticks = tuple((float(count), str(count)) for count in counts if count & (count - 1) == 0)
    x = Axis("I/Os in flight (TOIO), log", "count", "log", ticks)
    views = tuple(XyView(name, x, axis, _by_in_flight(kept, value)) for name, axis, value in every)
    lead = "Thread count times depth; a range where several demands have the same number of I/Os in flight."
    tables = tuple(_flight_table(*one) for one in kept)
    return page(kept, 15, "IOPS by I/Os in flight", lead, XyChart(views), tables=tables, wide=True)


def _flight_table(shown: Shown, result: DemandResult) -> Table:
    rows = tuple(
        (
            numbers.count(cell.in_flight),
            numbers.words(f"TC{cell.threads} QD{cell.depth}"),
            numbers.iops(_iops(result, cell)),
            numbers.throughput(_mb_s(result, cell)),
            numbers.latency(_art_ns(result, cell)),
        )
        for cell in sorted(result.cells, key=lambda cell: (cell.in_flight, cell.threads))
    )
    return Table(f"{shown.label}: by I/Os in flight", ("TOIO", "Demand", "IOPS", "MB/s", "ART"), rows)


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
    """Return a line for each thread count, its dots by rising depth."""
    lines = []
    for threads in sorted({cell.threads for cell in result.cells}):
        cells = sorted(
            (cell for cell in result.cells if cell.threads == threads), key=lambda cell: cell.depth
        )
        places = [(x(result, cell), y(result, cell)) for cell in cells]
        dots = tuple(Dot(across, up) for across, up in places if across is not None and up is not None)
        lines.append(Line(shown.index, f"TC{threads}", False, dots))
    return tuple(lines)


def _depths(kept: Sequence[Tested]) -> Axis:
    depths = sorted({cell.depth for _, result in kept for cell in result.cells})
    return Axis("QD, log", "count", "log", tuple((float(depth), str(depth)) for depth in depths))


def _depth(result: DemandResult, cell: DemandCell) -> float | None:
    del result
    return float(cell.depth)


def _iops(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.iops)


def _mb_s(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.mb_s)


def _art_ns(result: DemandResult, cell: DemandCell) -> float | None:
    return result.rounds.of_window(cell.mean_ns)


def _cpu_share(result: DemandResult, cell: DemandCell) -> float | None:
    window = cell.cpu_busy_share[result.rounds.first - 1 : result.rounds.last]
    known = [share for share in window if share is not None]
    return fmean(known) if known else None


def _cpu_pct(result: DemandResult, cell: DemandCell) -> float | None:
    share = _cpu_share(result, cell)
    return None if share is None else 100 * share


def _table(
    shown: Shown, result: DemandResult, what: str, of: Callable[[DemandResult, DemandCell], Cell]
) -> Table:
    """Return thread counts down and depths across."""
    cells = {(cell.threads, cell.depth): cell for cell in result.cells}
    depths = sorted({depth for _, depth in cells})
    rows = tuple(
        (numbers.words(f"TC{threads}"), *(of(result, cells[threads, depth]) for depth in depths))
        for threads in sorted({threads for threads, _ in cells})
    )
    return Table(f"{shown.label}: {what}", ("Threads", *(f"QD{depth}" for depth in depths)), rows)
