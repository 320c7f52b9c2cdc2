"""`lab.fork`, second half: the drive back in the state that was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class Back(Verb):
    """Brings the drive back to the state of a fork, where it can go back."""

    verb: ClassVar[str] = "back"

    to: int
    end: bool

    @property
    def returns_to(self) -> int:
        """Ordinal of the fork."""
        return self.to

    def do(self, at: StepContext) -> StepResult:
        """Go back."""
        if at.forks is None:
            return StepResult(seconds=0.0, facts={"forked": False})
        at.forks.back(self.to, end=self.end)
        return StepResult(seconds=0.0, facts={"forked": True})
