"""Performance consistency: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results import numbers
from ssdlab.results.claim import Amount, Claim, Evidence
from ssdlab.results.numbers import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.methods.results.consistency import ConsistencyResult


def findings(result: ConsistencyResult) -> Iterator[Claim]:
    """Yield the end of each run, its slowest second, and from when on it was steady."""
    for entry in result.entries:
        last = next(part for part in entry.stretches if part.name == "last")
        known = entry.steady_from_s is not None
        yield Claim(
            "{name}: {figure} at the end, never under {floor} in its slowest second; "
            + ("steady from {steady} on" if known else "no steady state was found"),
            figure=Amount(last.mean, "IOPS"),
            evidence=Evidence((entry.ordinal,)),
            others={
                "name": entry.name,
                "floor": Amount(last.floor, "IOPS"),
                "steady": Amount(entry.steady_from_s, "s"),
            },
        )


def stretches(result: ConsistencyResult) -> Table:
    """Return the stretches of every run."""
    head = ("Spare", "Stretch", "From", "Seconds", "Floor", "1 %", "Mean", "Deviation", "Mean/deviation")
    rows = tuple(
        (
            numbers.words(entry.name),
            numbers.words(part.name),
            numbers.seconds(part.from_s),
            numbers.count(part.rows),
            numbers.iops(part.floor),
            numbers.iops(part.p1),
            numbers.iops(part.mean),
            numbers.iops(part.deviation),
            numbers.plain(part.evenness),
        )
        for entry in result.entries
        for part in entry.stretches
    )
    return Table("IOPS of the one-second rows", head, rows)


def tables(result: ConsistencyResult) -> tuple[Table, ...]:
    """Return the stretches of every run."""
    return (stretches(result),)
