"""Where in its plan a run is.

A plan counts the longest way: points that are taken again where writes have fallen, rounds up to the last
that are allowed, tries of a search. A run that does without some of them has its later steps under lower
ordinals than the plan, so its steps are found by what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.lab.steps import Request
    from ssdlab.results.run_folder import Step
    from ssdlab.runs.plan import PlannedStep


class Whereabouts:
    """Finds the steps of a run, as they come, in the plan.

    Parameters
    ----------
    steps
        Of the plan, in order.
    """

    def __init__(self, steps: Sequence[PlannedStep]) -> None:
        self._steps = steps
        self._found: dict[int, int | None] = {}
        self.past = 0
        """So many steps of the plan are begun, or were left out."""

    def restart(self) -> None:
        """Walk from the first step again."""
        self._found.clear()
        self.past = 0

    def find(self, step: Request | Step) -> int | None:
        """Return the index in the plan of a step that begins or is read back; None of one without a plan."""
        if step.ordinal not in self._found:
            at = self._next(step)
            self._found[step.ordinal] = at
            if at is not None:
                self.past = at + 1
        return self._found[step.ordinal]

    def _next(self, step: Request | Step) -> int | None:
        for at in range(self.past, len(self._steps)):
            if self._is(at, step):
                return at
            if not _may_be_left_out(self._steps[at]):
                break
        if step.ordinal < len(self._steps) and self._is(step.ordinal, step):
            return step.ordinal
        # A try of a search, which goes another way than the longest.
        following = self._steps[self.past : self.past + 1]
        instead = any(_may_be_left_out(each) and each.verb == step.verb for each in following)
        return self.past if instead else None

    def _is(self, at: int, step: Request | Step) -> bool:
        return (self._steps[at].verb, self._steps[at].label) == (step.verb, step.label)


def _may_be_left_out(step: PlannedStep) -> bool:
    return not step.drive_seconds.lower
