"""SNIA's write saturation test: random writes from the fresh drive until it is saturated.

Question
    How random writes slow down from the fresh state on, and their rate when the drive is full.

Procedure
    1. Set the write cache as the setting says, and purge. The drive is not written before the test.
    2. 4 KiB random writes without a pause, with a record per minute: IOPS, MB/s, mean, 99.999 % and maximum
       response time, bytes written so far. They end after 4 user capacities, after 6 hours, or in steady
       state, whichever comes first. Steady state is judged by the minute after each half hour. Five of
       these in a row must be steady, which takes at least 155 minutes.
    3. The same load continues for 20 minutes, with every response time in a histogram.

    An optional stimulus replaces the writes.

Source
    SNIA SSS PTS 2.0.2, section 10; the optional stimuli come from open implementations of 2.0.

What it cannot show
    Steady state of a drive that is large for its speed. In this time it is not written even once, and may
    be steady as a fresh drive. The result gives the number of drive writes, and warns below 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ssdlab.analysis.write_saturation import REASONS, Ended, StopRule, ended
from ssdlab.plugin import (
    Block,
    Method,
    Seconds,
    Sequential,
    Uniform,
    Until,
    block_text,
    of_rounds,
    param,
    span_text,
)

from . import PTS_SATURATION
from .composite import PtsCompositeParams
from .composite import load_of as composite_load
from .result import PtsSaturationResult, Stimulus, unproven
from .rounds import needed
from .series import (
    Load,
    common,
    headline,
    histogram_of,
    load_name,
    picked,
    records_of,
    samples_of,
    written_rows,
)
from .specification import KIB, PtsParams, begin, pts_remarks

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunData


Stimuli = Literal[
    "random-4k-write", "random-8k-oltp", "sequential-128k-video", "sequential-512-metadata", "composite"
]
ACCESSES: dict[Stimuli, tuple[int, int, bool]] = {
    "random-4k-write": (0, 4 * KIB, True),
    "random-8k-oltp": (65, 8 * KIB, True),
    "sequential-128k-video": (90, 128 * KIB, False),
    "sequential-512-metadata": (50, KIB // 2, False),
}
"""Share of reads in percent, block size, and whether random, of each stimulus with one block size."""
LABEL = "saturation and histogram"


class PtsWriteSaturationParams(PtsParams):
    choices: ClassVar[frozenset[str]] = PtsParams.choices | {"stimulus"}
    allowed: ClassVar[Mapping[str, frozenset[object]]] = {"most_seconds": frozenset({86_400.0})}

    seconds: Seconds = param(60.0, "length of a record", unit="s", quick=0.1, ge=0.05, le=3600)
    stimulus: Stimuli = param("random-4k-write", "the load: the test's own, or an optional one")
    capacities: float = param(
        4.0, "amount written after which the test ends", unit="user capacities", gt=0, le=100
    )
    most_seconds: Seconds = param(
        21_600.0,
        "maximum time: 6 h, or the 24 h that the specification also allows",
        unit="s",
        quick=16.0,
        gt=0,
        le=86_400,
    )
    cycle: int = param(
        31,
        "records from one sample to the next: half an hour of load, and the minute that counts",
        unit="records",
        ge=1,
        le=1440,
    )
    until_steady: bool = param(True, "end when five samples in a row are steady")
    histogram_seconds: Seconds = param(
        1200.0, "duration of the histogram, of the same load", unit="s", quick=2.0, gt=0, le=86_400
    )

    @property
    def recommended(self) -> None:
        """None: the operator chooses thread count and depth."""

    @property
    def histogram_records(self) -> int:
        return max(1, round(self.histogram_seconds / self.seconds))

    def rule(self, capacity_bytes: int) -> StopRule:
        records = max(1, round(self.most_seconds / self.seconds))
        return StopRule(round(self.capacities * capacity_bytes), records, self.cycle, self.until_steady)


def procedure(lab: Lab, p: PtsWriteSaturationParams) -> None:
    begin(lab, p)
    rule = p.rule(lab.capacity_bytes)
    load = load_of(p.stimulus, lab.logical_block_bytes)
    seconds = (rule.records + p.histogram_records) * p.seconds
    workload = load.workload(p.shape, seconds, record_s=p.seconds)

    def holds(rows: Sequence[Any]) -> bool:
        end = ended(*written_rows(rows), rule)
        return end is not None and len(rows) >= end.records + p.histogram_records

    bounds = {"written_bytes": rule.written_bytes, "records": rule.records, "cycle": rule.cycle}
    until = Until("saturated", {**bounds, "steady": rule.steady, "after": p.histogram_records}, holds)
    lab.run(workload, label=LABEL, until=until, policy="from-purge")


def load_of(stimulus: Stimuli, logical_block_bytes: int) -> Load:
    if stimulus == "composite":
        composite = PtsCompositeParams()
        found = composite_load(composite, logical_block_bytes)
        return replace(found, name=f"CBW {composite.read_pct}/{100 - composite.read_pct}")
    read_pct, block_bytes, random = ACCESSES[stimulus]
    name = load_name(read_pct, block_bytes, random=random)
    return Load(name, read_pct, (Block(bytes=block_bytes),), Uniform() if random else Sequential())


def stimuli_of(p: PtsWriteSaturationParams, name: str, end: Ended | None, until: int) -> tuple[Stimulus, ...]:
    """Return the load and the histogram, as printed in the header of a page."""
    threads, depth = p.shape
    saturating = Stimulus(
        what=name,
        threads=threads,
        depth=depth,
        lasted=span_text(until * p.seconds),
        outcome="cut short" if end is None else f"ended by {REASONS[end.reason]}",
    )
    lasted = span_text(p.histogram_records * p.seconds)
    histogram = Stimulus(what=f"{name}, histogram", threads=threads, depth=depth, lasted=lasted)
    return saturating, histogram


def conclude(data: RunData, p: PtsWriteSaturationParams) -> PtsSaturationResult:
    step = data.step(LABEL)
    assert step is not None  # a finished run has it
    found, rule = records_of(data, step), p.rule(data.capacity_bytes)
    end = ended(found.iops, found.written_bytes, rule)
    until = end.records if end is not None else len(found.iops)
    records = picked(found, range(until))
    judged = samples_of(data, step, records, p.cycle)
    load = load_of(p.stimulus, data.logical_block_bytes)
    last = headline("pts_write_saturation_iops", "last record", records.iops[-1:], "IOPS")
    return PtsSaturationResult(
        **common(data, p),
        stimuli=stimuli_of(p, load.name, end, until),
        left_out=tuple(block_text(each) for each in load.left_out_bytes),
        left_out_why=next((needed(each, data.logical_block_bytes) for each in load.left_out_bytes), ""),
        stimulus=load.name,
        reason=None if end is None else end.reason,
        ended=until,
        samples=judged,
        records=found,
        histogram=None if end is None else histogram_of(data, step, found, until),
        scalars=(
            last.resting(
                steps=(step.ordinal,),
                varies=of_rounds(last.value, judged.variable.values[judged.first - 1 : judged.last]),
                qualifiers=unproven(judged, (step.ordinal,)),
            ),
        ),
    )


METHOD = Method(
    name="pts-write-saturation",
    version=1,
    title="SNIA PTS: write saturation",
    params=PtsWriteSaturationParams,
    procedure=procedure,
    conclude=conclude,
    result=PTS_SATURATION,
    writes=lambda p: True,
    needs=("purged",),
    conditions={"scheduler": "none"},
    engine="uring",
    remarks=pts_remarks,
    reads_unwritten=True,
)
