"""What comes before the rounds: write cache, purge, active range, and writing the drive over.

Source: SNIA SSS PTS 2.0.2, sections 2.1.18 (preconditioning) and 3 (settings and purge).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ssdlab.methods.pts.cells import engine_of
from ssdlab.methods.pts.params import WRITE_CACHE, PtsParams, RoundsParams
from ssdlab.model.pattern import Sequential
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab


def begin(lab: Lab, p: PtsParams, *, label: str = "purge") -> None:
    """Set the write cache as the setting says, purge, and keep to the active range."""
    lab.conditions(scheduler="none", write_cache=WRITE_CACHE[p.setting])
    lab.purge(if_able=True, label=label)
    unit = max(lab.logical_block_bytes, min(1 << 20, cast("int", lab.span.length)))
    usable = lab.capacity_bytes * p.range_pct // 100 // unit * unit
    if unit <= usable < cast("int", lab.span.length):
        lab.limit(usable)


def precondition(lab: Lab, p: RoundsParams, block_bytes: int, *, label: str = "WIPC") -> None:
    """Write sequentially, as often as the specification says, before the rounds.

    By thread count and depth of the test: each thread begins at its own part of the active range and goes on
    into the next one's, so that every block is written equally often.
    """
    if p.overwrites <= 0:
        return
    threads, depth = p.shape
    span_bytes = cast("int", lab.span.length)
    unit = block_bytes
    while unit > lab.logical_block_bytes and span_bytes % unit:
        unit //= 2
    capacity_bytes = span_bytes if p.overwrites_of == "active-range" else lab.capacity_bytes
    blocks = max(1, round(p.overwrites * capacity_bytes / unit))
    stream = Stream(
        name="WIPC",
        ops=Mix(read_pct=0),
        block=(Block(bytes=unit),),
        pattern=Sequential(),
        workers=threads,
        depth=depth,
        engine=engine_of(depth),
        stop=Stop(bytes=blocks * unit),
    )
    lab.precondition(Workload.of(stream), label=label)
