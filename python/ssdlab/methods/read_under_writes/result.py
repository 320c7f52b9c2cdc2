"""The result of reads under writes: read latency over the rates of reads and writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field

from ssdlab.analysis.ratios import efficiency
from ssdlab.plugin import (
    CATALOGUE,
    NO_SIDE,
    NS_PER_S,
    SHARE_DONE,
    Amount,
    AnyProof,
    Bound,
    Claim,
    Evidence,
    Latencies,
    Metric,
    Qualifier,
    ResultBase,
    Stored,
    Table,
    absent,
    cells,
    clause,
    counted,
    evidence_of,
    power_scalars,
    proven,
    state_claims,
    why_faulty,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.plugin import Columns, Side, Step


HEADLINE = (25, 50)
"""Shares of reads and of writes, in %, that comparisons use: a drive is planned to be three quarters busy."""
Side_ = Literal["read", "write"]
CHANCE = 4.0
"""Tolerated shortfall of random arrivals, in multiples of the square root of their number."""


class Reference(Stored):
    """A rate measured alone; the rates of the cells are shares of it."""

    direction: Side_
    ordinal: int
    in_flight: int = Field(description="I/Os in flight asked for, as threads of one")
    iops: float
    mean_w: float | None = None
    failed: str | None = Field(
        default=None, exclude_if=absent, description="I/Os that failed meanwhile; absent: none"
    )

    @classmethod
    def of(cls, step: Step, direction: Side_) -> Self:
        (stream,) = step.ran.streams
        return cls(
            direction=direction,
            ordinal=step.ordinal,
            in_flight=stream.in_flight,
            iops=float(step.measured.iops),
            mean_w=step.measured.mean_w,
            failed=why_faulty([step]) or None,
        )


class LoadCell(Stored):
    """Reads at one rate during writes at another."""

    read_pct: int = Field(description="of the peak of reads alone")
    write_pct: int = Field(description="of the steady rate of writes alone")
    ordinal: int
    read_rate: int = Field(description="arrivals a second")
    write_rate: int
    read_iops: float = Field(description="done a second")
    write_iops: float
    held: bool = Field(
        description="whether both rates were done without a growing backlog, and no I/O failed"
    )
    why: str = Field(default="", description="why it was not sustained")
    disturbed: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether that is failed I/O or a pause of ssdlab, not the drive; absent: no",
    )
    service_ns: Latencies = Field(
        default={}, description="of the reads; empty for a cell that was not sustained"
    )
    response_ns: Latencies = Field(default={}, description="likewise, from the intended arrival")
    write_response_ns: Latencies = Field(default={}, description="of the writes")
    mean_w: float | None = None

    @classmethod
    def of(cls, step: Step, rows: Columns, shares: tuple[int, int], rates: tuple[int, int]) -> Self:
        """Judge the step of a cell by its summary and its interval rows."""
        summary = step.measured
        sides: dict[Side_, Side] = {"read": summary.read or NO_SIDE, "write": summary.write or NO_SIDE}
        found = (
            saturation(name, side, Course.of(rows, name, rate), step.ordinal)
            for (name, side), rate in zip(sides.items(), rates, strict=True)
        )
        disturbed = evidence_of(step).disturbed
        failed = disturbed or next((claim for claim in found if claim is not None), None)
        read, write = sides["read"], sides["write"]
        latencies: dict[str, Any] = {}
        if failed is None:
            latencies = {
                "service_ns": read.service_ns,
                "response_ns": read.response_ns,
                "write_response_ns": write.response_ns,
            }
        return cls(
            read_pct=shares[0],
            write_pct=shares[1],
            ordinal=step.ordinal,
            read_rate=rates[0],
            write_rate=rates[1],
            read_iops=summary.iops_of("read"),
            write_iops=summary.iops_of("write"),
            held=failed is None,
            why="" if failed is None else clause(failed),
            disturbed=disturbed is not None or None,
            mean_w=summary.mean_w,
            **latencies,
        )

    @property
    def saturated(self) -> bool:
        """Whether the drive was too slow for the cell; False if the step was disturbed."""
        return not self.held and not self.disturbed

    @property
    def shares(self) -> tuple[int, int]:
        return self.read_pct, self.write_pct

    @property
    def iops(self) -> float:
        return self.read_iops + self.write_iops


class ReadUnderWritesResult(ResultBase):
    """Read latency over the rates of reads and of concurrent writes."""

    kind: Literal["read-under-writes"] = "read-under-writes"
    block_bytes: int
    threads: int = Field(description="that wait for arrivals, of each direction")
    seconds: float = Field(description="at each cell")
    peak: Reference = Field(description="random reads alone")
    steady_rate: Reference = Field(description="random writes alone, after writing to steady state")
    cells: tuple[LoadCell, ...] = Field(description="by rising reads, then rising writes")
    steady: AnyProof | None = Field(description="the state that the cells were taken in")

    @classmethod
    def concluded(
        cls,
        cells: tuple[LoadCell, ...],
        **facts: Any,  # noqa: ANN401 - of the fields
    ) -> Self:
        """Return the result of the cells with its headline figures; `facts` are its other fields."""
        result = cls(cells=cells, **facts)
        return result.model_copy(update={"scalars": result.headlines()})

    @property
    def in_steady_state(self) -> bool:
        """Whether preconditioning is proven to have reached steady state, with no fresh blocks left."""
        return self.steady is not None and self.steady.reached and self.steady.fills_enough

    def cell(self, read_pct: int, write_pct: int) -> LoadCell | None:
        return next((each for each in self.cells if each.shares == (read_pct, write_pct)), None)

    def headlines(self) -> tuple[Metric, ...]:
        """Return the figures that comparisons use; a saturated cell gives them no value."""
        cell = self.cell(*HEADLINE)
        if cell is None:
            return ()
        name, label = "read_under_writes", f"reads at {cell.read_pct} % beside writes at {cell.write_pct} %"
        alone = self.cell(cell.read_pct, 0)
        held_w = cell.mean_w if cell.held else None
        found = efficiency("random", cell.iops, cell.iops * self.block_bytes / 1e6, held_w)
        own = (cell.ordinal,)
        both = own if alone is None else (alone.ordinal, *own)
        # The rates of the cell are shares of these references.
        among = (self.peak.ordinal, self.steady_rate.ordinal)
        p99_ns, against = cell.service_ns.get("p99"), f"{label}, p99 against reads alone"
        tail = Metric.less(f"{name}_p99_ns", f"{label}, p99", p99_ns, "ns", steps=own)
        grown = Metric.less(f"{name}_p99_times", against, times(cell, alone), "times", steps=both)
        figures = (
            Metric.less(f"{name}_mean_ns", f"{label}, mean", cell.service_ns.get("mean"), "ns", steps=own),
            tail.sampled() if cell.held else tail,
            grown.sampled() if cell.held and alone is not None and alone.held else grown,
            *(each.resting(steps=own) for each in power_scalars(name, f"{label},", found, held_w)),
        )
        return tuple(each.resting(chosen_among=among).qualified(self._state()) for each in figures)

    def _state(self) -> tuple[Qualifier, ...]:
        """Return the qualifiers of the figures, including one if fresh blocks may be left."""
        if self.steady is None or not self.steady.reached or self.steady.fills_enough:
            return proven(self.steady)
        why = "the drive was overwritten less than twice before"
        return (Qualifier(code="state-unproven", steps=(self.steady.ordinal,), why=why),)


def times(cell: LoadCell, alone: LoadCell | None, key: str = "p99") -> float | None:
    """Return the ratio of read latency in a cell to that of reads alone at the same rate; None if unknown."""
    beside, rested = cell.service_ns.get(key), None if alone is None else alone.service_ns.get(key)
    return beside / rested if beside is not None and rested else None


@dataclass(frozen=True)
class Course:
    """I/O of one direction of a cell, over its whole rows after the ramp."""

    waits_ns: Sequence[float]
    """Median wait before submission, row by row."""
    done: int
    due: float
    """Number of I/Os that the rate makes due in the time of the rows."""

    @classmethod
    def of(cls, rows: Columns, direction: Side_, rate: int) -> Self:
        """Return the course of one direction, from the rows of both directions."""
        counted = ~rows["ramp"].astype(bool) & ~rows["partial"].astype(bool)
        own = counted & (rows["direction"] == direction) & (rows["ios"] > 0)
        waits = rows["response_p50_ns"][own] - rows["service_p50_ns"][own]
        lasted_ns = rows["end_ns"][counted].max() - rows["start_ns"][counted].min() if counted.any() else 0
        return cls(
            [float(each) for each in waits], int(rows["ios"][own].sum()), rate * float(lasted_ns) / NS_PER_S
        )

    @property
    def share_done(self) -> float:
        """Share of the due I/Os that was done; 1 if chance can explain the shortfall of random arrivals."""
        if self.done + CHANCE * math.sqrt(self.due) >= SHARE_DONE * self.due:
            return 1.0
        return self.done / self.due


def saturation(direction: Side_, side: Side, course: Course, ordinal: int) -> Claim | None:
    """Return why a rate was not sustained; None if it was."""
    shown, others = Evidence((ordinal,)), {"of": f"{direction}s"}
    if side.dropped:
        return Claim(
            "{dropped} {of} were dropped", evidence=shown, others={**others, "dropped": str(side.dropped)}
        )
    # I/Os that wait at the end are still done later, so the first share alone hides a growing queue.
    of_arrived = side.ios / side.requested if side.requested else 1.0
    share = min(of_arrived, course.share_done)
    if share < SHARE_DONE:
        return Claim(
            "only {figure} of the {of} that arrived were done in time",
            figure=Amount(100 * share, "%"),
            bound=Bound("at least", Amount(100 * SHARE_DONE, "%")),
            evidence=shown,
            others=others,
        )
    if backlog_grows(course.waits_ns):
        return Claim(
            "the backlog of {of} grew until the median response was {figure} above the median service time",
            figure=Amount(course.waits_ns[-1], "ns"),
            evidence=shown,
            others=others,
        )
    return None


def findings(result: ReadUnderWritesResult) -> Iterator[Claim]:
    """Yield the reference rates, the cell for comparisons, the saturated cells, and the state."""
    yield _references(result)
    if (cell := result.cell(*HEADLINE)) is not None:
        yield _headline(result, cell)
    yield from saturated(result.cells)
    yield from _unlike(result)
    yield from state_claims(result.steady)


def cell_table(result: ReadUnderWritesResult) -> Table:
    head = (
        *("Reads, % of peak", "Writes, % of rate alone", "Reads/s", "Writes/s", "Read mean", "Read p99"),
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
    return Table("Read service time under writes", head, rows, brief=brief, marked=marked)


def tables(result: ReadUnderWritesResult) -> tuple[Table, ...]:
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
        "Alone, {state}: random reads peak at {figure}{of_reads}, random writes at {writes}{of_writes}",
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
    load = f"Reads at {cell.read_pct} % with writes at {cell.write_pct} %"
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
        others["alone"] = f", {Amount(ratio, 'times')} that of the reads alone"
    return Claim(
        "{load} take {mean}, p99 {figure}{alone}",
        figure=Amount(cell.service_ns.get("p99"), "ns"),
        evidence=shown,
        others=others,
    )


def saturated(cells: Sequence[LoadCell]) -> Iterator[Claim]:
    """Yield the number of saturated cells, and the lightest ones: no other saturated cell has less load."""
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
    """Yield the cells that passed although a cell with less load was saturated: time or chance decided."""
    found = [
        each
        for each in result.cells
        if each.held and any(_is_less(other, each) for other in result.cells if other.saturated)
    ]
    if found:
        yield Claim(
            "{count} passed although {asks} for more than a saturated cell: {length} a cell is too short "
            "to find the saturation point",
            evidence=Evidence(tuple(each.ordinal for each in found)),
            others={
                "count": counted(len(found), "cell"),
                "asks": "it asks" if len(found) == 1 else "they ask",
                "length": Amount(result.seconds, "s"),
            },
        )


def _is_less(one: LoadCell, other: LoadCell) -> bool:
    """Return whether a cell has less load than another: no more reads or writes, and not the same cell."""
    return one is not other and one.read_pct <= other.read_pct and one.write_pct <= other.write_pct


QUARTERS = 4
RISE = 3.0
"""Least ratio of the last quarter's mean wait to the first's; it is 7 if a queue grows evenly from zero."""
MIN_WAIT_NS = 1e6
"""Shorter waits, however they grow, are lateness of the host: for the engine, I/Os are late from 1 ms on."""


def backlog_grows(waits_ns: Sequence[float]) -> bool:
    """Return whether the waits of arrivals, row by row, show a growing queue.

    In a short measurement the share of arrivals that were done shows little, since I/Os that wait at the end
    are served afterwards. The wait itself shows more. If the drive falls behind by a constant share, the wait
    rises in proportion to time: its means over four equal quarters are in the ratio 1 : 3 : 5 : 7. If the
    drive keeps up, the wait varies but does not rise. By chance, four means are in rising order once in 24
    times, and hardly ever so far apart.

    Parameters
    ----------
    waits_ns
        Wait from the intended start to the submission in each interval row, in order of time; fewer
        than four rows are not judged.

    >>> backlog_grows([0.0, 2e6, 4e6, 6e6, 8e6, 10e6, 12e6, 14e6])
    True
    >>> backlog_grows([5e6, 1e6, 9e6, 2e6, 7e6, 1e6, 8e6, 3e6])
    False
    """
    import numpy as np

    if len(waits_ns) < QUARTERS:
        return False
    means = [float(np.mean(part)) for part in np.array_split(np.asarray(waits_ns, float), QUARTERS)]
    rising = all(later > earlier for earlier, later in pairwise(means))
    return rising and means[-1] >= MIN_WAIT_NS and means[-1] >= RISE * means[0]
