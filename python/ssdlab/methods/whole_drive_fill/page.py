"""Page of whole-drive fill: speed over the position on the drive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.ratios import efficiency as work_per_watt
from ssdlab.plugin import (
    Axis,
    Dot,
    Figure,
    Line,
    Section,
    XyChart,
    XyView,
    efficiency,
    leads,
    together,
    with_result,
)

from . import result as fill
from .result import FillResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown

Filled = tuple["Shown", FillResult]


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, FillResult)
    return Section(
        id="whole-drive-fill",
        title=runs[0].run.manifest.method.title,
        lead=leads(kept, fill.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=tuple(figure for figure in (_figure(kept), _efficiency(kept)) if figure is not None),
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
        described=" ".join(leads(kept, fill.findings)),
        chart=XyChart((view,)),
        tables=(together(kept, fill.speeds),),
        measured=(f"128 KiB sequential, {kept[0][1].depth} in flight {_by_whom(kept)}.",),
        wide=True,
    )


def _efficiency(kept: Sequence[Filled]) -> Figure | None:
    worked = []
    for shown, result in kept:
        found = work_per_watt("sequential", 0.0, result.mean_mb_s, result.mean_w)
        if found is not None and result.mean_w is not None:
            worked.append(efficiency.Worked(shown, "whole drive", "", found, result.mean_w))
    return efficiency.figure("whole-drive-fill", worked)


def _by_whom(kept: Sequence[Filled]) -> str:
    engines = {shown.run.manifest.engine for shown, _ in kept}
    real, simulated = engines - {"sim"}, engines & {"sim"}
    words = (("of one io_uring thread", real), ("in a simulated drive's own time", simulated))
    return " and ".join(text for text, any_of in words if any_of)
