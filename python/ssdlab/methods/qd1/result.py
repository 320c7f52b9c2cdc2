"""The result of queue depth 1, with its findings and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.plugin import (
    Amount,
    Claim,
    Evidence,
    Point,
    ResultBase,
    SteadyProof,
    Table,
    latency_text,
    speed,
    state_claims,
    tables_of_points,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class Qd1Result(ResultBase):
    """One I/O in flight: four workloads, and throughput over block size."""

    kind: Literal["qd1"] = "qd1"
    engine: str
    corners: tuple[Point, ...] = Field(
        min_length=1, description="random read, random write, sequential read, sequential write"
    )
    block_sizes: tuple[Point, ...] = Field(
        description="by workload, then by rising block size; gaps have `missing`"
    )
    steady: tuple[SteadyProof, ...] = Field(
        default=(), description="what writes were taken in, sequential, then random; empty: after one fill"
    )

    @property
    def writes_shown(self) -> bool:
        """Whether steady state is proven for sequential and for random writes."""
        return bool(self.steady) and all(proof.reached for proof in self.steady)


def findings(result: Qd1Result) -> Iterator[Claim]:
    """Yield the figures of each corner, and the drive's states during writes."""
    for point in result.corners:
        if point.missing is None:
            yield _point_claim(point, f"{point.pattern} {point.direction}")
    names = ("Sequential writes: ", "Random writes: ")
    for name, proof in zip(names, result.steady, strict=False):
        yield from state_claims(proof, name)


def _point_claim(point: Point, name: str) -> Claim:
    mean = (point.response_ns or {}).get("mean")
    others: dict[str, Amount | str] = {"name": name}
    if mean is not None:
        others["mean"] = f" ({latency_text(mean)})"
    says = "{figure}{mean}" if mean is not None else "{figure}"
    return Claim(
        f"{{name}} {says}",
        figure=speed(point),
        evidence=Evidence(() if point.ordinal is None else (point.ordinal,)),
        others=others,
        columns={f"{name[0].upper()}{name[1:]}": says},
    )


def tables(result: Qd1Result) -> tuple[Table, ...]:
    return (
        *tables_of_points(result.corners),
        *(tables_of_points(result.block_sizes) if result.block_sizes else ()),
    )
