"""Sequential writes from the first block of a drive to its last, and their speed over the position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ssdlab.methods.points import mean_w_of
from ssdlab.pattern import Sequential
from ssdlab.results.client import LbaPlot
from ssdlab.units import NS_PER_S
from ssdlab.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.lab import Lab
    from ssdlab.methods.method import RunData
    from ssdlab.results.run_folder import Step

BLOCK_BYTES = 128 * 1024
PART_BYTES = 10**9
LEAST_PARTS = 50
_ROW_NS = 50_000_000


def write_over(stop: Stop, *, depth: int, engine: Literal["sync", "uring"]) -> Workload:
    """Return 128 KiB sequential writes from the first block on, in rows short enough for a curve."""
    stream = Stream(
        ops=Mix(read_pct=0),
        block=(Block(bytes=BLOCK_BYTES),),
        pattern=Sequential(),
        depth=depth,
        engine=engine,
        stop=stop,
    )
    return Workload.of(stream, interval_ns=_ROW_NS)


def once(length: int) -> Stop:
    """Return the stop at the last whole block of a span."""
    return Stop(bytes=length // BLOCK_BYTES * BLOCK_BYTES)


def write_on(lab: Lab, name: str, least_seconds: float) -> None:
    """Write once from end to end, one in flight, and on from the beginning until a time is over."""
    passed = lab.run(write_over(once(cast("int", lab.span.length)), depth=1, engine="sync"), label=name)
    took_s = cast("dict[str, Any]", passed.result.measurement or {}).get("elapsed_s", 0.0)
    left_ns = round((least_seconds - took_s) * NS_PER_S)
    if left_ns > 0:
        lab.run(write_over(Stop(time_ns=left_ns), depth=1, engine="sync"), label=_on(name), certain=False)


def lba_plot(data: RunData, name: str, sustained_s: float, most_parts: int) -> LbaPlot:
    """Return what `write_on` found, with the mean of its first seconds."""
    step, further = data.step(name), data.step(_on(name))
    assert step is not None  # `write_on` did it
    speeds, part_bytes = speeds_over(data, step, most_parts)
    summary = cast("dict[str, Any]", step.result.measurement)
    return LbaPlot(
        name=name,
        ordinal=step.ordinal,
        part_bytes=part_bytes,
        parts_mb_s=tuple(speeds),
        mean_mb_s=summary["mb_s"],
        mean_w=mean_w_of(summary),
        sustained_mb_s=_speed_until(data, [step, further] if further else [step], sustained_s),
    )


def _on(name: str) -> str:
    return f"{name}, going on"


def speeds_over(data: RunData, step: Step, most_parts: int) -> tuple[list[float], float]:
    """Return the speed over each equal part of what was written in MB/s, and the bytes of a part."""
    written, ends_s = _written(data, [step])
    total = float(written[-1])
    # A part needs several rows, or its speed would be that of the rows' edges.
    parts = int(max(LEAST_PARTS, min(most_parts, total / PART_BYTES)))
    parts = max(1, min(parts, (written.size - 1) // 2))
    edges = np.linspace(0.0, total, parts + 1)
    seconds = np.diff(np.interp(edges, written, ends_s))
    part_bytes = total / parts
    return [float(part_bytes / each / 1e6) for each in seconds], part_bytes


def mean_speed(speeds: Sequence[float]) -> float:
    """Return the speed over parts of equal bytes: their times add up, not their speeds."""
    return len(speeds) / sum(1 / speed for speed in speeds)


def _speed_until(data: RunData, steps: Sequence[Step], seconds: float) -> float:
    """Return the mean speed in MB/s over the first seconds of steps that follow one another."""
    written, ends_s = _written(data, steps)
    until_s = min(seconds, float(ends_s[-1]))
    return float(np.interp(until_s, ends_s, written)) / until_s / 1e6


def _written(data: RunData, steps: Sequence[Step]) -> tuple[np.ndarray, np.ndarray]:
    """Return bytes written by the end of each row, and these ends in s, both from 0 on."""
    ends, moved, before_s = [np.zeros(1)], [np.zeros(1)], 0.0
    for step in steps:
        rows = data.rows(step)
        ends.append(before_s + rows["end_ns"].astype(np.float64) / NS_PER_S)
        moved.append(rows["bytes"].astype(np.float64))
        before_s = float(ends[-1][-1]) if ends[-1].size else before_s
    return np.cumsum(np.concatenate(moved)), np.concatenate(ends)
