"""One I/O in flight: four workloads, their latency, and throughput over block size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Dot,
    Line,
    Quantity,
    XyChart,
    XyView,
)
from ssdlab.report.numbers import of_unit
from ssdlab.report.sections import over_time, percentiles, point_tables
from ssdlab.report.view import Buttons, Figure, Section
from ssdlab.results.schema import Qd1Result
from ssdlab.units import block_text, latency_text, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.numbers import Table
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Point

    Tables = tuple[Table, ...]
    Corners = Sequence[tuple[Shown, Point]]

_WORDS: dict[Quantity, str] = {"iops": "IOPS", "mb_s": "MB/s"}


@dataclass(frozen=True)
class One:
    """A run beside its typed Result."""

    shown: Shown
    result: Qd1Result


def section(runs: Sequence[Shown]) -> Section:
    """The section of all runs of `qd1`."""
    ones = [One(shown, shown.run.result) for shown in runs if isinstance(shown.run.result, Qd1Result)]
    corners = [(one.shown, point) for one in ones for point in one.result.corners]
    sizes = [(one.shown, point) for one in ones for point in one.result.block_sizes]
    measured = [(shown, point) for shown, point in corners if point.missing is None]
    tails = [_tail(shown, point) for shown, point in measured]
    watched = [
        over_time.Watched(shown, point.ordinal, point.label)
        for shown, point in (*corners, *sizes)
        if point.missing is None and point.ordinal is not None
    ]
    figures = (
        _bars(measured, (point_tables.throughput(corners),)),
        percentiles.marks("qd1", "Latency at one I/O in flight", tails, point_tables.latencies(corners)),
        _blocks(sizes),
        percentiles.nines("qd1", tails, point_tables.latencies(corners)),
        over_time.figure("qd1", watched, ""),
    )
    return Section(
        id="qd1",
        title=runs[0].run.manifest.method.title,
        lead=" ".join(_finding(one) for one in ones),
        runs=tuple(one.shown.index for one in ones),
        figures=tuple(figure for figure in figures if figure is not None),
        tables=(point_tables.host([*corners, *sizes]),),
        caveats=tuple(dict.fromkeys(text for one in ones for text in one.result.caveats)),
    )


def _finding(one: One) -> str:
    told = []
    for point in one.result.corners:
        if point.missing is not None:
            continue
        mean = (point.response_ns or {}).get("mean")
        unit = _unit(point)
        figure = of_unit(_value(point, unit), _WORDS[unit])
        told.append(f"{_name(point)} {figure}" + (f" ({latency_text(mean)})" if mean is not None else ""))
    return f"{one.shown.label}: {', '.join(told)}."


def _name(point: Point) -> str:
    return f"{point.pattern} {point.direction}"


def _unit(point: Point) -> Quantity:
    return "iops" if point.pattern == "random" else "mb_s"


def _value(point: Point, unit: Quantity) -> float | None:
    return point.iops if unit == "iops" else point.mb_s


def _axis(unit: Quantity, *, log: bool = False) -> Axis:
    title = "IOPS" if unit == "iops" else "MB/s (decimal)"
    return Axis(f"{title}, log", unit, "log") if log else Axis(title, unit)


def _bars(corners: Corners, tables: Tables) -> Figure:
    views = tuple(
        _bars_view(corners, pattern) for pattern in dict.fromkeys(point.pattern for _, point in corners)
    )
    return Figure(
        id="qd1-bars",
        title="Throughput at one I/O in flight",
        lead="Higher is better. Whisker: slowest to fastest interval.",
        described="; ".join(
            f"{shown.label}, {_name(point)}: {of_unit(_value(point, _unit(point)), _WORDS[_unit(point)])}"
            for shown, point in corners
        ),
        chart=BarsChart(views),
        tables=tables,
        measured=_how(corners),
        buttons=(Buttons("view", "Workload", tuple(view.label for view in views)),) if len(views) > 1 else (),
    )


def _bars_view(corners: Corners, pattern: str) -> BarsView:
    unit: Quantity = "iops" if pattern == "random" else "mb_s"
    groups: dict[str, list[Bar]] = {}
    for shown, point in corners:
        if point.pattern != pattern:
            continue
        spread, factor = point.spread_iops, 1.0 if unit == "iops" else point.block_bytes / 1e6
        low, high = (spread.min * factor, spread.max * factor) if spread else (None, None)
        bar = Bar(shown.index, _value(point, unit) or 0.0, block_text(point.block_bytes), low, high)
        groups.setdefault(_name(point), []).append(bar)
    ranked = tuple(
        BarGroup(name, tuple(sorted(bars, key=lambda bar: -bar.value))) for name, bars in groups.items()
    )
    return BarsView(f"{pattern}, {_WORDS[unit]}", _axis(unit), "higher", ranked)


def _blocks(sizes: Corners) -> Figure | None:
    measured = [(shown, point) for shown, point in sizes if point.missing is None]
    if not measured:
        return None
    blocks = sorted({point.block_bytes for _, point in measured})
    x = Axis(
        "block size, log", "bytes", "log", tuple((float(size), size_text(size).upper()) for size in blocks)
    )
    patterns = tuple(dict.fromkeys(point.pattern for _, point in measured))
    units: tuple[Quantity, ...] = ("iops", "mb_s")
    views = tuple(
        XyView(f"{pattern}, {_WORDS[unit]}", x, _axis(unit, log=True), _lines(measured, pattern, unit))
        for pattern in patterns
        for unit in units
    )
    absent = sorted({point.missing for _, point in sizes if point.missing is not None})
    gaps = f" Not measured: {'; '.join(absent)}." if absent else ""
    return Figure(
        id="qd1-blocks",
        title="Throughput over block size",
        lead=f"Higher is better. Reads are solid, writes dashed.{gaps}",
        described=f"Lines over {len(blocks)} block sizes from {block_text(blocks[0])} to {block_text(blocks[-1])}.{gaps}",
        chart=XyChart(views),
        tables=point_tables.tables_of(sizes),
        measured=_how(measured),
        buttons=(Buttons("view", "Workload", tuple(view.label for view in views)),),
    )


def _lines(sizes: Corners, pattern: str, unit: Quantity) -> tuple[Line, ...]:
    found: dict[tuple[int, str], list[Dot]] = {}
    for shown, point in sizes:
        value = _value(point, unit)
        if point.pattern == pattern and value:
            found.setdefault((shown.index, point.direction), []).append(Dot(float(point.block_bytes), value))
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


def _how(points: Corners) -> tuple[str, ...]:
    engines = sorted({point.engine for _, point in points})
    return (
        f"One I/O in flight, issued by {' and '.join(engines)}; the next starts when the last one has completed.",
        "Random: uniform over the span. Sequential: from the start of the span on, one stream.",
        "The state of the drive and the time of each point stand in the tables and in the steps at the end of the page.",
    )
