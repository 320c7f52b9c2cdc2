"""How each kind of Result is shown: in the terminal, on the report page, and on the cards at its top.

A new kind of Result gets one line here. Places are `module:function`, imported when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SCALARS = "ssdlab.report.sections.headlines:of_scalars"
"""A card for each headline figure: what most kinds need."""


class Presentation(NamedTuple):
    """Where the functions are that show one kind of Result.

    Attributes
    ----------
    terminal
        `(result) -> None`: prints it.
    section
        `(runs: Sequence[Shown]) -> Section`: the part of the page for all runs of one method.
    headlines
        `(shown: Shown) -> Iterator[tuple[str, Headline]]`: its cards, each with the label it is filed under;
        empty: it has none.
    """

    terminal: str
    section: str
    headlines: str = SCALARS


_CLI = "ssdlab.cli."
_PAGE = "ssdlab.report.sections."
PRESENTATIONS: dict[str, Presentation] = {
    "qd1": Presentation(f"{_CLI}showing_points:print_qd1", f"{_PAGE}qd1:section", f"{_PAGE}headlines:of_qd1"),
    "peak": Presentation(
        f"{_CLI}showing_points:print_peak", f"{_PAGE}sweep:section", f"{_PAGE}headlines:of_peak"
    ),
    "mixed": Presentation(f"{_CLI}showing_points:print_mixed", f"{_PAGE}mixed:section"),
    "consistency": Presentation(f"{_CLI}showing_client:print_consistency", f"{_PAGE}consistency:section"),
    "fill": Presentation(f"{_CLI}showing_client:print_fill", f"{_PAGE}fill:section"),
    "trim": Presentation(
        f"{_CLI}showing_client:print_trim", f"{_PAGE}trim:section", f"{_PAGE}headlines:of_trim"
    ),
    "paced-burst": Presentation(f"{_CLI}showing_client:print_paced", f"{_PAGE}paced_burst:section"),
    "rate-limit": Presentation(f"{_CLI}showing_points:print_rates", f"{_PAGE}rate_limit:section"),
    "pts": Presentation(f"{_CLI}showing_pts:print_pts", f"{_PAGE}pts:section"),
    "pts-demand": Presentation(f"{_CLI}showing_pts:print_demand", f"{_PAGE}pts_demand:section"),
    "pts-saturation": Presentation(f"{_CLI}showing_pts:print_saturation", f"{_PAGE}pts_saturation:section"),
    "pts-idle-recovery": Presentation(
        f"{_CLI}showing_pts:print_idle_recovery", f"{_PAGE}pts_recovery:idle_section"
    ),
    "pts-cross-stimulus": Presentation(
        f"{_CLI}showing_pts:print_cross_stimulus", f"{_PAGE}pts_recovery:cross_section"
    ),
    "act": Presentation(f"{_CLI}act:print_act", f"{_PAGE}act:section"),
    "act-search": Presentation(f"{_CLI}act:print_search", f"{_PAGE}act:search_section"),
    "trace": Presentation(f"{_CLI}showing_trace:print_trace", f"{_PAGE}trace:section"),
    "points": Presentation(f"{_CLI}showing_points:print_measured", f"{_PAGE}points:section"),
    "measure": Presentation(
        f"{_CLI}figures:print_result", f"{_PAGE}measure:measured", f"{_PAGE}headlines:of_measure"
    ),
    "job": Presentation(f"{_CLI}showing_points:print_measured", f"{_PAGE}job:section", ""),
}
"""By the `kind` of the Result, in the order of the page. A suite is shown by its runs."""
UNKNOWN = Presentation(f"{_CLI}showing_points:print_unknown", f"{_PAGE}unknown:section")
"""Of a kind that is in no line: of a method whose package is not installed."""


def presentation_of(kind: str) -> Presentation:
    """Return where a kind of Result is shown."""
    return PRESENTATIONS.get(kind, UNKNOWN)


def found(place: str) -> Callable[..., Any]:
    """Return the function of a place."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
