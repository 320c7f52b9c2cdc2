"""A kind of Result: the model that it is stored as, and who says and shows what of it.

A method names its kind (`Method.result`); those of ssdlab itself are in `methods.results.kinds`. What is
named by a text, `module:function`, is loaded when it is asked for, so that reading a run loads no page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from ssdlab.results.schema import ResultBase

R = TypeVar("R", bound=ResultBase)
T = TypeVar("T")

SCALARS = "ssdlab.report.sections.headlines:of_scalars"
"""A card for each headline figure: what most kinds need."""
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
    headlines
        `(shown: Shown) -> Iterator[tuple[str, Headline]]`: cards at the top of the page, each with the label
        it is filed under; None: it has none.
    terminal
        `(result) -> None`: prints it.
    """

    name: str
    model: type[R] | str
    section: Callable[..., Any] | str = PLAIN
    headlines: Callable[..., Any] | str | None = SCALARS
    terminal: Callable[..., None] | str = ""

    def loaded_model(self) -> type[R]:
        """Return the class of its results."""
        return loaded(self.model)


def loaded(place: T | str) -> T:
    """Return what is named by a text, `module:name`; anything else is there already."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return cast("T", getattr(import_module(module), name))
