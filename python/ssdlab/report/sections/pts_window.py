"""SNIA PTS: the window that proves steady state, as a chart and in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.units import latency_text, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown
    from ssdlab.results.pts import TrackedVariable

RULE = (
    f"Steady: largest minus smallest at most {MAX_RANGE:.0%} of the mean, and the line rises or falls by at "
    f"most {MAX_RISE:.0%} of it over the window (section 2.1.24)."
)
LEAD = "Five values, their least-squares line, and 90 and 110 % of their mean as aids for the eye."
_QUANTITIES: dict[str, Quantity] = {"IOPS": "iops", "MB/s": "mb_s", "ns": "ns"}


@dataclass(frozen=True)
class Judged:
    """A tracked variable of a run, and the window that is judged: of rounds, or of samples."""

    shown: Shown
    variable: TrackedVariable
    steady: bool
    first: int
    last: int
    unit: str = "round"
    """What a value is: a round or a sample."""


def view(judged: Judged, label: str) -> XyView:
    """Return the values of the window with the fitted line and the aids for the eye."""
    each, first = judged.variable, judged.first
    values = each.values[first - 1 : judged.last]
    mean, slope, intercept = each.mean or 0.0, each.slope or 0.0, each.intercept or 0.0
    fitted = tuple(Dot(float(first + at), intercept + slope * at, quiet=True) for at in (0, WINDOW - 1))
    run = judged.shown.index
    dots = tuple(Dot(float(first + at), value) for at, value in enumerate(values))
    lines = (Line(run, "", True, dots), Line(run, "fit", False, fitted, plain=True))
    aids = ((0.9, "90 %"), (1.0, "mean"), (1.1, "110 %"))
    return XyView(
        label,
        Axis(judged.unit, "count"),
        Axis(f"{each.name}, {each.unit}", _QUANTITIES[each.unit]),
        lines,
        tuple(Rule(run, mean * share, text) for share, text in aids),
    )


def table(found: Sequence[Judged]) -> Table:
    """Return what the rule finds in each window."""
    head = ("Run", "Variable", "Window", "Steady", "Mean", "Range", "Rise", "Line", "Correlation")
    return Table(
        "The window, unrounded in the CSV; the range may be 20 % and the rise 10 % at most",
        head,
        tuple(_row(judged) for judged in found),
    )


def _row(judged: Judged) -> tuple[numbers.Cell, ...]:
    each = judged.variable
    return (
        numbers.of_run(judged.shown.label, judged.shown.index),
        numbers.words(each.name),
        numbers.words(f"{judged.unit}s {judged.first} to {judged.last} of {len(each.values)}"),
        numbers.words("yes" if judged.steady else "NOT ACHIEVED"),
        numbers.words("—" if each.mean is None else _told(each.mean, each.unit)),
        numbers.share(each.range_share),
        numbers.share(each.rise_share),
        numbers.words(_line(judged)),
        numbers.plain(each.correlation),
    )


def _told(mean: float, unit: str) -> str:
    return latency_text(mean) if unit == "ns" else of_unit(mean, unit)


def _line(judged: Judged) -> str:
    each = judged.variable
    if each.slope is None or each.intercept is None:
        return "—"
    sign = "+" if each.slope >= 0 else "-"
    slope = significant(abs(each.slope))
    return f"{significant(each.intercept)} {sign} {slope} · ({judged.unit} - {judged.first})"
