"""Kinds of results: the stored model, the functions that display it, and checks of what they return.

A method names its kind (`Method.result`); ssdlab's kinds are in `lab.kinds`. A function may be given as the
text `module:function`. It is imported on demand, so that reading a run imports no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar, cast

from ssdlab.model.fitting import misfit
from ssdlab.results.cells import Cell, Table
from ssdlab.results.claim import Claim, sentence

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.results.schema import ResultBase

R = TypeVar("R", bound="ResultBase")
T = TypeVar("T")

HEADLINES = "ssdlab.lab.presented.points:headline_findings"
"""Function that returns a finding for each headline figure."""
SCALARS = "ssdlab.lab.presented.points:scalars_tables"
"""Function that returns a table of the headline figures."""
PLAIN = "ssdlab.report.sections.points:plain_section"
"""Function that returns a section of findings and tables, without charts."""


@dataclass(frozen=True)
class ResultKind(Generic[R]):
    """One kind of result.

    Attributes
    ----------
    name
        Value of the field `kind` in the model and in stored results.
    model
        The class of the results.
    section
        `(runs: Sequence[Shown]) -> Section`: the section of the page for all runs of one method.
    findings
        `(result) -> Iterable[Claim]`: the findings, as objects (`results.claim`).
    tables
        `(result) -> Iterable[Table]`: the tables, for terminal and page.
    terminal
        `(result) -> None`: prints a result in a terminal; None: findings and tables are printed.
    read
        `(stored) -> result`: reads a stored result; None: the model reads it.
    """

    name: str
    model: type[R] | str
    findings: Callable[[R], Iterable[Claim]] | str = HEADLINES
    tables: Callable[[R], Iterable[Table]] | str = SCALARS
    section: Callable[..., Any] | str = PLAIN
    terminal: Callable[[R], None] | str | None = None
    read: Callable[[Mapping[str, JsonValue]], R] | None = None

    def loaded_model(self) -> type[R]:
        return loaded(self.model)

    def holds(self, result: ResultBase) -> TypeGuard[R]:
        """Whether a result is of this kind, without loading its model."""
        return result.kind == self.name


def loaded(place: T | str) -> T:
    """Return the object that the text `module:name` names; return any other object as it is."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return cast("T", getattr(import_module(module), name))


_SCHEMES = ("https://", "http://", "#")
"""Allowed beginnings of a link: any other scheme could be a script."""


def claim_fault(claim: object) -> str | None:
    """Return why a finding cannot become a sentence; None: it can."""
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
            return f"{named}: row {number} has {width} columns, its head has {len(table.head)}"
    if lacking := next((title for title in table.brief if title not in table.head), None):
        return f"{named}: brief names {lacking!r}, which is not a column"
    if table.marked is not None and not 0 <= table.marked < len(table.rows):
        return f"{named}: marked is {table.marked}, and it has {len(table.rows)} rows"
    return next((f"{named}: {fault}" for row in table.rows if (fault := _cells_fault(row))), None)


def _cells_fault(cells: Iterable[Cell]) -> str | None:
    for cell in cells:
        if cell.span < 1:
            return f"cell {cell.text!r} takes {cell.span} columns"
        if cell.link is not None and not cell.link.startswith(_SCHEMES):
            return f"the link {cell.link!r} does not begin with any of {', '.join(_SCHEMES)}"
    return None
