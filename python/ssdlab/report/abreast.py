"""Which charts stand two abreast, on the page and on paper, and which need the full width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.report.charts import BarsChart, MarksChart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.report.charts import Chart, RunStyle
    from ssdlab.report.view import Figure

_MANY_BARS = 8
"""More bars than these are a column as high as the screen."""
_LONG_NAME = 20
"""Letters of a name that leaves too little of half a sheet of paper to the bar beside it."""
_MANY_VIEWS = 8
"""More views than these stand three abreast on paper."""


def full_width(figures: Sequence[Figure]) -> frozenset[str]:
    """Return the ids of the figures of a section that take both columns.

    Those that ask for it, high ones, and whichever would leave a column empty beside it.
    """
    found: set[str] = set()
    left = ""
    for each in figures:
        if each.wide or _high(each.chart):
            found |= {each.id, left}
            left = ""
        else:
            left = "" if left else each.id
    return frozenset((found | {left}) - {""})


def on_paper(figure: Figure, views: int, runs: Sequence[RunStyle]) -> int:
    """Return how many of the views of a figure stand abreast on paper."""
    if views == 1 or max(map(len, _row_names(figure.chart, runs)), default=0) > _LONG_NAME:
        return 1
    return 3 if figure.id.endswith("-window") or views > _MANY_VIEWS else 2


def _high(chart: Chart) -> bool:
    if not isinstance(chart, BarsChart):
        return False
    return (
        max((sum(len(group.bars) for group in view.groups) for view in chart.views), default=0) > _MANY_BARS
    )


def _row_names(chart: Chart, runs: Sequence[RunStyle]) -> Iterator[str]:
    """Yield the names of the rows of a chart, as short as they get."""
    if isinstance(chart, BarsChart):
        groups = [group for view in chart.views for group in view.groups]
        several = any(len(group.bars) > 1 for group in groups)
        for group in groups:
            yield from (runs[bar.run].short for bar in group.bars) if several else (group.name,)
    elif isinstance(chart, MarksChart):
        for view in chart.views:
            for row in view.rows:
                run = runs[row.run]
                yield run.short if row.name == run.label else row.name
