"""Latency and throughput with one I/O at a time, so without queueing.

Question
    Throughput and latency at queue depth 1, where most software works, and how both change with the block
    size.

Procedure
    1. Fill: the span is written once sequentially, unless it is known to be written.
    2. Reads, by one thread with one synchronous I/O in flight: 4 KiB random, then 128 KiB sequential; then
       both orders with blocks of 512 B to 1 MiB in powers of two. They come before the writes, so that no
       write affects a read.
    3. Sequential writes: 128 KiB writes to steady state, as in `steady-sequential-write`. Without a rest,
       one thread then writes 128 KiB blocks, and blocks of each size.
    4. Random writes: the same with 4 KiB random writes, as in `steady-random-write`.

    A block size that the drive cannot address has an empty row, with the reason.

Source
    AnandTech, enterprise suite of 2018 to 2020, page "Performance at Queue Depth 1": random write in steady
    state. SNIA PTS 2.0.2, section 2.1.24: the steady-state criterion. Durations are ssdlab's; the reviews
    give none.

What it cannot show
    Write speed of a fresh or rested drive. With `--set steady=false`, and with `--quick`, writes follow a
    single fill. A drive with a cache or with fresh spare area is then faster than after hours of writes;
    the result says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.plugin import (
    MAX_BLOCK_BYTES,
    Bytes,
    Method,
    Order,
    ReadOrWrite,
    Seconds,
    SteadyParams,
    closed_loop,
    missing_point,
    of_points,
    param,
    point_of,
    point_scalars,
    proof,
    proven,
    rising,
    units,
    write_to_steady_state,
)

from . import QD1
from .result import Qd1Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ssdlab.plugin import Lab, Metric, Point, RunData, SteadyProof, Workload


WRITTEN: tuple[Order, ...] = ("sequential", "random")
"""Sequential comes first: the drive was filled sequentially, and undoing random writes takes hours."""
SIZES = tuple(512 * 2**power for power in range(12))


class Qd1Params(SteadyParams):
    seconds: Seconds = param(
        60.0,
        "measured time per workload, enough for a p99.99 on any SSD",
        unit="s",
        quick=2.0,
        gt=0,
        le=86_400,
    )
    size_seconds: Seconds = param(
        20.0, "measured time per block size: for means, not for tails", unit="s", quick=0.5, gt=0, le=86_400
    )
    ramp_seconds: Seconds = param(
        1.0, "before each workload, not counted", unit="s", quick=0.1, ge=0, le=3600
    )
    sizes: Annotated[tuple[Size, ...], AfterValidator(rising)] = param(
        SIZES, "block sizes, rising", unit="B", points="each", min_length=1
    )
    fill_passes: int = param(1, "sequential fills first, if the span is not known to be written", ge=1, le=4)
    steady: bool = param(
        True, "true: writes are measured in steady state; false: after one fill", quick=False
    )


def procedure(lab: Lab, p: Qd1Params) -> None:
    lab.conditions(scheduler="none")
    lab.fill(passes=p.fill_passes, unless_written=True)
    _measure(lab, p, ("random", "sequential"), "read")
    if not p.steady:
        _measure(lab, p, ("sequential", "random"), "write")
        return
    with lab.on_interruption("re-precondition"):
        for order in WRITTEN:
            _to_steady_state(lab, p, order)
            _measure(lab, p, (order,), "write")


def _measure(lab: Lab, p: Qd1Params, orders: tuple[Order, ...], direction: ReadOrWrite) -> None:
    """Run the workloads of one direction, then its block sizes."""
    chosen = [corner for corner in CORNERS if corner[0] in orders and corner[1] == direction]
    for order, _, block_bytes in chosen:
        workload = one_at_a_time(order, direction, block_bytes, p.seconds, p.ramp_seconds)
        lab.run(workload, label=f"{order} {direction}")
    for order, _, _ in chosen:
        for size in p.sizes:
            if size % lab.logical_block_bytes == 0:
                workload = one_at_a_time(order, direction, size, p.size_seconds, p.ramp_seconds)
                lab.run(workload, label=size_label(order, direction, size))


def _to_steady_state(lab: Lab, p: Qd1Params, order: Order) -> None:
    block_bytes = next(size for same, direction, size in CORNERS if (same, direction) == (order, "write"))
    depth = 1 if order == "sequential" else p.precondition_depth
    written = p.model_copy(update={"precondition_depth": depth})
    write_to_steady_state(lab, written, order, block_bytes, label=steady_label(order))


def conclude(data: RunData, p: Qd1Params) -> Qd1Result:
    corners = tuple(
        point_of(step)
        for order, direction, _ in CORNERS
        if (step := data.step(f"{order} {direction}")) is not None
    )
    sizes = [size_point(data, order, direction, size) for order, direction, _ in CORNERS for size in p.sizes]
    states = {order: proof(data, p, steady_label(order)) for order in WRITTEN} if p.steady else {}
    return Qd1Result(
        quick=data.quick,
        engine="sync",
        corners=corners,
        block_sizes=tuple(sizes),
        steady=tuple(found for found in states.values() if found is not None),
        scalars=tuple(each for point in corners for each in _figures(point, states)),
    )


def _figures(point: Point, states: Mapping[Order, SteadyProof | None]) -> Iterator[Metric]:
    """Yield the figures of a corner; those of writes carry the steady state of their order."""
    written = point.direction == "write"
    proof = states.get(point.pattern) if written else None
    for each in point_scalars(f"qd1_{point.pattern}_{point.direction}", point):
        found = of_points(each, [point], None if proof is None else proof.range_share)
        yield found.qualified(proven(proof) if written else ())


def steady_label(order: Order) -> str:
    return f"{order} to steady state"


METHOD = Method(
    name="qd1",
    version=2,
    title="Queue depth 1",
    params=Qd1Params,
    procedure=procedure,
    conclude=conclude,
    result=QD1,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
CORNERS: tuple[tuple[Order, ReadOrWrite, int], ...] = (
    ("random", "read", 4096),
    ("random", "write", 4096),
    ("sequential", "read", 128 * 1024),
    ("sequential", "write", 128 * 1024),
)
Size = Annotated[Bytes, Field(ge=512, le=MAX_BLOCK_BYTES, multiple_of=512)]


def one_at_a_time(
    order: Order, direction: ReadOrWrite, block_bytes: int, seconds: float, ramp_seconds: float
) -> Workload:
    return closed_loop(
        order, direction, block_bytes=block_bytes, in_flight=1, seconds=seconds, ramp_seconds=ramp_seconds
    )


def size_label(order: Order, direction: ReadOrWrite, size: int) -> str:
    return f"{order} {direction} {units.block_text(size)}"


def size_point(data: RunData, order: Order, direction: ReadOrWrite, size: int) -> Point:
    """Return the point of a block size; if the drive cannot address it, an empty row with the reason."""
    label = size_label(order, direction, size)
    if (step := data.step(label)) is not None:
        return point_of(step)
    why = f"the drive's logical block is {units.block_text(data.logical_block_bytes)}"
    return missing_point(label, why, direction=direction, pattern=order, block_bytes=size)
