"""Whether what a kind of result shows can be shown: claims and tables that no drawing of them fails on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.fitting import misfit
from ssdlab.results.cells import Cell, Table
from ssdlab.results.claim import Claim, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEMES = ("https://", "http://", "#")
"""What a link may begin with: any other scheme could be a script."""


def claim_fault(claim: object) -> str | None:
    """Return why a finding cannot be made a sentence; None: it can."""
    fault = misfit(claim, Claim)
    if fault is None and isinstance(claim, Claim):
        try:
            sentence(claim)
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            return f"{claim.says!r}: {error}"
    return fault


def table_fault(table: object) -> str | None:
    """Return why a table cannot be drawn; None: it can."""
    fault = misfit(table, Table)
    if fault is not None or not isinstance(table, Table):
        return fault
    named = f"table {table.caption!r}"
    for number, row in enumerate(table.rows):
        width = sum(cell.span for cell in row)
        if width != len(table.head):
            return f"{named}: row {number} has {width} columns, its head {len(table.head)}"
    if lacking := next((title for title in table.brief if title not in table.head), None):
        return f"{named}: brief names {lacking!r}, which is no column"
    if table.marked is not None and not 0 <= table.marked < len(table.rows):
        return f"{named}: marked is {table.marked}, and it has {len(table.rows)} rows"
    return next((f"{named}: {fault}" for row in table.rows if (fault := _cells_fault(row))), None)


def _cells_fault(cells: Iterable[Cell]) -> str | None:
    for cell in cells:
        if cell.span < 1:
            return f"cell {cell.text!r} takes {cell.span} columns"
        if cell.link is not None and not cell.link.startswith(_SCHEMES):
            return f"the link {cell.link!r} begins with none of {', '.join(_SCHEMES)}"
    return None
