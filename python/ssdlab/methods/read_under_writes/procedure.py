"""Read latency while the drive is being written, over read rate and write rate.

Question
    Mean and tail latency of 4 KiB random reads at fixed rates, during 4 KiB random writes at fixed rates. A
    server works like this: the load is given, and the drive is neither idle nor saturated.

Procedure
    1. Fill, then precondition with random writes to steady state, as in `steady-random-write`.
    2. Two references, two minutes each: random writes at the preconditioning depth give the steady write
       rate; then random reads by 128 threads give the peak read rate.
    3. A map of cells, two minutes each. Writes run at 95, 75, 50, 25 and 0 % of the steady rate, in that
       order. At each of these write rates, reads run at 5, 25, 50 and 75 % of the peak.

    Reads and writes arrive in separate open loops at random times (Poisson); 128 threads serve each. A cell
    is saturated if an arrival is dropped, less than 99 % of arrivals complete, or the wait before submission
    keeps growing. A saturated cell has no latency. A simulated drive starts each cell in the same steady
    state.

Source
    ssdlab's own. Buyers of server drives ask for read latency at a given load; the mixed tests of reviews
    keep a queue full instead. SNIA PTS 2.0.2, section 2.1.24: the steady-state criterion.

What it cannot show
    Which load a drive sustains for days, or other block sizes. Shares refer to this drive's own rates, so
    a faster drive gets a higher load. Each reference uses the whole drive, so shares that add up to over 100
    % may well saturate it.
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
"""Prefix of the labels of the two references: writes, then reads."""

Share = Annotated[int, Field(ge=0, le=100)]
Cell = tuple[int, int]
"""Shares of reads and of writes, in per cent of their references."""


class ReadUnderWritesParams(RandomSteadyParams):
    read_shares: Annotated[tuple[Annotated[int, Field(ge=1, le=100)], ...], AfterValidator(rising)] = param(
        (5, 25, 50, 75),
        "read rates, as shares of the peak: from nearly idle to a busy server",
        unit="%",
        min_length=1,
    )
    write_shares: Annotated[tuple[Share, ...], AfterValidator(rising)] = param(
        (0, 25, 50, 75, 95),
        "write rates, as shares of the steady rate: from none to nearly all",
        unit="%",
        min_length=1,
    )
    threads: int = param(
        128,
        "threads that serve arrivals, one I/O each, for reads and for writes; also those of the peak",
        ge=1,
        le=512,
    )
    seconds: Seconds = param(
        120.0,
        "measured time per cell and reference: several waves of garbage collection, and a p99.9 at "
        "100 reads/s",
        unit="s",
        quick=0.5,
        gt=0,
        le=86_400,
    )
    ramp_seconds: Seconds = param(
        10.0,
        "before each cell and reference, not counted: the effect of the previous load fades",
        unit="s",
        quick=0.1,
        ge=0,
        le=3600,
    )


def cells_of(p: ReadUnderWritesParams) -> list[Cell]:
    """Return the cells in the order of measurement: most writes first, as no rest may precede them."""
    return [(reads, writes) for writes in reversed(p.write_shares) for reads in p.read_shares]


def procedure(lab: Lab, p: ReadUnderWritesParams) -> None:
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
    writes, reads = data.step(f"{ALONE} writes"), data.step(f"{ALONE} reads")
    assert writes is not None  # the procedure always runs both
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
    """Return a reference's I/Os per second; None in a plan, which has no results."""
    return None if step.summary is None else float(step.summary.iops)


def _share(iops: float | None, pct: int) -> int | None:
    """Return a share of a reference in whole I/Os per second; 0 only for a share of 0 %."""
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
