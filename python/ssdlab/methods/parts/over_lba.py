"""Sequential writes from the first block of a drive to its last, and their speed over the position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.methods.results.trim import LbaPlot, going_on
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.results.evidence import unprepared

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab
    from ssdlab.methods.method import RunData

BLOCK_BYTES = 128 * 1024
_ROW_NS, _SHORTEST_ROW_NS = 50_000_000, 1_000_000
_FAST_BYTES_S, _MIN_ROWS = 8e9, 400
"""A drive that fast still has so many rows."""


def row_ns(length: int) -> int:
    """Return the length of a row where so many bytes are written once: a small drive has shorter ones."""
    shorter_ns = length / _FAST_BYTES_S * NS_PER_S / _MIN_ROWS
    return round(min(_ROW_NS, max(_SHORTEST_ROW_NS, shorter_ns)))


def write_over(
    stop: Stop, *, depth: int, engine: Literal["sync", "uring"], interval_ns: int = _ROW_NS
) -> Workload:
    """Return 128 KiB sequential writes from the first block on, in rows short enough for a curve."""
    stream = Stream(
        ops=Mix(read_pct=0),
        block=(Block(bytes=BLOCK_BYTES),),
        pattern=Sequential(),
        depth=depth,
        engine=engine,
        stop=stop,
    )
    return Workload.of(stream, interval_ns=interval_ns)


def once(length: int) -> Stop:
    """Return the stop at the last whole block of a span."""
    return Stop(bytes=length // BLOCK_BYTES * BLOCK_BYTES)


def write_on(lab: Lab, name: str, min_seconds: float) -> None:
    """Write once from end to end, one in flight, and on from the beginning until a time is over."""
    passed = lab.run(write_over(once(lab.usable_bytes), depth=1, engine="sync"), label=name)
    took_s = 0.0 if passed.summary is None else passed.summary.elapsed_s
    left_ns = round((min_seconds - took_s) * NS_PER_S)
    if left_ns > 0:
        lab.run(
            write_over(Stop(time_ns=left_ns), depth=1, engine="sync"), label=going_on(name), certain=False
        )


def lba_plot(data: RunData, name: str, sustained_s: float, max_parts: int) -> LbaPlot:
    """Return what `write_on` found, with the mean of its first seconds."""
    steps = [step for label in (name, going_on(name)) if (step := data.step(label)) is not None]
    unready = unprepared(data.steps, steps[0].ordinal)
    return LbaPlot.of(name, [(step, data.rows(step)) for step in steps], sustained_s, max_parts, unready)
