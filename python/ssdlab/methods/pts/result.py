"""Results of the tests in SNIA's performance test specification.

There are three groups: tests of rounds; tests of one long load (write saturation, idle and cross stimulus
recovery); and the demand tests (demand intensity, DIRTH, and the composite of block sizes, CBW).
"""

from __future__ import annotations

from operator import not_
from statistics import fmean
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from pydantic import Field

from ssdlab.analysis.percentiles import sayable
from ssdlab.analysis.steady_state import MIN_CAPACITIES
from ssdlab.plugin import (
    Doubted,
    Qualifier,
    ResultBase,
    Stored,
    absent,
    and_listed,
    block_text,
    of_rounds,
    significant,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.plugin import Variation


SPECIFICATION = "SNIA SSS PTS 2.0.2"
PointName = Literal["MaxIOPS", "MidIOPS", "MinIOPS"]
ACHIEVED = "achieved"


def too_few(samples: int) -> str:
    """Return the words that follow "steady state" if the samples are too few for a window."""
    return f"not assessed: {samples} {'sample is' if samples == 1 else 'samples are'} too few"


class Judgement(Doubted):
    """A judgement of steady state."""

    steady: bool = Field(description="by the rule, after enough writing, and not limited by the host")
    fills: float = Field(description="user capacities written from the purge to the end of the window")

    @property
    def judged(self) -> bool:
        """Whether steady state could be judged. A steady result counts as judged, in older runs too."""
        return self.steady or (self.fills >= MIN_CAPACITIES and not self.doubts)

    @property
    def verdict(self) -> str:
        """The verdict, in words that follow "steady state"."""
        if self.steady:
            return ACHIEVED
        if self.judged:
            return "NOT ACHIEVED"
        short = (f"only {significant(self.fills)} drive writes",) if self.fills < MIN_CAPACITIES else ()
        return f"not assessed: {and_listed((*(each.label for each in self.doubts), *short))}"


class SteadyWindow(Judgement):
    """A judgement of steady state, with its subject."""

    what: str = Field(description="its subject, for a sentence: 'the test', '128 KiB'")

    @classmethod
    def of(cls, what: str, found: Judgement) -> Self:
        return cls(what=what, steady=found.steady, fills=found.fills, doubts=found.doubts)


def unproven(found: Judgement, ordinals: Iterable[int]) -> tuple[Qualifier, ...]:
    """Return the qualifier of figures from a window, for these steps; none if the window is steady."""
    if found.steady:
        return ()
    why = f"steady state {found.verdict}"
    return (Qualifier(code="state-unproven", steps=tuple(sorted(ordinals)), why=why),)


T = TypeVar("T")


class FiveNines(Stored):
    """The 99.999 % response time over the I/Os of several rounds, with its evidence."""

    value_ns: float = Field(description="order statistic: the nearest rank")
    ios: int = Field(description="number of its I/Os")
    low_ns: float | None = Field(
        description="order statistic above which the true value lies; it and its counterpart enclose it at "
        "95 %; None: the I/Os are too few to say"
    )
    high_ns: float | None = Field(description="likewise below which")

    @property
    def is_exceeded(self) -> bool:
        """Whether an I/O lies beyond the value.

        With fewer than 100,000 I/Os the value is their maximum; a page then only says "≥ `low_ns`".
        """
        return sayable("99.999", self.ios, beyond=1)


def cell_label(read_pct: int, block_bytes: int) -> str:
    """Return the specification's name of a cell, from its R/W mix and block: ``65/35 8 KiB``."""
    return f"{read_pct}/{100 - read_pct} {block_text(block_bytes)}"


class PtsCell(Stored):
    """One access pattern, with its figures in every round."""

    read_pct: int
    block_bytes: int
    ordinals: tuple[int, ...] = ()
    iops: tuple[float, ...] = ()
    mb_s: tuple[float, ...] = ()
    mean_ns: tuple[float, ...] = Field(
        default=(), description="mean response time, reads and writes by count"
    )
    five_nines_ns: tuple[float | None, ...] = Field(
        default=(), description="99.999 % of each round; None: too few I/Os for it"
    )
    pooled: FiveNines | None = Field(
        default=None, description="of the I/Os of all reported rounds; None: the test does not report it"
    )
    max_ns: tuple[float | None, ...] = ()
    written_bytes: tuple[int, ...] = ()
    missing: str | None = Field(default=None, description="why it could not be measured")

    @property
    def name(self) -> str:
        """Name of the cell in a test's table, by which a tracked variable refers to it."""
        return cell_label(self.read_pct, self.block_bytes)


class TrackedVariable(Stored):
    """A tracked variable, and the steady-state rule's result in the window."""

    name: str
    unit: str
    values: tuple[float, ...] = Field(description="of each round")
    mean: float | None = None
    range_share: float | None = Field(default=None, description="largest minus smallest / mean; at most 0.20")
    rise_share: float | None = Field(
        default=None, description="rise or fall of the fitted line / mean; at most 0.10"
    )
    slope: float | None = Field(default=None, description="of the fitted line, a round")
    intercept: float | None = Field(
        default=None, description="of the fitted line, at the window's first round"
    )
    correlation: float | None = Field(
        default=None, description="of value and round in the window; None: the values are alike"
    )


class PtsRounds(Judgement):
    """The rounds of a group of cells."""

    group: str = Field(
        description="distinguishes it from other groups of the test; empty: it is the only one"
    )
    rounds: int
    cuts: tuple[int, ...] = Field(
        default=(),
        description="first rounds after an interruption that changed the drive's state; the window follows "
        "the last of them",
    )
    first: int = Field(description="first round of the window, from 1")
    last: int
    reported: tuple[int, int] = Field(description="first and last reported round of each cell")
    tracked: tuple[TrackedVariable, ...]
    cells: tuple[PtsCell, ...] = Field(description="in the written order of a round")

    @property
    def reports_window(self) -> bool:
        """Whether the reported rounds are those of the window, as in the specification."""
        return self.reported == (self.first, self.last)

    def reported_of(self, values: tuple[T, ...]) -> tuple[T, ...]:
        return values[self.reported[0] - 1 : self.reported[1]]

    def of_window(self, values: tuple[float, ...]) -> float | None:
        """Return the mean over the reported rounds."""
        found = self.reported_of(values)
        return fmean(found) if found else None

    def range_of(self, value: float | None, values: tuple[float, ...]) -> Variation | None:
        """Return how far a figure varies over the rounds of the window and the reported rounds."""
        first, last = min(self.first, self.reported[0]), max(self.last, self.reported[1])
        return of_rounds(value, values[first - 1 : last])

    def unproven(self, judged: Iterable[tuple[int, ...]]) -> tuple[Qualifier, ...]:
        """Return the qualifier of these rounds' figures; `judged` holds the steps of each tracked cell."""
        return unproven(self, (step for each in judged for step in each[self.first - 1 : self.last]))

    def max_of_window(self, values: tuple[float | None, ...]) -> float | None:
        """Return the greatest known value in the reported rounds."""
        found = [each for each in self.reported_of(values) if each is not None]
        return max(found, default=None)


class Stimulus(Stored):
    """A phase of a test, as printed in the header of its pages."""

    group: str = Field(default="", description="its group of the test; empty: all")
    dependent: bool = Field(
        default=False, description="of preconditioning: by the test's own load, until steady (WDPC)"
    )
    what: str = Field(description="access pattern and loops, e.g. 'RND 4 KiB 0/100'")
    threads: int | None = Field(default=None, description="thread count (TC)")
    depth: int | None = Field(default=None, description="I/Os in flight of each thread (QD)")
    lasted: str = Field(default="", description="amount, duration or rounds, e.g. '2 user capacities'")
    outcome: str = Field(default="", description="rounds of the steady window, or NOT ACHIEVED")


class PtsBase(ResultBase):
    """Base of every test's result, with the facts for the header of a page."""

    specification: str
    setting: Literal["PTS-E", "PTS-C"]
    threads: int
    depth: int = Field(description="I/Os in flight of each thread")
    active_range_pct: int
    active_range_bytes: int | None = Field(
        default=None, description="used part of the active range, by the parameters; None: not recorded"
    )
    open_points: tuple[str, ...] = Field(
        default=(),
        description="points that the standard leaves open, or that were not available, and what was done",
    )
    purged: bool
    fills: float = Field(description="user capacities written in the whole test")
    preconditioning: tuple[Stimulus, ...] = Field(
        default=(), description="workload-independent, and by the test's own load; empty: none"
    )
    stimuli: tuple[Stimulus, ...] = Field(default=(), description="what is measured, in order")
    left_out: tuple[str, ...] = Field(default=(), description="sizes or cells not measured")
    left_out_why: str = ""

    @property
    def standard(self) -> bool:
        """Whether the test is SNIA's own, not a review's variant."""
        return self.specification == SPECIFICATION

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """The steady-state judgements; empty if the test has none."""
        return ()

    @property
    def steady(self) -> bool | None:
        """Whether every judgement found steady state; None: the test has no judgement."""
        found = [window.steady for window in self.windows]
        return all(found) if found else None


class PtsResult(PtsBase):
    """The result of a test of rounds: IOPS, throughput or latency."""

    kind: Literal["pts"] = "pts"
    test: Literal["iops", "throughput", "latency"]
    seconds: float = Field(description="of a cell")
    groups: tuple[PtsRounds, ...]
    histogram_ordinal: int | None = Field(
        default=None, description="the step after steady state whose latencies are a histogram of their own"
    )

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        return tuple(SteadyWindow.of(each.group or "the test", each) for each in self.groups)


class PtsRecords(Stored):
    """A load, divided into records of equal length; each tuple has a value for each record."""

    ordinal: int
    seconds: float = Field(description="length of a record")
    iops: tuple[float, ...]
    mb_s: tuple[float, ...]
    mean_ns: tuple[float | None, ...] = Field(
        description="mean response time (ART), of exact sums; None: no I/O"
    )
    five_nines_ns: tuple[float | None, ...] = Field(
        description="99.999 %: the order statistic, for any number of I/Os; None: none"
    )
    max_ns: tuple[float | None, ...] = Field(description="maximum response time (MRT)")
    written_bytes: tuple[int, ...] = Field(description="in the record")
    ios: tuple[int, ...] = Field(default=(), description="response times counted")
    five_nines_low_ns: tuple[float | None, ...] = Field(
        default=(), description="order statistic above which the true 99.999 % lies; see `FiveNines`"
    )
    five_nines_high_ns: tuple[float | None, ...] = Field(default=(), description="likewise below which")

    def five_nines(self, at: int) -> FiveNines | None:
        """Return a record's 99.999 % response time with its evidence; None if unknown."""
        value = self.five_nines_ns[at]
        if value is None or not self.ios:
            return None
        low, high = self.five_nines_low_ns[at], self.five_nines_high_ns[at]
        return FiveNines(value_ns=value, ios=self.ios[at], low_ns=low, high_ns=high)

    @property
    def shown_five_nines_ns(self) -> tuple[float | None, ...]:
        """The 99.999 % of each record; None: unknown, or just the maximum of its I/Os."""
        found = (self.five_nines(at) for at in range(len(self.five_nines_ns)))
        return tuple(
            value if each is None or each.is_exceeded else None
            for value, each in zip(self.five_nines_ns, found, strict=True)
        )

    def ends_s(self) -> tuple[float, ...]:
        """Return the end of each record, in seconds from the start of the load."""
        return tuple((at + 1) * self.seconds for at in range(len(self.iops)))

    def total_bytes(self) -> tuple[int, ...]:
        """Return the bytes written by the end of each record."""
        totals, total = [], 0
        for each in self.written_bytes:
            total += each
            totals.append(total)
        return tuple(totals)


class PtsHistogram(Stored):
    """All response times of a period, in buckets."""

    seconds: float
    iops: float
    mb_s: float
    mean_ns: float | None
    percentiles_ns: dict[str, float | None] = Field(
        description="99.9, 99.99 and 99.999 %: order statistics, however few the I/Os"
    )
    bounds_ns: dict[str, tuple[float | None, float | None]] = Field(
        default={},
        description="for each, the 95 % bounds of the true value; None: too few I/Os",
    )
    max_ns: float | None
    low_ns: tuple[int, ...] = Field(description="lower edge of each bucket")
    high_ns: tuple[int, ...] = Field(description="its upper edge, which does not belong to it")
    count: tuple[int, ...]

    @property
    def shown_ns(self) -> dict[str, float | None]:
        """The percentiles that at least one I/O lies beyond; None: it is just the maximum, or unknown."""
        total = sum(self.count)
        return {
            name: value if sayable(name, total, beyond=1) else None
            for name, value in self.percentiles_ns.items()
        }


class PtsSamples(Judgement):
    """Samples of a load, by which steady state is judged."""

    first: int = Field(description="first sample of the window, from 1")
    last: int
    every: int = Field(description="records from one sample to the next")
    at: int = Field(description="the first sample's record, from 0")
    variable: TrackedVariable

    @property
    def verdict(self) -> str:
        if self.variable.mean is None:
            return too_few(len(self.variable.values))
        return super().verdict


class PtsSeriesResult(PtsBase):
    """Base of the results of tests with one long load."""

    capacity_bytes: int = Field(description="user capacity: one drive fill")


class PtsSaturationResult(PtsSeriesResult):
    """Write saturation: from the fresh drive until one of three conditions stops it."""

    kind: Literal["pts-saturation"] = "pts-saturation"
    stimulus: str = Field(description="as the specification writes it: RND 4 KiB 0/100")
    reason: Literal["steady", "capacity", "time"] | None = Field(
        description="its stop condition; None: interrupted"
    )
    ended: int = Field(description="records until then; later ones are for the histogram")
    samples: PtsSamples
    records: PtsRecords
    histogram: PtsHistogram | None = Field(
        description="of the writes that followed without a pause; None: interrupted"
    )

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """The window of the samples; empty if there are too few samples."""
        found = self.samples
        judged = found.variable.mean is not None
        return (SteadyWindow.of("the test", found),) if judged else ()


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
        description="from the start of the third load until a record reached the first load's mean; None: "
        "not reached"
    )


