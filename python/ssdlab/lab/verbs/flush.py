"""`lab.flush`: everything written made durable."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.bounds import Bounds, Planned, Planning
from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext

FLUSH_MAX_S = 60.0


class Flush(Verb):
    """Makes everything written durable, the drive's cache included."""

    verb: ClassVar[str] = "flush"

    def plan(self, planning: Planning) -> Planned:
        """Return bounds of a flush."""
        del planning
        return Planned(Bounds(0.0, FLUSH_MAX_S))

    def effects(self) -> tuple[str, ...]:
        """Return what reaches the drive."""
        return ("flushes the drive's cache (fsync)",)

    def do(self, at: StepContext) -> StepResult:
        """Flush."""
        at.drive.flush()
        return StepResult(seconds=0.0)
