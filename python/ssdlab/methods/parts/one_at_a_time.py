"""One I/O in flight: the four workloads, and lines over block size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ssdlab.methods.parts.points import missing_point, point_of
from ssdlab.methods.parts.workloads import Direction, Order, closed_loop
from ssdlab.model import units
from ssdlab.model.block_sizes import MAX_BLOCK_BYTES
from ssdlab.model.frozen import Bytes

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.model.workload import Workload
    from ssdlab.results.schema import Point

CORNERS: tuple[tuple[Order, Direction, int], ...] = (
    ("random", "read", 4096),
    ("random", "write", 4096),
    ("sequential", "read", 128 * 1024),
    ("sequential", "write", 128 * 1024),
)
Size = Annotated[Bytes, Field(ge=512, le=MAX_BLOCK_BYTES, multiple_of=512)]
SIZES = tuple(512 * 2**power for power in range(12))


def one_at_a_time(
    order: Order, direction: Direction, block_bytes: int, seconds: float, ramp_seconds: float
) -> Workload:
    """Return the workload of one thread with one synchronous I/O in flight."""
    return closed_loop(
        order, direction, block_bytes=block_bytes, in_flight=1, seconds=seconds, ramp_seconds=ramp_seconds
    )


def size_label(order: Order, direction: Direction, size: int) -> str:
    """Return what the step of a block size is called."""
    return f"{order} {direction} {units.block_text(size)}"


def size_point(data: RunData, order: Order, direction: Direction, size: int) -> Point:
    """Return the point of a block size; an empty row with the reason where the drive cannot address it."""
    label = size_label(order, direction, size)
    if (step := data.step(label)) is not None:
        return point_of(step)
    why = f"the drive's logical block is {units.block_text(data.logical_block_bytes)}"
    return missing_point(label, why, direction=direction, pattern=order, block_bytes=size)
