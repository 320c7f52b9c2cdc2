"""Sequential write speed of a fresh drive from end to end, and where it falls for good.

Question
    Sequential write speed over the position on the drive; how much is written before the speed falls for
    good, if it does; and the speed before and after.

Procedure
    1. Purge, if the drive can be purged.
    2. Write once from end to end: 128 KiB sequential, 32 in flight, by one io_uring thread.

    The curve has equal parts, at most one per GB. The result also gives the mean over the last 16 GB. The
    fall is sought in parts of 1/300 of the drive or smaller.

Source
    AnandTech, consumer SSD suites from 2017 on, "Whole-Drive Fill": fresh drive, 128 kB, queue depth 32,
    speed per GB, last 16 GB apart. Finding the fall as a change point is ssdlab's.

What it cannot show
    Why the speed falls: a cache of faster flash may be full, or garbage collection may begin. How a cache
    works after it was emptied: see `paced-burst`. A drive that was not purged may show the state that
    earlier writes left; the result says so. A scaled-down simulated drive has a scaled-down cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.over_position import (
    MIN_PARTS,
    beside_drop,
    drop_bytes,
    find_drop,
    mean_speed,
    speeds_over,
    written_ns,
)
from ssdlab.analysis.ratios import efficiency
from ssdlab.plugin import (
    BLOCK_BYTES,
    Method,
    Metric,
    Params,
    PurgeFacts,
    Qualifier,
    RunData,
    evidence_of,
    once,
    param,
    power_scalars,
    remarks_of_size,
    row_ns,
    write_over,
)

from . import FILL
from .result import FillResult, last_parts

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Step

EDGE_PARTS = 300
"""Fewest parts in which the fall is sought: the smallest caches have 1 % of a drive."""


class WholeDriveFillParams(Params):
    depth: int = param(32, "I/Os in flight, by one io_uring thread", unit="I/Os", ge=1, le=1024)
    parts: int = param(
        2000,
        f"equal parts of the curve: at most one per GB, but at least {MIN_PARTS}",
        ge=MIN_PARTS,
        le=100_000,
    )


def procedure(lab: Lab, p: WholeDriveFillParams) -> None:
    lab.conditions(scheduler="none")
    lab.purge(if_able=True)
    stop = once(lab.usable_bytes)
    rows_ns = row_ns(lab.usable_bytes)
    lab.run(write_over(stop, depth=p.depth, engine="uring", interval_ns=rows_ns), label="whole drive")


def conclude(data: RunData, p: WholeDriveFillParams) -> FillResult:
    step = data.step("whole drive")
    assert step is not None  # the procedure has no other
    rows = data.rows(step)
    speeds, part_bytes = speeds_over(rows, p.parts)
    fine, fine_bytes = speeds_over(rows, p.parts, EDGE_PARTS)
    drop = find_drop(fine)
    hot_drop_bytes = None
    fallen_ns = None if drop is None else written_ns(rows, (drop.at + 1) * fine_bytes)
    if drop is not None and evidence_of(step).hot_by(fallen_ns):
        hot_drop_bytes = round(drop.at * fine_bytes)
        drop = None
    before_mb_s, after_mb_s = (None, None) if drop is None else beside_drop(fine, drop.at)
    summary = step.measured
    last = last_parts(part_bytes, len(speeds))
    mean_w = summary.mean_w
    found = efficiency("sequential", summary.iops, summary.mb_s, mean_w)
    return FillResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        depth=p.depth,
        ordinal=step.ordinal,
        part_bytes=part_bytes,
        parts_mb_s=tuple(speeds),
        mean_mb_s=summary.mb_s,
        last_mb_s=mean_speed(speeds[-last:]),
        cache_bytes=None if drop is None else round(drop_bytes(fine, fine_bytes, drop.at)),
        before_mb_s=before_mb_s,
        after_mb_s=after_mb_s,
        hot_drop_bytes=hot_drop_bytes,
        mean_w=mean_w,
        purged=None if _purged(data) else False,
        scalars=tuple(
            each.resting(steps=(step.ordinal,)).qualified(
                () if _purged(data) else [Qualifier(code="not-fresh")]
            )
            for each in (
                Metric.more("fill_mb_s", "whole drive", summary.mb_s, "MB/s"),
                *(() if fallen_ns is None else (_cached(before_mb_s, fallen_ns),)),
                *power_scalars("fill", "whole drive,", found, mean_w),
            )
        ),
    )


def _cached(mb_s: float | None, fallen_ns: int) -> Metric:
    """Return the speed before the drop; it is withheld if the drive was hot by then."""
    name, label = "fill_cached_mb_s", "whole drive, before its speed falls"
    return Metric.more(name, label, mb_s, "MB/s", ends_ns=fallen_ns)


def _purges(data: RunData) -> tuple[Step, ...]:
    return tuple(step for step in data.steps if step.verb == "purge")


def _purged(data: RunData) -> bool:
    return any(step.found(PurgeFacts).purged for step in _purges(data))


METHOD = Method(
    name="whole-drive-fill",
    version=2,
    title="Whole-drive fill",
    params=WholeDriveFillParams,
    procedure=procedure,
    conclude=conclude,
    remarks=remarks_of_size("the fill ends sooner, but heat and write buffer keep their full size"),
    result=FILL,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    engine="uring",
)
