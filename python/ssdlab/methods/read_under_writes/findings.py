"""Reads under writes: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import CATALOGUE, Amount, Claim, Evidence, Table, cells, counted, state_claims

from .result import HEADLINE, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .result import LoadCell, ReadUnderWritesResult


def findings(result: ReadUnderWritesResult) -> Iterator[Claim]:
    """Yield what shares are of, the cell that comparisons use, the saturated ones, and the state."""
    yield _references(result)
    if (cell := result.cell(*HEADLINE)) is not None:
        yield _headline(result, cell)
    yield from saturated(result.cells)
    yield from _unlike(result)
    yield from state_claims(result.steady)


def cell_table(result: ReadUnderWritesResult) -> Table:
    """Return every cell."""
    head = (
        *("Reads, % of peak", "Writes, % of alone", "Reads/s", "Writes/s", "Read mean", "Read p99"),
        *("Read p99.9", "Read response p99", "Read p99 / alone", "W", "Held"),
    )
    rows = tuple(
        (
            cells.count(each.read_pct),
            cells.count(each.write_pct),
            cells.iops(each.read_rate),
            cells.iops(each.write_rate),
            *(cells.latency(each.service_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            cells.latency(each.response_ns.get("p99")),
            cells.plain(times(each, result.cell(each.read_pct, 0))),
            cells.plain(each.mean_w),
            cells.words("yes" if each.held else f"{'no' if each.disturbed else 'saturated'}: {each.why}"),
        )
        for each in result.cells
    )
    brief = tuple(name for name in head if name not in ("Read p99.9", "W"))
    marked = next((at for at, each in enumerate(result.cells) if each.shares == HEADLINE), None)
    return Table("Service time of reads beside writes", head, rows, brief=brief, marked=marked)


def tables(result: ReadUnderWritesResult) -> tuple[Table, ...]:
    """Return every cell."""
    return (cell_table(result),)


def _references(result: ReadUnderWritesResult) -> Claim:
    state = "in steady state" if result.in_steady_state else "in a state not shown to be steady"
    if result.in_steady_state and result.steady is not None and result.steady.how:
        state = f"in a steady state ({CATALOGUE[result.steady.how].label})"
    failed = {
        f"{each.direction}s": f" (not judged: {each.failed})" if each.failed else ""
        for each in (result.peak, result.steady_rate)
    }
    return Claim(
        "Alone and {state}, random reads peak at {figure}{of_reads} and random writes do {writes}{of_writes}",
        figure=Amount(result.peak.iops, "IOPS"),
        evidence=Evidence((result.peak.ordinal, result.steady_rate.ordinal)),
        others={
            "writes": Amount(result.steady_rate.iops, "IOPS"),
            "state": state,
            "of_reads": failed["reads"],
            "of_writes": failed["writes"],
        },
    )


def _headline(result: ReadUnderWritesResult, cell: LoadCell) -> Claim:
    load = f"Reads at {cell.read_pct} % beside writes at {cell.write_pct} %"
    shown = Evidence((cell.ordinal,))
    if cell.disturbed:
        return Claim(
            "{load} are not judged: {why}",
            evidence=shown,
            others={"load": load, "why": cell.why},
        )
    if not cell.held:
        return Claim(
            "{load} saturate the drive: {why}", evidence=shown, others={"load": load, "why": cell.why}
        )
    others: dict[str, Amount | str] = {
        "load": load,
        "mean": Amount(cell.service_ns.get("mean"), "ns"),
        "alone": "",
    }
    if cell.service_ns.get("p99") is None:
        return Claim("{load} take {mean}; too few for a p99", evidence=shown, others=others)
    ratio = times(cell, result.cell(cell.read_pct, 0))
    if ratio is not None:
        others["alone"] = f", {Amount(ratio, 'times')} that of the same reads alone"
    return Claim(
        "{load} take {mean}, p99 {figure}{alone}",
        figure=Amount(cell.service_ns.get("p99"), "ns"),
        evidence=shown,
        others=others,
    )


def saturated(cells: Sequence[LoadCell]) -> Iterator[Claim]:
    """Yield how many cells are saturated, and the lightest: none of the others asks for less of both."""
    found = [each for each in cells if each.saturated]
    if not found:
        return
    lightest = [each for each in found if not any(_is_less(other, each) for other in found)]
    are = "is saturated," if len(found) == 1 else "are saturated, the lightest"
    places: dict[str, list[str]] = {}
    for each in lightest:
        places.setdefault(each.why, []).append(f"at {each.read_pct} % reads and {each.write_pct} % writes")
    where = (f"{' and '.join(of_one)}: {why}" for why, of_one in places.items())
    yield Claim(
        f"{{count}} of {{all}} cells {are} {{where}}",
        figure=Amount(len(found), "cells"),
        evidence=Evidence(tuple(each.ordinal for each in found)),
        others={
            "count": str(len(found)),
            "all": str(len(cells)),
            "where": "; ".join(where),
        },
    )


def _unlike(result: ReadUnderWritesResult) -> Iterator[Claim]:
    """Yield that cells held which ask for more than a saturated one: time or chance decided there."""
    found = [
        each
        for each in result.cells
        if each.held and any(_is_less(other, each) for other in result.cells if other.saturated)
    ]
    if found:
        yield Claim(
            "{count} held although {asks} for more than a saturated one: {length} at each cell did not tell "
            "where the drive saturates",
            evidence=Evidence(tuple(each.ordinal for each in found)),
            others={
                "count": counted(len(found), "cell"),
                "asks": "it asks" if len(found) == 1 else "they ask",
                "length": Amount(result.seconds, "s"),
            },
        )


def _is_less(one: LoadCell, other: LoadCell) -> bool:
    """Whether a cell asks for less than another: for no more of both, and not for the same."""
    return one is not other and one.read_pct <= other.read_pct and one.write_pct <= other.write_pct
