"""Mixed random I/O: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.presented.steady import check_claim, state_claims
from ssdlab.results import numbers
from ssdlab.results.claim import Amount, Claim, Evidence
from ssdlab.results.metric import labelled
from ssdlab.results.numbers import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.methods.results.mixed import MixedResult


def findings(result: MixedResult) -> Iterator[Claim]:
    """Yield the mix that comparisons use, at each depth, and the state it was taken in."""
    share = f"{result.headline_read_pct}/{100 - result.headline_read_pct} mix"
    states = {each.name: each.state for each in result.scalars}
    yield from map(check_claim, result.checks)
    for point in () if result.moved else result.points:
        if point.read_pct == result.headline_read_pct:
            yield Claim(
                "{share}, {figure} at QD {depth}",
                figure=Amount(point.mb_s, "MB/s"),
                evidence=Evidence((point.ordinal,)),
                others={"share": labelled(share, states.get(point.name, "")), "depth": str(point.depth)},
            )
    yield from state_claims(result.steady)


def mixes(result: MixedResult) -> Table:
    """Return every mix."""
    head = ("Depth", "Reads, %", "MB/s", "Read MB/s", "Write MB/s", "IOPS", "W", "MB/s/W")
    rows = tuple(
        (
            numbers.count(point.depth),
            numbers.count(point.read_pct),
            numbers.throughput(point.mb_s),
            numbers.throughput(point.read_mb_s),
            numbers.throughput(point.write_mb_s),
            numbers.iops(point.iops),
            numbers.plain(point.mean_w),
            numbers.plain(point.mb_s_per_w),
        )
        for point in result.points
    )
    return Table("Throughput of each mix", head, rows)


def tables(result: MixedResult) -> tuple[Table, ...]:
    """Return every mix."""
    return (mixes(result),)
