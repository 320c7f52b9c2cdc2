"""How evenly a drive writes, second by second, and what more spare area changes.

Question
    IOPS of each second of a long 4 KiB random write, from the fresh drive on: how deep the slowest seconds
    are, and how wide they spread; with the stock amount of spare area and with a quarter more.

Procedure
    The drive is purged, where it can be, and filled sequentially. Then 4 KiB random writes over everything
    that was filled, 32 in flight, with data that does not compress, for 2000 s without a pause; one row a
    second. The same is done again after another purge with a part of the drive left unwritten from then on:
    the drive uses it as spare area. Figures are of the whole run, from 1400 s on, from where SNIA's
    steady-state rule holds, and of the last 400 s.

Source
    AnandTech, review of the Samsung XP941 (2014), "Performance Consistency": procedure, one dot a second,
    the views from 1400 s. The 2000 s are recalled from its sibling reviews; the last 400 s and the mean
    divided by the deviation are of the suite of 2015/16.

What it cannot show
    What reads see, or how the drive recovers after a rest. The spare area is given as a share of the user
    capacity, as drives do not report how much flash they have. Where the drive was not purged, the
    result says so: its first minutes are then not those of a fresh one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.methods.method import Method, Params, RunData, Seconds, param, rising
from ssdlab.methods.parts.workloads import closed_loop
from ssdlab.methods.results import kinds
from ssdlab.methods.results.consistency import ConsistencyEntry, ConsistencyResult, caveats_of
from ssdlab.methods.verbs.purge import PurgeFacts
from ssdlab.model.span import SPAN_UNIT_BYTES
from ssdlab.model.units import NS_PER_S
from ssdlab.results.claim import clauses

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab

BLOCK_BYTES = 4096

SparePct = Annotated[int, Field(ge=0, le=90)]


class ConsistencyParams(Params):
    """Of the long write."""

    spares: Annotated[tuple[SparePct, ...], AfterValidator(rising)] = param(
        (0, 25),
        "share of the user capacity that stays unwritten; 0 is the stock drive",
        unit="%",
        min_length=1,
    )
    seconds: Seconds = param(
        2000.0, "of random writes: half an hour and more", unit="s", quick=10.0, gt=0, le=864_000
    )
    depth: int = param(32, "I/Os in flight, as threads of one", unit="I/Os", ge=1, le=512)
    round_seconds: Seconds = param(
        60.0, "of one value of the steady-state rule", unit="s", quick=1.0, ge=1, le=3600
    )


def procedure(lab: Lab, p: ConsistencyParams) -> None:
    """For each amount of spare: purge, fill what is used, write."""
    lab.conditions(scheduler="none")
    for spare in p.spares:
        lab.purge(if_able=True, label=f"purge, {_name(spare)}")
        if spare or len(p.spares) > 1:
            lab.limit(lab.capacity_bytes * (100 - spare) // 100 // SPAN_UNIT_BYTES * SPAN_UNIT_BYTES)
        lab.fill()
        workload = closed_loop(
            "random", "write", block_bytes=BLOCK_BYTES, in_flight=p.depth, seconds=p.seconds
        ).model_copy(update={"interval_ns": NS_PER_S})
        lab.run(workload, label=_name(spare))


def conclude(data: RunData, p: ConsistencyParams) -> ConsistencyResult:
    """Summarise each run over its stretches."""
    entries = tuple(
        ConsistencyEntry.of(name, step, data.rows(step), data.capacity_bytes, p.round_seconds)
        for name in map(_name, p.spares)
        if (step := data.step(name)) is not None
    )
    purged = all(step.found(PurgeFacts).purged for step in data.steps if step.verb == "purge")
    return ConsistencyResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        depth=p.depth,
        engine="sync",
        purged=purged,
        entries=entries,
        caveats=clauses(caveats_of(purged=purged, seconds=p.seconds)),
        scalars=tuple(scalar for entry in entries for scalar in entry.headlines),
    )


def _name(spare_pct: int) -> str:
    return f"{spare_pct} % left unwritten" if spare_pct else "stock"


METHOD = Method(
    name="consistency",
    version=1,
    title="Performance consistency",
    params=ConsistencyParams,
    procedure=procedure,
    conclude=conclude,
    result=kinds.CONSISTENCY,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
)
