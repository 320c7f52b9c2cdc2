"""Mixed random I/O: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Claim, Evidence, Table, cells, check_claim, labelled, state_claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import MixedResult


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
    """Return every mix."""
    return (mixes(result),)
