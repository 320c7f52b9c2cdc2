"""What was done to a drive before a step, as far as a plan goes by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.pattern import Sequential

if TYPE_CHECKING:
    from typing import Self

    from ssdlab.analysis.pace import Pace
    from ssdlab.lab.steps import Request
    from ssdlab.results.run_folder import Step


@dataclass(frozen=True)
class Past:
    """What a drive has behind it."""

    worked: bool = False
    """It has read or written."""
    disordered: bool = False
    """It holds what was written at random since it was purged."""

    def pace(self, of_the_drive: Pace) -> Pace:
        """Return what is known of the drive's speed, for what comes now."""
        return of_the_drive.after(work=self.worked, disorder=self.disordered)

    def then(self, step: Request | Step) -> Self:
        """Return the past behind a step."""
        worked = self.worked or step.workload is not None
        if step.verb in ("purge", "place"):
            return type(self)(worked, step.verb == "place")
        streams = () if step.workload is None else step.workload.streams
        at_random = any(each.writes and not isinstance(each.pattern, Sequential) for each in streams)
        return type(self)(worked, self.disordered or at_random)
