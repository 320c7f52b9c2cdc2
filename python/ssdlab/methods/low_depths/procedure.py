"""Sustained I/O at queue depths 1, 2 and 4, where client software works.

Question
    Throughput of random and sequential reads and writes at depths 1, 2 and 4. The score of each kind is the
    mean over the three depths.

Procedure
    1. Fill: the span is written once sequentially, unless it is known to be written.
    2. Reads, within the first 64 GB: 4 KiB random by 1, 2 and 4 threads with one synchronous I/O each, then
       128 KiB sequential by one io_uring thread of that depth.
    3. Writes in the same two ways, after the reads, so that no write affects a read.

    Each point lasts a minute or 32 GB, whichever ends first. A rest of a minute follows. If writes became
    over 20 % slower with rising depth, two depths are measured again before the next kind: the first, and
    the one before the fall. If either result does not repeat, that kind has no score. A fall for which the
    host was the limit does not count.

Source
    AnandTech, client suites from 2017 on, sustained I/O: 64 GB span, a minute or 32 GB, rests of up to a
    minute, the mean of depths 1, 2 and 4. Reads before writes, and the check, are ssdlab's.

What it cannot show
    Short bursts into a cache, or steady state: the 64 GB are written a few times at most, and the rests let
    a drive empty its cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.plugin import (
    POINTS,
    SPAN_UNIT_BYTES,
    Bytes,
    Method,
    Order,
    Params,
    PointsResult,
    Qualifier,
    ReadOrWrite,
    RunData,
    Seconds,
    Span,
    Taken,
    checks_of,
    closed_loop,
    mean_scalars,
    moved,
    of_points,
    param,
    point_of,
    remarks_of_size,
    repeat_if_fallen,
    rising,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Metric, Point, StateCheck

KINDS: tuple[tuple[Order, ReadOrWrite, int], ...] = (
    ("random", "read", 4096),
    ("sequential", "read", 128 * 1024),
    ("random", "write", 4096),
    ("sequential", "write", 128 * 1024),
)
GB = 10**9

Depth = Annotated[int, Field(ge=1, le=32)]


class LowDepthsParams(Params):
    depths: Annotated[tuple[Depth, ...], AfterValidator(rising)] = param(
        (1, 2, 4),
        "queue depths, rising; the score is the mean over them",
        unit="I/Os",
        points="all",
        min_length=1,
    )
    seconds: Seconds = param(60.0, "maximum time per point", unit="s", quick=1.0, gt=0, le=86_400)
    most_bytes: Bytes = param(32 * GB, "maximum bytes per point", unit="B", ge=1 << 20)
    span_bytes: Bytes = param(
        64 * GB, "part of the drive that is used, from its start on", unit="B", ge=1 << 20
    )
    rest_seconds: Seconds = param(60.0, "rest after each point", unit="s", quick=0.5, ge=0, le=3600)


def procedure(lab: Lab, p: LowDepthsParams) -> None:
    lab.conditions(scheduler="none")
    lab.fill(unless_written=True)
    whole = lab.usable_bytes
    unit = min(SPAN_UNIT_BYTES, whole)
    span = Span(start=0, length=min(whole, p.span_bytes) // unit * unit)
    for order, direction, block_bytes in KINDS:
        taken = []
        for depth in p.depths:
            workload = closed_loop(
                order,
                direction,
                block_bytes=block_bytes,
                in_flight=depth,
                seconds=p.seconds,
                engine="sync" if order == "random" else "uring",
                span=span,
                max_bytes=p.most_bytes,
            )
            taken.append(Taken(workload, lab.run(workload, label=_label(order, direction, depth))))
            lab.idle(p.rest_seconds)
        if direction == "write":
            repeat_if_fallen(lab, [taken], rest_seconds=p.rest_seconds)


def conclude(data: RunData, p: LowDepthsParams) -> PointsResult:
    """Collect the points; the score of each kind of I/O is its mean over the depths, if the state held."""
    points: list[Point] = []
    scalars: list[Metric] = []
    checks: list[StateCheck] = []
    for order, direction, _ in KINDS:
        labels = [_label(order, direction, depth) for depth in p.depths]
        found = [point_of(step) for label in labels if (step := data.step(label)) is not None]
        held = checks_of(data, [labels], "IOPS" if order == "random" else "MB/s")
        points += found
        checks += held
        if found:
            figures = mean_scalars(f"low_depths_{order}_{direction}", "mean of depths", found)
            once = [Qualifier(code="written-once")] if direction == "write" else []
            scalars += [of_points(each, found).qualified(once).withheld(moved(held)) for each in figures]
    return PointsResult(
        quick=data.quick,
        points=tuple(points),
        checks=tuple(checks),
        scalars=tuple(scalars),
    )


def _label(order: Order, direction: ReadOrWrite, depth: int) -> str:
    return f"{order} {direction}, depth {depth}"


METHOD = Method(
    name="low-depths",
    version=1,
    title="Sustained I/O at low depths",
    params=LowDepthsParams,
    procedure=procedure,
    conclude=conclude,
    remarks=remarks_of_size("its writes at each point and its rests are not scaled with it"),
    result=POINTS,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
