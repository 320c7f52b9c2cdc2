"""SNIA's host idle recovery test: how much faster writes are after the host was idle.

Question
    How much faster random writes are after idle times of the host than without any, and for how long.

Procedure
    1. Set the write cache as the setting says, and purge. The drive is not written before the test.
    2. Baseline: 4 KiB random writes without a pause, in rounds of 30 minutes. They end when the last
       minutes of five rounds in a row are steady, or after 25 rounds. The baseline is the mean of these
       five minutes.
    3. For idle times (wait states) of 5, 10, 15, 25 and 50 s: 360 bursts of 5 s of the same writes, with
       the idle time between them. Then 30 minutes of writes without idle times, which bring the drive back
       to its baseline.

    The result gives each burst, the mean of all bursts that follow an idle time of one length, and that
    mean as a share of the baseline. The first of the 360 bursts follows no idle time and is left out of the
    mean.

Source
    SNIA SSS PTS 2.0.2, host idle recovery; times come from open implementations of 2.0.

What it cannot show
    Longer idle times, and what the drive does in them: the gain may come from garbage collection or from an
    emptied cache. A burst counts the I/Os that are completed in its 5 s; the few in flight at its end are
    completed in the idle time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from ssdlab.analysis.steady_state import first_steady
from ssdlab.plugin import NS_PER_S, Method, Pulses, Seconds, Until, param, remarks_of_size, rising, span_text

from . import PTS_IDLE_RECOVERY
from .result import PtsIdleRecoveryResult, PtsWait, Stimulus, unproven
from .rounds import epochs_of
from .series import (
    common,
    headline,
    load,
    load_name,
    preconditioning_of,
    records_of,
    rested,
    samples_of,
    written_rows,
)
from .specification import KIB, PtsParams, begin, pts_remarks

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunData

Rest = Annotated[int, Field(ge=1, le=1000)]
BLOCK_BYTES = 4 * KIB
NAME = load_name(0, BLOCK_BYTES)
PRECONDITIONING = "WDPC"


class PtsIdleRecoveryParams(PtsParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "thread count and depth: here those recommended for IOPS",
        "which minute of a half hour of the preconditioning counts: here as sample says",
        "whether the mean of a wait state includes its first burst, which no rest precedes: here it does not",
        "the plots of 2.0, and the number of the section",
    )
    # Not scaled: write buffer and delay before idle work are the same in a simulated drive of any scale.
    absolute: ClassVar[frozenset[str]] = frozenset({"burst_seconds"})

    seconds: Seconds = param(
        60.0,
        "length of a record of the preconditioning, and of a sample",
        unit="s",
        quick=0.1,
        ge=0.05,
        le=3600,
    )
    cycle: int = param(
        30,
        "records in a round of the preconditioning, one of which is the sample",
        unit="records",
        quick=5,
        ge=1,
        le=1440,
    )
    sample: Literal["last", "first"] = param(
        "last", "record of a round that is the sample; the text leaves it open, implementations take the last"
    )
    most_rounds: int = param(
        25, "maximum rounds of the preconditioning, steady or not", quick=5, ge=5, le=1000
    )
    burst_seconds: Seconds = param(5.0, "length of a burst", unit="s", quick=0.1, ge=0.05, le=3600)
    rests: Annotated[tuple[Rest, ...], AfterValidator(rising)] = param(
        (1, 2, 3, 5, 10), "idle times (wait states), in lengths of a burst", unit="bursts", min_length=1
    )
    bursts: int = param(
        360,
        "bursts per idle time; the first follows none and is not in the mean",
        quick=4,
        ge=2,
        le=100_000,
    )
    return_seconds: Seconds = param(
        1800.0, "writes without idle times after each set of bursts", unit="s", quick=0.5, gt=0, le=86_400
    )

    @property
    def recommended(self) -> None:
        """None: the operator chooses thread count and depth."""

    @property
    def sample_at(self) -> int:
        """Index, from 0, of the record in each round that is its sample."""
        return self.cycle - 1 if self.sample == "last" else 0

    def pulses(self, rest: int) -> Pulses:
        """Return the arrival of bursts with rests of `rest` burst lengths between them."""
        on_ns = round(self.burst_seconds * NS_PER_S)
        return Pulses(on_ns=on_ns, every_ns=(1 + rest) * on_ns)


def procedure(lab: Lab, p: PtsIdleRecoveryParams) -> None:
    begin(lab, p)

    def holds(rows: Sequence[Any]) -> bool:
        samples = written_rows(rows)[0][p.sample_at :: p.cycle]
        return len(rows) % p.cycle == 0 and first_steady([samples]) is not None

    max_s = p.most_rounds * p.cycle * p.seconds
    writes = load(p, 0, BLOCK_BYTES, max_s, record_s=p.seconds)
    until = Until("steady samples", {"cycle": p.cycle, "sample": p.sample}, holds)
    lab.precondition(writes, label=PRECONDITIONING, until=until, policy="from-purge")
    with lab.on_interruption("re-precondition"):
        for rest in p.rests:
            # One step for all bursts: a step for each burst would lengthen every rest by the step's overhead.
            lab.group(label=_group_label(p, rest))
            trains_s = p.bursts * (1 + rest) * p.burst_seconds
            trains = load(p, 0, BLOCK_BYTES, trains_s, record_s=p.burst_seconds, arrival=p.pulses(rest))
            lab.run(trains, label=_bursts_label(p, rest))
            back = load(p, 0, BLOCK_BYTES, p.return_seconds, record_s=p.burst_seconds)
            lab.run(back, label=_back_label(p, rest))


def conclude(data: RunData, p: PtsIdleRecoveryParams) -> PtsIdleRecoveryResult:
    step = data.step(PRECONDITIONING)
    assert step is not None  # a finished run has it
    found = records_of(data, step)
    samples = samples_of(data, step, found, p.cycle, at=p.sample_at)
    baseline = fmean(samples.variable.values[samples.first - 1 : samples.last])
    waits = tuple(_waits(data, p, baseline))
    longest = waits[-1]
    without = headline("pts_idle_recovery_baseline_iops", "without rests", [baseline], "IOPS")
    label = f"rests of {span_text(longest.idle_s)}"
    with_rests = headline("pts_idle_recovery_iops", label, [longest.mean_iops], "IOPS")
    unsteady = unproven(samples, (step.ordinal,))
    return PtsIdleRecoveryResult(
        **common(data, p),
        preconditioning=(preconditioning_of(p, NAME, samples, p.cycle * p.seconds),),
        stimuli=_stimuli(p),
        burst_s=p.burst_seconds,
        writes=found,
        samples=samples,
        baseline_iops=baseline,
        waits=waits,
        scalars=(
            without.resting(steps=(step.ordinal,), qualifiers=unsteady),
            with_rests.resting(steps=(longest.bursts.ordinal,), qualifiers=unsteady),
        ),
    )


def _bursts_label(p: PtsIdleRecoveryParams, rest: int) -> str:
    return f"bursts, {span_text(rest * p.burst_seconds)} apart"


def _group_label(p: PtsIdleRecoveryParams, rest: int) -> str:
    return f"before {_bursts_label(p, rest)}"


def _back_label(p: PtsIdleRecoveryParams, rest: int) -> str:
    return f"after rests of {span_text(rest * p.burst_seconds)}"


def _waits(data: RunData, p: PtsIdleRecoveryParams, baseline: float) -> Iterator[PtsWait]:
    begun = epochs_of(data)
    epochs = [begun.get(_group_label(p, rest)) for rest in p.rests]
    for rest, before, epoch in zip(p.rests, [epochs[0], *epochs], epochs, strict=False):
        resting, back = data.step(_bursts_label(p, rest)), data.step(_back_label(p, rest))
        assert resting is not None  # a finished run has both
        assert back is not None
        found = rested(records_of(data, resting), records_of(data, back), rest, p.burst_seconds, baseline)
        yield found.model_copy(update={"cut": True if epoch != before else None})


def _stimuli(p: PtsIdleRecoveryParams) -> tuple[Stimulus, ...]:
    """Return the bursts and the writes after them, as printed in the header of a page."""
    threads, depth = p.shape
    rests = ", ".join(span_text(rest * p.burst_seconds) for rest in p.rests)
    bursts, back = f"{p.bursts} bursts of {span_text(p.burst_seconds)} each", span_text(p.return_seconds)
    loads = ((f"{NAME}, bursts with rests of {rests}", bursts), (f"{NAME}, without rests", back))
    return tuple(Stimulus(what=what, threads=threads, depth=depth, lasted=lasted) for what, lasted in loads)


METHOD = Method(
    name="pts-host-idle-recovery",
    version=3,
    title="SNIA PTS: host idle recovery",
    params=PtsIdleRecoveryParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS_IDLE_RECOVERY,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    engine="uring",
    remarks=remarks_of_size("its bursts and rests are not scaled with it", pts_remarks),
)
