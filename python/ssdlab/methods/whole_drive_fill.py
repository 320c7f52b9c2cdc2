"""How fast a fresh drive writes from its first block to its last, and where its cache ends.

Question
    Sequential write speed over the position on the drive; size of the SLC cache, if there is one, and the
    speed before and after its end.

Procedure
    The drive is purged, where it can be, so that it is fresh. Then it is written once from end to end:
    128 KiB sequential, 32 in flight by one io_uring thread. The bytes written are cut into as many equal
    parts as asked for, at most one a gigabyte. Beside the mean speed stands that of the last 16 GB.

Source
    AnandTech, consumer SSD suites from 2017 on, "Whole-Drive Fill": fresh drive, 128 kB, queue depth 32,
    speed for each gigabyte, last 16 GB apart. That the cache is found by a change point is ours.

What it cannot show
    What the cache does after it was emptied: paced bursts tell. A drive that was not purged may show the
    state of what was written before; the result then says so. A scaled-down simulated drive has a cache
    scaled with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ssdlab.analysis.change import find_drop
from ssdlab.methods.method import Method, Params, RunData, param
from ssdlab.pattern import Sequential
from ssdlab.results.outcome import FillResult
from ssdlab.results.schema import Scalar
from ssdlab.units import NS_PER_S
from ssdlab.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step

BLOCK_BYTES = 128 * 1024
PART_BYTES = 10**9
LAST_BYTES = 16 * 10**9
_ROW_NS = 50_000_000


class WholeDriveFillParams(Params):
    """Of the fill."""

    depth: int = param(32, "I/Os in flight, by one io_uring thread", unit="I/Os", ge=1, le=1024)
    parts: int = param(
        2000,
        "equal parts that the curve is cut into, at most one a gigabyte but 50 at least",
        ge=50,
        le=100_000,
    )


def procedure(lab: Lab, p: WholeDriveFillParams) -> None:
    """Purge, and write once from end to end."""
    lab.conditions(scheduler="none")
    lab.purge(if_able=True)
    length = cast("int", lab.span.length)
    stream = Stream(
        ops=Mix(read_pct=0),
        block=(Block(bytes=BLOCK_BYTES),),
        pattern=Sequential(),
        depth=p.depth,
        engine="uring",
        stop=Stop(bytes=length // BLOCK_BYTES * BLOCK_BYTES),
    )
    lab.run(Workload.of(stream, interval_ns=_ROW_NS), label="whole drive")


def conclude(data: RunData, p: WholeDriveFillParams) -> FillResult:
    """Cut the fill into parts, and look for the end of a cache."""
    step = data.step("whole drive")
    assert step is not None  # the procedure has no other
    speeds, part_bytes = _speeds(data, step, p.parts)
    drop = find_drop(speeds)
    summary = cast("dict[str, Any]", step.result.measurement)
    last = max(1, round(LAST_BYTES / part_bytes))
    return FillResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        depth=p.depth,
        ordinal=step.ordinal,
        part_bytes=part_bytes,
        parts_mb_s=tuple(speeds),
        mean_mb_s=summary["mb_s"],
        last_mb_s=_mean_speed(speeds[-last:]),
        cache_bytes=None if drop is None else round(drop.at * part_bytes),
        before_mb_s=None if drop is None else _mean_speed(speeds[: drop.at]),
        after_mb_s=None if drop is None else _mean_speed(speeds[drop.at :]),
        caveats=tuple(_caveats(data)),
        scalars=(
            Scalar(
                name="fill_mb_s", label="whole drive", value=summary["mb_s"], unit="MB/s", better="higher"
            ),
        ),
    )


def _speeds(data: RunData, step: Step, most_parts: int) -> tuple[list[float], float]:
    """Return the speed over each part in MB/s, and the bytes of a part."""
    rows = data.rows(step)
    ends_s = np.concatenate([[0.0], rows["end_ns"].astype(np.float64) / NS_PER_S])
    written = np.concatenate([[0.0], np.cumsum(rows["bytes"].astype(np.float64))])
    total = float(written[-1])
    # A part needs several rows, or its speed would be that of the rows' edges.
    parts = int(max(50, min(most_parts, total / PART_BYTES)))
    parts = max(1, min(parts, len(rows["bytes"]) // 2))
    edges = np.linspace(0.0, total, parts + 1)
    seconds = np.diff(np.interp(edges, written, ends_s))
    part_bytes = total / parts
    return [float(part_bytes / each / 1e6) for each in seconds], part_bytes


def _mean_speed(speeds: list[float]) -> float:
    """Return the speed over parts of equal bytes: their times add up, not their speeds."""
    return len(speeds) / sum(1 / speed for speed in speeds)


def _caveats(data: RunData) -> list[str]:
    purged = any(step.verb == "purge" and step.result.facts.get("purged") for step in data.steps)
    return [] if purged else ["the drive was not purged before: what it held may have slowed it down"]


METHOD = Method(
    name="whole-drive-fill",
    version=1,
    title="Whole-drive fill",
    params=WholeDriveFillParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
)
