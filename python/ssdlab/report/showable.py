"""Whether a section of a page can be drawn, by whoever made it: shape, tables, charts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ssdlab.model.fitting import misfit
from ssdlab.report.charts import BarsChart, XyChart
from ssdlab.report.view import Section
from ssdlab.results.kind import table_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.report.charts import Chart
    from ssdlab.report.view import Figure


def section_fault(section: object) -> str | None:
    """Return why a section cannot be drawn; None: it can."""
    fault = misfit(section, Section)
    if fault is not None or not isinstance(section, Section):
        return fault
    tables = [table for figure in section.figures for table in figure.tables]
    tables += [table for exhibit in section.exhibits for table in exhibit.tables]
    faults = [table_fault(table) for table in tables]
    faults += [fault for figure in section.figures for fault in _figure_faults(figure, set(section.runs))]
    ids = [section.id, *(figure.id for figure in section.figures)]
    faults += [f"the id {name!r} is given twice" for name, count in Counter(ids).items() if count > 1]
    return next((fault for fault in faults if fault), None)


def _figure_faults(figure: Figure, runs: set[int]) -> Iterator[str]:
    named = f"figure {figure.id!r}"
    if not getattr(figure.chart, "views", (None,)):
        yield f"{named}: its chart has no view"
    if strange := sorted(_runs_of(figure.chart) - runs):
        yield f"{named}: its chart has a line of run {strange[0]}, which is none of the section's runs"
    for buttons in figure.buttons:
        if not 0 <= buttons.pressed < len(buttons.choices):
            yield f"{named}: button {buttons.pressed} of {len(buttons.choices)} is pressed"


def _runs_of(chart: Chart) -> set[int]:
    """Return the runs that a chart of lines or bars has figures of."""
    if isinstance(chart, XyChart):
        lines = {line.run for view in chart.views for line in view.lines}
        return lines | {rule.run for view in chart.views for rule in view.rules}
    if isinstance(chart, BarsChart):
        return {bar.run for view in chart.views for group in view.groups for bar in group.bars}
    return set()
