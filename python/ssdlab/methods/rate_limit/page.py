"""Report page of rate limits: latency over offered load, and the highest rate within the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Buttons,
    Dot,
    Figure,
    Line,
    Rule,
    Section,
    XyChart,
    XyView,
    leads,
    together,
    with_result,
)

from . import result as rate_limit
from .result import RateLimitResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

Limited = tuple["Shown", RateLimitResult]
_SHOWN = ("mean", "p50", "p99", "p99.9", "p99.99")


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, RateLimitResult)
    return Section(
        id="rate-limit",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, rate_limit.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(_figure(kept),),
    )


def _figure(kept: Sequence[Limited]) -> Figure:
    views = tuple(view for key in _SHOWN if (view := _view(kept, key)).lines)
    pressed = next((at for at, view in enumerate(views) if view.label == kept[0][1].percentile), 0)
    return Figure(
        id="rate-limit-latency",
        title="Latency against offered load",
        lead="Further right and lower is better. Ring: the highest rate that held. Dotted: the bound.",
        described=" ".join(leads(kept, rate_limit.findings)),
        chart=XyChart(views),
        tables=(together(kept, rate_limit.rates),),
        measured=(
            "Arrivals at random times (Poisson), whether or not the drive is ready.",
            "Latency counts from the intended arrival; the slower of reads and writes is shown.",
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
