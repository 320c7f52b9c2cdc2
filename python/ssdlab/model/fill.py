"""Filling: one sequential pass over every byte, as preconditioning begins."""

from __future__ import annotations

from ssdlab.model.pattern import Sequential
from ssdlab.model.span import Span
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload

FILL_BLOCK_BYTES = 128 * 1024
"""SNIA's block for sequential preconditioning."""


def fill_workload(capacity_bytes: int, seed: int) -> Workload:
    """Return one sequential pass of incompressible writes over every byte of a drive.

    A capacity need not be a multiple of the block; a second stream writes the rest.
    """
    whole = capacity_bytes // FILL_BLOCK_BYTES * FILL_BLOCK_BYTES
    rest = capacity_bytes - whole
    # The greatest power of two that divides the rest is a multiple of the logical block, as the rest is.
    parts = [("fill", 0, whole, FILL_BLOCK_BYTES), ("rest", whole, rest, rest & -rest)]
    streams = tuple(
        Stream(
            name=name,
            ops=Mix(read_pct=0),
            block=(Block(bytes=block_bytes),),
            pattern=Sequential(),
            span=Span(start=start, length=length),
            stop=Stop(span_once=True),
        )
        for name, start, length, block_bytes in parts
        if length
    )
    return Workload(seed=seed, streams=streams)
