"""Report page of mixed random I/O: throughput by share of writes, at each depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.ratios import efficiency as work_per_watt
from ssdlab.plugin import (
    Axis,
    Bar,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Figure,
    Line,
    Section,
    XyChart,
    XyView,
    efficiency,
    leads,
    rates,
    together,
    with_result,
)

from . import result as mixed
from .result import MixedResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    from .result import MixPoint

Mixed = tuple["Shown", MixedResult]


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, MixedResult)
    return Section(
        id="mixed-random",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, mixed.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(
            figure for figure in (_lines(kept), _bars(kept), _efficiency(kept)) if figure is not None
        ),
    )


def _lines(kept: Sequence[Mixed]) -> Figure:
    depths = sorted({point.depth for _, result in kept for point in result.points})
    views = tuple(_view(kept, depth) for depth in depths)
    return Figure(
        id="mixed-random-throughput",
        title="Throughput over the mix",
        lead="Reads and writes together; higher is better. Read-heavy left, write-heavy right."
        + rates.hollow(
            rates.unproven(shown, point.ordinal, "MB/s") for shown, result in kept for point in result.points
        ),
        described=" ".join(leads(kept, mixed.findings)),
        chart=XyChart(views),
        tables=(together(kept, mixed.mixes),),
        measured=(
            "Each mix by as many threads as the depth, each with one synchronous 4 KiB I/O in flight.",
            f"No latency is given: {kept[0][1].latency_withheld}.",
        ),
        buttons=(Buttons("view", "Depth", tuple(view.label for view in views)),),
        wide=True,
    )


def _headlines(kept: Sequence[Mixed]) -> list[tuple[Shown, MixPoint, str]]:
    return [
        (shown, point, f"{point.read_pct}/{100 - point.read_pct} mix")
        for shown, result in kept
        for point in result.points
        if point.read_pct == result.headline_read_pct
    ]


def _bars(kept: Sequence[Mixed]) -> Figure | None:
    """Return the bar chart of the mix that comparisons use; None if no drive has a value."""
    drawn: dict[int, list[rates.Drawn]] = {}
    for shown, point, mix in _headlines(kept):
        bar = Bar(shown.index, point.mb_s, "")
        own = rates.figure_of(shown, point.ordinal, "MB/s")
        drawn.setdefault(point.depth, []).append(rates.Drawn(shown, mix, bar, own))
    if all(each.withheld for found in drawn.values() for each in found):
        return None
    axis = Axis("MB/s (decimal)", "mb_s")
    views = [BarsView(f"QD {depth}", axis, "higher", rates.groups(drawn[depth])) for depth in sorted(drawn)]
    return Figure(
        id="mixed-random-bars",
        title="Throughput of the mix that comparisons use",
        lead="Reads and writes together; higher is better.",
        described=" ".join(leads(kept, mixed.findings)),
        chart=BarsChart(tuple(views)),
        tables=(together(kept, mixed.mixes),),
        measured=(f"No latency is given: {kept[0][1].latency_withheld}.",),
        buttons=(Buttons("view", "Depth", tuple(view.label for view in views)),),
    )


def _efficiency(kept: Sequence[Mixed]) -> Figure | None:
    worked = []
    for shown, point, mix in sorted(_headlines(kept), key=lambda found: found[1].depth):
        found = work_per_watt("mixed", point.iops, point.mb_s, point.mean_w)
        if found is not None and point.mean_w is not None:
            worked.append(
                efficiency.Worked(shown, mix, "", found, point.mean_w, f"QD {point.depth}", point.ordinal)
            )
    return efficiency.figure("mixed-random", worked)


def _view(kept: Sequence[Mixed], depth: int) -> XyView:
    ticks = tuple((float(write), f"{100 - write}/{write}") for write in range(0, 101, 10))
    lines = tuple(
        Line(
            shown.index,
            "",
            False,
            tuple(_dot(shown, point, result) for point in result.points if point.depth == depth),
        )
        for shown, result in kept
    )
    return XyView(
        f"QD {depth}", Axis("reads/writes, %", "count", ticks=ticks), Axis("MB/s (decimal)", "mb_s"), lines
    )


def _dot(shown: Shown, point: MixPoint, result: MixedResult) -> Dot:
    chosen = (point.read_pct == result.headline_read_pct and not result.moved) or None
    unproven = bool(rates.unproven(shown, point.ordinal, "MB/s")) or None
    return Dot(float(100 - point.read_pct), point.mb_s, chosen=chosen, unproven=unproven)
