"""Results of SNIA's tests of one long load: write saturation, idle and cross stimulus recovery."""

from __future__ import annotations

from statistics import fmean
from typing import Literal, Self

from pydantic import Field

from ssdlab.methods.results.pts import PtsBase, SteadyWindow, TrackedVariable
from ssdlab.model.stored import Stored


class PtsRecords(Stored):
    """A load record by record, each of equal length; the tuples have an entry for each."""

    ordinal: int
    seconds: float = Field(description="length of a record")
    iops: tuple[float, ...]
    mb_s: tuple[float, ...]
    mean_ns: tuple[float | None, ...] = Field(
        description="mean response time (ART), of a histogram: exact to 0.8 %; None: no I/O"
    )
    five_nines_ns: tuple[float | None, ...] = Field(description="99.999 %; None: too few I/Os for it")
    max_ns: tuple[float | None, ...] = Field(description="maximum response time (MRT)")
    written_bytes: tuple[int, ...] = Field(description="in the record")

    def ends_s(self) -> tuple[float, ...]:
        """Return when each record ends, from the beginning of the load."""
        return tuple((at + 1) * self.seconds for at in range(len(self.iops)))

    def total_bytes(self) -> tuple[int, ...]:
        """Return what was written by the end of each record."""
        totals, total = [], 0
        for each in self.written_bytes:
            total += each
            totals.append(total)
        return tuple(totals)


class PtsHistogram(Stored):
    """All response times of a stretch, in buckets."""

    seconds: float
    iops: float
    mb_s: float
    mean_ns: float | None
    percentiles_ns: dict[str, float | None] = Field(
        description="99.9, 99.99 and 99.999 %; None: too few I/Os"
    )
    max_ns: float | None
    low_ns: tuple[int, ...] = Field(description="lower edge of each bucket")
    high_ns: tuple[int, ...] = Field(description="its upper edge, which does not belong to it")
    count: tuple[int, ...]


class PtsSamples(Stored):
    """Samples of a load by which steady state is judged."""

    steady: bool
    first: int = Field(description="first sample of the window, from 1")
    last: int
    every: int = Field(description="records from one sample to the next")
    at: int = Field(description="the first sample's record, from 0")
    variable: TrackedVariable
    fills: float = Field(description="user capacities written by the end of the window")


class PtsSeriesResult(PtsBase):
    """What these tests have in common."""

    capacity_bytes: int = Field(description="user capacity: one drive fill")


class PtsSaturationResult(PtsSeriesResult):
    """Write saturation: from the fresh drive on until one of three reasons ends it."""

    kind: Literal["pts-saturation"] = "pts-saturation"
    stimulus: str = Field(description="as the specification writes it: RND 4 KiB 0/100")
    reason: Literal["steady", "capacity", "time"] | None = Field(
        description="what ended it; None: it was cut short"
    )
    ended: int = Field(description="records until then; those after it are of the histogram")
    samples: PtsSamples
    records: PtsRecords
    histogram: PtsHistogram | None = Field(description="of what followed without a pause; None: cut short")

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """That of the samples; none where there were too few to judge."""
        found = self.samples
        judged = found.variable.mean is not None
        return (SteadyWindow(what="the test", steady=found.steady, fills=found.fills),) if judged else ()


class PtsStimulus(Stored):
    """One of the three loads of cross stimulus recovery."""

    name: str = Field(description="as the specification writes it: SEQ 1 MiB 0/100")
    records: PtsRecords
    mean_mb_s: float
    end_mb_s: float = Field(description="of its last record")
    peak_mean_ns: float | None = Field(description="largest mean response time of a record")
    peak_max_ns: float | None = Field(description="largest response time")

    @classmethod
    def of(cls, name: str, records: PtsRecords) -> Self:
        """Sum a load's records up."""
        return cls(
            name=name,
            records=records,
            mean_mb_s=fmean(records.mb_s) if records.mb_s else 0.0,
            end_mb_s=records.mb_s[-1] if records.mb_s else 0.0,
            peak_mean_ns=max((each for each in records.mean_ns if each is not None), default=None),
            peak_max_ns=max((each for each in records.max_ns if each is not None), default=None),
        )


class PtsCrossStimulusResult(PtsSeriesResult):
    """Cross stimulus recovery: sequential, random, and sequential writes again."""

    kind: Literal["pts-cross-stimulus"] = "pts-cross-stimulus"
    groups: tuple[PtsStimulus, ...]
    recovery_s: float | None = Field(
        description="from the beginning of the third load until a record of it reached the first's mean; "
        "None: not yet"
    )


class PtsWait(Stored):
    """Bursts with rests of one length between them, and the return to the baseline after them."""

    idle_s: float = Field(description="each rest")
    bursts: PtsRecords = Field(description="a record for each burst, without the rests")
    mean_iops: float
    mean_ns: float | None = Field(description="mean response time of the bursts, by their I/Os")
    max_ns: float | None
    of_baseline: float = Field(description="mean IOPS of the bursts / baseline")
    back: PtsRecords = Field(description="the writing without rests that follows")
    back_iops: float = Field(description="mean of its last tenth")


class PtsIdleRecoveryResult(PtsSeriesResult):
    """Host idle recovery: what rests of the host give back to the drive."""

    kind: Literal["pts-idle-recovery"] = "pts-idle-recovery"
    burst_s: float
    writes: PtsRecords = Field(description="of the preconditioning")
    samples: PtsSamples = Field(description="of the preconditioning; the mean of its window is the baseline")
    baseline_iops: float
    waits: tuple[PtsWait, ...]

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """That of the preconditioning."""
        return (
            SteadyWindow(what="the preconditioning", steady=self.samples.steady, fills=self.samples.fills),
        )
