"""SNIA PTS: the window that proves steady state, as a chart and in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW
from ssdlab.model.units import latency_text, significant
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyView
from ssdlab.report.numbers import Table, of_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.pts import TrackedVariable
    from ssdlab.report.charts import Quantity
    from ssdlab.report.runs import Shown

RULE = (
    f"Steady: largest minus smallest at most {MAX_RANGE:.0%} of the mean, and the line rises or falls by at "
    f"most {MAX_RISE:.0%} of it over the window (section 2.1.24)."
)
LEAD = "Five values and their least-squares line; dotted: their mean, and 90 and 110 % of it for the eye."
MOST_TICKS = 15
"""More would touch one another."""
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
    # In a steady window the fitted line ends at the mean, whose name would stand in its way.
    aids = ((0.9, "90 %"), (1.0, ""), (1.1, "110 %"))
    reach = (min(0.85 * mean, *values), max(1.15 * mean, *values)) if mean > 0 else None
    return XyView(
        label,
        Axis(judged.unit, "count", ticks=round_ticks(first, judged.last)),
        Axis(f"{each.name}, {each.unit}", _QUANTITIES[each.unit], range=reach),
        lines,
        tuple(Rule(run, mean * share, text) for share, text in aids),
    )


def round_ticks(first: int, last: int) -> tuple[tuple[float, str], ...]:
    """Return a tick at each round or sample, or at each fifth where there are many."""
    every = 1 if last - first < MOST_TICKS else 5
    return tuple(
        (float(at), str(at)) for at in range(first, last + 1) if at in (first, last) or at % every == 0
    )


def table(found: Sequence[Judged]) -> Table:
    """Return what the rule finds in each window."""
    head = (
        "Run",
        "Variable",
        "Window",
        "Steady",
        "Mean",
        "Data excursion",
        f"Allowed, {MAX_RANGE:.0%}",
        "Slope excursion",
        f"Allowed, {MAX_RISE:.0%}",
        "Fitted line",
        "Correlation",
    )
    return Table(
        "The window, unrounded in the CSV: largest minus smallest, rise of the line over it, and the limits",
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
        _value(each, 1.0 if each.mean is not None else None, percent=False),
        _value(each, each.range_share),
        _value(each, MAX_RANGE, percent=False),
        _value(each, each.rise_share),
        _value(each, MAX_RISE, percent=False),
        numbers.words(_line(judged)),
        numbers.plain(each.correlation),
    )


def _value(each: TrackedVariable, share: float | None, *, percent: bool = True) -> numbers.Cell:
    """Return a share of the mean in its own unit, and in percent."""
    if share is None or each.mean is None:
        return numbers.words(numbers.NOTHING)
    value = share * each.mean
    told = _told(value, each.unit) + (f" = {significant(100 * share)} %" if percent else "")
    return numbers.Cell(told, repr(value))


def _told(mean: float, unit: str) -> str:
    return latency_text(mean) if unit == "ns" else of_unit(mean, unit)


def _line(judged: Judged) -> str:
    each = judged.variable
    if each.slope is None or each.intercept is None:
        return "—"
    sign = "+" if each.slope >= 0 else "-"
    slope = significant(abs(each.slope))
    return f"{significant(each.intercept)} {sign} {slope} · ({judged.unit} - {judged.first})"
