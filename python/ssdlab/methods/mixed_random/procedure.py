"""Mixed 4 KiB random reads and writes, from all reads to all writes.

Question
    Throughput and efficiency of mixed 4 KiB random I/O at depths 32 and 128, for every share of reads.
    Comparisons use the mix of 70 % reads.

Procedure
    1. Fill, then precondition with random writes to steady state, as in `steady-random-write`.
    2. Without a rest, at depth 32 and then at 128: 100, 90 ... 0 % reads, two minutes each. A depth of n is
       n threads, each with one synchronous 4 KiB I/O in flight at a uniformly random block of the whole
       span.
    3. Check: if mixes were over 20 % slower at the greater depth, the one that fell most is measured again
       at the lower depth. If the result does not repeat, there is no headline figure. A fall for which the
       host was the limit does not count.

Source
    AnandTech, review of the Memblaze PBlaze5 C916 (2019), "Mixed I/O Performance": depths, block, threads,
    the 70/30 headline, throughput in MB/s and MB/s/W. Steps of 10 % come from its sibling reviews.
    Durations and the preceding state are ssdlab's; the review gives none.

What it cannot show
    Latency, which is left out: at these depths I/Os always wait in a queue, and the wait mainly reflects
    the depth. A drive with a lower power limit is a separate entry, not another mix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.plugin import (
    MAX_WORKERS,
    Method,
    RandomSteadyParams,
    RunData,
    Seconds,
    Taken,
    Workload,
    checks_of,
    in_steady_state,
    mixed,
    moved,
    param,
    proof_of_state,
    proven,
    repeat_if_fallen,
    rising,
)

from . import MIXED
from .result import MixedResult, MixPoint

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

BLOCK_BYTES = 4096
HEADLINE_READ_PCT = 70
MIXES = tuple(range(100, -1, -10))
WITHHELD = "with this many I/Os in flight, latency mostly reflects the depth"

Depth = Annotated[int, Field(ge=1, le=MAX_WORKERS)]


class MixedRandomParams(RandomSteadyParams):
    depths: Annotated[tuple[Depth, ...], AfterValidator(rising)] = param(
        (32, 128),
        "queue depths, as threads with one I/O each; the reviews' two",
        unit="I/Os",
        points="each",
        min_length=1,
    )
    seconds: Seconds = param(
        120.0,
        "measured time per mix: several waves of garbage collection, and 22 mixes within an hour",
        unit="s",
        quick=0.5,
        gt=0,
        le=86_400,
    )
    ramp_seconds: Seconds = param(
        5.0,
        "before each mix, not counted: the effect of the previous mix fades",
        unit="s",
        quick=0.1,
        ge=0,
        le=3600,
    )


def procedure(lab: Lab, p: MixedRandomParams) -> None:
    lab.conditions(scheduler="none")
    with in_steady_state(lab, p, BLOCK_BYTES):
        taken: dict[int, list[Taken]] = {read_pct: [] for read_pct in MIXES}
        for depth in p.depths:
            for read_pct in MIXES:
                workload = _mix(p, depth, read_pct)
                step = lab.run(workload, label=_label(depth, read_pct))
                taken[read_pct].append(Taken(workload, step))
        repeat_if_fallen(lab, list(taken.values()))


def conclude(data: RunData, p: MixedRandomParams) -> MixedResult:
    points = tuple(
        MixPoint.of(step, depth, read_pct)
        for depth in p.depths
        for read_pct in MIXES
        if (step := data.step(_label(depth, read_pct))) is not None
    )
    steady = proof_of_state(data, p)
    lines = [[_label(depth, read_pct) for depth in p.depths] for read_pct in MIXES]
    checks = checks_of(data, lines, "MB/s", steady, _label(p.precondition_depth, 0))
    headlines = [point for point in points if point.read_pct == HEADLINE_READ_PCT]
    return MixedResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        engine="sync",
        headline_read_pct=HEADLINE_READ_PCT,
        points=points,
        latency_withheld=WITHHELD,
        steady=steady,
        checks=checks,
        scalars=tuple(
            figure.qualified(proven(steady)).withheld(moved(checks))
            for point in headlines
            for figure in point.headlines(steady)
        ),
    )


def _mix(p: MixedRandomParams, depth: int, read_pct: int) -> Workload:
    return mixed(
        read_pct, block_bytes=BLOCK_BYTES, threads=depth, seconds=p.seconds, ramp_seconds=p.ramp_seconds
    )


def _label(depth: int, read_pct: int) -> str:
    return f"{read_pct} % reads, depth {depth}"


METHOD = Method(
    name="mixed-random",
    version=1,
    title="Mixed random I/O",
    params=MixedRandomParams,
    procedure=procedure,
    conclude=conclude,
    result=MIXED,
    writes=lambda p: True,
    needs=("span written",),
    conditions={"scheduler": "none"},
)
