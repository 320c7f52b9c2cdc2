"""Report page of queue depth 1: four workloads, their latency, and throughput over block size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Axis,
    Bar,
    BarsChart,
    BarsView,
    Buttons,
    Dot,
    Figure,
    Line,
    Quantity,
    Section,
    XyChart,
    XyView,
    block_text,
    efficiency,
    ends_text,
    leads,
    over_time,
    percentiles,
    point_tables,
    rates,
    size_text,
    texts_of,
    with_result,
)

from .result import Qd1Result, findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Point, Shown, Table

    Tables = tuple[Table, ...]
    Corners = Sequence[tuple[Shown, Point]]


_UNITS: tuple[Quantity, Quantity] = ("iops", "mb_s")


@dataclass(frozen=True)
class One:
    shown: Shown
    result: Qd1Result


def section(runs: Sequence[Shown]) -> Section:
    ones = [One(*one) for one in with_result(runs, Qd1Result)]
    corners = [(one.shown, point) for one in ones for point in one.result.corners]
    sizes = [(one.shown, point) for one in ones for point in one.result.block_sizes]
    measured = [(shown, point) for shown, point in corners if point.missing is None]
    order = list(dict.fromkeys(_name(point) for _, point in measured))
    tails = sorted(
        (_tail(shown, point) for shown, point in measured), key=lambda tail: order.index(tail.name)
    )
    watched = [
        over_time.Watched(shown, point.ordinal, point.label)
        for shown, point in (*corners, *sizes)
        if point.missing is None and point.ordinal is not None
    ]
    figures = (
        _bars(measured, (point_tables.throughput(corners),)),
        percentiles.marks("qd1", "Latency at one I/O in flight", tails, point_tables.latencies(corners)),
        efficiency.figure("qd1", _worked(measured)),
        _blocks(sizes, _unshown(ones)),
        percentiles.nines("qd1", tails, point_tables.latencies(corners)),
        over_time.figure("qd1", watched, ""),
    )
    return Section(
        id="qd1",
        title=runs[0].run.manifest.method.title,
        lead=leads([(one.shown, one.result) for one in ones], findings),
        runs=tuple(one.shown.index for one in ones),
        figures=tuple(figure for figure in figures if figure is not None),
        exhibits=point_tables.host([*corners, *sizes]),
    )


def _name(point: Point) -> str:
    return f"{point.pattern} {point.direction}"


def _unshown(ones: Sequence[One]) -> str:
    """Return a note on the runs whose writes have no proven state; empty if there are none."""
    text = "The writes have no proven state, and may have several."
    lines = texts_of([(one.shown, "" if one.result.writes_shown else text) for one in ones])
    return f" {' '.join(lines)}" if lines else ""


def _bars(corners: Corners, tables: Tables) -> Figure:
    views = _bars_views(corners)
    return Figure(
        id="qd1-bars",
        title="Throughput at one I/O in flight",
        lead="Higher is better. The value is followed by the block size. Whisker: slowest to fastest "
        "interval.",
        described="; ".join(
            f"{shown.label}, {_name(point)}: {rates.format_rate(point)}" for shown, point in corners
        ),
        chart=BarsChart(views),
        tables=tables,
        measured=_how(corners),
        buttons=(Buttons("view", "Unit", tuple(view.label for view in views)),),
    )


def _worked(corners: Corners) -> list[efficiency.Worked]:
    return [
        each
        for shown, point in corners
        for each in efficiency.of_point(shown, _name(point), block_text(point.block_bytes), point)
    ]


def _bars_views(corners: Corners) -> tuple[BarsView, ...]:
    """Return views of IOPS and MB/s for each block size, as figures of two sizes are not comparable."""
    sizes = sorted({point.block_bytes for _, point in corners})
    return tuple(
        _bars_view(own, unit, f", {block_text(size)}")
        for size in sizes
        if (own := [each for each in corners if each[1].block_bytes == size])
        for unit in rates.units(own[0][1].pattern)
    )


def _bars_view(corners: Corners, unit: Quantity, of: str) -> BarsView:
    return BarsView(rates.WORDS[unit] + of, rates.axis(unit), "higher", rates.groups(_drawn(corners, unit)))


def _drawn(corners: Corners, unit: Quantity) -> list[rates.Drawn]:
    found = []
    for shown, point in corners:
        bar = Bar(
            shown.index,
            rates.rate(point, unit) or 0.0,
            block_text(point.block_bytes),
            *rates.spread(point, unit),
        )
        own = rates.figure_of(shown, point.ordinal, rates.WORDS[unit])
        found.append(rates.Drawn(shown, _name(point), bar, own))
    return found


def _blocks(sizes: Corners, unshown: str) -> Figure | None:
    measured = [(shown, point) for shown, point in sizes if point.missing is None]
    if not measured:
        return None
    blocks = sorted({point.block_bytes for _, point in measured})
    x = Axis(
        "block size, log", "bytes", "log", tuple((float(size), size_text(size).upper()) for size in blocks)
    )
    patterns = tuple(dict.fromkeys(point.pattern for _, point in measured))
    views = tuple(
        XyView(
            f"{pattern}, {rates.WORDS[unit]}", x, rates.axis(unit, log=True), _lines(measured, pattern, unit)
        )
        for pattern in patterns
        for unit in _UNITS
    )
    absent = sorted({point.missing for _, point in sizes if point.missing is not None})
    gaps = f" Not measured: {'; '.join(absent)}." if absent else ""
    return Figure(
        id="qd1-blocks",
        title="Throughput over block size",
        lead=f"Higher is better. Reads are solid, writes dashed.{gaps}{unshown}"
        + rates.hollow(rates.unproven(shown, point.ordinal) for shown, point in measured),
        described=f"Lines of {ends_text(block_text(blocks[0]), block_text(blocks[-1]))}.{gaps}",
        chart=XyChart(views),
        tables=point_tables.tables_of(sizes),
        measured=_how(measured),
        buttons=(Buttons("view", "Workload", tuple(view.label for view in views)),),
    )


def _lines(sizes: Corners, pattern: str, unit: Quantity) -> tuple[Line, ...]:
    found: dict[tuple[int, str], list[Dot]] = {}
    for shown, point in sizes:
        value = rates.rate(point, unit)
        if point.pattern == pattern and value:
            unproven = bool(rates.unproven(shown, point.ordinal)) or None
            dot = Dot(float(point.block_bytes), value, unproven=unproven)
            found.setdefault((shown.index, point.direction), []).append(dot)
    return tuple(
        Line(run, direction, direction != "read", tuple(dots)) for (run, direction), dots in found.items()
    )


def _tail(shown: Shown, point: Point) -> percentiles.Tail:
    return percentiles.Tail(
        shown,
        _name(point),
        block_text(point.block_bytes),
        point.direction,
        point.ordinal,
        point.service_ns or {},
        point.response_ns or {},
    )


_ISSUED = {
    "sync": "by a thread of synchronous I/O",
    "uring": "by a thread of io_uring",
    "sim": "in a simulated drive's own time",
}


def _how(points: Corners) -> tuple[str, ...]:
    engines = sorted({point.engine for _, point in points})
    issued = " and ".join(_ISSUED.get(engine, f"by {engine}") for engine in engines)
    return (
        f"One I/O in flight, {issued}; the next starts when the last one has completed.",
        "Random: uniform over the span. Sequential: from the start of the span on, one stream.",
        "Tables and steps at the end give preconditioning and the time of each point.",
    )