class PtsWait(Stored):
    """Bursts separated by rests of one length, and the return to the baseline after them."""

    idle_s: float = Field(description="each rest")
    cut: bool | None = Field(
        default=None,
        exclude_if=absent,
        description="whether the drive was preconditioned again before it, after an interruption; absent: no",
    )
    bursts: PtsRecords = Field(
        description="a record for each burst, without the rests; the first follows no rest"
    )
    mean_iops: float = Field(description="of the bursts that follow a rest")
    mean_ns: float | None = Field(description="mean response time of these bursts, by their I/Os")
    max_ns: float | None = Field(description="of these bursts")
    of_baseline: float = Field(description="mean IOPS of these bursts / baseline")
    back: PtsRecords = Field(description="the following writing without rests")
    back_iops: float = Field(description="mean of its last tenth")


class PtsIdleRecoveryResult(PtsSeriesResult):
    """Host idle recovery: how far idle periods restore the drive's performance."""

    kind: Literal["pts-idle-recovery"] = "pts-idle-recovery"
    burst_s: float
    writes: PtsRecords = Field(description="of the preconditioning")
    samples: PtsSamples = Field(description="of the preconditioning; the mean of its window is the baseline")
    baseline_iops: float
    waits: tuple[PtsWait, ...]

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        return (SteadyWindow.of("the preconditioning", self.samples),)


