"""Throughput in the unit of its workload: random ones in IOPS, sequential ones in MB/s."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.report.charts import Axis, Quantity
from ssdlab.results.cells import of_unit

if TYPE_CHECKING:
    from ssdlab.report.charts import Bar
    from ssdlab.report.runs import Shown
    from ssdlab.results.metric import Metric
    from ssdlab.results.schema import Point

WORDS: dict[Quantity, str] = {"iops": "IOPS", "mb_s": "MB/s"}


def units(pattern: str) -> tuple[Quantity, Quantity]:
    """Return both units, the telling one first."""
    return ("iops", "mb_s") if pattern == "random" else ("mb_s", "iops")


def rate(point: Point, unit: Quantity) -> float | None:
    """Return the throughput of a point."""
    return point.iops if unit == "iops" else point.mb_s


def of_iops(point: Point, iops: float | None, unit: Quantity) -> float | None:
    """Return an IOPS figure of a point in the unit shown: all I/Os of a point have one size."""
    return iops if iops is None or unit == "iops" else iops * point.block_bytes / 1e6


def spread(point: Point, unit: Quantity) -> tuple[float | None, float | None]:
    """Return the slowest and the fastest interval of a point."""
    found = point.spread_iops
    return (
        (None, None) if found is None else (of_iops(point, found.min, unit), of_iops(point, found.max, unit))
    )


def format_rate(point: Point) -> str:
    """Return the throughput of a point as text, in the unit of its pattern."""
    unit = units(point.pattern)[0]
    return of_unit(rate(point, unit), WORDS[unit])


def marked(bar: Bar, figure: Metric | None) -> Bar:
    """Return a bar with the labels of the figure that it shows, grey where that has no rank."""
    if figure is None:
        return bar
    note = ", ".join(filter(None, (bar.note, figure.state)))
    return replace(bar, note=note, unranked=bool(figure.unfit("ranking")) or None)


def figure_of(shown: Shown, ordinal: int | None) -> Metric | None:
    """Return the first figure of a step."""
    return next((each for each in shown.run.result.scalars if ordinal in each.steps), None)


def axis(unit: Quantity, *, log: bool = False) -> Axis:
    """Return the axis of a throughput."""
    title = "IOPS" if unit == "iops" else "MB/s (decimal)"
    return Axis(f"{title}, log", unit, "log") if log else Axis(title, unit)
