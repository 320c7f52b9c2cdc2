"""Links from a headline figure to the chart that draws it, and to the button that shows its view."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.report.charts import BarsChart, BarsView, MarksChart, MarksView, XyChart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Figure, Section

_HEADLINE_CHARTS = ("-bars", "-score", "-load", "-sustained", "-throughput")
"""Suffixes of the ids of charts that show a headline figure, for figures whose exact value no chart draws."""
_DRAWN_IN = {"µs": 1000.0}
"""Factors from a figure's unit to the chart's: charts draw times in nanoseconds."""


@dataclass(frozen=True)
class ChartLink:
    """The link to a figure.

    Attributes
    ----------
    id
        Id of the chart, or of the section if no chart shows the figure.
    view
        Button to press, as in the page's address (`qd1-bars.view=2`); empty if none.
    """

    id: str
    view: str = ""


def chart_links(found: Sequence[tuple[Section, Sequence[Shown]]]) -> dict[str, ChartLink]:
    """Return the link to each headline figure of the sections, by the figure's name."""
    return {
        name: _link(section, values)
        for section, own in found
        for name, values in _headline_values(own).items()
    }


def _headline_values(own: Sequence[Shown]) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = {}
    for shown in own:
        for scalar in shown.run.result.scalars:
            values = found.setdefault(scalar.name, [])
            if scalar.value is not None:
                values.append(scalar.value * _DRAWN_IN.get(scalar.unit, 1.0))
    return found


def _link(section: Section, values: Sequence[float]) -> ChartLink:
    """Return the first chart and view that draw all the values; otherwise a chart for headline figures.

    Bars and marks are searched before lines, on which the value is one point among many.
    """
    for drawn_by in (_drawn, _on_lines):
        for figure in section.figures:
            for at, drawn in enumerate(drawn_by(figure)):
                if values and all(any(math.isclose(one, each) for each in drawn) for one in values):
                    return ChartLink(figure.id, _pressing(figure, at))
    ids = [figure.id for figure in section.figures]
    bars = [each for each in ids if each.endswith(_HEADLINE_CHARTS)]
    return ChartLink((bars or ids or [section.id])[0])


def _drawn(figure: Figure) -> Iterator[list[float]]:
    if isinstance(figure.chart, BarsChart | MarksChart):
        yield from map(_values, figure.chart.views)


def _on_lines(figure: Figure) -> Iterator[list[float]]:
    if isinstance(figure.chart, XyChart):
        for view in figure.chart.views:
            yield [dot.y for line in view.lines for dot in line.points]


def _values(view: BarsView | MarksView) -> list[float]:
    if isinstance(view, BarsView):
        return [bar.value for group in view.groups for bar in group.bars if not bar.withheld]
    return [mark.value for row in view.rows for mark in row.marks]


def _pressing(figure: Figure, view: int) -> str:
    """Return the button of a view; empty if it is already pressed or does not exist."""
    views = next((each for each in figure.buttons if each.group == "view" and each.several), None)
    return "" if views is None or views.pressed == view else f"{figure.id}.view={view}"
