"""What queue depth 1 concludes: the four workloads, the lines over block size, and their proof. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.one_at_a_time import CORNERS, size_point
from ssdlab.methods.points import point_of
from ssdlab.methods.results.figures import point_scalars
from ssdlab.methods.results.steady import caveats_of
from ssdlab.methods.steady import proof
from ssdlab.results.schema import Qd1Result

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.methods.qd1 import Qd1Params
    from ssdlab.methods.workloads import Order

WRITTEN: tuple[Order, ...] = ("sequential", "random")
"""Sequential first: the drive was filled sequentially, and what random writes leave takes hours to undo."""


def conclude(data: RunData, p: Qd1Params) -> Qd1Result:
    """Put the four workloads and the lines over block size together."""
    corners = tuple(
        point_of(step)
        for order, direction, _ in CORNERS
        if (step := data.step(f"{order} {direction}")) is not None
    )
    sizes = [size_point(data, order, direction, size) for order, direction, _ in CORNERS for size in p.sizes]
    proofs = [proof(data, p, steady_label(order)) for order in WRITTEN] if p.steady else []
    caveats = [text for found in proofs for text in caveats_of(found, quick=data.quick)]
    if not p.steady:
        caveats.append("writes went to a span filled once and are not steady state")
    if data.quick:
        full = type(p)()
        caveats.append(
            f"quick: {p.seconds:g} s at each workload instead of {full.seconds:g} s and "
            f"{p.size_seconds:g} s at each block size instead of {full.size_seconds:g} s, so tails are rough"
        )
    return Qd1Result(
        quick=data.quick,
        engine="sync",
        corners=corners,
        block_sizes=tuple(sizes),
        steady=tuple(found for found in proofs if found is not None),
        caveats=tuple(dict.fromkeys(caveats)),
        scalars=tuple(
            scalar
            for point in corners
            for scalar in point_scalars(f"qd1_{point.pattern}_{point.direction}", point)
        ),
    )


def steady_label(order: Order) -> str:
    """Return the label of the step that brings the writes of an order to steady state."""
    return f"{order} to steady state"
