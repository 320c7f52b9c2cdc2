"""The highest I/O rate before tail latency exceeds a limit.

Question
    The highest I/O rate at which a chosen percentile of response time stays under a limit, and latency over
    offered load. I/Os arrive whether or not the drive is ready.

Procedure
    Every block was written before. I/Os arrive in an open loop at random times (Poisson) at a given rate,
    and enough threads serve them. The rate doubles from the lowest on until the limit is exceeded, an I/O
    is dropped, or less than 99 % of arrivals are completed. Then the interval between the highest rate that
    held and the lowest that did not is halved, down to the resolution. Each rate runs for a ramp and is
    then measured for the same time. Latency counts from the intended arrival.

Source
    Open-loop load and its limit: the Aerospike certification tool (ACT), and latency against offered load
    in enterprise reviews. The search by halving is ssdlab's.

What it cannot show
    The limit in steady state, unless the drive was brought there first. Random arrivals cluster: a drive
    may sustain a higher rate of even arrivals.
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
    read_pct: int = param(100, "share of reads", unit="%", ge=0, le=100)
    block: Bytes = param(4096, "block size", unit="B", ge=512, le=1 << 24)
    percentile: Literal["p50", "p90", "p99", "p99.9", "p99.99"] = param(
        "p99", "percentile of response time that is limited"
    )
    bound_ms: float = param(1.0, "limit of that percentile", unit="ms", gt=0, le=60_000)
    threads: int = param(
        128, "threads that serve arrivals, one I/O each: more than the drive has in flight", ge=1, le=512
    )
    first: int = param(1000, "lowest rate tried", unit="IOPS", ge=1, le=10_000_000)
    most: int = param(4_000_000, "highest rate tried", unit="IOPS", ge=1, le=100_000_000)
    resolution: float = param(
        0.02, "resolution of the search, as a share of the rate", unit="share", ge=0.001, le=0.5, quick=0.1
    )
    seconds: Seconds = param(30.0, "measured time per rate", unit="s", quick=0.5, gt=0, le=86_400)
    ramp_seconds: Seconds = param(2.0, "before each rate, not counted", unit="s", quick=0.1, ge=0, le=3600)
    fill: bool = param(
        False, "write the whole drive first (destroys its data): for a device that may have unwritten blocks"
    )


def procedure(lab: Lab, p: RateLimitParams) -> None:
    lab.conditions(scheduler="none")
    if p.fill:
        lab.fill(unless_written=True)

    def holds(rate: int, certain: bool) -> bool:
        return _judge(_offer(lab, p, rate, certain=certain), p).held

    search_highest(p.first, p.most, p.resolution, holds)


def conclude(data: RunData, p: RateLimitParams) -> RateLimitResult:
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
