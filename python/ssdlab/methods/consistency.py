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
    What reads see, or how the drive recovers after a rest. The spare area is said as a share of the user
    capacity, for what flash stands behind it is not told by the drive. Where the drive was not purged, the
    result says so: its first minutes are then not those of a fresh one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import numpy as np
from pydantic import AfterValidator, Field

from ssdlab.analysis.consistency import LAST_S, LATE_FROM_S, stretch
from ssdlab.analysis.efficiency import efficiency
from ssdlab.analysis.steady_state import WINDOW, first_steady
from ssdlab.methods.method import Method, Params, RunData, Seconds, param, rising
from ssdlab.methods.points import mean_w_of, power_scalars
from ssdlab.methods.workloads import closed_loop
from ssdlab.results.outcome import ConsistencyEntry, ConsistencyResult, StretchFigures
from ssdlab.results.schema import Scalar
from ssdlab.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.lab import Lab
    from ssdlab.results.run_folder import Step

BLOCK_BYTES = 4096
_UNIT_BYTES = 1 << 20

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
            lab.limit(lab.capacity_bytes * (100 - spare) // 100 // _UNIT_BYTES * _UNIT_BYTES)
        lab.fill()
        workload = closed_loop(
            "random", "write", block_bytes=BLOCK_BYTES, in_flight=p.depth, seconds=p.seconds
        ).model_copy(update={"interval_ns": NS_PER_S})
        lab.run(workload, label=_name(spare))


def conclude(data: RunData, p: ConsistencyParams) -> ConsistencyResult:
    """Summarise each run over its stretches."""
    entries = tuple(_entry(data, step, spare, p) for spare in p.spares if (step := data.step(_name(spare))))
    purges = [step for step in data.steps if step.verb == "purge"]
    purged = all(step.result.facts.get("purged") for step in purges)
    caveats = (
        [] if purged else ["the drive was not purged before, so its beginning is not that of a fresh one"]
    )
    if p.seconds < LATE_FROM_S + LAST_S:
        caveats.append(
            f"{p.seconds:g} s are too short to see what the reviews show from {LATE_FROM_S:g} s on"
        )
    return ConsistencyResult(
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        depth=p.depth,
        engine="sync",
        purged=purged,
        entries=entries,
        caveats=tuple(caveats),
        scalars=tuple(scalar for entry in entries for scalar in _scalars(entry)),
    )


def _name(spare_pct: int) -> str:
    return f"{spare_pct} % left unwritten" if spare_pct else "stock"


def _entry(data: RunData, step: Step, spare_pct: int, p: ConsistencyParams) -> ConsistencyEntry:
    rows = data.rows(step)
    ends_s = rows["end_ns"].astype(np.float64) / NS_PER_S
    iops = rows["ios"] * NS_PER_S / (rows["end_ns"] - rows["start_ns"]).astype(np.float64)
    whole = ~rows["partial"]
    ends_s, iops = ends_s[whole], iops[whole]
    end_s = float(ends_s[-1]) if ends_s.size else 0.0
    steady_s = _steady_from(ends_s, iops, p.round_seconds)
    parts = [("whole", 0.0), ("late", LATE_FROM_S), ("last", max(0.0, end_s - LAST_S))]
    if steady_s is not None:
        parts.append(("steady", steady_s))
    found = [(name, stretch(ends_s, iops, start, end_s)) for name, start in parts]
    summary = cast("dict[str, Any]", step.result.measurement)
    span = cast("dict[str, Any]", step.args["workload"])["streams"][0]["span"]
    return ConsistencyEntry(
        name=_name(spare_pct),
        usable_bytes=span["length"],
        spare_of_capacity=1 - span["length"] / data.capacity_bytes,
        ordinal=step.ordinal,
        steady_from_s=steady_s,
        stretches=tuple(
            StretchFigures(
                name=name,
                from_s=part.from_s,
                to_s=part.to_s,
                rows=part.rows,
                floor=part.floor,
                p1=part.p1,
                mean=part.mean,
                deviation=part.deviation,
                evenness=part.evenness,
            )
            for name, part in found
            if part is not None
        ),
        write_amplification=(summary.get("drive") or {}).get("write_amplification"),
        mb_s=summary["mb_s"],
        iops=summary["iops"],
        mean_w=mean_w_of(summary),
    )


def _steady_from(ends_s: Any, iops: Any, round_seconds: float) -> float | None:  # noqa: ANN401 - arrays
    """Return when the first steady window begins, judged over rounds of the given length."""
    rows = round(round_seconds)
    rounds = iops[: len(iops) // rows * rows].reshape(-1, rows).mean(axis=1)
    first = first_steady([rounds.tolist()]) if len(rounds) >= WINDOW else None
    return None if first is None else float(ends_s[first * rows]) - float(ends_s[0])


def _scalars(entry: ConsistencyEntry) -> tuple[Scalar, ...]:
    last = next(part for part in entry.stretches if part.name == "last")
    key = "stock" if entry.spare_of_capacity == 0 else f"spare_{round(entry.spare_of_capacity * 100)}"
    found = efficiency("random", entry.iops, entry.mb_s, entry.mean_w)
    return (
        Scalar(
            name=f"consistency_{key}_iops",
            label=f"{entry.name}, last {LAST_S:g} s",
            value=last.mean,
            unit="IOPS",
            better="higher",
        ),
        *power_scalars(f"consistency_{key}", f"{entry.name}, all of it,", found, entry.mean_w),
    )


METHOD = Method(
    name="consistency",
    version=1,
    title="Performance consistency",
    params=ConsistencyParams,
    procedure=procedure,
    conclude=conclude,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
)
