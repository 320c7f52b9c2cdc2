"""The verdict on SNIA's steady state in words: achieved, NOT ACHIEVED, or not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from ssdlab.analysis.steady_state import MIN_CAPACITIES
from ssdlab.plugin import Doubted, Qualifier, and_listed, significant

if TYPE_CHECKING:
    from collections.abc import Iterable

ACHIEVED = "achieved"


def too_few(samples: int) -> str:
    """Return what follows "steady state" where so many samples make no window."""
    return f"not judged: {samples} {'sample is' if samples == 1 else 'samples are'} too few"


class Judgement(Doubted):
    """One judgement of steady state."""

    steady: bool = Field(description="by the rule, after enough writing, and not by the host's part")
    fills: float = Field(description="user capacities written from the purge to the end of the window")

    @property
    def judged(self) -> bool:
        """Whether it could be told; what is called steady was judged, whatever older runs counted."""
        return self.steady or (self.fills >= MIN_CAPACITIES and not self.doubts)

    @property
    def verdict(self) -> str:
        """What follows "steady state"."""
        if self.steady:
            return ACHIEVED
        if self.judged:
            return "NOT ACHIEVED"
        short = (f"{significant(self.fills)} user capacities",) if self.fills < MIN_CAPACITIES else ()
        return f"not judged: {and_listed((*(each.label for each in self.doubts), *short))}"


class SteadyWindow(Judgement):
    """A judgement, and what it is of."""

    what: str = Field(description="of what, for a sentence: 'the test', '128 KiB'")

    @classmethod
    def of(cls, what: str, found: Judgement) -> Self:
        """Return a judgement under the name of what it is of."""
        return cls(what=what, steady=found.steady, fills=found.fills, doubts=found.doubts)


def unproven(found: Judgement, ordinals: Iterable[int]) -> tuple[Qualifier, ...]:
    """Return what stands with the figures of a window, of these steps; none where it is steady."""
    if found.steady:
        return ()
    why = f"steady state {found.verdict}"
    return (Qualifier(code="state-unproven", steps=tuple(sorted(ordinals)), why=why),)
