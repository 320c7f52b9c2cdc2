"""From a finished step to a point of a result. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.analysis.littles_law import littles_ratio
from ssdlab.lab.figures import power_scalars
from ssdlab.model.summary import DIRECTIONS, NO_SIDE
from ssdlab.model.workload import Mix, Ratio, RecordedOps, Stream
from ssdlab.results.evidence import attribute
from ssdlab.results.schema import Point

if TYPE_CHECKING:
    from ssdlab.model.summary import Direction
    from ssdlab.results.run_folder import Step

__all__ = ["missing_point", "point_of", "power_scalars"]


def point_of(step: Step, *, stream: int = 0, direction: Direction | None = None, label: str = "") -> Point:
    """Return the point that a measured step makes.

    Parameters
    ----------
    step
        One that did I/O.
    stream
        Position of the stream whose shape the point tells.
    direction
        Which side to take of a mixed stream; by default the one that the stream does.
    label
        Other than the step's own.
    """
    summary = step.measured
    shape = step.ran.streams[stream]
    side_name = direction or _direction(shape)
    found = summary.side(side_name)
    side = found or NO_SIDE
    alone = [name for name in DIRECTIONS if (summary.side(name) or NO_SIDE).ios] == [side_name]
    iops = summary.iops_of(side_name)
    service = None if found is None else found.service_ns
    in_flight = summary.in_flight if alone else None
    return Point(
        label=label or step.label,
        direction=side_name,
        pattern=_order(shape),
        block_bytes=max(block.bytes for block in shape.block),
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


def missing_point(
    label: str,
    reason: str,
    *,
    direction: Direction,
    pattern: Literal["random", "sequential"],
    block_bytes: int,
) -> Point:
    """Return the empty row of a point at one I/O in flight that could not be taken."""
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


def _order(shape: Stream) -> Literal["random", "sequential"]:
    return "sequential" if shape.pattern.kind == "sequential" else "random"
