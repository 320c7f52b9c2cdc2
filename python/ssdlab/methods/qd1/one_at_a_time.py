"""One I/O in flight: the four workloads, and lines over block size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ssdlab.plugin import (
    MAX_BLOCK_BYTES,
    Bytes,
    Order,
    ReadOrWrite,
    closed_loop,
    missing_point,
    point_of,
    units,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Point, RunData, Workload

CORNERS: tuple[tuple[Order, ReadOrWrite, int], ...] = (
    ("random", "read", 4096),
    ("random", "write", 4096),
    ("sequential", "read", 128 * 1024),
    ("sequential", "write", 128 * 1024),
)
Size = Annotated[Bytes, Field(ge=512, le=MAX_BLOCK_BYTES, multiple_of=512)]
SIZES = tuple(512 * 2**power for power in range(12))


def one_at_a_time(
    order: Order, direction: ReadOrWrite, block_bytes: int, seconds: float, ramp_seconds: float
) -> Workload:
    """Return the workload of one thread with one synchronous I/O in flight."""
    return closed_loop(
        order, direction, block_bytes=block_bytes, in_flight=1, seconds=seconds, ramp_seconds=ramp_seconds
    )


def size_label(order: Order, direction: ReadOrWrite, size: int) -> str:
    """Return what the step of a block size is called."""
    return f"{order} {direction} {units.block_text(size)}"


def size_point(data: RunData, order: Order, direction: ReadOrWrite, size: int) -> Point:
    """Return the point of a block size; an empty row with the reason where the drive cannot address it."""
    label = size_label(order, direction, size)
    if (step := data.step(label)) is not None:
        return point_of(step)
    why = f"the drive's logical block is {units.block_text(data.logical_block_bytes)}"
    return missing_point(label, why, direction=direction, pattern=order, block_bytes=size)
