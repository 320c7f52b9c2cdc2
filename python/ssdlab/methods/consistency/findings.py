"""Performance consistency: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.consistency import LAST_S, LATE_FROM_S
from ssdlab.analysis.percentiles import sayable
from ssdlab.analysis.steady_state import MIN_CAPACITIES
from ssdlab.plugin import Amount, Claim, Evidence, Table, cells, significant

from .result import WARMER_C

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .result import ConsistencyEntry, ConsistencyResult


def findings(result: ConsistencyResult) -> Iterator[Claim]:
    """Yield the end of each run, its slowest second, from when on it was steady, and what began warmer."""
    for entry in result.entries:
        says = "{name}: {figure} in {which} {length}, never under {floor} in a second of them"
        yield Claim(
            f"{says}; {_state(entry)}",
            figure=Amount(entry.last.mean, "IOPS"),
            evidence=Evidence((entry.ordinal,)),
            others={
                "name": entry.name,
                "which": "the last" if entry.last.name == "last" else "all",
                "length": Amount(entry.last.rows, "s"),
                "floor": Amount(entry.last.floor, "IOPS"),
                "steady": Amount(entry.steady_from_s, "s"),
                "doubted": entry.doubted,
                "written": f"{significant(entry.capacities or 0.0)} capacities",
            },
        )
    yield from _warmer(result.entries)
    longest_s = max((entry.last.to_s for entry in result.entries), default=0.0)
    if longest_s < LATE_FROM_S + LAST_S:
        yield Claim(
            "{figure} are too short to see what the reviews show from {from} on",
            figure=Amount(longest_s, "s"),
            others={"from": Amount(LATE_FROM_S, "s")},
        )


def _warmer(entries: Sequence[ConsistencyEntry]) -> Iterator[Claim]:
    """Yield which runs began warmer or cooler than the first: by what went before, not by their spare."""
    for entry in entries[1:]:
        first = entries[0]
        if entry.began_c is None or first.began_c is None or abs(entry.began_c - first.began_c) <= WARMER_C:
            continue
        yield Claim(
            "{name} began at {figure}, and {first} at {before}: what differs between them is not their spare "
            "area alone",
            figure=Amount(entry.began_c, "°C"),
            evidence=Evidence((first.ordinal, entry.ordinal)),
            others={"name": entry.name, "first": first.name, "before": Amount(first.began_c, "°C")},
        )


def _state(entry: ConsistencyEntry) -> str:
    if entry.doubts:
        return "steady state is not judged: {doubted}"
    if not entry.judged and (entry.capacities or 0.0) < MIN_CAPACITIES:
        return "steady state is not judged: {written} were written over"
    if not entry.judged:
        return "steady state is not judged: too few rounds after the first capacity"
    return "no steady state was found" if entry.steady_from_s is None else "steady from {steady} on"


def stretches(result: ConsistencyResult) -> Table:
    """Return the stretches of every run."""
    head = ("Spare", "Stretch", "From", "Seconds", "Floor", "1 %", "Mean", "Deviation", "Mean/deviation")
    rows = tuple(
        (
            cells.words(entry.name),
            cells.words(part.name),
            cells.seconds(part.from_s),
            cells.count(part.rows),
            cells.iops(part.floor),
            cells.iops(part.p1 if sayable("99", part.rows) else None),
            cells.iops(part.mean),
            cells.iops(part.deviation),
            cells.plain(part.evenness),
        )
        for entry in result.entries
        for part in entry.stretches
    )
    return Table("IOPS of the one-second rows", head, rows)


def tables(result: ConsistencyResult) -> tuple[Table, ...]:
    """Return the stretches of every run."""
    return (stretches(result),)
