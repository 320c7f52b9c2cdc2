"""`lab.stretch`: from here on steps belong together, with the drive never let go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.verb import Facts, StateRole, Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class StretchFacts(Facts):
    """In which sitting it began."""

    sitting: int | None = None
    """Rises with each interruption that let the drive's state change; see `StepContext.sitting`.

    None in a plan, which has no interruptions.
    """


class Stretch(Verb):
    """Begins a stretch: an interruption of any step of it voids them all, so that none is of both sides."""

    verb: ClassVar[str] = "stretch"
    state: ClassVar[StateRole] = "begins"

    def do(self, at: StepContext) -> StepResult:
        """Put on record in which sitting it begins."""
        return StepResult(seconds=0.0, facts={"sitting": at.sitting})
