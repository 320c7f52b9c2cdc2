"""A kind of Result: the model that it is stored as, and who says and shows what of it.

A method names its kind (`Method.result`); those of ssdlab itself are in `methods.results.kinds`. What is
named by a text, `module:function`, is loaded when it is asked for, so that reading a run loads no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar, cast

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.results.cells import Table
    from ssdlab.results.claim import Claim
    from ssdlab.results.schema import ResultBase

R = TypeVar("R", bound="ResultBase")
T = TypeVar("T")

HEADLINES = "ssdlab.lab.presented.points:headline_findings"
"""A finding for each headline figure."""
SCALARS = "ssdlab.lab.presented.points:scalars_tables"
"""A table of the headline figures."""
PLAIN = "ssdlab.report.sections.plain:section"
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
        `(runs: Sequence[Shown]) -> Section`: the part of the page for all runs of one method.
    findings
        `(result) -> Iterable[Claim]`: what it says, as objects (`results.claim`).
    tables
        `(result) -> Iterable[Table]`: what it shows, in the terminal and on the page alike.
    terminal
        `(result) -> None`: prints it in another way than by findings and tables; None: it needs none.
    read
        `(stored) -> result`: reads a stored one; None: as its model does.
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
        """Whether a result is of this kind, without loading what models it."""
        return result.kind == self.name


def loaded(place: T | str) -> T:
    """Return what is named by a text, `module:name`; anything else is there already."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return cast("T", getattr(import_module(module), name))
