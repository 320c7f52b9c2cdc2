"""Results of SNIA's performance test specification."""

from __future__ import annotations

from statistics import fmean
from typing import Literal

from pydantic import Field

from ssdlab.results.schema import ResultBase
from ssdlab.results.stored import Stored


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


class PtsRounds(Stored):
    """The rounds of one group of cells."""

    group: str = Field(description="what tells it from the other groups of the test; empty: it has one")
    rounds: int
    steady: bool
    first: int = Field(description="first round of the window, from 1")
    last: int
    tracked: tuple[TrackedVariable, ...]
    cells: tuple[PtsCell, ...] = Field(description="in the written order of a round")

    def of_window(self, values: tuple[float, ...]) -> float | None:
        """Return the mean over the rounds of the window: what the specification reports of a cell."""
        found = values[self.first - 1 : self.last]
        return fmean(found) if found else None

    def most_of_window(self, values: tuple[float | None, ...]) -> float | None:
        """Return the greatest value within the window."""
        found = [each for each in values[self.first - 1 : self.last] if each is not None]
        return max(found, default=None)


class PtsResult(ResultBase):
    """A test of rounds: IOPS, throughput or latency."""

    kind: Literal["pts"] = "pts"
    test: Literal["iops", "throughput", "latency"]
    specification: str
    setting: Literal["PTS-E", "PTS-C"]
    threads: int
    depth: int = Field(description="I/Os in flight of each thread")
    active_range_pct: int
    seconds: float = Field(description="of a cell")
    groups: tuple[PtsRounds, ...]
    purged: bool
    fills: float = Field(description="user capacities written before the end of the last round")
    histogram_ordinal: int | None = Field(
        default=None, description="the step after steady state whose latencies are a histogram of their own"
    )

    @property
    def steady(self) -> bool:
        """Whether every group reached steady state."""
        return all(each.steady for each in self.groups)
