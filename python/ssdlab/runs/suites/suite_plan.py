"""The plan of a suite: the plans of its runs, and their sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.lab.suites.suite import SHARED_BY_FORK
from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.runs.suites.ordering import groups, shared_steps

if TYPE_CHECKING:
    from ssdlab.model.errors import LabError
    from ssdlab.runs.plan import Plan
    from ssdlab.runs.suites.ordering import PlannedChild


@dataclass(frozen=True)
class SuitePlan:
    """The plan of a suite, run by run, and why it would be refused now.

    Attributes
    ----------
    children
        The planned runs, in order.
    objection
        Why the suite would be refused; None: it would run.
    endurance_bytes, cap_bytes
        Rated endurance and limit of bytes written, as in `Plan`, for all runs together.
    at_once
        Number of simultaneous runs; more than one only on simulated drives.
    preparation, preparation_bytes
        Seconds to create a missing file, and its size.
    """

    children: tuple[PlannedChild, ...]
    objection: LabError | None = None
    endurance_bytes: int | None = None
    cap_bytes: int | None = None
    at_once: int = 1
    preparation: Bounds = NOTHING
    preparation_bytes: int = 0

    @property
    def plans(self) -> tuple[Plan, ...]:
        """Plans of the runs that fit the drive."""
        return tuple(each.plan for each in self.children if each.plan is not None)

    @property
    def by_part(self) -> list[tuple[str, Plan]]:
        """Plans of the runs that fit the drive, each with the name of its part."""
        return [(each.child.part, each.plan) for each in self.children if each.plan is not None]

    @property
    def keeps_time(self) -> bool:
        return any(plan.keeps_time for plan in self.plans)

    @property
    def seconds(self) -> Bounds:
        """Seconds of all runs in sequence; virtual seconds for simulated drives."""
        return sum((plan.seconds for plan in self.plans), self.preparation)

    @property
    def real_seconds(self) -> Bounds:
        """Seconds by the host's clock.

        Simultaneous runs take at least as long as the longest run, and at least an even share of all work.
        Shared preparation counts once in this work. No worker is idle while there is work, so they take at
        most an even share plus what the longest run adds to it.

        Source of the upper bound: R. L. Graham, "Bounds for certain multiprocessing anomalies" (1966).
        """
        every = [plan.real_seconds for plan in self.plans]
        total = sum(every, self.preparation)
        if self.at_once == 1 or not every:
            return total
        longest = Bounds(max(each.lower for each in every), max(each.upper for each in every))
        even = (total.lower - self._made_once_s()) / self.at_once
        upper = (total.upper + (self.at_once - 1) * longest.upper) / self.at_once
        return Bounds(max(longest.lower, even), upper)

    def _made_once_s(self) -> float:
        """Return the minimum seconds of planned steps that runs take over from another run of their group."""
        found = 0.0
        for group in groups(self.children, SHARED_BY_FORK):
            first = group[0].plan
            steps = () if first is None else first.steps[: shared_steps(group)]
            found += (len(group) - 1) * sum(step.simulating.lower for step in steps)
            found += 0.0 if first is None or not steps else (len(group) - 1) * first.preparation.lower
        return found

    @property
    def bytes_written(self) -> Bounds:
        """Bytes written by all runs; steps that simulated drives share count for each drive."""
        laid = float(self.preparation_bytes)
        return sum((plan.bytes_written for plan in self.plans), Bounds(laid, laid))

    @property
    def known_by(self) -> tuple[str, ...]:
        """Sources of the bounds of all runs, such as ratings and earlier runs."""
        return tuple(dict.fromkeys(each for plan in self.plans for each in plan.planning.pace.sources))
