"""How evenly a drive writes, second by second, and what more spare area changes.

Question
    IOPS of each second of a long 4 KiB random write, from the fresh drive on: how deep the slowest seconds
    are, and how wide they spread; with the stock amount of spare area and with a quarter more.

Procedure
    The drive is purged, where it can be, and filled sequentially. Then 4 KiB random writes over everything
    that was filled, 32 in flight, with data that does not compress, for 2000 s without a pause; one row a
    second. The same is done again after another purge with a part of the drive left unwritten from then on,
    so that a quarter of the raw flash is spare: the drive uses it as spare area. Where neither drive record
    nor profile gives the raw flash, it is a quarter of the user capacity, and a departure. Figures are of the
    whole run, from 1400 s on, from where SNIA's steady-state rule holds, and of the last 400 s (of a run that
    is shorter, or steady late, from where it was steady).

Source
    AnandTech, review of the Samsung XP941 (2014), "Performance Consistency": procedure, one dot a second,
    the views from 1400 s. That 25 % are of the raw flash (192 of 256 GiB), and the 2000 s, are recalled from
    its sibling reviews; the last 400 s and the mean divided by the deviation are of the suite of 2015/16.

What it cannot show
    What reads see, or how the drive recovers after a rest. A drive that throttles for heat meanwhile is not
    called steady; the amounts of spare are measured one after another, and where one began at another
    temperature than the first, the result says so. Where the drive was not purged, the result says
    so: its first minutes are then not those of a fresh one.
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
    """Of the long write."""

    spares: Annotated[tuple[SparePct, ...], AfterValidator(rising)] = param(
        (0, 25),
        "share of the raw flash that is spare; of the user capacity where nothing says how much flash there "
        "is; 0 is the stock drive",
        unit="%",
        points="each",
        min_length=1,
    )
    seconds: Seconds = param(2000.0, "of random writes: half an hour and more", unit="s", quick=10.0, gt=0)
    depth: int = param(32, "I/Os in flight, as threads of one", unit="I/Os", ge=1, le=512)
    round_seconds: Seconds = param(
        60.0, "of one value of the steady-state rule", unit="s", quick=1.0, ge=1, le=3600
    )


def procedure(lab: Lab, p: ConsistencyParams) -> None:
    """For each amount of spare: purge, fill what is used, write."""
    lab.conditions(scheduler="none")
    raw_bytes = lab.spare.raw_bytes
    if raw_bytes is not None:
        lab.find(Finding(RAW_LABEL, {"raw_bytes": raw_bytes}, lambda tables: {}), label=RAW_LABEL)
    for spare in p.spares:
        name = _name(spare, raw_bytes)
        asked = usable_bytes(spare / 100, lab.capacity_bytes, raw_bytes) if spare else lab.capacity_bytes
        if asked > lab.capacity_bytes:
            continue  # so much it has by itself, as `remarks` says
        lab.purge(if_able=True, label=_purge_of(name))
        if spare or len(p.spares) > 1:
            lab.limit(asked // SPAN_UNIT_BYTES * SPAN_UNIT_BYTES)
        lab.fill()
        workload = closed_loop(
            "random", "write", block_bytes=BLOCK_BYTES, in_flight=p.depth, seconds=p.seconds
        ).model_copy(update={"interval_ns": NS_PER_S})
        lab.run(workload, label=name)


def conclude(data: RunData, p: ConsistencyParams) -> ConsistencyResult:
    """Summarise each run over its stretches."""
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
    """Return where a spare is not a share of raw flash, or could not be had."""
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
    """Return the drive's raw flash as the run found it on record."""
    found = next((step for step in data.steps if step.label == RAW_LABEL), None)
    raw_bytes = None if found is None else found.args["raw_bytes"]
    return raw_bytes if isinstance(raw_bytes, int) else None


def _heat_before(data: RunData, ordinal: int) -> float | None:
    """Return the temperature when the step before ended, in °C; None where the drive does not tell it."""
    before = next((step for step in data.steps if step.ordinal == ordinal - 1), None)
    return None if before is None else heat_after(before)


def _purge_of(name: str) -> str:
    """Return the label of the purge that an amount of spare begins with."""
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
