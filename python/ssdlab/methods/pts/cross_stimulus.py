"""SNIA's cross stimulus recovery test: sequential, then random, then sequential writes again.

Question
    How fast a drive returns to its sequential speed after hours of random writes.

Procedure
    1. Set the write cache as the setting says, and purge. The drive is not written before the test.
    2. Without pauses: 8 hours of 1024 KiB sequential writes, 6 hours of 8 KiB random writes, and 8 hours of
       1024 KiB sequential writes again; one thread with 32 I/Os in flight, a record per minute. Nothing
       waits for steady state.

    For each load, the result gives its last record, its mean, and the largest mean and maximum response
    time of a record. For the third load, it also gives the time until a record first reached the mean of
    the first load.

Source
    SNIA SSS PTS 2.0.2, cross stimulus recovery. Durations, thread count and depth follow open
    implementations of 2.0.

What it cannot show
    Recovery to the sustained speed: the first load starts on a purged drive, and its mean includes the
    fresh state. A drive that is faster while fresh must then reach more than it sustains. On a real drive a
    fraction of a second passes from the last I/O of one load to the first of the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from ssdlab.plugin import Method, RunData, Seconds, param, span_text

from . import PTS_CROSS_STIMULUS
from .result import PtsCrossStimulusResult, PtsStimulus, Stimulus
from .series import common, headline, load, load_name, records_of
from .specification import KIB, PtsParams, begin, pts_remarks

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class PtsCrossStimulusParams(PtsParams):
    left_open: ClassVar[tuple[str, ...]] = (
        "thread count and depth: here 1 and 32",
        "the plots of 2.0, and the number of the section",
    )

    threads: int = param(1, "thread count (TC)", unit="threads", ge=1, le=512)
    depth: int = param(32, "I/Os in flight per thread (QD)", ge=1, le=4096)
    seconds: Seconds = param(60.0, "length of a record", unit="s", quick=0.1, ge=0.05, le=3600)
    sequential_seconds: Seconds = param(
        28_800.0, "duration of each of the two sequential loads", unit="s", quick=2.0, gt=0
    )
    random_seconds: Seconds = param(
        21_600.0, "duration of the random load between them", unit="s", quick=2.0, gt=0
    )

    @property
    def recommended(self) -> tuple[int, int]:
        return (1, 32)

    @property
    def loads(self) -> tuple[tuple[str, bool, int, float], ...]:
        """The three loads in order: label, whether random, block size in bytes, seconds."""
        sequential, mixed_in = (
            (False, 1024 * KIB, self.sequential_seconds),
            (True, 8 * KIB, self.random_seconds),
        )
        return ("group 1", *sequential), ("group 2", *mixed_in), ("group 3", *sequential)


def procedure(lab: Lab, p: PtsCrossStimulusParams) -> None:
    begin(lab, p)
    with lab.on_interruption("from-purge"):
        for label, random, block_bytes, seconds in p.loads:
            workload = load(p, 0, block_bytes, seconds, record_s=p.seconds, random=random)
            lab.run(workload, label=label)


def conclude(data: RunData, p: PtsCrossStimulusParams) -> PtsCrossStimulusResult:
    groups = tuple(_group(data, p))
    back = groups[-1].records
    end = headline("pts_cross_stimulus_mb_s", "end of the third load", back.mb_s[-1:], "MB/s")
    return PtsCrossStimulusResult(
        **common(data, p),
        stimuli=tuple(
            Stimulus(what=each.name, threads=p.shape[0], depth=p.shape[1], lasted=span_text(seconds))
            for each, (*_, seconds) in zip(groups, p.loads, strict=True)
        ),
        groups=groups,
        recovery_s=recovery_s(back.mb_s, groups[0].mean_mb_s, back.seconds),
        scalars=(end.resting(steps=(back.ordinal,)),),
    )


def _group(data: RunData, p: PtsCrossStimulusParams) -> Iterator[PtsStimulus]:
    for label, random, block_bytes, _ in p.loads:
        step = data.step(label)
        assert step is not None  # a finished run has all three
        yield PtsStimulus.of(load_name(0, block_bytes, random=random), records_of(data, step))


def recovery_s(values: Sequence[float], level: float, record_s: float) -> float | None:
    """Return when the first record that reaches `level` ends, in seconds from the start of the records.

    Later records can fall below the level again, because garbage collection is uneven. A rule over several
    records would need a length that the standard does not give.

    Returns
    -------
    float or None
        None if no record reaches the level.
    """
    return next((number * record_s for number, value in enumerate(values, 1) if value >= level), None)


METHOD = Method(
    name="pts-cross-stimulus-recovery",
    version=1,
    title="SNIA PTS: cross stimulus recovery",
    params=PtsCrossStimulusParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS_CROSS_STIMULUS,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    engine="uring",
    remarks=pts_remarks,
)
