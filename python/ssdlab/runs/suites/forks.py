"""Which runs of a suite begin in a state that one of them makes for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab.found import find_method
from ssdlab.lab.suites.suite import SHARED_BY_FORK
from ssdlab.results.run_folder import MANIFEST
from ssdlab.runs.suites.ordering import PlannedChild, groups, shared_steps
from ssdlab.runs.suites.sharing import can_fork, fork_run

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.schema import Child, Manifest


class Forks:
    """The groups of a suite on simulated drives.

    A group shares what its plans have in common, and only if that ends with preconditioning: what the suite
    declares and what the procedures do must agree.

    Parameters
    ----------
    suite
        Its manifest.
    library
        Where its runs are.
    """

    def __init__(self, suite: Manifest, library: Path) -> None:
        self._library = library
        self._leaders: dict[str, Child] = {}
        self._steps: dict[str, int] = {}
        self._followers: dict[str, list[Child]] = {}
        planned = tuple(
            _planned(child) for child in suite.children if child.left_out is None and not child.standing
        )
        for group in groups(planned, SHARED_BY_FORK):
            steps = shared_steps(group)
            if steps:
                leader, *followers = [each.child for each in group]
                self._steps[leader.part] = steps
                self._followers[leader.part] = followers
                self._leaders |= {child.part: leader for child in followers}

    def leader_of(self, child: Child) -> Child | None:
        """Return the run that a run is still to be forked from; None where it can begin."""
        leader = self._leaders.get(child.part)
        return leader if leader is not None and not self._begun(child) else None

    def pause_of(self, child: Child) -> int | None:
        """Return the step after which a run stops to be forked; None where it needs not."""
        steps = self._steps.get(child.part)
        if steps is None or all(self._begun(each) for each in self._followers[child.part]):
            return None
        return steps - 1

    def fork(self, leader: Child) -> None:
        """Fork all that begin where a run has stopped, if it has and any do.

        Raises
        ------
        HostError
            When the library cannot be written.
        """
        folder, steps = self._library / leader.run_id, self._steps.get(leader.part, 0)
        if can_fork(folder, steps):
            for child in self._followers[leader.part]:
                if not self._begun(child):
                    fork_run(folder, child, steps)

    def _begun(self, child: Child) -> bool:
        return (self._library / child.run_id / MANIFEST).exists()


def _planned(child: Child) -> PlannedChild:
    """Plan a run again from what the suite's manifest says of it."""
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of
    from ssdlab.runs.order import plan_on

    method = find_method(child.method)
    plan = plan_on(
        method,
        method.params.model_validate(child.params),
        identity_of(SimulatedText.parse(child.drive)),
        seed=child.seed,
        preparation_seed=child.preparation_seed,
        span_bytes=child.span_bytes,
    )
    return PlannedChild(child, plan)
