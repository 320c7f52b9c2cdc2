"""The printed version of a page: everything for a few runs, a selection for many."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ssdlab.model.units import counted
from ssdlab.report.pictures import pressings
from ssdlab.report.sections.provenance import AsBefore
from ssdlab.report.view import OPEN_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.outline import Outline
    from ssdlab.report.sections.provenance import Panel, PanelTable
    from ssdlab.report.view import Figure, Section
    from ssdlab.results.cells import Table

FEW_RUNS = 4
"""Maximum number of runs for which steps are open on screen and complete on paper."""


MAX_ROWS = 100
"""Maximum rows of a table on paper: two sheets, or two for each part of a wide table."""


MAX_ROWS_OF_MANY = 24
"""The same for many runs: half a sheet. Without it, three methods on five drives had 100 sheets of rows."""


MAX_VIEWS_OF_MANY = 45
"""Maximum pictures of a chart's views for many runs: three sheets."""


_WHERE = "only in the page on screen"


_SHARE = 0.5
"""Share of equal rows above which a table is printed as differences from an earlier one. Fewer equal rows can
be chance, for example in two lists of steps."""


def on_paper(order: Outline, runs: int, *, full: bool) -> Outline:
    """Return the paper version of a page, without long or repeated tables.

    If some charts are closed on the page, closed tables are left out too. Only the `full` version says what
    it leaves out.
    """
    sections = _open if order.folded else partial(_section, runs=runs, full=full)
    chapters = tuple(
        replace(chapter, sections=tuple(map(sections, chapter.sections))) for chapter in order.chapters
    )
    return replace(order, chapters=chapters, several=False)


def _open(section: Section) -> Section:
    """Return a section without long tables, and without headings that lose all their tables."""
    exhibits = (
        replace(each, tables=tuple(table for table in each.tables if len(table.rows) <= OPEN_ROWS))
        for each in section.exhibits
    )
    had = [bool(each.tables) for each in section.exhibits]
    kept = tuple(each for each, tables in zip(exhibits, had, strict=True) if each.tables or not tables)
    return replace(section, exhibits=kept)


def _section(section: Section, runs: int, *, full: bool) -> Section:
    before: list[tuple[Table, str]] = []
    figures = [_figure(figure, before, runs) for figure in section.figures]
    return replace(section, figures=tuple(each if full else replace(each, left=()) for each in figures))


def _figure(figure: Figure, before: list[tuple[Table, str]], runs: int) -> Figure:
    """Return a figure with the tables that are printed, and append those tables to `before`."""
    most = MAX_ROWS if runs <= FEW_RUNS else MAX_ROWS_OF_MANY
    kept: list[Table] = []
    left: list[str] = []
    for table in figure.tables:
        where = next((title for other, title in before if other == table), None)
        if len(table.rows) > most:
            left.append(f"{table.caption}: {counted(len(table.rows), 'row')}, {_WHERE}.")
        elif where is not None:
            left.append(f"{table.caption}: same as under {where}.")
        else:
            kept.append(table)
            before.append((table, figure.title))
    beyond = len(list(pressings(figure.chart))) - MAX_VIEWS_OF_MANY
    if runs > FEW_RUNS and beyond > 0:
        left.append(f"{counted(beyond, 'more view')}: {_WHERE}.")
    return replace(figure, tables=tuple(kept), left=tuple(left))


def shortened(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Return panels with only steps and parameters if there are many runs; else the panels unchanged."""
    return tuple(_brief(panel) for panel in panels) if len(panels) > FEW_RUNS else tuple(panels)


def _brief(panel: Panel) -> Panel:
    kept = tuple(table for table in panel.tables if table.kept)
    own = [table.name for table in panel.tables if not table.kept]
    left = (AsBefore(f"{'; '.join(own)}: {_WHERE}.", kept=True),) if own else ()
    return replace(panel, tables=kept, as_before=(*(each for each in panel.as_before if each.kept), *left))


def without_repetition(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Replace prose and table rows that an earlier panel has by a reference to that panel's run."""
    kept: list[Panel] = []
    for panel in panels:
        tables: list[PanelTable] = []
        as_before: list[AsBefore] = []
        prose = panel.prose
        if same := next((each for each in panels[: len(kept)] if each.prose == prose), None):
            prose = ""
            as_before.append(AsBefore(f"The method in full: same as for {_name(same)}.", kept=True))
        for table in panel.tables:
            found = _like(table, panels[: len(kept)])
            if found is None:
                tables.append(table)
                continue
            of, like = found
            rows = tuple(row for row in table.rows if row not in like.rows)
            if rows:
                caption = f"{table.caption}, where it differs from that of {_name(of)}"
                tables.append(replace(table, caption=caption, rows=rows))
            else:
                as_before.append(AsBefore(f"{table.caption}: same as for {_name(of)}.", table.kept))
        kept.append(replace(panel, prose=prose, tables=tuple(tables), as_before=tuple(as_before)))
    return tuple(kept)


def _like(table: Table, before: Sequence[Panel]) -> tuple[Panel, Table] | None:
    """Return an earlier table with the same row names and mostly equal rows, and its panel."""
    for panel in before:
        for other in panel.tables:
            if (other.caption, other.head) != (table.caption, table.head):
                continue
            equal = sum(row in other.rows for row in table.rows)
            if _lines(other) == _lines(table) and equal > _SHARE * len(table.rows):
                return panel, other
    return None


def _lines(table: Table) -> list[str]:
    """Return the names of a table's rows; equal rows can be left out only if these names agree."""
    return [row[0].text for row in table.rows]


def _name(panel: Panel) -> str:
    return f"{panel.label}: {panel.method}"
