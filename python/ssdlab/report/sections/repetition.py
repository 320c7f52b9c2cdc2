"""Panels for paper: what is as of an earlier run is said there alone, and referred to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.report.sections.provenance import AsBefore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.sections.provenance import Panel, PanelTable
    from ssdlab.results.numbers import Table

_SHARE = 0.5
"""Of rows, beyond which two tables are one with differences; fewer in common are chance, as of two lists of
steps."""


def without_repetition(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Leave out prose and rows of tables that an earlier panel has, and say of which run they are as."""
    kept: list[Panel] = []
    for panel in panels:
        tables: list[PanelTable] = []
        as_before: list[AsBefore] = []
        prose = panel.prose
        if same := next((each for each in panels[: len(kept)] if each.prose == prose), None):
            prose = ""
            as_before.append(AsBefore(f"The method in full: as of {_name(same)}.", kept=True))
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
                as_before.append(AsBefore(f"{table.caption}: as of {_name(of)}.", table.kept))
        kept.append(replace(panel, prose=prose, tables=tuple(tables), as_before=tuple(as_before)))
    return tuple(kept)


def _like(table: Table, before: Sequence[Panel]) -> tuple[Panel, Table] | None:
    """Return the earlier table of the same lines of which most are equal, with its panel."""
    for panel in before:
        for other in panel.tables:
            if (other.caption, other.head) != (table.caption, table.head):
                continue
            equal = sum(row in other.rows for row in table.rows)
            if _lines(other) == _lines(table) and equal > _SHARE * len(table.rows):
                return panel, other
    return None


def _lines(table: Table) -> list[str]:
    """Return what the rows of a table are called; where that differs, a row left out would not be known."""
    return [row[0].text for row in table.rows]


def _name(panel: Panel) -> str:
    return f"{panel.label}: {panel.method}"