class BlockShare(Stored):
    """A block size and its share of the I/Os."""

    block_bytes: int
    share: float = Field(description="of the I/Os, 0 to 1")


class RangeShare(Stored):
    """A range of the LBAs in use, and its share of the I/Os."""

    range_share: float = Field(description="of the LBAs in use, 0 to 1")
    share: float = Field(description="of the I/Os, 0 to 1")


class DemandCell(Stored):
    """One demand, with its values in every round."""

    threads: int = Field(description="TC")
    depth: int = Field(description="QD: I/Os in flight of each thread")
    ordinals: tuple[int, ...]
    iops: tuple[float, ...] = Field(description="reads and writes together")
    mb_s: tuple[float, ...]
    mean_ns: tuple[float, ...] = Field(description="ART, reads and writes by count")
    five_nines_ns: tuple[float | None, ...] = Field(description="99.999 %; None: too few I/Os for it")
    max_ns: tuple[float | None, ...] = Field(description="MRT")
    cpu_busy_share: tuple[float | None, ...] = Field(
        description="busy share of all CPUs of the host, 0 to 1; None: not known"
    )

    @property
    def in_flight(self) -> int:
        """Total outstanding I/Os (TOIO)."""
        return self.threads * self.depth


class DemandPoint(Stored):
    """MaxIOPS, MidIOPS or MinIOPS: a demand of the grid, with its response times."""

    name: PointName
    missing: str | None = Field(default=None, description="why there is none; all below is then empty")
    threads: int = 0
    depth: int = 0
    window_iops: float = Field(default=0.0, description="in the grid: mean of the measurement window")
    window_mean_ns: float = Field(default=0.0, description="ART in the grid: mean of the window")
    pre_write_ordinal: int | None = None
    ordinal: int | None = Field(default=None, description="the step of the histogram")
    histogram: PtsHistogram | None = None


