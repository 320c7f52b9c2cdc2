"""SNIA PTS: what the pages of the demand tests share: a finding in words, and the frame of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.pts_demand import DemandResult
from ssdlab.model.units import count_text, latency_text, significant
from ssdlab.report.charts import HeatChart, XyChart
from ssdlab.report.view import Buttons, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.charts import Chart
    from ssdlab.report.numbers import Table
    from ssdlab.report.runs import Shown

Tested = tuple["Shown", DemandResult]


def finding(shown: Shown, result: DemandResult) -> str:
    """Return the verdicts on steady state and the three points as a sentence."""
    samples, rounds = result.samples, result.rounds
    before = f"steady in samples {samples.first} to {samples.last}" if samples.steady else "NOT ACHIEVED"
    after = f"steady in rounds {rounds.first} to {rounds.last}" if rounds.steady else "NOT ACHIEVED"
    points = [
        f"{point.name} {count_text(point.window_iops)} at TC{point.threads} QD{point.depth}, ART "
        f"{latency_text(point.window_mean_ns)}"
        for point in result.points
        if point.missing is None
    ]
    return (
        f"{shown.label}, by {result.setting} of {result.specification}: preconditioning {before}, demand "
        f"variation {after}; {'; '.join(points)}."
    )


def page(
    kept: Sequence[Tested],
    number: int,
    title: str,
    lead: str,
    chart: Chart,
    *,
    tables: tuple[Table, ...] = (),
    measured: tuple[str, ...] = (),
    wide: bool = False,
) -> Figure:
    """Return a page under its number in the specification, with a button for each of its views."""
    result = kept[0][1]
    views = [view.label for view in chart.views] if isinstance(chart, XyChart | HeatChart) else []
    return Figure(
        id=f"pts-{result.test}-p{number}",
        title=f"P{number}: {title}",
        lead=lead,
        described=f"{title}. {' '.join(finding(*one) for one in kept)}",
        chart=chart,
        tables=tables,
        measured=(
            f"{result.specification}, {result.setting}: R/W {result.read_pct}/{100 - result.read_pct}, "
            f"active range {result.active_range_pct} %, {significant(result.seconds)} s a cell.",
            *measured,
        ),
        buttons=(Buttons("view", "Shown", tuple(views)),) if len(views) > 1 else (),
        wide=wide,
    )
