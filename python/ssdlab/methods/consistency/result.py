"""The result of performance consistency: the slowest seconds and the spread, not only the mean.

An application that waits for its slowest I/O suffers from the worst second, which a mean hides. The reviews
plot one dot per second and look at the lowest. Later suites add the mean of the last 400 s, and that mean
divided by the standard deviation.

Sources: AnandTech, review of the Samsung XP941 (2014), page "Performance Consistency" (one dot a second,
views from 1400 s); client suite of 2015/16, page "Steady-State 4KB Random Write" (last 400 s, mean divided
by deviation).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.analysis.percentiles import sayable
from ssdlab.analysis.ratios import efficiency
from ssdlab.analysis.steady_state import MIN_CAPACITIES, WINDOW, first_lasting
from ssdlab.plugin import (
    NS_PER_S,
    Amount,
    Claim,
    Doubted,
    Evidence,
    Metric,
    Qualifier,
    ResultBase,
    Stored,
    Table,
    absent,
    cells,
    doubts,
    evidence_of,
    of_deviation,
    power_scalars,
    significant,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ssdlab.plugin import Columns, Step


LATE_FROM_S = 1400.0
"""Start of the reviews' second and third graphs, in a run of 2000 s."""
LAST_S = 400.0
"""Length of the final stretch that later suites score."""


@dataclass(frozen=True)
class Stretch:
    """Throughput over a stretch of interval rows.

    Attributes
    ----------
    from_s, to_s
        Bounds in seconds of the run.
    rows
        Number of intervals.
    floor, p1, mean, deviation
        Lowest interval, 1 % quantile, mean and sample standard deviation, in the unit of the values.
    """

    from_s: float
    to_s: float
    rows: int
    floor: float
    p1: float
    mean: float
    deviation: float

    @property
    def evenness(self) -> float | None:
        return self.mean / self.deviation if self.deviation > 0 else None


def stretch(ends_s: npt.NDArray[Any], values: npt.NDArray[Any], from_s: float, to_s: float) -> Stretch | None:
    """Summarise the intervals that end after `from_s` and up to `to_s`; None if there are none.

    Parameters
    ----------
    ends_s
        End of each interval in seconds of the run, rising.
    values
        Throughput of each interval, in any one unit.
    """
    import numpy as np  # imported here: reading a stored result does not need it

    kept = values[(ends_s > from_s) & (ends_s <= to_s)]
    if kept.size == 0:
        return None
    return Stretch(
        from_s=from_s,
        to_s=to_s,
        rows=int(kept.size),
        floor=float(kept.min()),
        p1=float(np.quantile(kept, 0.01)),
        mean=float(kept.mean()),
        deviation=float(kept.std(ddof=1)) if kept.size > 1 else 0.0,
    )


