"""SNIA PTS: MaxIOPS, MidIOPS and MinIOPS: the writes before, and the response times at them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.report import numbers
from ssdlab.report.charts import Choice, SeriesChart
from ssdlab.report.numbers import Table
from ssdlab.report.sections import over_time, pts_histogram
from ssdlab.report.sections.pts_demand_page import page
from ssdlab.report.view import Exhibit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.methods.results.pts_demand import DemandPoint, PointName
    from ssdlab.report.runs import Shown
    from ssdlab.report.sections.pts_demand_page import Tested
    from ssdlab.report.view import Figure

_FIRST_PAGE: dict[PointName, int] = {"MaxIOPS": 9, "MidIOPS": 11, "MinIOPS": 13}


def pages_of_points(kept: Sequence[Tested]) -> Iterator[Figure]:
    """Yield P9 to P14: of each point the writes before it, and its histogram."""
    for name, number in _FIRST_PAGE.items():
        points = [(shown, point) for shown, result in kept for point in result.points if point.name == name]
        found = [(shown, point) for shown, point in points if point.missing is None]
        if not found:
            why = points[0][1].missing or "it was not reached"
            chart = _nothing(name, why)
            yield page(kept, number, f"{name}, pre-writes", f"Not measured: {why}.", chart)
            yield page(kept, number + 1, f"{name}, response time histogram", f"Not measured: {why}.", chart)
            continue
        yield _writes(kept, name, found)
        yield _histogram(kept, name, found)


def summary(kept: Sequence[Tested]) -> Exhibit:
    """Return the three points of every run in figures."""
    head = ("Run", "Point", "Demand", "IOPS", "ART", "IOPS of the histogram", "Why missing")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.words(point.name),
            numbers.words("—" if point.missing else _demand(point)),
            numbers.iops(None if point.missing else point.window_iops),
            numbers.latency(None if point.missing else point.window_mean_ns),
            numbers.iops(None if point.histogram is None else point.histogram.iops),
            numbers.words(point.missing or ""),
        )
        for shown, result in kept
        for point in result.points
    )
    limit = f"{kept[0][1].art_limit_ms:g} ms"
    lead = (
        f"By the means of the window: MaxIOPS has the highest IOPS with an ART below {limit}, MinIOPS the "
        "fewest I/Os in flight, and MidIOPS the IOPS nearest to half-way between, below that limit too."
    )
    return Exhibit("The three points", lead, (Table("The three points", head, rows),))


def _demand(point: DemandPoint) -> str:
    return f"TC{point.threads} QD{point.depth}"


def _writes(kept: Sequence[Tested], name: PointName, found: Sequence[tuple[Shown, DemandPoint]]) -> Figure:
    """Return the writes over time as any step is shown, under the page's name."""
    where = ", ".join(dict.fromkeys(_demand(point) for _, point in found))
    lead = f"Writes at {where}, before the histogram."
    frame = page(kept, _FIRST_PAGE[name], f"{name}, pre-writes", lead, _nothing(name, "no rows were kept"))
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
    where = ", ".join(dict.fromkeys(_demand(point) for _, point in found))
    counted = [(shown, point.histogram) for shown, point in found if point.histogram is not None]
    title = f"P{number}: {name} response time histogram, {where}"
    return pts_histogram.figure(f"pts-{kept[0][1].test}-p{number}", title, counted)
