"""IOPS in every second of a long 4 KiB random write, with stock and with more spare area.

Question
    How slow the slowest seconds are, and how much IOPS vary between seconds, from the fresh drive on. This is
    measured with the stock spare area, and with 25 % of the raw flash as spare area.

Procedure
    For each amount of spare area:

    1. Purge, if the drive can be purged, and fill the part in use sequentially. With 25 % spare, the rest of
       the drive stays unwritten from the purge on, and the drive uses it as spare area.
    2. Write 4 KiB at random over the filled part for 2000 s without a pause: 32 in flight, incompressible
       data, one row per second.

    If neither drive record nor profile gives the raw flash, the spare area is 25 % of the user capacity,
    which is a departure. Figures cover four periods: the whole run, the time from 1400 s on, the time from
    where SNIA's steady-state rule holds, and the last 400 s. If the run is shorter than that, or becomes
    steady later, the last period starts where it became steady.

Source
    AnandTech, review of the Samsung XP941 (2014), "Performance Consistency": procedure, one dot per second,
    views from 1400 s. The 2000 s, and the 25 % of the raw flash (192 of 256 GiB), are recalled from its
    sibling reviews. The last 400 s, and the mean divided by the deviation, come from the suite of 2015/16.

What it cannot show
    Read latency during the writes, or how the drive recovers after a rest. A drive that throttles for heat
    is not called steady. The amounts of spare area are measured one after another: the result says if one
    started at another temperature than the first. It also says if the drive was not purged: then its first
    minutes do not show a fresh drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from ssdlab.plugin import (
    NS_PER_S,
    SPAN_UNIT_BYTES,
    Departure,
    Finding,
    Method,
    Params,
    Remarks,
    RunData,
    Seconds,
    closed_loop,
    heat_after,
    not_fresh,
    not_proven,
    param,
    rising,
    share_of_user_capacity,
    significant,
    usable_bytes,
)

from . import CONSISTENCY
from .result import ConsistencyEntry, ConsistencyResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunFacts

BLOCK_BYTES = 4096
RAW_LABEL = "raw flash on record"

SparePct = Annotated[int, Field(ge=0, le=90)]


class ConsistencyParams(Params):
    spares: Annotated[tuple[SparePct, ...], AfterValidator(rising)] = param(
        (0, 25),
        "spare share of the raw flash; of the user capacity if the raw flash is not known; 0: stock drive",
        unit="%",
        points="each",
        min_length=1,
    )
    seconds: Seconds = param(
        2000.0, "duration of the random writes: over half an hour", unit="s", quick=10.0, gt=0
    )
    depth: int = param(32, "I/Os in flight, as threads with one I/O each", unit="I/Os", ge=1, le=512)
    round_seconds: Seconds = param(
        60.0, "length of a round of the steady-state rule", unit="s", quick=1.0, ge=1, le=3600
    )


def procedure(lab: Lab, p: ConsistencyParams) -> None:
    lab.conditions(scheduler="none")
    raw_bytes = lab.spare.raw_bytes
    if raw_bytes is not None:
        lab.find(Finding(RAW_LABEL, {"raw_bytes": raw_bytes}, lambda tables: {}), label=RAW_LABEL)
    for spare in p.spares:
        name = _name(spare, raw_bytes)
        asked = usable_bytes(spare / 100, lab.capacity_bytes, raw_bytes) if spare else lab.capacity_bytes
        if asked > lab.capacity_bytes:
            continue  # the stock drive has that much spare; `remarks` says so
        lab.purge(if_able=True, label=_purge_of(name))
        if spare or len(p.spares) > 1:
            lab.limit(asked // SPAN_UNIT_BYTES * SPAN_UNIT_BYTES)
        lab.fill()
        workload = closed_loop(
            "random", "write", block_bytes=BLOCK_BYTES, in_flight=p.depth, seconds=p.seconds
        ).model_copy(update={"interval_ns": NS_PER_S})
        lab.run(workload, label=name)


def conclude(data: RunData, p: ConsistencyParams) -> ConsistencyResult:
    raw_bytes = _raw_bytes(data)
    entries = tuple(
        ConsistencyEntry.of(
            name,
            step,
            data.rows(step),
            data.capacity_bytes,
            p.round_seconds,
            asked_pct=spare,
            raw_bytes=raw_bytes,
            began_c=_heat_before(data, step.ordinal),
            failed=not_proven(data.steps, step),
        )
        for spare in p.spares
        if (step := data.step(name := _name(spare, raw_bytes))) is not None
    )
    purges = {step.label: step for step in data.steps if step.verb == "purge"}
    return ConsistencyResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        depth=p.depth,
        engine="sync",
        purged=not not_fresh(purges.values()),
        entries=entries,
        scalars=tuple(
            figure.qualified(not_fresh([purges[_purge_of(entry.name)]]))
            for entry in entries
            for figure in entry.headlines
        ),
    )


def remarks(facts: RunFacts, p: ConsistencyParams) -> Remarks:
    """Return a departure for each spare area that is not a share of raw flash, or was not possible."""
    raw_bytes, found = _raw_bytes(facts.data), []
    for spare in filter(None, p.spares):
        if facts.data.step(_name(spare, raw_bytes)) is None:
            own = 0.0 if raw_bytes is None else 100 * (1 - facts.data.capacity_bytes / raw_bytes)
            found.append(
                Departure(
                    code="spare-left-out",
                    what=f"{spare} % spare were not measured: the stock drive has {significant(own)} %",
                    why="the capacity of a drive is not made larger",
                )
            )
        elif raw_bytes is None:
            found.append(share_of_user_capacity(spare / 100))
    return Remarks(tuple(found))


def _raw_bytes(data: RunData) -> int | None:
    """Return the size of the drive's raw flash that the run recorded; None if it was not known."""
    found = next((step for step in data.steps if step.label == RAW_LABEL), None)
    raw_bytes = None if found is None else found.args["raw_bytes"]
    return raw_bytes if isinstance(raw_bytes, int) else None


def _heat_before(data: RunData, ordinal: int) -> float | None:
    """Return the temperature in °C at the end of the previous step; None if the drive reports none."""
    before = next((step for step in data.steps if step.ordinal == ordinal - 1), None)
    return None if before is None else heat_after(before)


def _purge_of(name: str) -> str:
    return f"purge, {name}"


def _name(spare_pct: int, raw_bytes: int | None) -> str:
    if not spare_pct:
        return "stock"
    return f"{spare_pct} % left unwritten" if raw_bytes is None else f"{spare_pct} % spare"


METHOD = Method(
    name="consistency",
    version=2,
    title="Performance consistency",
    params=ConsistencyParams,
    procedure=procedure,
    conclude=conclude,
    remarks=remarks,
    result=CONSISTENCY,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
)