def steady_from(
    ends_s: npt.NDArray[Any], values: npt.NDArray[Any], rows: int, first_row: int = 0
) -> float | None:
    """Return when steady state begins, in seconds: the first steady window that no later round leaves.

    Windows are judged by SNIA's rule. The result is None if there is no such window.

    Parameters
    ----------
    ends_s, values
        As in `stretch`.
    rows
        Intervals per round; the rule judges the mean of each round.
    first_row
        Start of the first round. Before it, too little was written to judge.
    """
    later = values[first_row:]
    rounds = later[: len(later) // rows * rows].reshape(-1, rows).mean(axis=1)
    first = first_lasting([rounds.tolist()])
    return None if first is None else float(ends_s[first_row + first * rows]) - float(ends_s[0])


WARMER_C = 5.0
"""Tolerated difference in temperature at the start of two long writes.

It is less than the hysteresis of throttling: NVMe thresholds are whole kelvins, five or more apart.
"""


class StretchFigures(Stored):
    """IOPS of the one-second rows in one stretch of a run."""

    name: str
    from_s: float
    to_s: float
    rows: int
    floor: float = Field(description="slowest second")
    p1: float = Field(description="1 % of the seconds are slower")
    mean: float
    deviation: float = Field(description="sample standard deviation")
    evenness: float | None = Field(description="mean / deviation; None where nothing deviates")

    @classmethod
    def of(cls, name: str, found: Stretch) -> Self:
        return cls(name=name, evenness=found.evenness, **asdict(found))


class ConsistencyEntry(Doubted):
    """The long write with one amount of spare area."""

    name: str = Field(description="stock, or how much is spare")
    usable_bytes: int
    spare_of_capacity: float = Field(description="share of the user capacity that stays unwritten")
    asked_pct: int | None = Field(
        default=None, description="share that was to be spare, in percent; 0: stock; None: not recorded"
    )
    spare_of_raw: float | None = Field(
        default=None, description="(raw - usable) / raw; None: the raw capacity is not known"
    )
    ordinal: int
    steady_from_s: float | None = Field(
        description="from when on SNIA's rule holds, and no later round leaves its window; None: not shown"
    )
    capacities: float | None = Field(
        default=None, description="bytes written at random / bytes of the part in use; None: not recorded"
    )
    rounds_after: int | None = Field(
        default=None,
        exclude_if=absent,
        description="whole rounds after the part in use was written over once; absent: not recorded",
    )
    began_c: float | None = Field(
        default=None,
        exclude_if=absent,
        description="temperature when the step before ended; absent: not told",
    )
    stretches: tuple[StretchFigures, ...] = Field(
        description="whole, late, last, steady; no last of a run that is all of it"
    )
    write_amplification: float | None = None
    iops: float = Field(description="of the whole run, as the two below")
    mb_s: float
    mean_w: float | None = Field(default=None, description="mean power; None: no meter")

    @classmethod
    def of(
        cls,
        name: str,
        step: Step,
        rows: Columns,
        capacity_bytes: int,
        round_s: float,
        *,
        asked_pct: int | None = None,
        raw_bytes: int | None = None,
        began_c: float | None = None,
        failed: str = "",
    ) -> Self:
        """Return the entry for one amount of spare area; steady state is judged by rounds of `round_s`.

        A window counts only after one drive write, and only if no thermal throttling, limiting host or
        `failed` I/O disturbed the run.
        """
        ends_s = rows["end_ns"].astype(float) / NS_PER_S
        iops = rows["ios"] * NS_PER_S / (rows["end_ns"] - rows["start_ns"]).astype(float)
        whole = ~rows["partial"]
        ends_s, iops, moved = ends_s[whole], iops[whole], rows["bytes"][whole].cumsum()
        end_s = float(ends_s[-1]) if ends_s.size else 0.0
        summary = step.measured
        _, length = step.ran.streams[0].span_bytes(capacity_bytes, 1)
        capacities = summary.written_bytes / length
        first_row = int(moved.searchsorted(MIN_CAPACITIES * length)) + 1
        shown = evidence_of(step)
        doubted = doubts([step.ordinal], hot=shown.hot, host=shown.not_the_drive(), failed=failed)
        steady_s = None if doubted else steady_from(ends_s, iops, round(round_s), first_row)
        # If the run is short, or becomes steady late, the last stretch begins where it became steady.
        last_s = max(0.0, end_s - LAST_S, steady_s or 0.0)
        parts = [("whole", 0.0), ("late", LATE_FROM_S), ("last", last_s)]
        parts = [part for part in parts if part != ("last", 0.0)]
        if steady_s is not None:
            parts.append(("steady", steady_s))
        found = [(part, stretch(ends_s, iops, from_s, end_s)) for part, from_s in parts]
        return cls(
            name=name,
            usable_bytes=length,
            spare_of_capacity=1 - length / capacity_bytes,
            asked_pct=asked_pct,
            spare_of_raw=None if raw_bytes is None else 1 - length / raw_bytes,
            ordinal=step.ordinal,
            steady_from_s=steady_s,
            capacities=capacities,
            rounds_after=max(0, len(iops) - first_row) // round(round_s),
            doubts=doubted,
            began_c=began_c,
            stretches=tuple(StretchFigures.of(part, figures) for part, figures in found if figures),
            write_amplification=None if summary.drive is None else summary.drive.write_amplification,
            mb_s=summary.mb_s,
            iops=summary.iops,
            mean_w=summary.mean_w,
        )

    @property
    def judged(self) -> bool:
        """Whether enough was overwritten to judge steady state, and nothing casts doubt on it."""
        enough = self.capacities is None or self.capacities >= MIN_CAPACITIES
        rounds = self.rounds_after is None or self.rounds_after >= WINDOW
        return enough and rounds and not self.doubts

    @property
    def last(self) -> StretchFigures:
        """The last stretch: up to 400 s in steady state, or all of a short run that was never steady."""
        named = {part.name: part for part in self.stretches}
        return named.get("last") or named["whole"]

    @property
    def of_last(self) -> str:
        """Name and length of the last stretch: ``last 400 s``, ``all 60 s``."""
        last = self.last
        return f"{last.name if last.name == 'last' else 'all'} {last.rows} s"

    @property
    def key(self) -> str:
        """Prefix of the names of the entry's headline figures."""
        spare = round(self.spare_of_capacity * 100) if self.asked_pct is None else self.asked_pct
        return f"consistency_spare_{spare}" if spare else "consistency_stock"

    @property
    def steady_at_end(self) -> bool:
        """Whether steady state is proven for the last stretch."""
        return self.steady_from_s is not None and self.steady_from_s <= self.last.from_s

    @property
    def headlines(self) -> tuple[Metric, ...]:
        last, name, steps = self.last, self.key, (self.ordinal,)
        found = efficiency("random", self.iops, self.mb_s, self.mean_w)
        varies = of_deviation(last.mean, last.mean, last.deviation)
        figures = (
            Metric.more(f"{name}_iops", f"{self.name}, {self.of_last}", last.mean, "IOPS", varies=varies),
            *power_scalars(name, f"{self.name}, whole run,", found, self.mean_w),
        )
        why = "the last seconds are not shown to be steady"
        unproven = () if self.steady_at_end else (Qualifier(code="state-unproven", steps=steps, why=why),)
        return tuple(each.resting(steps=steps).qualified(unproven) for each in figures)


class ConsistencyResult(ResultBase):
    """IOPS second by second under random writes, with the stock spare area and with more."""

    kind: Literal["consistency"] = "consistency"
    block_bytes: int
    depth: int
    engine: str
    purged: bool
    entries: tuple[ConsistencyEntry, ...]


def findings(result: ConsistencyResult) -> Iterator[Claim]:
    """Yield each run's final IOPS, slowest second, start of steady state, and temperature at the start."""
    for entry in result.entries:
        says = "{name}: {figure} in {which} {length}, {floor} in the slowest second"
        which = "the last" if entry.last.name == "last" else "all"
        yield Claim(
            f"{says}; {_state(entry)}",
            figure=Amount(entry.last.mean, "IOPS"),
            evidence=Evidence((entry.ordinal,)),
            others={
                "name": entry.name,
                "which": which,
                "length": Amount(entry.last.rows, "s"),
                "floor": Amount(entry.last.floor, "IOPS"),
                "steady": Amount(entry.steady_from_s, "s"),
                "doubted": entry.doubted,
                "written": f"{significant(entry.capacities or 0.0)} drive writes",
            },
            columns={
                f"{entry.name}, {which} seconds": "{figure} in {length}",
                f"{entry.name}, slowest second": "{floor}",
                f"{entry.name}, steady state": _state(entry),
            },
        )
    yield from _warmer(result.entries)
    longest_s = max((entry.last.to_s for entry in result.entries), default=0.0)
    if longest_s < LATE_FROM_S + LAST_S:
        yield Claim(
            "{figure} are too short to show what reviews show from {from} on",
            figure=Amount(longest_s, "s"),
            others={"from": Amount(LATE_FROM_S, "s")},
        )


def _warmer(entries: Sequence[ConsistencyEntry]) -> Iterator[Claim]:
    """Yield the runs that began warmer or cooler than the first, because of what ran before them."""
    for entry in entries[1:]:
        first = entries[0]
        if entry.began_c is None or first.began_c is None or abs(entry.began_c - first.began_c) <= WARMER_C:
            continue
        yield Claim(
            "{name} started at {figure}, {first} at {before}: not only the spare area differs",
            figure=Amount(entry.began_c, "°C"),
            evidence=Evidence((first.ordinal, entry.ordinal)),
            others={"name": entry.name, "first": first.name, "before": Amount(first.began_c, "°C")},
        )


def _state(entry: ConsistencyEntry) -> str:
    if entry.doubts:
        return "steady state not assessed: {doubted}"
    if not entry.judged and (entry.capacities or 0.0) < MIN_CAPACITIES:
        return "steady state not assessed: only {written}"
    if not entry.judged:
        return "steady state not assessed: too few rounds after the first drive write"
    return "no steady state found" if entry.steady_from_s is None else "steady from {steady} on"


def stretches(result: ConsistencyResult) -> Table:
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
    return (stretches(result),)
