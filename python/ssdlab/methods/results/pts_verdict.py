"""The verdict on SNIA's steady state in words: achieved, NOT ACHIEVED, or not judged."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from ssdlab.analysis.steady_state import MIN_CAPACITIES
from ssdlab.model.stored import Stored
from ssdlab.model.units import significant

ACHIEVED = "achieved"


def can_judge(*, steady: bool, fills: float) -> bool:
    """Whether enough was written to tell; what is called steady was judged, whatever older runs counted."""
    return steady or fills >= MIN_CAPACITIES


def verdict_of(*, steady: bool, fills: float) -> str:
    """Return what follows "steady state"; `fills` are the user capacities written until then."""
    if steady:
        return ACHIEVED
    if not can_judge(steady=steady, fills=fills):
        return f"not judged after {significant(fills)} user capacities"
    return "NOT ACHIEVED"


def too_few(samples: int) -> str:
    """Return what follows "steady state" where so many samples make no window."""
    return f"not judged: {samples} {'sample is' if samples == 1 else 'samples are'} too few"


class SteadyWindow(Stored):
    """One judgement of steady state."""

    what: str = Field(description="of what, for a sentence: 'the test', '128 KiB'")
    steady: bool
    fills: float = Field(description="user capacities written from the purge to the end of the window")

    @property
    def verdict(self) -> str:
        """What follows "steady state"."""
        return verdict_of(steady=self.steady, fills=self.fills)


def gravest(windows: Iterable[SteadyWindow]) -> str:
    """Return the verdict on windows that an average over them has; empty where all are steady.

    One that is NOT ACHIEVED is not hidden by one that could not be judged.
    """
    failed = [each for each in windows if not each.steady]
    failed.sort(key=lambda each: not can_judge(steady=each.steady, fills=each.fills))
    return f"steady state {failed[0].verdict}" if failed else ""
