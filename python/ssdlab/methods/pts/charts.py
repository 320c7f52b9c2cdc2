"""Charts that several SNIA PTS tests share.

- The steady-state window, as a chart and as a table.
- A histogram of response times, with percentiles.
- The records of a long load, over time or over the bytes written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from ssdlab.analysis.steady_state import MAX_RANGE, MAX_RISE, WINDOW
from ssdlab.plugin import (
    Axis,
    Buttons,
    Dot,
    Figure,
    Line,
    Rule,
    Table,
    XyChart,
    XyView,
    cells,
    fixed_share_text,
    joined,
    latency_text,
    span_text,
)

from . import findings as pts
from .findings import Window

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ssdlab.plugin import Quantity, Shown

    from .result import PtsHistogram, PtsRecords, PtsSeriesResult, TrackedVariable


RULE = (
    f"Steady: range at most {fixed_share_text(MAX_RANGE)} of the mean, slope over the window at most "
    f"±{fixed_share_text(MAX_RISE)} of it (section 2.1.24)."
)
LASTING = (
    f"The window is the first that keeps both limits and lasts: no later round is more than "
    f"{fixed_share_text(MAX_RANGE)} from its mean. If there is none, it is the last five rounds."
)
"""Which window a test of rounds takes; a drive that was even and then slowed was still fresh."""
LEAD = "Five values and their least-squares line; dotted: their mean, and 90 and 110 % of it as guides."
MAX_TICKS = 15
"""With more rounds than this, only every fifth gets a tick: more labels would overlap."""
_QUANTITIES: dict[str, Quantity] = {"IOPS": "iops", "MB/s": "mb_s", "ns": "ns"}
Counted = tuple["Shown", "PtsHistogram"]
BINS = 200
"""Number of bins on a log axis. A page cannot show the finer buckets that a result stores."""
EMPTY = 0.5
"""Height at which a log axis draws an empty bin: below 1."""
BEYOND = 10
"""The percentile curve ends where fewer than this many I/Os are slower; only the maximum follows."""
_NINES = tuple(
    (float(text) / 100, f"{text} %") for text in ("0", "90", "99", "99.9", "99.99", "99.999", "99.9999")
)
NINES_NOTE = (
    "The five nines are order statistics, drawn for records of at least 100,000 I/Os; of fewer they would be "
    "the maximum."
)
RESPONSES = (("mean_ns", "ART"), ("shown_five_nines_ns", "5 9s"), ("max_ns", "MRT"))
"""Attributes of `PtsRecords` that hold response times, each with the specification's name."""


@dataclass(frozen=True)
class Judged:
    """A run's tracked variable, with the window of rounds or samples that is judged."""

    shown: Shown
    variable: TrackedVariable
    verdict: str
    first: int
    last: int
    unit: str = "round"
    """What each value stands for: `round` or `sample`."""
    cuts: tuple[int, ...] = ()
    """First round after each interruption."""

    @property
    def window(self) -> Window:
        return Window(self.variable, self.verdict, self.first, self.last, self.unit, self.cuts)


def window_view(judged: Judged, label: str) -> XyView:
    """Return a chart of the window's values and fitted line, with rules at 90, 100 and 110 % of the mean."""
    each, first = judged.variable, judged.first
    values = each.values[first - 1 : judged.last]
    mean, slope, intercept = each.mean or 0.0, each.slope or 0.0, each.intercept or 0.0
    fitted = tuple(Dot(float(first + at), intercept + slope * at, quiet=True) for at in (0, WINDOW - 1))
    run = judged.shown.index
    dots = tuple(Dot(float(first + at), value) for at, value in enumerate(values))
    lines = (Line(run, "", True, dots), Line(run, "fit", False, fitted, plain=True))
    # The rule at the mean has no label: in a steady window it would overlap the end of the fitted line.
    aids = ((0.9, "90 %"), (1.0, ""), (1.1, "110 %"))
    drawn = (*values, *(dot.y for dot in fitted))
    reach = (min(0.85 * mean, *drawn), max(1.15 * mean, *drawn)) if mean > 0 else None
    # Latency ticks already show their unit.
    of = "response time" if each.unit == "ns" else each.unit
    return XyView(
        label,
        Axis(judged.unit, "count", ticks=round_ticks(first, judged.last)),
        Axis(f"{each.name}, {of}", _QUANTITIES[each.unit], range=reach),
        lines,
        tuple(Rule(run, mean * share, text) for share, text in aids),
    )


