"""The drive state that a part of a suite begins in: what its planned steps bring about before they measure.

A declaration only says what its author means; the steps are what happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.verbs.fill import Fill
from ssdlab.lab.verbs.precondition import Precondition
from ssdlab.lab.verbs.purge import Purge
from ssdlab.lab.verbs.run import Run
from ssdlab.model.pattern import Sequential

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.lab.suites.suite import State
    from ssdlab.runs.plan import PlannedStep


def states_before(steps: Sequence[PlannedStep]) -> tuple[State, ...]:
    """Return the states that a plan goes through before its first measurement, the last one last.

    A purge undoes what was before it. Preconditioning brings steady state about only where its rule ends it.
    """
    found: list[State] = []
    for step in steps:
        asked = None if step.request is None else step.request.asked
        if isinstance(asked, Run):
            break
        if isinstance(asked, Purge):
            found = ["fresh"]
        elif isinstance(asked, Fill):
            found.append("written")
        elif isinstance(asked, Precondition) and asked.until is not None:
            ordered = all(isinstance(each.pattern, Sequential) for each in asked.workload.streams)
            found.append("sequential-steady" if ordered else "random-steady")
    return tuple(found)


def begins_in(declared: State, steps: Sequence[PlannedStep]) -> State:
    """Return the state that a part begins in: what is declared where it is brought about, else what is."""
    found = states_before(steps)
    if declared == "any" or declared in found:
        return declared
    return found[-1] if found else "any"
