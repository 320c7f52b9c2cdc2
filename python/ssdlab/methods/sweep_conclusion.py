"""The conclusion of a depth sweep: the lowest depth that is good enough, and the whole curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.littles_law import TOLERANCE, consistent
from ssdlab.analysis.saturation import SHARE_OF_BEST, saturation
from ssdlab.methods.points import point_of, power_scalars
from ssdlab.results.schema import PeakResult, Scalar

if TYPE_CHECKING:
    from ssdlab.methods.depth_sweep import DepthSweepParams
    from ssdlab.methods.method import RunData
    from ssdlab.methods.workloads import Direction, Order
    from ssdlab.results.schema import Point


def conclude_sweep(
    data: RunData, p: DepthSweepParams, order: Order, direction: Direction, block_bytes: int
) -> PeakResult:
    """Find the reported depth and keep the whole curve."""
    steps = [data.step(f"depth {depth}") for depth in p.depths]
    points = tuple(point_of(step) for step in steps if step is not None)
    found = saturation([point.in_flight_asked for point in points], [point.iops or 0.0 for point in points])
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
        sweep_min_iops=found.least,
        sweep_max_iops=found.most,
        caveats=tuple(_caveats(data, p, points, found.chosen)),
        scalars=_scalars(points[found.chosen], order, direction),
    )


def _scalars(chosen: Point, order: Order, direction: Direction) -> tuple[Scalar, ...]:
    name = f"{'peak' if direction == 'read' else 'steady'}_{order}_{direction}"
    service = chosen.service_ns or {}
    figures = [
        Scalar.more(f"{name}_iops", "IOPS", chosen.iops, "IOPS"),
        Scalar.more(f"{name}_mb_s", "throughput", chosen.mb_s, "MB/s"),
        Scalar.less(f"{name}_depth", "depth", chosen.in_flight_asked, "I/Os"),
        *(
            Scalar.less(f"{name}_{key}_ns", label, service.get(key), "ns")
            for key, label in (("mean", "mean latency"), ("p99", "p99"), ("p99.99", "p99.99"))
        ),
    ]
    return (*figures, *power_scalars(name, "", chosen.efficiency, chosen.mean_w))


def _caveats(data: RunData, p: DepthSweepParams, points: tuple[Point, ...], chosen: int) -> list[str]:
    caveats = []
    if data.quick:
        full = type(p)().seconds
        caveats.append(
            f"quick: {p.seconds:g} s at each depth instead of {full:g} s, so the spread between runs is "
            "wider and the chosen depth may be off by one step; p99.99 needs the full time"
        )
    if p.engine == "uring":
        caveats.append(
            "io_uring, one thread of the full depth: do not compare with figures of synchronous threads"
        )
    if chosen == len(points) - 1 and len(points) > 1:
        caveats.append("the highest depth tried was chosen: throughput may still rise beyond it")
    if any(not consistent(point.little_ratio) for point in points):
        caveats.append(
            f"at some depths IOPS x latency differs from the I/Os in flight by over {TOLERANCE:.0%}"
        )
    judged = points[chosen].attribution
    if judged is not None and judged.limit == "host":
        caveats.append(
            f"the host took part in the latencies at the chosen depth: {'; '.join(judged.reasons)}"
        )
    return caveats
