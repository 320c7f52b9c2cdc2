"""The energy of a job: its finding and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Claim, Evidence, Table, capacity_text, cells, changes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import EnergyJobResult


def findings(result: EnergyJobResult) -> Iterator[Claim]:
    """Yield the energy of the job, where it is known, its time, and what became of its trace."""
    shown = Evidence((result.ordinal,))
    others: dict[str, Amount | str] = {"job": result.words, "time": Amount(result.seconds, "s")}
    if result.source is not None and result.laid is not None:
        yield from changes_of(result.source, result.laid)
    if not result.done:
        yield Claim(
            "the job was given up at its time limit, after {done} of {asked}",
            evidence=shown,
            others={"done": capacity_text(result.bytes), "asked": capacity_text(result.asked_bytes or 0)},
        )
        return
    if result.energy_j is None:
        yield Claim("{job} took {time}; not metered", evidence=shown, others=others)
        return
    yield Claim(
        "{job} took {figure} in {time}, {power} on average",
        figure=Amount(result.energy_j, "J"),
        evidence=shown,
        others={**others, "power": Amount(result.mean_w, "W")},
    )


def jobs(result: EnergyJobResult) -> Table:
    """Return the job in one row."""
    head = ("Job", "J", "Error, J", "J/GB", "GB", "Time", "W")
    known = result.done
    row = (
        cells.words(result.words),
        cells.plain(result.energy_j if known else None),
        cells.plain(result.error_j if known else None),
        cells.plain(result.j_per_gb if known else None),
        cells.plain(result.bytes / 1e9),
        cells.seconds(result.seconds),
        cells.plain(result.mean_w),
    )
    return Table("Energy of the job", head, (row,))


def tables(result: EnergyJobResult) -> tuple[Table, ...]:
    """Return the job."""
    return (jobs(result),)
