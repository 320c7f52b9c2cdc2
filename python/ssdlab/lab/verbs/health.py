"""`lab.health`: the drive's own counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class Health(Verb):
    """Reads the drive's own health counters."""

    verb: ClassVar[str] = "health"

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive."""
        return ("reads the drive's health log",)

    def do(self, at: StepContext) -> StepResult:
        """Read them."""
        return StepResult(seconds=0.0, facts={"health": at.drive.health()})
