"""A kind of Result: its stored model, its display, and checks of what is displayed.

A method names its kind (`Method.result`); ssdlab's kinds are in `lab.kinds`. Functions named by text,
`module:function`, are loaded on demand, so that reading a run loads no page.
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
"""A finding for each headline figure."""
SCALARS = "ssdlab.lab.presented.points:scalars_tables"
"""A table of the headline figures."""
PLAIN = "ssdlab.report.sections.points:plain_section"
"""A section of findings and tables, without charts."""


@dataclass(frozen=True)
class ResultKind(Generic[R]):
    """One kind of Result.

    Attributes
    ----------
    name
        As in the field `kind` of the model, and in stored results.
    model
        The class of its results.
    section
        `(runs: Sequence[Shown]) -> Section`: the section of the page for all runs of one method.
    findings
        `(result) -> Iterable[Claim]`: its findings, as objects (`results.claim`).
    tables
        `(result) -> Iterable[Table]`: its tables, for terminal and page.
    terminal
        `(result) -> None`: prints it differently from findings and tables; None: not needed.
    read
        `(stored) -> result`: reads a stored result; None: by its model.
    """

    name: str
    model: type[R] | str
    findings: Callable[[R], Iterable[Claim]] | str = HEADLINES
    tables: Callable[[R], Iterable[Table]] | str = SCALARS
    section: Callable[..., Any] | str = PLAIN
    terminal: Callable[[R], None] | str | None = None
    read: Callable[[Mapping[str, JsonValue]], R] | None = None

    def loaded_model(self) -> type[R]:
        """Return the class of its results."""
        return loaded(self.model)

    def holds(self, result: ResultBase) -> TypeGuard[R]:
        """Whether a result is of this kind, without loading its model."""
        return result.kind == self.name


def loaded(place: T | str) -> T:
    """Return the object named by a text, `module:name`; other objects are returned as they are."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return cast("T", getattr(import_module(module), name))


_SCHEMES = ("https://", "http://", "#")
"""What a link may begin with: any other scheme could be a script."""


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