def round_ticks(first: int, last: int) -> tuple[tuple[float, str], ...]:
    """Return a tick for each round or sample; if there are many, for the first, the last and every fifth."""
    every = 1 if last - first < MAX_TICKS else 5
    return tuple(
        (float(at), str(at)) for at in range(first, last + 1) if at in (first, last) or at % every == 0
    )


def window_table(found: Sequence[Judged]) -> Table:
    return joined([(judged.shown, pts.window_table([judged.window])) for judged in found])


def histogram_figure(name: str, title: str, kept: Sequence[Counted]) -> Figure:
    """Return a figure with the response-time histogram and the percentiles of each run.

    Parameters
    ----------
    name
        Id of the figure, unique on the page.
    title
        Title, to which the maximum response time is appended.
    kept
        At least one run.
    """
    highest = ", ".join(
        dict.fromkeys(latency_text(each.max_ns) for _, each in kept if each.max_ns is not None)
    )
    views = (
        XyView(
            "histogram",
            Axis("response time, log", "ns", "log"),
            Axis("I/Os in the bin, log", "count", "log"),
            tuple(Line(shown.index, "", False, _histogram_bins(each)) for shown, each in kept),
        ),
        XyView(
            "confidence levels",
            Axis("share of I/Os that were at least as fast", "text", "nines", _NINES),
            Axis("response time, log", "ns", "log"),
            tuple(Line(shown.index, "", False, _histogram_levels(each)) for shown, each in kept),
            tuple(rule for one in kept for rule in _histogram_rules(*one)),
        ),
    )
    return Figure(
        id=name,
        title=f"{title}, MRT {highest}",
        lead="Further left is better. Empty bins lie below 1.",
        described=f"{title}. " + "; ".join(_describe_histogram(*one) for one in kept),
        chart=XyChart(views),
        tables=(_histogram_table(kept),),
        measured=(
            f"All response times of {span_text(kept[0][1].seconds)}, reads and writes together, drawn in "
            f"{BINS} bins of equal width on the log axis.",
            "Percentiles are order statistics of 64 buckets an octave, accurate to 0.8 %; the bounds of the "
            "five nines enclose the true value with 95 % confidence. The maximum is exact.",
            "≥: with no I/O beyond a percentile, its lower bound at 95 % confidence.",
        ),
        buttons=(Buttons("view", "Shown as", tuple(view.label for view in views)),),
    )


def _describe_histogram(shown: Shown, each: PtsHistogram) -> str:
    known = {"ART": each.mean_ns, **{f"{name} %": ns for name, ns in each.shown_ns.items()}}
    shown_text = [f"{name} {latency_text(ns)}" for name, ns in {**known, "MRT": each.max_ns}.items() if ns]
    return f"{shown.label}: {', '.join(shown_text)}"


def _histogram_bins(each: PtsHistogram) -> tuple[Dot, ...]:
    """Return the histogram as a step line: each bin's count at its lower and at its upper edge."""
    middle = (np.asarray(each.low_ns, dtype=np.float64) + np.asarray(each.high_ns) - 1) / 2
    if not middle.size:
        return ()
    edges = np.geomspace(max(1.0, float(each.low_ns[0])), float(each.high_ns[-1]), BINS + 1)
    counts, _ = np.histogram(middle, bins=edges, weights=np.asarray(each.count))
    return tuple(
        Dot(float(at), float(count) or EMPTY, quiet=True)
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        for at in (low, high)
    )


