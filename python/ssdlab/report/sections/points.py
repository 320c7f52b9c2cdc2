"""Sections of measured points: of methods without a page of their own, of jobs and of single measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.outcome import shown_by
from ssdlab.lab.presented.points import LATENCIES, flushes, job_findings, points_findings, scalars_table
from ssdlab.model.summary import DIRECTIONS, FLUSH
from ssdlab.report.charts import Bar, BarsChart, BarsView
from ssdlab.report.runs import with_result
from ssdlab.report.sections import efficiency, over_time, percentiles, point_tables, rates
from ssdlab.report.sections.specifications import flat
from ssdlab.report.together import joined, lead, leads, together
from ssdlab.report.view import Buttons, Exhibit, Figure, Section
from ssdlab.results import cells
from ssdlab.results.cells import Cell, Table
from ssdlab.results.kind import loaded
from ssdlab.results.schema import JobResult, MeasureResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.model.summary import Side, Summary
    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown
    from ssdlab.results.points import FlushPoint
    from ssdlab.results.schema import Point

    Rows = Sequence[tuple[Shown, Point]]


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of one method, with all its runs in the same charts."""
    kept = with_result(runs, PointsResult)
    method = runs[0].run.manifest.method
    rows = [(shown, point) for shown, result in kept for point in result.points]
    measured = [(shown, point) for shown, point in rows if point.missing is None]
    watched = [
        over_time.Watched(shown, point.ordinal, point.label)
        for shown, point in measured
        if point.ordinal is not None
    ]
    worked = [
        each for shown, point in measured for each in efficiency.of_point(shown, point.label, "", point)
    ]
    kept_back = [each for each in _drawn(measured, "mb_s") if each.withheld]
    withheld = {(each.shown.index, each.group) for each in kept_back}
    tails = [_tail(*each) for each in measured if (each[0].index, each[1].label) not in withheld]
    latencies = point_tables.latencies(rows)
    figures = (
        bars(method.name, measured) if len(withheld) < len(measured) else None,
        percentiles.marks(method.name, "Latency of each point", tails, latencies) if tails else None,
        efficiency.figure(method.name, worked),
        over_time.figure(method.name, watched, ""),
    )
    return Section(
        id=method.name,
        title=method.title,
        lead=leads(kept, points_findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(
            Exhibit("Headline figures", "What the method reports.", (together(kept, scalars_table),)),
            *point_tables.host(rows),
        ),
    )


def bars(name: str, measured: Rows) -> Figure:
    units: tuple[Quantity, Quantity] = ("mb_s", "iops")
    views = tuple(
        BarsView(rates.WORDS[unit], rates.axis(unit), "higher", rates.groups(_drawn(measured, unit)))
        for unit in units
    )
    return Figure(
        id=f"{name}-bars",
        title="Throughput of each point",
        lead="Higher is better. Whisker: slowest to fastest interval.",
        described="; ".join(
            f"{shown.label}, {point.label}: {rates.format_rate(point)}" for shown, point in measured
        ),
        chart=BarsChart(views),
        tables=(point_tables.throughput(measured),),
        measured=("The table, and the steps at the end of the page, give the load of each point.",),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
    )


def _drawn(measured: Rows, unit: Quantity) -> list[rates.Drawn]:
    found = []
    for shown, point in measured:
        bar = Bar(shown.index, rates.rate(point, unit) or 0.0, "", *rates.spread(point, unit))
        own = rates.figure_of(shown, point.ordinal, rates.WORDS[unit])
        found.append(rates.Drawn(shown, point.label, bar, own))
    return found


def _tail(shown: Shown, point: Point) -> percentiles.Tail:
    return percentiles.Tail(
        shown,
        point.label,
        "",
        point.direction,
        point.ordinal,
        point.service_ns or {},
        point.response_ns or {},
    )


def job_section(runs: Sequence[Shown]) -> Section:
    """Return the section of jobs, with their steps in order."""
    kept = with_result(runs, JobResult)
    rows = [(shown, point) for shown, result in kept for point in result.points]
    tails = [_tail(shown, point) for shown, point in rows if point.missing is None]
    # A step that reads and writes has two points, but one time series.
    steps = {(shown.index, point.ordinal): shown for shown, point in rows if point.ordinal is not None}
    watched = [
        over_time.Watched(shown, ordinal, _label(shown, ordinal)) for (_, ordinal), shown in steps.items()
    ]
    flushed = [(shown, each) for shown, result in kept for each in result.flushes]
    tails += [
        percentiles.Tail(
            shown, f"{each.label}, {each.call}", "", FLUSH, each.ordinal, each.latency_ns, each.latency_ns
        )
        for shown, each in flushed
    ]
    latencies = point_tables.latencies(rows)
    figures = (
        percentiles.marks("job", "Latency of each step", tails, latencies) if tails else None,
        percentiles.nines("job", tails, latencies),
        over_time.figure("job", watched, ""),
    )
    return Section(
        id="job",
        title="A sequence of steps",
        lead=leads(kept, job_findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(
            Exhibit("Every step", "Throughput and depth.", (point_tables.throughput(rows),)),
            *_flush_exhibits([each for _, each in flushed]),
            *point_tables.host(rows),
        ),
    )


def _flush_exhibits(found: Sequence[FlushPoint]) -> tuple[Exhibit, ...]:
    lead = "A flush makes the writes before it durable; it does not count as an I/O."
    return (Exhibit("Flushes", lead, (flushes(found),)),) if found else ()


def _label(shown: Shown, ordinal: int) -> str:
    step = shown.run.step(ordinal)
    return step.label if step is not None else f"step {ordinal + 1}"


_COUNTS = ("requested", "ios", "failed", "dropped", "late")
_INSIDE = {"service_ns", "response_ns", "errors", *_COUNTS, "bytes"}


def measured(runs: Sequence[Shown]) -> Section:
    """Return the section of all runs of `measure`, side by side."""
    kept = with_result(runs, MeasureResult)
    latencies = tuple(_latencies(shown, result.summary, many=len(kept) > 1) for shown, result in kept)
    tables = tuple(table for shown, result in kept for table in _tables(shown, result, many=len(kept) > 1))
    tails = [tail for shown, result in kept for tail in _tails(shown, result.summary)]
    watched = [over_time.Watched(shown, step, "the run") for shown, _ in kept for step in _steps(shown)]
    figures = (
        percentiles.marks("measure", "Latency", tails, latencies) if tails else None,
        percentiles.nines("measure", tails, latencies),
        over_time.figure("measure", watched, "the run"),
    )
    return Section(
        id="measure",
        title="One workload",
        lead=tuple(_finding(shown, result.summary) for shown, result in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(Exhibit("The measurement", "The full result of ssdlab measure.", tables),),
    )


def sides(summary: Summary) -> list[tuple[str, Side]]:
    """Return the directions in which a measurement requested I/O, with their figures."""
    return [(name, side) for name, side in summary.sides.items() if side.requested]


def _steps(shown: Shown) -> list[int]:
    return [step.ordinal for step in shown.run.steps if step.result.measurement is not None]


def _finding(shown: Shown, summary: Summary) -> str:
    figures = (cells.of_unit(summary.iops, "IOPS"), cells.of_unit(summary.mb_s, "MB/s"))
    text = f"{shown.label}: {', '.join(figures)}"
    asked = summary.requested_iops
    return text + (f" of {cells.of_unit(asked, 'IOPS')} requested." if asked is not None else ".")


def _tails(shown: Shown, summary: Summary) -> list[percentiles.Tail]:
    steps = _steps(shown)
    ordinal = steps[0] if len(steps) == 1 else None
    found = [
        percentiles.Tail(shown, name, "", name, ordinal, side.service_ns, side.response_ns)
        for name, side in sides(summary)
    ]
    if (flush := summary.flush) is not None and flush.flushes:
        times = flush.latency_ns
        found.append(percentiles.Tail(shown, FLUSH, "", FLUSH, ordinal, times, times))
    return found


def _latencies(shown: Shown, summary: Summary, *, many: bool) -> Table:
    of = f", {shown.label}" if many else ""
    rows = tuple(
        (cells.words(f"{name} {clock}"), *(cells.latency(times.get(key)) for key in LATENCIES))
        for name, side in sides(summary)
        for clock, times in (("service", side.service_ns), ("response", side.response_ns))
    )
    if (flush := summary.flush) is not None:
        times = (cells.latency(flush.latency_ns.get(key)) for key in LATENCIES)
        rows = (*rows, (cells.words(FLUSH), *times))
    return Table(f"Latency{of}", ("Direction", *LATENCIES), rows)


def _tables(shown: Shown, result: MeasureResult, *, many: bool) -> tuple[Table, ...]:
    of = f", {shown.label}" if many else ""
    active = sides(result.summary)
    counts = tuple(
        (
            cells.words(name),
            *(cells.count(getattr(side, key)) for key in _COUNTS),
            cells.count(side.bytes),
            cells.words(", ".join(f"{errno}: {n}" for errno, n in side.errors.items()) or cells.NOTHING),
        )
        for name, side in active
    )
    rest = {
        key: value
        for key, value in result.measurement.items()
        if key not in (*DIRECTIONS, "drive", "warnings")
    }
    whole = tuple((cells.words(name), _plain(value)) for name, value in flat(rest))
    return (
        Table(
            f"I/Os{of}",
            ("Direction", "Requested", "Done", "Failed", "Dropped", "Late", "Bytes", "Errors"),
            counts,
        ),
        Table(f"The whole measurement{of}", ("Key", "Value"), whole),
    )


def _plain(value: Any) -> Cell:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float):
        return cells.words(cells.NOTHING if value in (None, {}, []) else str(value))
    return cells.count(value) if isinstance(value, int) else Cell(repr(value), repr(value))


def plain_section(runs: Sequence[Shown]) -> Section:
    """Return a section with only the findings and tables of one method's runs, without charts."""
    method = runs[0].run.manifest.method
    kind = shown_by(runs[0].run.result, method.name)
    found: dict[tuple[str, tuple[str, ...]], list[tuple[Shown, Table]]] = {}
    for shown in runs:
        for table in loaded(kind.tables)(shown.run.result):
            found.setdefault((table.caption, table.head), []).append((shown, table))
    return Section(
        id=method.name,
        title=method.title,
        lead=tuple(lead(shown, loaded(kind.findings)(shown.run.result)) for shown in runs),
        runs=tuple(shown.index for shown in runs),
        figures=(),
        exhibits=(Exhibit("In figures", "What the method reports.", tuple(map(joined, found.values()))),),
    )
