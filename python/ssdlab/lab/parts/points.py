"""Result points made from finished steps, and headline figures that several kinds of result share."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.analysis.ratios import efficiency, littles_ratio
from ssdlab.model.summary import DIRECTIONS, NO_SIDE
from ssdlab.model.workload import Mix, Ratio, RecordedOps, Stream
from ssdlab.results.metric import Metric, Qualifier, of_search
from ssdlab.results.points import FlushPoint, attribute
from ssdlab.results.schema import Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.ratios import Efficiency
    from ssdlab.model.summary import Direction
    from ssdlab.results.run_folder import Step


def searched(figure: Metric, steps: tuple[int, ...], failed: float | None, **evidence: Any) -> Metric:  # noqa: ANN401
    """Return the figure that a search found; it is a lower bound if no try failed.

    Parameters
    ----------
    figure
        Figure whose value is the highest that passed.
    steps
        Ordinals of the steps with the highest pass and the lowest failure.
    failed
        Lowest value that failed; None: no value failed.
    evidence
        Further fields of the Metric.
    """
    found = figure.resting(steps=steps, varies=of_search(figure.value, failed), **evidence)
    if figure.value is None or failed is not None:
        return found
    ceiling = Qualifier(code="search-ceiling", steps=steps)
    return found.resting(bound="at least").qualified([ceiling])


def power_scalars(
    name: str, label: str, found: Efficiency | None, mean_w: float | None
) -> tuple[Metric, ...]:
    """Return the headline figures of efficiency and mean power; empty without a meter."""
    if found is None or mean_w is None:
        return ()
    key = "kiops_per_w" if found.unit == "kIOPS/W" else "mb_s_per_w"
    return (
        Metric.more(f"{name}_{key}", f"{label} efficiency".strip(), found.value, found.unit),
        Metric.less(f"{name}_w", f"{label} power".strip(), mean_w, "W"),
    )


def point_scalars(name: str, point: Point) -> tuple[Metric, ...]:
    """Return a point's throughput (IOPS if random, else MB/s), mean latency, efficiency and power."""
    mean = (point.service_ns or {}).get("mean")
    if point.pattern == "random":
        throughput = Metric.more(f"{name}_iops", point.label, point.iops, "IOPS")
    else:
        throughput = Metric.more(f"{name}_mb_s", point.label, point.mb_s, "MB/s")
    return (
        throughput,
        Metric.less(f"{name}_mean_ns", f"{point.label}, mean latency", mean, "ns"),
        *power_scalars(name, f"{point.label},", point.efficiency, point.mean_w),
    )


def mean_scalars(name: str, of_what: str, points: Sequence[Point]) -> tuple[Metric, ...]:
    """Return the mean over points of one kind: MB/s, as in client reviews, efficiency and power."""
    pattern, label = points[0].pattern, f"{points[0].pattern} {points[0].direction}, {of_what}"
    mb_s, iops = mean(each.mb_s or 0.0 for each in points), mean(each.iops or 0.0 for each in points)
    watts = [each.mean_w for each in points if each.mean_w is not None]
    mean_w = mean(watts) if len(watts) == len(points) else None
    return (
        Metric.more(f"{name}_mb_s", label, mb_s, "MB/s"),
        *power_scalars(name, f"{label},", efficiency(pattern, iops, mb_s, mean_w), mean_w),
    )


__all__ = ["missing_point", "point_of", "power_scalars"]


def point_of(step: Step, *, stream: int = 0, direction: Direction | None = None, label: str = "") -> Point:
    """Return the point of a measured step.

    Parameters
    ----------
    step
        A step with I/O.
    stream
        Index of the stream that describes the point.
    direction
        Direction of a mixed stream to report; by default the one with the larger share.
    label
        Label of the point; by default the step's.
    """
    summary = step.measured
    shape = step.ran.streams[stream]
    side_name = direction or _direction(shape)
    sizes = (side_name == "write" and shape.write_block) or shape.block
    found = summary.side(side_name)
    side = found or NO_SIDE
    alone = [name for name in DIRECTIONS if (summary.side(name) or NO_SIDE).ios] == [side_name]
    iops = summary.iops_of(side_name)
    service = None if found is None else found.service_ns
    in_flight = summary.in_flight if alone else None
    return Point(
        label=label or step.label,
        direction=side_name,
        pattern=_order(shape, side_name),
        block_bytes=max(block.bytes for block in sizes),
        workers=shape.workers,
        depth=shape.depth,
        engine=summary.engine or shape.engine,
        ordinal=step.ordinal,
        seconds=float(summary.elapsed_s),
        ios=side.ios,
        failed=side.failed,
        iops=iops,
        mb_s=summary.mb_s_of(side_name),
        spread_iops=step.result.spread_iops if alone else None,
        in_flight=in_flight,
        little_ratio=littles_ratio(iops, (service or {}).get("mean"), in_flight),
        service_ns=service,
        response_ns=None if found is None else found.response_ns,
        cpu_per_io_ns=None if summary.cpu is None else summary.cpu.per_io_ns,
        mean_w=summary.mean_w,
        host=step.result.host,
        attribution=attribute(step.result.host),
    )


def flushes_of(step: Step) -> FlushPoint | None:
    """Return the flushes of a measured step; None if the step requested none."""
    found = step.measured.flush
    flushing = next((each for each in step.ran.streams if each.flush_every is not None), None)
    if found is None or flushing is None:
        return None
    assert flushing.flush_every is not None
    return FlushPoint(
        label=step.label,
        ordinal=step.ordinal,
        call=flushing.flush,
        every=flushing.flush_every,
        flushes=found.flushes,
        failed=found.failed,
        latency_ns=found.latency_ns,
    )


def missing_point(
    label: str,
    reason: str,
    *,
    direction: Direction,
    pattern: Literal["random", "sequential"],
    block_bytes: int,
) -> Point:
    """Return an empty point at queue depth 1, for a measurement that was not possible."""
    return Point(
        label=label,
        direction=direction,
        pattern=pattern,
        block_bytes=block_bytes,
        workers=1,
        depth=1,
        engine="sync",
        missing=reason,
    )


def _direction(shape: Stream) -> Direction:
    match shape.ops:
        case "trim":
            return "trim"
        case Ratio(read_weight=reads, write_weight=writes) | RecordedOps(reads=reads, writes=writes):
            return "read" if reads >= writes else "write"
        case Mix(read_pct=share):
            return "read" if share >= 50 else "write"


def _order(shape: Stream, direction: Direction) -> Literal["random", "sequential"]:
    pattern = (direction == "write" and shape.write_pattern) or shape.pattern
    return "sequential" if pattern.kind == "sequential" else "random"
