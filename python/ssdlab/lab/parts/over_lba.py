"""Sequential writes from the first block of a drive to its last, and their speed over the position."""

from __future__ import annotations

from typing import Literal

from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

BLOCK_BYTES = 128 * 1024
_ROW_NS, _SHORTEST_ROW_NS = 50_000_000, 1_000_000
_FAST_BYTES_S, _MIN_ROWS = 8e9, 400
"""A drive that fast still has so many rows."""


def row_ns(length: int) -> int:
    """Return the length of a row for writing so many bytes once; shorter on a small drive."""
    shorter_ns = length / _FAST_BYTES_S * NS_PER_S / _MIN_ROWS
    return round(min(_ROW_NS, max(_SHORTEST_ROW_NS, shorter_ns)))


def write_over(
    stop: Stop, *, depth: int, engine: Literal["sync", "uring"], interval_ns: int = _ROW_NS
) -> Workload:
    """Return 128 KiB sequential writes from the first block, in rows short enough for a curve."""
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
