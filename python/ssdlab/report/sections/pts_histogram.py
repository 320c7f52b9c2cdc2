"""SNIA PTS: a histogram of response times, and the confidence levels that they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ssdlab.model.units import latency_text, span_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table
from ssdlab.report.view import Buttons, Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.pts_series import PtsHistogram
    from ssdlab.report.runs import Shown

Counted = tuple["Shown", "PtsHistogram"]

BINS = 200
"""Of equal width on a log axis: what a page can show, of a finer histogram."""
EMPTY = 0.5
"""Where a log axis shows a bin without any I/O: below one."""
BEYOND = 10
"""The curve ends where fewer than so many I/Os lie beyond it: what comes after is the maximum alone."""
_NINES = tuple(
    (float(text) / 100, f"{text} %") for text in ("0", "90", "99", "99.9", "99.99", "99.999", "99.9999")
)


def figure(name: str, title: str, kept: Sequence[Counted]) -> Figure:
    """Return histogram and confidence levels of one stretch of I/O, of each run.

    Parameters
    ----------
    name
        Of the figure, unique on the page.
    title
        Before the maximum response time, which is added.
    kept
        Not empty.
    """
    most = ", ".join(dict.fromkeys(latency_text(each.max_ns) for _, each in kept if each.max_ns is not None))
    views = (
        XyView(
            "histogram",
            Axis("response time, log", "ns", "log"),
            Axis("I/Os in the bin, log", "count", "log"),
            tuple(Line(shown.index, "", False, _bins(each)) for shown, each in kept),
        ),
        XyView(
            "confidence levels",
            Axis("share of I/Os that were at least as fast", "text", "nines", _NINES),
            Axis("response time, log", "ns", "log"),
            tuple(Line(shown.index, "", False, _levels(each)) for shown, each in kept),
            tuple(rule for one in kept for rule in _rules(*one)),
        ),
    )
    return Figure(
        id=name,
        title=f"{title}, MRT {most}",
        lead="Further left is better. Bins without an I/O lie below 1.",
        described=f"{title}. " + "; ".join(_told(*one) for one in kept),
        chart=XyChart(views),
        tables=(_table(kept),),
        measured=(
            f"All response times of {span_text(kept[0][1].seconds)}, reads and writes together, drawn in "
            f"{BINS} bins of equal width on the log axis.",
            "Percentiles are of 64 buckets an octave, exact to 0.8 %; those with fewer than 10 I/Os beyond "
            "them are left out. The maximum is exact.",
        ),
        buttons=(Buttons("view", "Shown as", tuple(view.label for view in views)),),
    )


def _told(shown: Shown, each: PtsHistogram) -> str:
    known = {"ART": each.mean_ns, **{f"{name} %": ns for name, ns in each.percentiles_ns.items()}}
    told = [f"{name} {latency_text(ns)}" for name, ns in {**known, "MRT": each.max_ns}.items() if ns]
    return f"{shown.label}: {', '.join(told)}"


def _bins(each: PtsHistogram) -> tuple[Dot, ...]:
    """Return the histogram as steps: from the lower to the upper edge of each bin at its count."""
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


def _levels(each: PtsHistogram) -> tuple[Dot, ...]:
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
        Dot(float(name) / 100, ns, label=f"{name} %")
        for name, ns in each.percentiles_ns.items()
        if ns is not None
    ]
    return tuple(sorted(dots, key=lambda dot: (dot.x, dot.y)))


def _rules(shown: Shown, each: PtsHistogram) -> list[Rule]:
    marks = (("ART", each.mean_ns), ("MRT", each.max_ns))
    return [Rule(shown.index, ns, f"{name} {latency_text(ns)}") for name, ns in marks if ns is not None]


def _table(kept: Sequence[Counted]) -> Table:
    names = list(dict.fromkeys(name for _, each in kept for name in each.percentiles_ns))
    head = ("Run", "I/Os", "IOPS", "MB/s", "ART", *(f"{name} %" for name in names), "MRT")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.count(sum(each.count)),
            numbers.iops(each.iops),
            numbers.throughput(each.mb_s),
            numbers.latency(each.mean_ns),
            *(numbers.latency(each.percentiles_ns.get(name)) for name in names),
            numbers.latency(each.max_ns),
        )
        for shown, each in kept
    )
    return Table("Response times", head, rows)
