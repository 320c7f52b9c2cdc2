"""The rounds of a test of SNIA's specification: cells, what is tracked of them, and the window."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from ssdlab.plugin import Stored, block_text, of_rounds

from .judgement import Judgement, unproven

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.plugin import Qualifier, Variation

T = TypeVar("T")


class FiveNines(Stored):
    """The 99.999 % response time of the I/Os of several rounds together, and what it stands on."""

    value_ns: float = Field(description="order statistic: the nearest rank")
    ios: int = Field(description="how many I/Os it is of")
    low_ns: float | None = Field(
        description="order statistic above which the true value lies; it and its counterpart enclose it at "
        "95 %; None: the I/Os are too few to say"
    )
    high_ns: float | None = Field(description="likewise below which")


def cell_label(read_pct: int, block_bytes: int) -> str:
    """Return a cell's name as the specification writes it: R/W mix and block."""
    return f"{read_pct}/{100 - read_pct} {block_text(block_bytes)}"


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
        """What it is called in the table of a test, and as a variable that is tracked."""
        return cell_label(self.read_pct, self.block_bytes)


class TrackedVariable(Stored):
    """A variable that steady state is judged by, and what the rule finds in the window."""

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
    """The rounds of one group of cells."""

    group: str = Field(description="what tells it from the other groups of the test; empty: it has one")
    rounds: int
    cuts: tuple[int, ...] = Field(
        default=(),
        description="rounds that were the first after an interruption which let the drive's state change: "
        "the window is of rounds after the last of them",
    )
    first: int = Field(description="first round of the window, from 1")
    last: int
    reported: tuple[int, int] = Field(description="first and last round whose mean is given of each cell")
    tracked: tuple[TrackedVariable, ...]
    cells: tuple[PtsCell, ...] = Field(description="in the written order of a round")

    def reported_of(self, values: tuple[T, ...]) -> tuple[T, ...]:
        """Return what of a cell's values, one of each round, is reported."""
        return values[self.reported[0] - 1 : self.reported[1]]

    def of_window(self, values: tuple[float, ...]) -> float | None:
        """Return the mean over the reported rounds; by the specification those of the window."""
        found = self.reported_of(values)
        return fmean(found) if found else None

    def range_of(self, value: float | None, values: tuple[float, ...]) -> Variation | None:
        """Return how far a figure varies over the rounds of the window and those that are reported."""
        first, last = min(self.first, self.reported[0]), max(self.last, self.reported[1])
        return of_rounds(value, values[first - 1 : last])

    def unproven(self, judged: Iterable[tuple[int, ...]]) -> tuple[Qualifier, ...]:
        """Return what stands with figures of these rounds; `judged` has the steps of each tracked cell."""
        return unproven(self, (step for each in judged for step in each[self.first - 1 : self.last]))

    def max_of_window(self, values: tuple[float | None, ...]) -> float | None:
        """Return the greatest value within the reported rounds."""
        found = [each for each in self.reported_of(values) if each is not None]
        return max(found, default=None)
