"""The section of imported results: jobs of another program side by side, each with its own clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.lab.imported import FILES, ImportedPoint, ImportedResult, findings, tables
from ssdlab.report.charts import MarksChart
from ssdlab.report.runs import with_result
from ssdlab.report.sections import over_time, percentiles
from ssdlab.report.sections.points import bars
from ssdlab.report.together import joined, leads
from ssdlab.report.view import Exhibit, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.charts import Measure
    from ssdlab.report.runs import Shown
    from ssdlab.results.cells import Table

_TITLE = "Imported results"
_CLOCKS = (
    "Each row names its clock: lat runs from submission to completion, clat excludes the submission.",
    "Percentiles are fio's own, or from its bins: 64 buckets an octave, exact to 0.8 %.",
)


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, ImportedResult)
    points = [(shown, point) for shown, result in kept for point in result.points]
    drawn = [(shown, point.drawn) for shown, point in points]
    found: dict[tuple[str, tuple[str, ...]], list[tuple[Shown, Table]]] = {}
    for shown, result in kept:
        for table in tables(result):
            found.setdefault((table.caption, table.head), []).append((shown, table))
    last = sorted(found.values(), key=lambda own: own[0][1].caption == FILES)
    all_tables = tuple(joined(each) if len(kept) > 1 else each[0][1] for each in last)
    timed = [(shown, point, point.clock) for shown, point in points if point.clock is not None]
    tails = [
        percentiles.Tail(
            shown,
            point.label,
            clock,
            point.direction,
            point.ordinal,
            point.latencies,
            point.latencies,
            clock=_ours(point),
        )
        for shown, point, clock in timed
    ]
    curves = [tail for tail, (_, point, _) in zip(tails, timed, strict=True) if _has_buckets(point)]
    steps = {(shown.index, point.ordinal): (shown, point) for shown, point in points}
    watched = [
        over_time.Watched(shown, point.ordinal, point.job, _ours(point)) for shown, point in steps.values()
    ]
    latency = tuple(table for table in all_tables if table.caption.startswith("Latency"))
    marks = percentiles.marks("imported", "Latency of each job", tails, latency) if tails else None
    figures: tuple[Figure | None, ...] = (
        replace(bars("imported", drawn), title="Throughput of each job", tables=all_tables[:1])
        if drawn
        else None,
        None if marks is None else _of_clocks(marks, tails),
        percentiles.nines("imported", curves, latency),
        over_time.figure("imported", watched, "", tuple(_measures(watched))),
    )
    return Section(
        id="imported",
        title=_TITLE,
        lead=leads(kept, findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=(Exhibit("What fio reported", "These results do not show the drive's state.", all_tables),),
    )


def _has_buckets(point: ImportedPoint) -> bool:
    """Return whether there are buckets for the clock of a point; paced jobs have them for clat only."""
    return point.clock == "clat" or point.closed


def _ours(point: ImportedPoint) -> str:
    """Return the clock under which ssdlab's tables list a point's latencies."""
    return "response" if point.clock == "lat" and point.closed else "service"


def _measures(watched: Sequence[over_time.Watched]) -> Iterator[Measure]:
    """Yield the measures that can be shown over time; logs of fio may lack latencies."""
    for measure in over_time.MEASURES:
        column = f"_{measure.key}"
        if measure.key == "iops" or any(
            np.isfinite(one.shown.run.rows(one.ordinal)[one.clock + column]).any() for one in watched
        ):
            title = measure.axis.title.replace("response time", "latency")
            yield replace(measure, axis=replace(measure.axis, title=title))


def _of_clocks(marks: Figure, tails: Sequence[percentiles.Tail]) -> Figure:
    """Return the chart of latencies in fio's terms, in which each row names its clock."""
    chart = marks.chart
    assert isinstance(chart, MarksChart)
    return replace(
        marks,
        lead=f"Mean, p99 and p99.99 of {' or '.join(dict.fromkeys(tail.note for tail in tails))}; "
        "further left is better.",
        measured=_CLOCKS,
        chart=replace(chart, axis=replace(chart.axis, title="latency, log")),
    )
