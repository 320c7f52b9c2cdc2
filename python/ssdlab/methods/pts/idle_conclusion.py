"""What host idle recovery concludes of each rest, and what its pages say of the loads. Pure."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from ssdlab.methods.pts.params import KIB
from ssdlab.methods.pts.series import (
    common,
    headline,
    load_name,
    picked,
    records_of,
    samples_of,
    samples_text,
    weighted_mean_ns,
)
from ssdlab.methods.results.pts import Stimulus
from ssdlab.methods.results.pts_series import PtsIdleRecoveryResult, PtsSamples, PtsWait
from ssdlab.model.units import span_text

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.methods.pts.idle_recovery import PtsIdleRecoveryParams

BLOCK_BYTES = 4 * KIB
NAME = load_name(0, BLOCK_BYTES)
PRECONDITIONING = "WDPC"


def conclude(data: RunData, p: PtsIdleRecoveryParams) -> PtsIdleRecoveryResult:
    """Report the mean of the bursts of each rest against the baseline."""
    step = data.step(PRECONDITIONING)
    assert step is not None  # a finished run has it
    found = records_of(data, step)
    samples = samples_of(found, p.cycle, data.capacity_bytes, at=p.sample_at)
    baseline = fmean(samples.variable.values[samples.first - 1 : samples.last])
    waits = tuple(wait_of(data, p, rest, baseline) for rest in p.rests)
    longest = waits[-1]
    return PtsIdleRecoveryResult(
        **common(data, p),
        preconditioning=(preconditioning_of(p, NAME, samples),),
        stimuli=stimuli_of(p, NAME),
        burst_s=p.burst_seconds,
        writes=found,
        samples=samples,
        baseline_iops=baseline,
        waits=waits,
        caveats=()
        if samples.steady
        else (f"steady state was {samples_text(samples)}: the baseline is the mean of the last five",),
        scalars=(
            headline("pts_idle_recovery_baseline_iops", "without rests", [baseline], "IOPS"),
            headline(
                "pts_idle_recovery_iops", f"rests of {span_text(longest.idle_s)}", longest.bursts.iops, "IOPS"
            ),
        ),
    )


def bursts_label(p: PtsIdleRecoveryParams, rest: int) -> str:
    """Return the label of the step of bursts with rests of so many bursts."""
    return f"bursts, {span_text(rest * p.burst_seconds)} apart"


def back_label(p: PtsIdleRecoveryParams, rest: int) -> str:
    """Return the label of the step that follows them, without rests."""
    return f"after rests of {span_text(rest * p.burst_seconds)}"


def wait_of(data: RunData, p: PtsIdleRecoveryParams, rest: int, baseline: float) -> PtsWait:
    """Return the bursts of one rest against the baseline, and the writes after them."""
    resting, back = data.step(bursts_label(p, rest)), data.step(back_label(p, rest))
    assert resting is not None  # a finished run has both
    assert back is not None
    every = records_of(data, resting)
    bursts = picked(every, range(0, len(every.iops), 1 + rest))
    returning = records_of(data, back)
    return PtsWait(
        idle_s=rest * p.burst_seconds,
        bursts=bursts,
        mean_iops=fmean(bursts.iops),
        mean_ns=weighted_mean_ns(bursts),
        max_ns=max((each for each in every.max_ns if each is not None), default=None),
        of_baseline=fmean(bursts.iops) / baseline if baseline else 0.0,
        back=returning,
        back_iops=fmean(returning.iops[-max(1, len(returning.iops) // 10) :]),
    )


def preconditioning_of(p: PtsIdleRecoveryParams, name: str, samples: PtsSamples) -> Stimulus:
    """Return the preconditioning as the header of a page prints it."""
    threads, depth = p.shape
    return Stimulus(
        what=name,
        threads=threads,
        depth=depth,
        lasted=f"{len(samples.variable.values)} rounds of {span_text(p.cycle * p.seconds)}",
        outcome=samples_text(samples),
        dependent=True,
    )


def stimuli_of(p: PtsIdleRecoveryParams, name: str) -> tuple[Stimulus, ...]:
    """Return bursts, and what follows them, likewise."""
    threads, depth = p.shape
    rests = ", ".join(span_text(rest * p.burst_seconds) for rest in p.rests)
    bursts = Stimulus(
        what=f"{name}, bursts with rests of {rests}",
        threads=threads,
        depth=depth,
        lasted=f"{p.bursts} bursts of {span_text(p.burst_seconds)} each",
    )
    back = Stimulus(
        what=f"{name}, without rests", threads=threads, depth=depth, lasted=span_text(p.return_seconds)
    )
    return bursts, back
