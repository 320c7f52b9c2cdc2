"""Latency over offered load, and the highest rate under the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.rate_limit import RateLimitResult
from ssdlab.model.units import latency_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.view import Buttons, Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown

Limited = tuple["Shown", RateLimitResult]
_SHOWN = ("mean", "p50", "p99", "p99.9", "p99.99")


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of rate limits."""
    kept = with_result(runs, RateLimitResult)
    return Section(
        id="rate-limit",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_figure(kept),),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: RateLimitResult) -> str:
    """Return the limit as a sentence."""
    bound = f"{result.percentile} under {latency_text(result.bound_ns)}"
    if result.highest_held is None:
        return f"{shown.label}: no rate kept {bound}."
    text = f"{shown.label}: {of_unit(result.highest_held, 'IOPS')} with {bound}"
    if result.lowest_failed is None:
        return f"{text}; no rate failed."
    why = next(each.why for each in result.tries if each.rate == result.lowest_failed)
    return f"{text}; at {of_unit(result.lowest_failed, 'IOPS')} {why}."


def _figure(kept: Sequence[Limited]) -> Figure:
    views = tuple(view for key in _SHOWN if (view := _view(kept, key)).lines)
    pressed = next((at for at, view in enumerate(views) if view.label == kept[0][1].percentile), 0)
    return Figure(
        id="rate-limit-latency",
        title="Latency against offered load",
        lead="Further right and lower is better. Ring: the highest rate that held. Dotted: the bound.",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart(views),
        tables=(_table(kept),),
        measured=(
            "Arrivals at random times (Poisson), whether or not the drive is ready.",
            "Latency counts from the intended arrival; of reads and writes the slower is shown.",
        ),
        buttons=(Buttons("view", "Latency", tuple(view.label for view in views), pressed),),
        wide=True,
    )


def _view(kept: Sequence[Limited], key: str) -> XyView:
    lines = []
    for shown, result in kept:
        dots = tuple(
            Dot(float(each.rate), latency, chosen=(each.rate == result.highest_held) or None)
            for each in result.tries
            if (latency := each.response_ns.get(key)) is not None
        )
        if dots:
            lines.append(Line(shown.index, "", False, dots))
    rules = tuple(
        Rule(shown.index, result.bound_ns, "bound" if len(kept) == 1 else "")
        for shown, result in kept
        if result.percentile == key
    )
    load = Axis("offered load, IOPS, log", "iops", "log")
    return XyView(key, load, Axis(f"{key} response time, log", "ns", "log"), tuple(lines), rules)


def _table(kept: Sequence[Limited]) -> Table:
    head = ("Run", "Offered", "Done", "Mean", "p99", "p99.9", "Dropped", "Held", "W")
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.iops(each.rate),
            numbers.iops(each.iops),
            *(numbers.latency(each.response_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            numbers.count(each.dropped),
            numbers.words("yes" if each.held else f"no: {each.why}"),
            numbers.plain(each.mean_w),
        )
        for shown, result in kept
        for each in result.tries
    )
    return Table("Every rate tried", head, rows)
