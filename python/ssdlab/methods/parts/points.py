"""From a finished step to a point of a result. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.analysis.littles_law import littles_ratio
from ssdlab.methods.results.figures import mean_w_of, power_scalars
from ssdlab.results.attribution import attribute
from ssdlab.results.schema import Point

if TYPE_CHECKING:
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Direction

__all__ = ["mean_w_of", "missing_point", "point_of", "power_scalars"]


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
    summary = cast("dict[str, Any]", step.result.measurement)
    shape = cast("dict[str, Any]", step.args["workload"])["streams"][stream]
    side_name = direction or _direction(shape)
    side = summary.get(side_name) or {}
    alone = [name for name in ("read", "write", "trim") if (summary.get(name) or {}).get("ios")] == [
        side_name
    ]
    seconds = float(summary["elapsed_s"])
    ios, moved = side.get("ios", 0), side.get("bytes", 0)
    iops = ios / seconds if seconds > 0 else 0.0
    service = side.get("service_ns")
    in_flight = summary.get("in_flight") if alone else None
    return Point(
        label=label or step.label,
        direction=side_name,
        pattern=_order(shape),
        block_bytes=max(block["bytes"] for block in shape["block"]),
        workers=shape["workers"],
        depth=shape["depth"],
        engine=summary.get("engine") or shape["engine"],
        ordinal=step.ordinal,
        seconds=seconds,
        ios=ios,
        failed=side.get("failed", 0),
        iops=iops,
        mb_s=moved / seconds / 1e6 if seconds > 0 else 0.0,
        spread_iops=step.result.spread_iops if alone else None,
        in_flight=in_flight,
        little_ratio=littles_ratio(iops, (service or {}).get("mean"), in_flight),
        service_ns=service,
        response_ns=side.get("response_ns"),
        cpu_per_io_ns=(summary.get("cpu") or {}).get("per_io_ns"),
        mean_w=mean_w_of(summary),
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


def _direction(shape: dict[str, Any]) -> Direction:
    if shape["ops"] == "trim":
        return "trim"
    ops = shape["ops"]
    if "read_weight" in ops:
        return "read" if ops["read_weight"] >= ops["write_weight"] else "write"
    return "read" if ops["read_pct"] >= 50 else "write"


def _order(shape: dict[str, Any]) -> Literal["random", "sequential"]:
    return "sequential" if shape["pattern"]["kind"] == "sequential" else "random"
