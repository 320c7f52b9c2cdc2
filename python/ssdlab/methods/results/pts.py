"""Results of SNIA's performance test specification."""

from __future__ import annotations

from statistics import fmean
from typing import Literal

from pydantic import Field

from ssdlab.model.stored import Stored
from ssdlab.results.schema import ResultBase


class PtsCell(Stored):
    """One access pattern: its figures in every round."""

    read_pct: int
    block_bytes: int
    ordinals: tuple[int, ...] = ()
    iops: tuple[float, ...] = ()
    mb_s: tuple[float, ...] = ()
    mean_ns: tuple[float, ...] = Field(
        default=(), description="mean response time, reads and writes by count"
    )
    five_nines_ns: tuple[float | None, ...] = Field(
        default=(), description="99.999 %; None: too few I/Os for it"
    )
    max_ns: tuple[float | None, ...] = ()
    written_bytes: tuple[int, ...] = ()
    missing: str | None = Field(default=None, description="why it could not be measured")


class TrackedVariable(Stored):
    """A variable that steady state is judged by, and what the rule finds in the window."""

    name: str
    unit: str
    values: tuple[float, ...] = Field(description="of each round")
    mean: float | None = None
    range_share: float | None = Field(default=None, description="largest minus smallest / mean; at most 0.20")
    rise_share: float | None = Field(default=None, description="rise of the fitted line / mean; at most 0.10")
    slope: float | None = Field(default=None, description="of the fitted line, a round")
    intercept: float | None = Field(
        default=None, description="of the fitted line, at the window's first round"
    )
    correlation: float | None = Field(
        default=None, description="of value and round in the window; None: the values are alike"
    )


class PtsRounds(Stored):
    """The rounds of one group of cells."""

    group: str = Field(description="what tells it from the other groups of the test; empty: it has one")
    rounds: int
    steady: bool
    first: int = Field(description="first round of the window, from 1")
    last: int
    reported: tuple[int, int] = Field(description="first and last round whose mean is given of each cell")
    fills: float = Field(description="user capacities written from the purge to the end of the window")
    tracked: tuple[TrackedVariable, ...]
    cells: tuple[PtsCell, ...] = Field(description="in the written order of a round")

    def of_window(self, values: tuple[float, ...]) -> float | None:
        """Return the mean over the reported rounds; by the specification those of the window."""
        found = values[self.reported[0] - 1 : self.reported[1]]
        return fmean(found) if found else None

    def most_of_window(self, values: tuple[float | None, ...]) -> float | None:
        """Return the greatest value within the reported rounds."""
        found = [each for each in values[self.reported[0] - 1 : self.reported[1]] if each is not None]
        return max(found, default=None)


class Stimulus(Stored):
    """What a test does to the drive in one of its phases, as the header of its pages prints it."""

    group: str = Field(default="", description="group of the test that it belongs to; empty: all")
    dependent: bool = Field(
        default=False, description="of preconditioning: by the test's own load, until steady (WDPC)"
    )
    what: str = Field(description="access pattern and loops, e.g. 'RND 4 KiB 0/100'")
    threads: int | None = Field(default=None, description="thread count (TC)")
    depth: int | None = Field(default=None, description="I/Os in flight of each thread (QD)")
    lasted: str = Field(default="", description="amount, duration or rounds, e.g. '2 user capacities'")
    outcome: str = Field(default="", description="rounds of the steady window, or NOT ACHIEVED")


class PtsBase(ResultBase):
    """What every test of the specification has, and the header of its pages needs."""

    specification: str
    setting: Literal["PTS-E", "PTS-C"]
    threads: int
    depth: int = Field(description="I/Os in flight of each thread")
    active_range_pct: int
    purged: bool
    fills: float = Field(description="user capacities written in the whole test")
    preconditioning: tuple[Stimulus, ...] = Field(
        default=(), description="workload-independent, and by the test's own load; empty: none"
    )
    stimuli: tuple[Stimulus, ...] = Field(default=(), description="what is measured, in its order")
    left_out: tuple[str, ...] = Field(default=(), description="sizes or cells that were not measured")
    left_out_why: str = ""

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """The judgements of steady state; none of a test that has none."""
        return ()

    @property
    def steady(self) -> bool | None:
        """Whether steady state was achieved wherever it is judged; None: the test judges none."""
        found = [window.steady for window in self.windows]
        return all(found) if found else None


class SteadyWindow(Stored):
    """One judgement of steady state."""

    what: str = Field(description="of what, for a sentence: 'the test', '128 KiB'")
    steady: bool
    fills: float = Field(description="user capacities written from the purge to the end of the window")


class PtsResult(PtsBase):
    """A test of rounds: IOPS, throughput or latency."""

    kind: Literal["pts"] = "pts"
    test: Literal["iops", "throughput", "latency"]
    seconds: float = Field(description="of a cell")
    groups: tuple[PtsRounds, ...]
    histogram_ordinal: int | None = Field(
        default=None, description="the step after steady state whose latencies are a histogram of their own"
    )

    @property
    def windows(self) -> tuple[SteadyWindow, ...]:
        """One of each group."""
        return tuple(
            SteadyWindow(what=each.group or "the test", steady=each.steady, fills=each.fills)
            for each in self.groups
        )
