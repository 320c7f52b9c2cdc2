"""What peak and steady-state methods share: a sweep over depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from ssdlab.methods.method import Params, Seconds, param, rising
from ssdlab.methods.workloads import Direction, Order, closed_loop

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab

DEPTHS = tuple(2**power for power in range(10))
Depth = Annotated[int, Field(ge=1, le=DEPTHS[-1])]


class DepthSweepParams(Params):
    """Parameters of a depth sweep."""

    depths: Annotated[tuple[Depth, ...], AfterValidator(rising)] = param(
        DEPTHS,
        "I/Os in flight, rising: powers of two up to the reviews' 512",
        unit="I/Os",
        min_length=1,
    )
    seconds: Seconds = param(
        60.0,
        "measured at each depth: the reviews state no time; a minute gives 60 rows and a p99.99 on any SSD",
        unit="s",
        quick=1.5,
        gt=0,
        le=86_400,
    )
    ramp_seconds: Seconds = param(
        2.0,
        "before it, not counted: all threads have started and the drive's queues are full",
        unit="s",
        quick=0.2,
        ge=0,
        le=3600,
    )
    engine: Literal["sync", "uring"] = param(
        "sync",
        "sync: as many threads as depth, one I/O each, as in the reviews; uring: one thread of that depth",
    )


class PeakReadParams(DepthSweepParams):
    """Of a sweep of reads."""

    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def read_sweep(lab: Lab, p: PeakReadParams, order: Order, block_bytes: int) -> None:
    """Read at each depth, over the whole written span."""
    lab.conditions(scheduler="none")
    if p.fill:
        lab.fill(unless_written=True)
    sweep(lab, p, order, "read", block_bytes)


def sweep(lab: Lab, p: DepthSweepParams, order: Order, direction: Direction, block_bytes: int) -> None:
    """Do the same at each depth, one after the other without a rest."""
    lab.sweep(
        "depth",
        p.depths,
        lambda depth: closed_loop(
            order,
            direction,
            block_bytes=block_bytes,
            in_flight=depth,
            seconds=p.seconds,
            ramp_seconds=p.ramp_seconds,
            engine=p.engine,
        ),
    )
