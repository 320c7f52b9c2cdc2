"""Measured points and the figures drawn from them: of methods that have no page of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.presented.points import points_findings, scalars_table
from ssdlab.report.charts import Bar, BarsChart, BarsView
from ssdlab.report.runs import with_result
from ssdlab.report.sections import efficiency, over_time, percentiles, point_tables, rates
from ssdlab.report.together import leads, together
from ssdlab.report.view import Buttons, Exhibit, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point

    Rows = Sequence[tuple[Shown, Point]]


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of one method, all its runs in the same charts."""
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
        _bars(method.name, measured) if len(withheld) < len(measured) else None,
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


def _bars(name: str, measured: Rows) -> Figure:
    units: tuple[Quantity, Quantity] = ("mb_s", "iops")
    held = rates.not_drawn(_drawn(measured, units[0]))
    views = tuple(
        BarsView(rates.WORDS[unit], rates.axis(unit), "higher", rates.groups(_drawn(measured, unit)))
        for unit in units
    )
    return Figure(
        id=f"{name}-bars",
        title="Throughput of each point",
        lead=" ".join(filter(None, ("Higher is better. Whisker: slowest to fastest interval.", held))),
        described="; ".join(
            f"{shown.label}, {point.label}: {rates.format_rate(point)}" for shown, point in measured
        ),
        chart=BarsChart(views),
        tables=(point_tables.throughput(measured),),
        measured=("What each point asked for stands in its table, and in the steps at the end.",),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
        beside=rates.beside(_drawn(measured, units[0])),
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
