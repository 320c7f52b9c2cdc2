"""The result of a sweep over queue depth, with its findings and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.analysis.ratios import TOLERANCE, consistent
from ssdlab.plugin import (
    Amount,
    AnyProof,
    Bound,
    Claim,
    Direction,
    Evidence,
    Point,
    ResultBase,
    StateCheck,
    Table,
    check_claim,
    fixed_share_text,
    speed,
    state_claims,
    tables_of_points,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class PeakResult(ResultBase):
    """A sweep over queue depth; it reports the lowest depth that reaches `share` of the best."""

    kind: Literal["peak"] = "peak"
    direction: Direction
    pattern: Literal["random", "sequential"]
    block_bytes: int
    engine: str
    share: float = Field(description="share of the best that the reported depth must reach: 0.95")
    points: tuple[Point, ...] = Field(min_length=1, description="the whole curve, by rising depth")
    chosen: int = Field(description="index in points of the reported depth")
    best: int = Field(description="index in points of the greatest throughput")
    threshold_iops: float = Field(description="share x best: the 95 % line")
    sweep_min_iops: float
    sweep_max_iops: float
    steady: AnyProof | None = Field(default=None, description="the state that a write sweep was taken in")
    checks: tuple[StateCheck, ...] = Field(default=(), description="whether that state held meanwhile")

    @property
    def moved(self) -> bool:
        """Whether the drive's state moved during the sweep; if so, no depth is reported."""
        return any(not check.held for check in self.checks)


def findings(result: PeakResult) -> Iterator[Claim]:
    if not result.moved:
        yield from _reported_depth(result)
    if result.direction == "write":
        yield from state_claims(result.steady)
    yield from map(check_claim, result.checks)
    if result.engine == "uring":
        yield Claim("io_uring, one thread with the full depth: not comparable with synchronous threads")
    off = [each for each in result.points if not consistent(each.little_ratio)]
    if off:
        yield Claim(
            "At some depths, IOPS x latency differs from the I/Os in flight by over {tolerance}",
            evidence=_steps(off),
            others={"tolerance": fixed_share_text(TOLERANCE)},
        )


def _reported_depth(result: PeakResult) -> Iterator[Claim]:
    chosen, best = result.points[result.chosen], result.points[result.best]
    share = f"{fixed_share_text(result.share)} of the best"
    shown = Evidence(tuple(each.ordinal for each in (chosen, best) if each.ordinal is not None))
    if chosen is best:
        says = "{figure} at {depth}, the best of the sweep"
    else:
        says = f"{{figure}} at {{depth}}, the lowest depth with at least {share} ({{best}} at {{best_depth}})"
    yield Claim(
        says,
        figure=speed(chosen),
        bound=Bound("at least", Amount(result.threshold_iops, "IOPS"))
        if chosen.pattern == "random"
        else None,
        evidence=shown,
        others={
            "depth": f"QD {chosen.in_flight_asked}",
            "best": speed(best),
            "best_depth": f"QD {best.in_flight_asked}",
        },
        columns={"Reported": "{figure} at {depth}", "Best of the sweep": "{best} at {best_depth}"},
    )
    if chosen is result.points[-1] and len(result.points) > 1:
        yield Claim("This is the highest depth tried: throughput may still rise beyond it", evidence=shown)


def _steps(points: Sequence[Point]) -> Evidence:
    return Evidence(tuple(each.ordinal for each in points if each.ordinal is not None))


def tables(result: PeakResult) -> tuple[Table, ...]:
    """Return the tables of the whole curve, with the reported depth marked."""
    return tables_of_points(result.points, None if result.moved else result.chosen)
