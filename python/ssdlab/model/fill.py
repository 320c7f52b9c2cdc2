"""Filling: one sequential pass over every byte, as preconditioning begins."""

from __future__ import annotations

from ssdlab.model.pattern import Sequential
from ssdlab.model.span import Span
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

FILL_BLOCK_BYTES = 128 * 1024
"""SNIA's block for sequential preconditioning."""


def fill_stream(
    block_bytes: int, stop: Stop, *, name: str = "fill", span: Span | None = None, depth: int = 1
) -> Stream:
    """Return what a fill is made of: sequential writes, incompressible, by io_uring above a depth of 1."""
    stream = Stream(
        name=name,
        ops=Mix(read_pct=0),
        block=(Block(bytes=block_bytes),),
        pattern=Sequential(),
        depth=depth,
        engine="sync" if depth == 1 else "uring",
        stop=stop,
    )
    # One without a span of its own gets the lab's, which knows the limit.
    return stream if span is None else stream.model_copy(update={"span": span})


def fill_workloads(capacity_bytes: int, seed: int) -> tuple[Workload, ...]:
    """Return one sequential pass of incompressible writes over every byte of a drive, one after the other.

    A capacity need not be a multiple of the block; what is left of it is written last. Written beside the
    others it would come among the first, and every block behind it would lie across two pages of the flash.
    """
    whole = capacity_bytes // FILL_BLOCK_BYTES * FILL_BLOCK_BYTES
    rest = capacity_bytes - whole
    # The greatest power of two that divides the rest is a multiple of the logical block, as the rest is.
    parts = [("fill", 0, whole, FILL_BLOCK_BYTES), ("rest", whole, rest, rest & -rest)]
    streams = (
        fill_stream(block_bytes, Stop(span_once=True), name=name, span=Span(start=start, length=length))
        for name, start, length, block_bytes in parts
        if length
    )
    return tuple(Workload(seed=seed, streams=(stream,)) for stream in streams)
