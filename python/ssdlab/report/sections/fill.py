"""Whole-drive fill: speed over the position on the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.efficiency import efficiency as work_per_watt
from ssdlab.methods.results.fill import FillResult
from ssdlab.model.units import capacity_text
from ssdlab.report import numbers
from ssdlab.report.charts import Axis, Dot, Line, XyChart, XyView
from ssdlab.report.numbers import Table, of_unit
from ssdlab.report.runs import with_result
from ssdlab.report.sections import efficiency
from ssdlab.report.view import Figure, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown

Filled = tuple["Shown", FillResult]


def section(runs: Sequence[Shown]) -> Section:
    """Return the section of fills, all of them in the same chart."""
    kept = with_result(runs, FillResult)
    return Section(
        id="whole-drive-fill",
        title=runs[0].run.manifest.method.title,
        lead=tuple(finding(*one) for one in kept),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in (_figure(kept), _efficiency(kept)) if figure is not None),
        caveats=tuple(dict.fromkeys(text for _, result in kept for text in result.caveats)),
    )


def finding(shown: Shown, result: FillResult) -> str:
    """Return speed and cache as a sentence."""
    text = f"{shown.label}: {of_unit(result.mean_mb_s, 'MB/s')} over the whole drive, "
    text += f"{of_unit(result.last_mb_s, 'MB/s')} over its last 16 GB."
    if result.cache_bytes is None:
        return f"{text} No end of a cache was found."
    return (
        f"{text} A cache ends after {capacity_text(result.cache_bytes)}: "
        f"{of_unit(result.before_mb_s, 'MB/s')} before, {of_unit(result.after_mb_s, 'MB/s')} after."
    )


def _figure(kept: Sequence[Filled]) -> Figure:
    lines = tuple(
        Line(
            shown.index,
            "",
            True,
            tuple(
                Dot((number + 1) * result.part_bytes, speed, quiet=True)
                for number, speed in enumerate(result.parts_mb_s)
            ),
        )
        for shown, result in kept
    )
    view = XyView("MB/s", Axis("position", "capacity"), Axis("MB/s (decimal)", "mb_s"), lines)
    return Figure(
        id="whole-drive-fill-speed",
        title="Speed over the position",
        lead="First write from the first block to the last; higher is better.",
        described=" ".join(finding(*one) for one in kept),
        chart=XyChart((view,)),
        tables=(_table(kept),),
        measured=(f"128 KiB sequential, {kept[0][1].depth} in flight by one io_uring thread.",),
        wide=True,
    )


def _efficiency(kept: Sequence[Filled]) -> Figure | None:
    worked = []
    for shown, result in kept:
        found = work_per_watt("sequential", 0.0, result.mean_mb_s, result.mean_w)
        if found is not None and result.mean_w is not None:
            worked.append(efficiency.Worked(shown, "whole drive", "", found, result.mean_w))
    return efficiency.figure("whole-drive-fill", worked)


def _table(kept: Sequence[Filled]) -> Table:
    head = (
        *("Run", "MB/s", "Last 16 GB", "Slowest part", "Fastest part", "Cache", "Before", "After"),
        *("W", "MB/s/W"),
    )
    rows = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            numbers.throughput(result.mean_mb_s),
            numbers.throughput(result.last_mb_s),
            numbers.throughput(min(result.parts_mb_s)),
            numbers.throughput(max(result.parts_mb_s)),
            numbers.words("none" if result.cache_bytes is None else capacity_text(result.cache_bytes)),
            numbers.throughput(result.before_mb_s),
            numbers.throughput(result.after_mb_s),
            numbers.plain(result.mean_w),
            numbers.plain(result.mb_s_per_w),
        )
        for shown, result in kept
    )
    return Table("Speed in MB/s; the cache ends where the speed drops for good", head, rows)
