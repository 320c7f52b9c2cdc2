"""What the drive does with one I/O at a time: latency bare of queueing.

Question
    Throughput and latency at queue depth 1, where most software works, and how they change with the block
    size.

Procedure
    The span is written first, from end to end, unless it is known to be. Then, one thread with one
    synchronous I/O in flight: 4 KiB random read and 128 KiB sequential read, then reads of 512 B to 1 MiB
    in powers of two; after the reads 4 KiB random write and 128 KiB sequential write, then writes of the
    same sizes, so that no read meets what the writes left. A size that the drive cannot address leaves its
    row empty, with the reason. The scheduler is none.

Source
    AnandTech, enterprise suite of 2018 to 2020, page "Performance at Queue Depth 1". Durations are ours;
    the reviews state none.

What it cannot show
    Steady state. The random writes go to a span that was filled once, so a drive with a cache or fresh
    spare area is faster here than after hours of them; the steady-state methods answer that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab import units
from ssdlab.methods.method import Method, Params, RunData, Seconds, param, rising
from ssdlab.methods.points import point_of
from ssdlab.methods.workloads import Direction, Order, closed_loop
from ssdlab.model import Bytes
from ssdlab.results.schema import Point, Qd1Result, Scalar
from ssdlab.workload import MAX_BLOCK_BYTES

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.workload import Workload

CORNERS: tuple[tuple[Order, Direction, int], ...] = (
    ("random", "read", 4096),
    ("random", "write", 4096),
    ("sequential", "read", 128 * 1024),
    ("sequential", "write", 128 * 1024),
)
Size = Annotated[Bytes, Field(ge=512, le=MAX_BLOCK_BYTES, multiple_of=512)]
SIZES = tuple(512 * 2**power for power in range(12))


class Qd1Params(Params):
    """Parameters of `qd1`."""

    seconds: Seconds = param(
        60.0, "at each of the four workloads: a p99.99 on any SSD", unit="s", quick=2.0, gt=0, le=86_400
    )
    size_seconds: Seconds = param(
        20.0, "at each block size: a line of means, not of tails", unit="s", quick=0.5, gt=0, le=86_400
    )
    ramp_seconds: Seconds = param(1.0, "before each, not counted", unit="s", quick=0.1, ge=0, le=3600)
    sizes: Annotated[tuple[Size, ...], AfterValidator(rising)] = param(
        SIZES, "block sizes, rising", unit="B", min_length=1
    )
    fill_passes: int = param(
        1, "sequential fills before, where the span is not known to be written", ge=1, le=4
    )


def procedure(lab: Lab, p: Qd1Params) -> None:
    """Fill, then everything that reads, then everything that writes."""
    lab.conditions(scheduler="none")
    lab.fill(passes=p.fill_passes, unless_written=True)
    for direction in ("read", "write"):
        for order, same, block_bytes in CORNERS:
            if same == direction:
                lab.run(_one(order, same, block_bytes, p.seconds, p), label=f"{order} {direction}")
        for order, same, _ in CORNERS:
            if same == direction:
                for size in _addressable(p.sizes, lab.logical_block_bytes):
                    lab.run(_one(order, same, size, p.size_seconds, p), label=_label(order, same, size))


def conclude(data: RunData, p: Qd1Params) -> Qd1Result:
    """Put the four workloads and the lines over block size together."""
    corners = tuple(
        point_of(step)
        for order, direction, _ in CORNERS
        if (step := data.step(f"{order} {direction}")) is not None
    )
    sizes = [_size(data, order, direction, size) for order, direction, _ in CORNERS for size in p.sizes]
    caveats = ["writes went to a span filled once and are not steady state"]
    if data.quick:
        full = Qd1Params()
        caveats.append(
            f"quick: {p.seconds:g} s at each workload instead of {full.seconds:g} s and "
            f"{p.size_seconds:g} s at each block size instead of {full.size_seconds:g} s, so tails are rough"
        )
    return Qd1Result(
        quick=data.quick,
        engine="sync",
        corners=corners,
        block_sizes=tuple(sizes),
        caveats=tuple(caveats),
        scalars=tuple(scalar for point in corners for scalar in _scalars(point)),
    )


def _one(order: Order, direction: Direction, block_bytes: int, seconds: float, p: Qd1Params) -> Workload:
    return closed_loop(
        order, direction, block_bytes=block_bytes, in_flight=1, seconds=seconds, ramp_seconds=p.ramp_seconds
    )


def _label(order: Order, direction: Direction, size: int) -> str:
    return f"{order} {direction} {units.block_text(size)}"


def _addressable(sizes: tuple[int, ...], logical_block_bytes: int) -> list[int]:
    return [size for size in sizes if size % logical_block_bytes == 0]


def _size(data: RunData, order: Order, direction: Direction, size: int) -> Point:
    step = data.step(_label(order, direction, size))
    if step is not None:
        return point_of(step)
    reason = f"the drive's logical block is {units.block_text(data.logical_block_bytes)}"
    return Point(
        label=_label(order, direction, size),
        direction=direction,
        pattern=order,
        block_bytes=size,
        workers=1,
        depth=1,
        engine="sync",
        missing=reason,
    )


def _scalars(point: Point) -> list[Scalar]:
    name = f"qd1_{point.pattern}_{point.direction}"
    mean = (point.service_ns or {}).get("mean")
    unit, value = ("IOPS", point.iops) if point.pattern == "random" else ("MB/s", point.mb_s)
    key = "iops" if point.pattern == "random" else "mb_s"
    return [
        Scalar(name=f"{name}_{key}", label=point.label, value=value, unit=unit, better="higher"),
        Scalar(
            name=f"{name}_mean_ns",
            label=f"{point.label}, mean latency",
            value=mean,
            unit="ns",
            better="lower",
        ),
    ]


METHOD = Method(
    name="qd1",
    version=1,
    title="Queue depth 1",
    params=Qd1Params,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
