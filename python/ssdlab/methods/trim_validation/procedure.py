"""Whether TRIM restores the clean write speed after an hour of random writes.

Question
    Sequential write speed over the position on the drive: when it is clean, after random writes, and after
    TRIM. How much of the clean speed returns, and whether the discard reached the device.

Procedure
    1. Clean: purge, if the drive can be purged; then 128 KiB sequential writes, one in flight, from first
       block to last and for at least ten minutes.
    2. Random writes: 4 KiB over the whole drive, 32 in flight, for 60 minutes.
    3. After TRIM: TRIM of the whole drive, then the sequential writes of step 1 again.
    4. Before TRIM: a second cycle of purge, fill and random writes, then the sequential writes without
       TRIM. In the first cycle they would spoil the test. A simulated drive instead returns to its state
       after step 2.

    The result is the lower of two shares of the clean speed: of the mean over all blocks, and of the mean
    over the first ten minutes. TRIM works from 95 % on. A drive without discard is refused before anything
    is written. Trimmed blocks are not read as a measurement, because the drive would answer without its
    flash.

    There is no verdict in these cases:

    - the random writes slowed the drive by less than 5 % over all blocks;
    - the host limited a pass, or a pass took less than 10 s;
    - the share is closer to 95 % than the differences between tenths of the passes can resolve;
    - a scaled-down simulated drive was slow at first and clean again by half of the pass: over a full-size
      drive, some slow seconds would hardly count.

Source
    AnandTech, review of the Samsung XP941 (2014), "TRIM Validation": 60 minutes of 4 KiB random writes at
    depth 32, TRIM, speed over the position. Its update: 128 KiB sequential, depth 1, ten minutes, clean
    against after TRIM. The limit of 95 % is ssdlab's.

What it cannot show
    TRIM of single files, or TRIM while the drive is busy. Operating system and driver are part of the
    result: the drive of the review failed with one and passed with the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.over_position import MIN_PARTS
from ssdlab.plugin import (
    BLOCK_BYTES,
    NS_PER_S,
    Method,
    Params,
    RunData,
    Seconds,
    Stop,
    closed_loop,
    not_fresh,
    once,
    param,
    scale_of,
    unprepared,
    write_over,
)

from . import TRIM
from .result import FULL_SUSTAINED_S, FULL_TORTURE_S, LbaPlot, TrimEffect, TrimResult, going_on

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

CLEAN, BEFORE, AFTER = "clean", "before TRIM", "after TRIM"
_TORTURE = "random writes"
_TORTURE_BLOCK_BYTES = 4096
_TRIAL_BYTES = 1 << 20


class TrimValidationParams(Params):
    torture_seconds: Seconds = param(
        FULL_TORTURE_S,
        "random writes before TRIM: the review's 60 minutes",
        unit="s",
        quick=2.0,
        gt=0,
    )
    torture_depth: int = param(
        32, "I/Os in flight of the random writes, as threads with one I/O each", unit="I/Os", ge=1, le=512
    )
    sustained_seconds: Seconds = param(
        FULL_SUSTAINED_S,
        "sequential writes that are compared: longer than any burst",
        unit="s",
        quick=1.0,
        gt=0,
        le=86_400,
    )
    parts: int = param(
        2000,
        f"equal parts of a curve: at most one per GB, but at least {MIN_PARTS}",
        ge=MIN_PARTS,
        le=100_000,
    )


def procedure(lab: Lab, p: TrimValidationParams) -> None:
    lab.conditions(scheduler="none")
    lab.trim(length=min(_TRIAL_BYTES, lab.usable_bytes), label="trial of TRIM")
    lab.purge(if_able=True)
    write_on(lab, CLEAN, p.sustained_seconds)
    with lab.on_interruption("re-precondition"):
        _torture(lab, p)
        if lab.forks:
            with lab.fork() as back:
                write_on(lab, BEFORE, p.sustained_seconds)
                back()
                _trim_and_write(lab, p)
            return
        _trim_and_write(lab, p)
    lab.purge(if_able=True, label="purge again")
    lab.fill()
    with lab.on_interruption("re-precondition"):
        _torture(lab, p, " again")
        write_on(lab, BEFORE, p.sustained_seconds)


def conclude(data: RunData, p: TrimValidationParams) -> TrimResult:
    clean, before, after = (
        lba_plot(data, name, p.sustained_seconds, p.parts) for name in (CLEAN, BEFORE, AFTER)
    )
    trimmed = next(step for step in data.steps if step.label == "TRIM")
    unfresh = not_fresh(step for step in data.steps if step.verb == "purge")
    found = TrimResult.of(
        clean,
        before,
        after,
        TrimEffect.of(trimmed),
        scale=scale_of(data),
        quick=data.quick,
        block_bytes=BLOCK_BYTES,
        torture_s=0.0 if (tortured := data.step(_TORTURE)) is None else float(tortured.measured.elapsed_s),
        sustained_s=p.sustained_seconds,
        purged=not unfresh,
    )
    return found.model_copy(update={"scalars": tuple(each.qualified(unfresh) for each in found.scalars)})


def _torture(lab: Lab, p: TrimValidationParams, again: str = "") -> None:
    workload = closed_loop(
        "random",
        "write",
        block_bytes=_TORTURE_BLOCK_BYTES,
        in_flight=p.torture_depth,
        seconds=p.torture_seconds,
    )
    lab.precondition(workload, label=_TORTURE + again)


def _trim_and_write(lab: Lab, p: TrimValidationParams) -> None:
    lab.trim(label="TRIM")
    write_on(lab, AFTER, p.sustained_seconds)


def write_on(lab: Lab, name: str, min_seconds: float) -> None:
    """Write the drive once from end to end, one I/O in flight; then go on until `min_seconds` have passed."""
    passed = lab.run(write_over(once(lab.usable_bytes), depth=1, engine="sync"), label=name)
    took_s = 0.0 if passed.summary is None else passed.summary.elapsed_s
    left_ns = round((min_seconds - took_s) * NS_PER_S)
    if left_ns > 0:
        lab.run(
            write_over(Stop(time_ns=left_ns), depth=1, engine="sync"), label=going_on(name), certain=False
        )


def lba_plot(data: RunData, name: str, sustained_s: float, max_parts: int) -> LbaPlot:
    """Return the plot of what `write_on` measured, with the mean of its first `sustained_s` seconds."""
    steps = [step for label in (name, going_on(name)) if (step := data.step(label)) is not None]
    unready = unprepared(data.steps, steps[0].ordinal)
    return LbaPlot.of(name, [(step, data.rows(step)) for step in steps], sustained_s, max_parts, unready)


METHOD = Method(
    name="trim-validation",
    version=1,
    title="TRIM validation",
    params=TrimValidationParams,
    procedure=procedure,
    conclude=conclude,
    result=TRIM,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
)
