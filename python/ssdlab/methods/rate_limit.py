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

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from ssdlab.methods.method import Method, Params, RunData, Seconds, param
from ssdlab.methods.points import mean_w_of
from ssdlab.methods.search import search_highest
from ssdlab.methods.workloads import open_loop
from ssdlab.model import Bytes
from ssdlab.results.outcome import OfferedLoad, RateLimitResult
from ssdlab.results.schema import Scalar

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step

SHARE_DONE = 0.99


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
        return judge(_offer(lab, p, rate, certain=certain), p).held

    search_highest(p.first, p.most, p.resolution, holds)


def judge(step: Step, p: RateLimitParams) -> OfferedLoad:
    """Judge one rate from its journalled summary."""
    summary = cast("dict[str, Any] | None", step.result.measurement)
    rate = int(step.label.split()[0])
    if summary is None:  # a plan measures nothing: it takes the longest way, where only the most fails
        return OfferedLoad(rate=rate, ordinal=step.ordinal, held=rate < p.most, why="not measured")
    sides = [summary[name] for name in ("read", "write") if summary.get(name)]
    worst = {key: _worst(sides, key) for key in ("mean", "p50", "p90", "p99", "p99.9", "p99.99", "max")}
    requested, dropped = (sum(side[name] for side in sides) for name in ("requested", "dropped"))
    done = sum(side["ios"] for side in sides) / requested if requested else 0.0
    # Of too few I/Os for the percentile the longest stands for it: it cannot be shorter.
    latency_ns = worst["max"] if worst[p.percentile] is None else worst[p.percentile]
    why = _why_not(done, dropped, latency_ns, p)
    return OfferedLoad(
        rate=rate,
        ordinal=step.ordinal,
        iops=summary["iops"],
        dropped=dropped,
        response_ns=worst,
        mean_w=mean_w_of(summary),
        held=not why,
        why=why,
    )


def conclude(data: RunData, p: RateLimitParams) -> RateLimitResult:
    """Report the highest rate that held below the lowest that did not, and every rate tried."""
    tries = [judge(step, p) for step in data.steps if step.label.endswith(" IOPS offered")]
    lowest_failed = min((each.rate for each in tries if not each.held), default=None)
    held = [each.rate for each in tries if each.held and (lowest_failed is None or each.rate < lowest_failed)]
    highest = max(held, default=None)
    return RateLimitResult(
        quick=data.quick,
        read_pct=p.read_pct,
        block_bytes=p.block,
        percentile=p.percentile,
        bound_ns=p.bound_ms * 1e6,
        highest_held=highest,
        lowest_failed=lowest_failed,
        tries=tuple(sorted(tries, key=lambda each: each.rate)),
        caveats=tuple(_caveats(highest, tries)),
        scalars=(
            Scalar(
                name=f"rate_under_{p.bound_ms:g}_ms_{p.percentile}",
                label=f"rate with {p.percentile} under {p.bound_ms:g} ms",
                value=highest,
                unit="IOPS",
                better="higher",
            ),
        ),
    )


def _worst(sides: Sequence[Mapping[str, Any]], key: str) -> float | None:
    """Return a figure of response time, of the direction that has the greater one."""
    return max((value for side in sides if (value := side["response_ns"].get(key)) is not None), default=None)


def _offer(lab: Lab, p: RateLimitParams, rate: int, *, certain: bool) -> Step:
    workload = open_loop(
        p.read_pct,
        block_bytes=p.block,
        threads=p.threads,
        rate=rate,
        seconds=p.seconds,
        ramp_seconds=p.ramp_seconds,
    )
    return lab.run(workload, label=f"{rate} IOPS offered", certain=certain)


def _why_not(share: float, dropped: int, latency_ns: float | None, p: RateLimitParams) -> str:
    if dropped:
        return f"{dropped} I/Os were dropped"
    if share < SHARE_DONE:
        return f"only {share:.1%} of what arrived was done"
    if latency_ns is None:
        return "no I/O was done"
    if latency_ns >= p.bound_ms * 1e6:
        return f"{p.percentile} was {latency_ns / 1e6:.3g} ms"
    return ""


def _caveats(highest: int | None, tries: list[OfferedLoad]) -> list[str]:
    found = []
    if highest is None:
        found.append("no rate held: the lowest tried was too high, or the bound is below what one I/O takes")
    if tries and all(each.held for each in tries):
        found.append("no rate failed: the limit lies higher than the search went")
    return found


METHOD = Method(
    name="rate-limit",
    version=1,
    title="Rate under a latency bound",
    params=RateLimitParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: bool(p.fill) or p.read_pct < 100,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
