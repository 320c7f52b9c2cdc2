"""SNIA PTS: a long load drawn record by record, over time or over what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ssdlab.model.units import significant, span_text
from ssdlab.report.charts import Axis, Dot, Line, XyChart, XyView
from ssdlab.report.view import Buttons, Figure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ssdlab.methods.results.pts_series import PtsRecords, PtsSeriesResult
    from ssdlab.report.charts import Quantity, Rule
    from ssdlab.report.numbers import Table
    from ssdlab.report.runs import Shown

RESPONSES = (("mean_ns", "ART"), ("five_nines_ns", "5 9s"), ("max_ns", "MRT"))
"""Columns of response time, and what the specification calls them."""


@dataclass(frozen=True)
class Clock:
    """The unit of a time axis: hours, minutes or seconds by its length."""

    unit: str
    unit_s: float

    @classmethod
    def up_to(cls, longest_s: float) -> Self:
        """Return the unit for an axis of that length."""
        if longest_s >= 2 * 3600:
            return cls("h", 3600.0)
        return cls("min", 60.0) if longest_s >= 120 else cls("s", 1.0)

    @property
    def axis(self) -> Axis:
        """Return the axis."""
        return Axis(f"time, {self.unit}", "plain")

    def of(self, seconds: Iterable[float]) -> list[float]:
        """Return times in the unit."""
        return [each / self.unit_s for each in seconds]


def dots(xs: Sequence[float], ys: Sequence[float | None], ringed: Collection[int] = ()) -> tuple[Dot, ...]:
    """Return a line without markers but at the ringed places; a record without a value leaves a gap out."""
    return tuple(
        Dot(x, y, chosen=True) if at in ringed else Dot(x, y, quiet=True)
        for at, (x, y) in enumerate(zip(xs, ys, strict=True))
        if y is not None
    )


def scaled(
    figure_id: str,
    title: str,
    lead: str,
    described: str,
    x: Axis,
    y: tuple[str, Quantity],
    lines: Sequence[Line],
    *,
    measured: tuple[str, ...],
    tables: tuple[Table, ...] = (),
    rules: tuple[Rule, ...] = (),
) -> Figure:
    """Return lines on a linear and on a log axis, with a button between them."""
    name, quantity = y
    positive = tuple(
        Line(
            one.run, one.name, one.dashed, tuple(dot for dot in one.points if dot.y > 0), one.faint, one.plain
        )
        for one in lines
    )
    views = (
        XyView("linear", x, Axis(name, quantity), tuple(lines), rules),
        XyView("log", x, Axis(f"{name}, log", quantity, "log"), positive, rules),
    )
    return Figure(
        id=figure_id,
        title=title,
        lead=lead,
        described=described,
        chart=XyChart(views),
        tables=tables,
        measured=measured,
        buttons=(Buttons("view", "Scale", tuple(view.label for view in views)),),
        wide=True,
    )


def responses(shown: Shown, found: PtsRecords, xs: Sequence[float], name: str = "") -> list[Line]:
    """Return mean, five nines and maximum of each record, as far as they are known."""
    lines = []
    for column, label in RESPONSES:
        told = dots(xs, getattr(found, column))
        if told:
            lines.append(Line(shown.index, " ".join(filter(None, (name, label))), True, told))
    return lines


def how(result: PtsSeriesResult, record_s: float) -> str:
    """Return the line on how a load was measured."""
    return (
        f"{result.specification}, {result.setting}: {result.threads} threads of {result.depth} I/Os in "
        f"flight, active range {result.active_range_pct} %, a record every {span_text(record_s)}, no pauses."
    )


def fills_text(fills: float) -> str:
    """Return how often the user capacity was written."""
    return f"{significant(fills)} user capacities"