def _histogram_levels(each: PtsHistogram) -> tuple[Dot, ...]:
    counts = np.asarray(each.count)
    total = int(counts.sum())
    reached = np.cumsum(counts)
    middle = (np.asarray(each.low_ns, dtype=np.float64) + np.asarray(each.high_ns) - 1) / 2
    drawn = total - reached >= BEYOND
    dots = [
        Dot(float(at / total), float(ns), quiet=True)
        for at, ns in zip(reached[drawn], middle[drawn], strict=True)
    ]
    dots += [
        Dot(float(name) / 100, ns, label=f"{name} %") for name, ns in each.shown_ns.items() if ns is not None
    ]
    return tuple(sorted(dots, key=lambda dot: (dot.x, dot.y)))


def _histogram_rules(shown: Shown, each: PtsHistogram) -> list[Rule]:
    marks = (("ART", each.mean_ns), ("MRT", each.max_ns))
    return [Rule(shown.index, ns, f"{name} {latency_text(ns)}") for name, ns in marks if ns is not None]


def _histogram_table(kept: Sequence[Counted]) -> Table:
    names = list(dict.fromkeys(name for _, each in kept for name in each.percentiles_ns))
    bounds = ("99.999 % at least", "at most")
    head = ("Run", "I/Os", "IOPS", "MB/s", "ART", *(f"{name} %" for name in names), *bounds, "MRT")
    rows = tuple(
        (
            cells.of_run(shown.label, shown.index),
            cells.count(sum(each.count)),
            cells.iops(each.iops),
            cells.throughput(each.mb_s),
            cells.latency(each.mean_ns),
            *(_level_cell(each, name) for name in names),
            *(cells.latency(bound) for bound in each.bounds_ns.get("99.999", (None, None))),
            cells.latency(each.max_ns),
        )
        for shown, each in kept
    )
    return Table("Response times", head, rows)


def _level_cell(each: PtsHistogram, name: str) -> cells.Cell:
    value, (low, _) = each.shown_ns.get(name), each.bounds_ns.get(name, (None, None))
    return cells.latency(value) if value is not None else pts.bound_cell(cells.latency(low))


@dataclass(frozen=True)
class Clock:
    """The unit of a time axis: hours, minutes or seconds, chosen by the length of the axis."""

    unit: str
    unit_s: float

    @classmethod
    def up_to(cls, longest_s: float) -> Self:
        """Return the unit for a time axis that ends at `longest_s`."""
        if longest_s >= 2 * 3600:
            return cls("h", 3600.0)
        return cls("min", 60.0) if longest_s >= 120 else cls("s", 1.0)

    @property
    def axis(self) -> Axis:
        return Axis(f"time, {self.unit}", "plain")

    def of(self, seconds: Iterable[float]) -> list[float]:
        """Convert seconds to this unit."""
        return [each / self.unit_s for each in seconds]


def dots(xs: Sequence[float], ys: Sequence[float | None], ringed: Collection[int] = ()) -> tuple[Dot, ...]:
    """Return a line's dots, with markers only at the indices in `ringed`; omit records without a value."""
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
    """Return a figure with a button that switches between a linear and a logarithmic axis."""
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
    """Return lines of the mean, 99.999 % and maximum response time of each record, where known."""
    lines = []
    for column, label in RESPONSES:
        shown_text = dots(xs, getattr(found, column))
        if shown_text:
            lines.append(Line(shown.index, " ".join(filter(None, (name, label))), True, shown_text))
    return lines


def how(result: PtsSeriesResult, recorded: str) -> str:
    """Return a sentence on how a load was measured; `recorded` describes its records and pauses."""
    return (
        f"{result.specification}, {result.setting}: {result.threads} threads of {result.depth} I/Os in "
        f"flight, active range {result.active_range_pct} %, {recorded}."
    )


def unbroken(record_s: float) -> str:
    return f"a record every {span_text(record_s)}, no pauses"
