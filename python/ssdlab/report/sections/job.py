"""A user's own sequence of steps: each step that did I/O, with its latency and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.presented.points import job_findings
from ssdlab.report.runs import with_result
from ssdlab.report.sections import over_time, percentiles, point_tables
from ssdlab.report.together import leads
from ssdlab.report.view import Exhibit, Section
from ssdlab.results.schema import JobResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of jobs; their steps are shown side by side, as they came."""
    kept = with_result(runs, JobResult)
    rows = [(shown, point) for shown, result in kept for point in result.points]
    tails = [_tail(shown, point) for shown, point in rows if point.missing is None]
    # A step that reads and writes is two points and one time series.
    steps = {(shown.index, point.ordinal): shown for shown, point in rows if point.ordinal is not None}
    watched = [
        over_time.Watched(shown, ordinal, _label(shown, ordinal)) for (_, ordinal), shown in steps.items()
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
            *point_tables.host(rows),
        ),
    )


def _label(shown: Shown, ordinal: int) -> str:
    step = shown.run.step(ordinal)
    return step.label if step is not None else f"step {ordinal + 1}"


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