class DemandResult(PtsSeriesResult):
    """A grid of thread counts and depths in steady state, and response times at three of its demands.

    Threads and depth of the base class describe preconditioning and pre-writes.
    """

    kind: Literal["pts-demand"] = "pts-demand"
    test: Literal["demand-intensity", "composite"]
    seconds: float = Field(description="of a cell, and of a record of the preconditioning")
    simulated: bool = Field(description="by a simulated drive: the host's CPU has no part in the figures")
    read_pct: int = Field(description="share of reads in the grid and the histograms (RW1)")
    blocks: tuple[BlockShare, ...]
    ranges: tuple[RangeShare, ...] = Field(description="empty: every LBA in use is equally likely")
    writes: PtsRecords = Field(description="the preconditioning, record by record")
    samples: PtsSamples = Field(description="of the preconditioning: the first record of each cycle")
    rounds: PtsRounds = Field(description="the loop; its cells are those of the result")
    pre_writes: DemandCell = Field(description="before every round")
    cells: tuple[DemandCell, ...] = Field(description="in the written order of a round")
    art_limit_ms: float = Field(description="that the ART of MaxIOPS and MidIOPS stays below")
    points: tuple[DemandPoint, ...]
    measured_anew: tuple[PointName, ...] = Field(
        default=(),
        exclude_if=not_,
        description="points that were measured when the state of the window had been lost and made again",
    )
    unwritten_share: float | None = Field(
        default=None,
        exclude_if=absent,
        description="of the reads, at most, that went where nothing was written since the purge; absent: few",
    )

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        return (
            SteadyWindow.of("the preconditioning", self.samples),
            SteadyWindow.of("the rounds", self.rounds),
        )
