"""How much load a drive can be offered before its tail latency passes a bound.

Question
    The highest rate of I/Os, arriving whether or not the drive is ready, at which a chosen percentile of
    response time stays under a bound; and latency over offered load.

Procedure
    The span has been written before. I/Os arrive in an open loop at random times (Poisson) and at a stated
    rate; threads enough wait for them. The rate is doubled from the lowest on until the bound is passed, an
    I/O is dropped, or less than 99 % of what arrived is done; then the interval between the highest rate that
    held and the lowest that did not is halved until it is within the resolution. Each rate is measured for
    the same time; between two the drive gets the time of a ramp. Latency counts from the intended arrival.

Source
    The open-loop load and its limit are those of the Aerospike certification tool (ACT) and of latency
    against offered load as enterprise reviews draw it; the search by halving is ours.

What it cannot show
    A limit under steady state, unless the drive is brought there first. Random arrivals come in clumps: a
    drive that is asked evenly may stand more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.plugin import Bytes, Method, Params, RunData, Seconds, Tried, open_loop, param, search_highest

from . import RATE_LIMIT
from .result import OfferedLoad, RateLimitResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Step

SEARCH = "rate"


class RateLimitParams(Params):
    """Of the search."""

    read_pct: int = param(100, "share of reads", unit="%", ge=0, le=100)
    block: Bytes = param(4096, "block size", unit="B", ge=512, le=1 << 24)
    percentile: Literal["p50", "p90", "p99", "p99.9", "p99.99"] = param("p99", "of response time")
    bound_ms: float = param(1.0, "that it must stay under", unit="ms", gt=0, le=60_000)
    threads: int = param(
        128, "that wait for arrivals, one I/O each: more than the drive has in flight", ge=1, le=512
    )
    first: int = param(1000, "rate to begin with", unit="IOPS", ge=1, le=10_000_000)
    most: int = param(4_000_000, "rate to end with", unit="IOPS", ge=1, le=100_000_000)
    resolution: float = param(
        0.02, "of the rate: so far the search halves", unit="share", ge=0.001, le=0.5, quick=0.1
    )
    seconds: Seconds = param(30.0, "at each rate", unit="s", quick=0.5, gt=0, le=86_400)
    ramp_seconds: Seconds = param(2.0, "before each, not counted", unit="s", quick=0.1, ge=0, le=3600)
    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def procedure(lab: Lab, p: RateLimitParams) -> None:
    """Double the rate until it is too high, then halve the interval."""
    lab.conditions(scheduler="none")
    if p.fill:
        lab.fill(unless_written=True)

    def holds(rate: int, certain: bool) -> bool:
        return _judge(_offer(lab, p, rate, certain=certain), p).held

    search_highest(p.first, p.most, p.resolution, holds)


def conclude(data: RunData, p: RateLimitParams) -> RateLimitResult:
    """Report the highest rate that held below the lowest that did not, and every rate tried."""
    tries = [_judge(step, p) for step in data.tried(SEARCH)]
    return RateLimitResult.of(
        tries,
        quick=data.quick,
        read_pct=p.read_pct,
        block_bytes=p.block,
        percentile=p.percentile,
        bound_ns=p.bound_ms * 1e6,
    )


def _judge(step: Step, p: RateLimitParams) -> OfferedLoad:
    return OfferedLoad.of(step, p.percentile, p.bound_ms * 1e6, p.most)


def _offer(lab: Lab, p: RateLimitParams, rate: int, *, certain: bool) -> Step:
    workload = open_loop(
        p.read_pct,
        block_bytes=p.block,
        threads=p.threads,
        rate=rate,
        seconds=p.seconds,
        ramp_seconds=p.ramp_seconds,
    )
    tried = Tried(search=SEARCH, value=rate)
    return lab.run(workload, label=f"{rate} IOPS offered", certain=certain, tried=tried)


METHOD = Method(
    name="rate-limit",
    version=1,
    title="Rate under a latency bound",
    params=RateLimitParams,
    procedure=procedure,
    conclude=conclude,
    result=RATE_LIMIT,
    writes=lambda p: bool(p.fill) or p.read_pct < 100,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
