"""Report page of reads under writes: a map of read latency over both rates, and lines over the write rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.ratios import efficiency as work_per_watt
from ssdlab.plugin import (
    Axis,
    Buttons,
    Dot,
    Figure,
    HeatChart,
    HeatView,
    Line,
    Section,
    XyChart,
    XyView,
    block_text,
    efficiency,
    leads,
    significant,
    together,
    with_result,
)

from . import result as presented
from .result import HEADLINE, ReadUnderWritesResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

    from .result import LoadCell

Loaded = tuple["Shown", ReadUnderWritesResult]
_FIGURES = (
    ("p99", "service", "p99"),
    ("mean", "service", "mean"),
    ("p99", "response", "p99 response"),
    ("mean", "response", "mean response"),
)
"""Percentile, clock and button; service time is the drive's own, response time includes waiting before it."""
_ABSENT = "saturated: no latency, as the rates were not sustained"


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, ReadUnderWritesResult)
    figures = (_map(kept), _lines(kept), _efficiency(kept))
    return Section(
        id="read-under-writes",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, presented.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in figures if figure is not None),
    )


def _map(kept: Sequence[Loaded]) -> Figure:
    reads, writes = _shares(kept)
    views = tuple(_heat(one, kept, each, reads, writes) for each in _FIGURES for one in kept)
    return Figure(
        id="read-under-writes-map",
        title="Read latency under writes",
        lead="Reads down, writes across, each as a share of its rate alone. Lower (lighter) is better. "
        "A cell without a value is saturated.",
        described=" ".join(leads(kept, presented.findings)),
        chart=HeatChart(
            tuple(f"{share} % reads" for share in reads),
            tuple(f"{share} %" for share in writes),
            "writes, % of their rate alone",
            views,
        ),
        tables=(together(kept, presented.cell_table),),
        measured=_how(kept),
        buttons=(Buttons("view", "Shown", tuple(view.label for view in views)),),
        wide=True,
    )


def _how(kept: Sequence[Loaded]) -> tuple[str, ...]:
    result = kept[0][1]
    return (
        f"Random reads and writes of {block_text(result.block_bytes)}, each an open loop with Poisson "
        f"arrivals and {result.threads} threads, "
        f"{significant(result.seconds)} s a cell.",
        "Service: from submission to completion. Response: from the intended arrival.",
    )


def _shares(kept: Sequence[Loaded]) -> tuple[list[int], list[int]]:
    every = [cell for _, result in kept for cell in result.cells]
    return sorted({cell.read_pct for cell in every}), sorted({cell.write_pct for cell in every})


def _latency(cell: LoadCell | None, key: str, clock: str) -> float | None:
    if cell is None:
        return None
    return (cell.service_ns if clock == "service" else cell.response_ns).get(key)


def _heat(
    one: Loaded,
    kept: Sequence[Loaded],
    figure: tuple[str, str, str],
    reads: Sequence[int],
    writes: Sequence[int],
) -> HeatView:
    (shown, result), (key, clock, name) = one, figure
    every = [v for _, other in kept for cell in other.cells if (v := _latency(cell, key, clock)) is not None]
    values = tuple(tuple(_latency(result.cell(r, w), key, clock) for w in writes) for r in reads)
    return HeatView(
        label=f"{name}, {shown.label}" if len(kept) > 1 else name,
        run=shown.index,
        title=f"{key} {clock} time of reads",
        quantity="ns",
        values=values,
        range=(min(every, default=1.0), max(every, default=1.0)),
        better="lower",
        absent=_ABSENT if any(value is None for row in values for value in row) else None,
    )


def _lines(kept: Sequence[Loaded]) -> Figure:
    """Return the figure of read latency over the write rate, with one view for each read rate."""
    reads, writes = _shares(kept)
    every = [v for _, result in kept for cell in result.cells for v in _pair(cell) if v is not None]
    reach = (min(every, default=1.0), max(every, default=1.0))
    ticks = tuple((float(share), f"{share} %") for share in writes)
    x = Axis("writes, % of their rate alone", "plain", ticks=ticks)
    y = Axis("service time of reads, log", "ns", "log", range=reach)
    views = tuple(
        XyView(f"{share} % reads", x, y, tuple(line for one in kept for line in _of_run(one, share)))
        for share in reads
    )
    return Figure(
        id="read-under-writes-lines",
        title="Read latency against write load",
        lead="Solid: p99. Faint: mean. A line ends where the drive is saturated. Lower is better.",
        described=" ".join(leads(kept, presented.findings)),
        chart=XyChart(views),
        tables=(together(kept, presented.cell_table),),
        measured=_how(kept),
        buttons=(Buttons("view", "Reads", tuple(view.label for view in views)),),
        wide=True,
    )


def _pair(cell: LoadCell) -> tuple[float | None, float | None]:
    return cell.service_ns.get("p99"), cell.service_ns.get("mean")


def _of_run(one: Loaded, share: int) -> list[Line]:
    shown, result = one
    row = sorted((cell for cell in result.cells if cell.read_pct == share), key=lambda cell: cell.write_pct)
    lines = []
    for key, faint in (("p99", None), ("mean", True)):
        dots = tuple(
            Dot(float(cell.write_pct), value, chosen=(cell.shares == HEADLINE) or None)
            for cell in row
            if (value := cell.service_ns.get(key)) is not None
        )
        if dots:
            lines.append(Line(shown.index, key, False, dots, faint=faint))
    return lines


def _efficiency(kept: Sequence[Loaded]) -> Figure | None:
    worked = []
    for shown, result in kept:
        cell = result.cell(*HEADLINE)
        if cell is None or not cell.held or cell.mean_w is None:
            continue
        found = work_per_watt("random", cell.iops, cell.iops * result.block_bytes / 1e6, cell.mean_w)
        group = f"reads at {cell.read_pct} %, writes at {cell.write_pct} %"
        if found is not None:
            worked.append(efficiency.Worked(shown, group, "", found, cell.mean_w))
    return efficiency.figure("read-under-writes", worked)
