"""The energy that a drive takes for a fixed amount of work.

Question
    How many joules a job takes. The job is to write the whole drive once; to write an amount at random or
    sequentially in steady state; to read an amount at random; or to replay a recorded workload with its
    idle gaps.

Procedure
    1. Prepare. Purge for `fill`; fill for `reads` and `trace`. For the steady writes, fill and write to
       steady state, proven as in `steady-random-write`.
    2. Do the job once, metered from its first I/O to the end of its last: 4 KiB random or 128 KiB
       sequential, 32 in flight; a trace as in `trace`.

    A job that is not done within the time limit has no figure.

Source
    AnandTech, Storage Bench 2013 ("The Destroyer") and its successors, later with the energy of the whole
    job; idle gaps cut to 25 ms. Work is fixed instead of time: a drive that is twice as fast at twice the
    power takes the same energy. The other jobs and all amounts are ssdlab's.

What it cannot show
    Background work after the job, such as emptying a cache: `idle-power` measures that. Without a meter, it
    shows only the time of the job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.formats.traces import example
from ssdlab.formats.traces.reading import Source, TraceFile
from ssdlab.plugin import (
    NS_PER_S,
    AsRecorded,
    Bytes,
    Method,
    Order,
    RandomSteadyParams,
    ReadOrWrite,
    RunData,
    Seconds,
    TraceMapping,
    closed_loop,
    in_steady_state,
    once,
    param,
    proof_of_state,
    replay_of,
    write_over,
    write_to_steady_state,
)

from . import ENERGY_JOB
from .result import EnergyJobResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, Workload

Job = Literal["steady-random-writes", "steady-sequential-writes", "fill", "reads", "trace"]
LABEL = "job"
DEPTH = 32
_ORDERS: dict[str, tuple[Order, ReadOrWrite, int]] = {
    "steady-random-writes": ("random", "write", 4096),
    "steady-sequential-writes": ("sequential", "write", 128 * 1024),
    "reads": ("random", "read", 4096),
}


class EnergyPerJobParams(RandomSteadyParams):
    job: Job = param("steady-random-writes", "the work that is done")
    amount: Bytes = param(
        100_000_000_000,
        "bytes of work; `fill` and `trace` have their own",
        unit="B",
        quick=64 << 20,
        ge=1 << 20,
    )
    limit_seconds: Seconds = param(
        86_400.0, "maximum time, after which the job is given up", unit="s", quick=60.0, gt=0
    )
    file: TraceFile = param(example.NAME, "trace file of `trace`, plain or .gz; example: a synthetic trace")
    gap_most: Seconds = param(
        0.025, "of `trace`: longer gaps are cut to this, as AnandTech does; 0: none", unit="s", ge=0, le=1e6
    )


def procedure(lab: Lab, p: EnergyPerJobParams) -> None:
    lab.conditions(scheduler="none")
    match p.job:
        case "fill":
            lab.purge(if_able=True)
            lab.run(write_over(once(lab.usable_bytes), depth=DEPTH, engine="uring"), label=LABEL)
        case "trace":
            mapping = TraceMapping(gap_most_ns=round(p.gap_most * NS_PER_S))
            read = lab.trace(Source(file=p.file), mapping)
            lab.fill(unless_written=True)
            arrival = AsRecorded(backlog_ns=round(p.limit_seconds * NS_PER_S))
            lab.run(replay_of(read.result.facts, 4 * DEPTH, arrival), label=LABEL)
        case "reads":
            lab.fill(unless_written=True)
            lab.run(_job(p), label=LABEL)
        case "steady-random-writes":
            with in_steady_state(lab, p, _ORDERS[p.job][2]):
                lab.run(_job(p), label=LABEL)
        case "steady-sequential-writes":
            lab.fill()
            with lab.on_interruption("re-precondition"):
                write_to_steady_state(lab, p, "sequential", _ORDERS[p.job][2])
                lab.run(_job(p), label=LABEL)


def _job(p: EnergyPerJobParams) -> Workload:
    order, direction, block_bytes = _ORDERS[p.job]
    return closed_loop(
        order,
        direction,
        block_bytes=block_bytes,
        in_flight=DEPTH,
        seconds=p.limit_seconds,
        max_bytes=p.amount,
    )


def conclude(data: RunData, p: EnergyPerJobParams) -> EnergyJobResult:
    step = data.step(LABEL)
    assert step is not None  # the procedure always runs it
    asked = None
    if p.job in _ORDERS:
        block_bytes = _ORDERS[p.job][2]
        asked = max(1, p.amount // block_bytes) * block_bytes
    steady = proof_of_state(data, p) if p.job.startswith("steady") else None
    trace = next((step for step in data.steps if step.verb == "trace"), None)
    made_up = trace is not None and p.file == example.NAME
    return EnergyJobResult.of(step, p.job, asked, steady, trace=trace, made_up=made_up, quick=data.quick)


METHOD = Method(
    name="energy-per-job",
    version=1,
    title="Energy for a job",
    params=EnergyPerJobParams,
    procedure=procedure,
    conclude=conclude,
    result=ENERGY_JOB,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
