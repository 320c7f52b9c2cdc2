"""`lab.idle`: the drive left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ssdlab.lab.verbs.bounds import STEP_MAX_S, Bounds, Planned, Planning
from ssdlab.lab.verbs.verb import Verb
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.context import StepContext


class Idle(Verb):
    """Leaves the drive alone."""

    verb: ClassVar[str] = "idle"
    omitted: ClassVar[frozenset[str]] = frozenset({"certain"})

    seconds: int | float
    certain: bool = True
    """As of `run`."""

    def plan(self, planning: Planning) -> Planned:
        """Return its time, which is known."""
        del planning
        return Planned(
            Bounds(float(self.seconds) if self.certain else 0.0, self.seconds + STEP_MAX_S),
            overhead_s=STEP_MAX_S,
        )

    def do(self, at: StepContext) -> StepResult:
        """Wait, by the drive's clock."""
        at.drive.idle(self.seconds, on_look=at.look)
        return StepResult(seconds=0.0)
