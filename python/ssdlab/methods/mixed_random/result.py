"""Result of mixed random I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.analysis.ratios import efficiency
from ssdlab.plugin import (
    Amount,
    AnyProof,
    Claim,
    Evidence,
    Metric,
    ResultBase,
    StateCheck,
    Stored,
    Table,
    cells,
    check_claim,
    of_writing,
    power_scalars,
    state_claims,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.plugin import SteadyProof, Step


class MixPoint(Stored):
    """One share of reads at one depth; latencies are left out, as they mostly reflect the depth."""

    read_pct: int
    depth: int = Field(description="I/Os in flight asked for")
    ordinal: int
    mb_s: float = Field(description="both directions together")
    iops: float
    read_mb_s: float
    write_mb_s: float
    mean_w: float | None = Field(description="mean power over the same time; None without a meter")

    @classmethod
    def of(cls, step: Step, depth: int, read_pct: int) -> Self:
        summary = step.measured
        return cls(
            read_pct=read_pct,
            depth=depth,
            ordinal=step.ordinal,
            mb_s=summary.mb_s,
            iops=summary.iops,
            read_mb_s=summary.mb_s_of("read"),
            write_mb_s=summary.mb_s_of("write"),
            mean_w=summary.mean_w,
        )

    @property
    def mb_s_per_w(self) -> float | None:
        return self.mb_s / self.mean_w if self.mean_w else None

    @property
    def name(self) -> str:
        """Name of the headline figure of throughput."""
        return f"mixed_random_qd{self.depth}_mb_s"

    def headlines(self, steady: SteadyProof | None) -> Iterator[Metric]:
        """Yield the ranked figures; power has no range, since the range in steady state is that of writes."""
        label = f"{self.read_pct}/{100 - self.read_pct} mix at QD {self.depth}"
        found = efficiency("mixed", self.iops, self.mb_s, self.mean_w)
        for each in (
            Metric.more(self.name, label, self.mb_s, "MB/s"),
            *power_scalars(self.name.removesuffix("_mb_s"), f"{label},", found, self.mean_w),
        ):
            varies = (
                None if each.unit == "W" or steady is None else of_writing(each.value, steady.range_share)
            )
            yield each.resting(steps=(self.ordinal,), varies=varies)


class MixedResult(ResultBase):
    """Throughput over the share of reads, at a few depths."""

    kind: Literal["mixed"] = "mixed"
    block_bytes: int
    engine: str
    headline_read_pct: int = Field(description="the share of reads that comparisons use: 70")
    points: tuple[MixPoint, ...] = Field(description="by depth, then from all reads to all writes")
    latency_withheld: str = Field(description="why no latency is given")
    steady: AnyProof | None = Field(description="the state that the mixes were taken in")
    checks: tuple[StateCheck, ...] = Field(default=(), description="whether that state held meanwhile")

    @property
    def moved(self) -> bool:
        """Whether the drive's state changed during the mixes; if so, no mix is reported."""
        return any(not check.held for check in self.checks)


def findings(result: MixedResult) -> Iterator[Claim]:
    """Yield the mix that comparisons use at each depth, and the drive's state during it."""
    share = f"{result.headline_read_pct}/{100 - result.headline_read_pct} mix"
    for point in () if result.moved else result.points:
        if point.read_pct == result.headline_read_pct:
            yield Claim(
                "{share}, {figure} at QD {depth}",
                figure=Amount(point.mb_s, "MB/s"),
                evidence=Evidence((point.ordinal,)),
                others={"share": share, "depth": str(point.depth)},
                columns={f"{share}, QD {point.depth}": "{figure}"},
            )
    yield from state_claims(result.steady)
    yield from map(check_claim, result.checks)


def mixes(result: MixedResult) -> Table:
    head = ("Depth", "Reads, %", "MB/s", "Read MB/s", "Write MB/s", "IOPS", "W", "MB/s/W")
    rows = tuple(
        (
            cells.count(point.depth),
            cells.count(point.read_pct),
            cells.throughput(point.mb_s),
            cells.throughput(point.read_mb_s),
            cells.throughput(point.write_mb_s),
            cells.iops(point.iops),
            cells.plain(point.mean_w),
            cells.plain(point.mb_s_per_w),
        )
        for point in result.points
    )
    return Table("Throughput of each mix", head, rows)


def tables(result: MixedResult) -> tuple[Table, ...]:
    return (mixes(result),)
