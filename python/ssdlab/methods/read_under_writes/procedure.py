"""How long reads take while the drive is written, over how much is read and how much is written.

Question
    Mean and tail of 4 KiB random reads at fixed rates beside 4 KiB random writes at fixed rates, as a server
    has them: the load is given, the drive is neither idle nor asked for all it can do.

Procedure
    The drive is filled and overwritten at random to steady state, proven as in `steady-random-write`. From
    there, without a rest, two references: random writes with as many in flight as before, whose rate is the
    steady one, then random reads by 128 threads, whose rate is the peak. Then a map: reads at 5, 25, 50 and
    75 % of the peak, beside writes at 95, 75, 50 and 25 % of the steady rate and beside none, each cell for
    two minutes, from most writes to none. Reads and writes arrive in open loops of their own at random times
    (Poisson), and 128 threads wait for each. A cell is saturated where an arrival is dropped, less than 99 %
    of what arrived is done, or the wait before the drive grows: no latency is given of it. The scheduler is
    none. A simulated drive begins each cell in the steady state.

Source
    Ours. Latency at a given load beside writes is what buyers of server drives ask of reviews, whose mixed
    tests keep a queue full. SNIA PTS 2.0.2, section 2.1.24: the criterion of steady state.

What it cannot show
    Which load a drive stands for days, or other blocks. A share is one of this drive's own rates: a faster
    drive is asked for more. That reads and writes at shares that add up to over 100 % saturate it is no
    fault: both references take the whole drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.plugin import (
    Method,
    RandomSteadyParams,
    RunData,
    Seconds,
    beside,
    closed_loop,
    in_steady_state,
    param,
    proof_of_state,
    rising,
)

from . import READ_UNDER_WRITES
from .result import LoadCell, ReadUnderWritesResult, Reference

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Step, Workload

BLOCK_BYTES = 4096
ALONE = "alone"
"""How the two references begin: writes, then reads."""

Share = Annotated[int, Field(ge=0, le=100)]
Cell = tuple[int, int]
"""Shares of reads and of writes, in per cent of their references."""


class ReadUnderWritesParams(RandomSteadyParams):
    """Of the map, after writing to steady state."""

    read_shares: Annotated[tuple[Annotated[int, Field(ge=1, le=100)], ...], AfterValidator(rising)] = param(
        (5, 25, 50, 75), "reads, of the peak: from hardly any to a busy server", unit="%", min_length=1
    )
    write_shares: Annotated[tuple[Share, ...], AfterValidator(rising)] = param(
        (0, 25, 50, 75, 95), "writes, of the steady rate: from none to nearly all", unit="%", min_length=1
    )
    threads: int = param(
        128, "that wait for arrivals of each, one I/O each; also those of the peak", ge=1, le=512
    )
    seconds: Seconds = param(
        120.0,
        "at each cell and reference: several waves of collection, and a p99.9 at 100 reads a second",
        unit="s",
        quick=0.5,
        gt=0,
        le=86_400,
    )
    ramp_seconds: Seconds = param(
        10.0, "before each, not counted: what the load before left", unit="s", quick=0.1, ge=0, le=3600
    )


def cells_of(p: ReadUnderWritesParams) -> list[Cell]:
    """Return the cells in the order they are taken: most writes first, so that no rest precedes them."""
    return [(reads, writes) for writes in reversed(p.write_shares) for reads in p.read_shares]


def procedure(lab: Lab, p: ReadUnderWritesParams) -> None:
    """Fill, write to steady state, measure both references, then each cell."""
    lab.conditions(scheduler="none")
    with in_steady_state(lab, p, BLOCK_BYTES):
        writes, reads = lab.sweep(ALONE, ("writes", "reads"), lambda name: _alone(p, name), forked=True)
        peak, steady = _rate(reads), _rate(writes)
        lab.sweep(
            "reads",
            cells_of(p),
            lambda cell: _loaded(p, _share(peak, cell[0]), _share(steady, cell[1])),
            label_of=_beside_label,
            overload=True,
            forked=True,
        )


def conclude(data: RunData, p: ReadUnderWritesParams) -> ReadUnderWritesResult:
    """Put the map together, each cell beside the rates that its shares are of."""
    writes, reads = data.step(f"{ALONE} writes"), data.step(f"{ALONE} reads")
    assert writes is not None  # the procedure has both
    assert reads is not None
    peak, steady = Reference.of(reads, "read"), Reference.of(writes, "write")
    cells = tuple(
        LoadCell.of(
            step,
            data.rows(step),
            shares=cell,
            rates=(_share(peak.iops, cell[0]) or 0, _share(steady.iops, cell[1]) or 0),
        )
        for cell in sorted(cells_of(p))
        if (step := data.step(f"reads {_beside_label(cell)}")) is not None
    )
    return ReadUnderWritesResult.concluded(
        cells,
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        threads=p.threads,
        seconds=p.seconds,
        peak=peak,
        steady_rate=steady,
        steady=proof_of_state(data, p),
    )


def _alone(p: ReadUnderWritesParams, name: str) -> Workload:
    reads = name == "reads"
    return closed_loop(
        "random",
        "read" if reads else "write",
        block_bytes=BLOCK_BYTES,
        in_flight=p.threads if reads else p.precondition_depth,
        seconds=p.seconds,
        ramp_seconds=p.ramp_seconds,
    )


def _loaded(p: ReadUnderWritesParams, reads: int | None, writes: int | None) -> Workload:
    return beside(
        reads,
        writes,
        block_bytes=BLOCK_BYTES,
        threads=p.threads,
        seconds=p.seconds,
        ramp_seconds=p.ramp_seconds,
    )


def _rate(step: Step) -> float | None:
    """Return what a reference did a second; None in a plan, which measures nothing."""
    return None if step.summary is None else float(step.summary.iops)


def _share(iops: float | None, pct: int) -> int | None:
    """Return a share of a reference, in whole I/Os a second; 0 only of none."""
    if pct == 0:
        return 0
    return None if iops is None else max(1, round(iops * pct / 100))


def _beside_label(cell: Cell) -> str:
    return f"{cell[0]} %, writes {cell[1]} %"


METHOD = Method(
    name="read-under-writes",
    version=1,
    title="Reads under writes",
    params=ReadUnderWritesParams,
    procedure=procedure,
    conclude=conclude,
    result=READ_UNDER_WRITES,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
