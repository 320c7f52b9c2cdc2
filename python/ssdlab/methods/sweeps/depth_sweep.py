"""A sweep over queue depth; its result is the whole curve, and the lowest depth near the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from ssdlab.analysis.saturation import SHARE_OF_BEST, saturation
from ssdlab.plugin import (
    Load,
    Metric,
    Order,
    Params,
    ReadOrWrite,
    Seconds,
    Taken,
    Unit,
    Variation,
    checks_of,
    closed_loop,
    heat_check,
    moved,
    of_points,
    of_rows,
    of_search,
    param,
    point_of,
    power_scalars,
    proven,
    repeat_if_fallen,
    rising,
)

from .result import PeakResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.saturation import Saturation
    from ssdlab.plugin import Lab, Point, RunData, SteadyProof, Workload


DEPTHS = tuple(2**power for power in range(10))
Depth = Annotated[int, Field(ge=1, le=DEPTHS[-1])]


class DepthSweepParams(Params):
    depths: Annotated[tuple[Depth, ...], AfterValidator(rising)] = param(
        DEPTHS,
        "queue depths, rising: powers of two up to the reviews' 512",
        unit="I/Os",
        points="all",
        min_length=1,
    )
    seconds: Seconds = param(
        60.0,
        "measured time per depth; the reviews give none; a minute has 60 rows and a p99.99 on any SSD",
        unit="s",
        quick=1.5,
        gt=0,
        le=86_400,
    )
    ramp_seconds: Seconds = param(
        2.0,
        "before each depth, not counted: all threads have started and the drive's queues are full",
        unit="s",
        quick=0.2,
        ge=0,
        le=3600,
    )
    engine: Literal["sync", "uring"] = param(
        "sync",
        "sync: one thread per I/O in flight, as in the reviews; uring: one io_uring thread of that depth",
    )


class PeakReadParams(DepthSweepParams):
    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def read_sweep(lab: Lab, p: PeakReadParams, order: Order, block_bytes: int) -> None:
    """Read at each depth, over the whole span."""
    lab.conditions(scheduler="none")
    if p.fill:
        lab.fill(unless_written=True)
    sweep(lab, p, order, "read", block_bytes)


def sweep(lab: Lab, p: DepthSweepParams, order: Order, direction: ReadOrWrite, block_bytes: int) -> None:
    """Run the same workload at each depth without a rest; for writes, check that the state held."""

    def workload(depth: int) -> Workload:
        return closed_loop(
            order,
            direction,
            block_bytes=block_bytes,
            in_flight=depth,
            seconds=p.seconds,
            ramp_seconds=p.ramp_seconds,
            engine=p.engine,
        )

    steps = lab.sweep("depth", p.depths, workload)
    if direction == "write":
        repeat_if_fallen(lab, [[Taken(workload(d), step) for d, step in zip(p.depths, steps, strict=True)]])


def conclude_sweep(
    data: RunData,
    p: DepthSweepParams,
    order: Order,
    direction: ReadOrWrite,
    block_bytes: int,
    steady: SteadyProof | None = None,
    alike_depth: int = 0,
) -> PeakResult:
    """Choose the reported depth, and keep the whole curve.

    For a sweep of writes, `steady` is the proof of the state before it. `alike_depth` is the depth of the
    writes that brought the drive into that state.
    """
    labels = [f"depth {depth}" for depth in p.depths]
    points = tuple(point_of(step) for label in labels if (step := data.step(label)) is not None)
    alike = f"depth {alike_depth}" if alike_depth in p.depths and p.engine == "sync" else ""
    found = saturation([point.in_flight_asked for point in points], [point.iops or 0.0 for point in points])
    unit: Unit = "IOPS" if order == "random" else "MB/s"
    heat = heat_check(data, labels, f"depth {points[found.chosen].in_flight_asked}", unit)
    checks = (*checks_of(data, [labels], unit, steady, alike), *(() if heat is None else (heat,)))
    return PeakResult(
        quick=data.quick,
        direction=direction,
        pattern=order,
        block_bytes=block_bytes,
        engine=p.engine,
        share=SHARE_OF_BEST,
        points=points,
        chosen=found.chosen,
        best=found.best,
        threshold_iops=found.threshold,
        sweep_min_iops=found.lowest,
        sweep_max_iops=found.highest,
        steady=steady,
        checks=checks,
        scalars=tuple(
            _resting(each, points, found, steady, named_steady=direction == "write").withheld(moved(checks))
            for each in _scalars(points[found.chosen], order, direction)
        ),
    )


def _scalars(chosen: Point, order: Order, direction: ReadOrWrite) -> tuple[Metric, ...]:
    name = f"{'peak' if direction == 'read' else 'steady'}_{order}_{direction}"
    service = chosen.service_ns or {}
    figures = [
        Metric.more(f"{name}_iops", "IOPS", chosen.iops, "IOPS"),
        Metric.more(f"{name}_mb_s", "throughput", chosen.mb_s, "MB/s"),
        Metric.less(f"{name}_depth", "depth", chosen.in_flight_asked, "I/Os"),
        *(
            Metric.less(f"{name}_{key}_ns", label, service.get(key), "ns")
            for key, label in (("mean", "mean latency"), ("p99", "p99"), ("p99.99", "p99.99"))
        ),
    ]
    return (*figures, *power_scalars(name, "", chosen.efficiency, chosen.mean_w))


def _depth_varies(points: Sequence[Point], chosen: int) -> Variation | None:
    """Return how far the reported depth can exceed the lowest sufficient one.

    Depths are tried in steps, so the lowest sufficient depth may lie between two of them. A lower depth may
    also suffice if its rate plus the spread of its rows reaches the required share of the best. The result
    therefore counts from the highest depth that cannot suffice.
    """
    asked = SHARE_OF_BEST * max(each.iops or 0.0 for each in points)
    for lower in reversed(points[:chosen]):
        rows = of_rows(lower.iops, lower.spread_iops)
        if (lower.iops or 0.0) + (0.0 if rows is None else rows.amount) < asked:
            return of_search(points[chosen].in_flight_asked, lower.in_flight_asked)
    return of_search(points[chosen].in_flight_asked, 0) if chosen else None


def _resting(
    figure: Metric,
    points: tuple[Point, ...],
    found: Saturation,
    steady: SteadyProof | None,
    *,
    named_steady: bool,
) -> Metric:
    """Return a figure with its evidence; a latency also gets the depth that this drive's sweep chose.

    A qualifier of any point that decided the choice could have changed it, so all these points are evidence.
    """
    chosen = found.chosen
    range_share = None if steady is None else steady.range_share
    load = Load(depth=points[chosen].in_flight_asked) if figure.unit == "ns" else None
    among = tuple(ordinal for at in found.deciding if (ordinal := points[at].ordinal) is not None)
    figure = of_points(figure, [points[chosen]], range_share, load=load, chosen_among=among)
    if figure.unit == "ns":
        figure = figure.sampled()
    elif figure.unit == "I/Os":
        figure = figure.resting(varies=_depth_varies(points, chosen))
    return figure.qualified(proven(steady) if named_steady else ())
