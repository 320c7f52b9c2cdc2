"""Runs of a suite that share an initial state, which is prepared once: their groups, and how they fork."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.lab.suites.suite import SHARED_BY_FORK
from ssdlab.results.journal import now
from ssdlab.results.lines import journal_bytes
from ssdlab.results.records import EndRecord, OpenRecord
from ssdlab.results.run_folder import JOURNAL, MANIFEST, STEPS, RunFolder
from ssdlab.results.schema import Member, Session
from ssdlab.results.step_log import log_name, power_name, samples_name
from ssdlab.results.store import write_manifest
from ssdlab.runs.drive_state import STATES, state_name
from ssdlab.runs.suites.ordering import PlannedChild, groups, shared_steps

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.records import AnyRecord
    from ssdlab.results.schema import Child, Manifest


# To fork a run of a suite, another run begins with the steps that the first has done, and with its drive
# state.
#
# Only a simulated drive can be forked. The new run gets the records and logs of the shared steps and the
# snapshot of the drive, so it includes everything that its figures depend on. It is then resumed like any
# interrupted run, which checks the drive's state against the journal.


def can_fork(leader: Path, steps: int) -> bool:
    """Whether a run has stopped right after its first steps, with the drive's state saved."""
    if steps == 0 or not (leader / MANIFEST).exists():
        return False
    done = RunFolder(leader).steps()
    return len(done) == steps and (leader / STATES / state_name(steps - 1)).exists()


def fork_run(leader: Path, child: Child, steps: int) -> Path:
    """Create the folder of a run that begins with the first steps of another, whole or not at all.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    folder = leader.parent / child.run_id
    part = f".{child.run_id}.part"
    with library_errors(folder), HeldFolder(leader.parent, follow=True) as library:
        library.remove_tree(part)
        with library.new_folder(part) as making, HeldFolder(leader) as led:
            begun = RunFolder(leader)
            with led.folder(STEPS) as logs, making.folder(STEPS, make=True) as copies:
                for step in begun.steps()[:steps]:
                    for attempt in step.result.segments or (step.attempt,):
                        names = [name(step.ordinal, attempt) for name in (log_name, power_name, samples_name)]
                        for name in filter(logs.exists, names):
                            logs.link(name, copies)
                copies.sync()
            with led.folder(STATES) as states, making.folder(STATES, make=True) as copies:
                states.link(state_name(steps - 1), copies)
                copies.sync()
            making.replace(JOURNAL, _journal(begun, child.run_id, steps))
            write_manifest(making, _manifest(begun.manifest, child, steps))
        library.rename(part, library, child.run_id)
        library.sync()
    return folder


def _journal(leader: RunFolder, run_id: str, steps: int) -> bytes:
    kept = [record for record in leader.journal() if _belongs(record, steps)]
    return journal_bytes([_marked(record, leader.manifest.run_id) for record in kept], run_id)


def _belongs(record: AnyRecord, steps: int) -> bool:
    return isinstance(record, OpenRecord) or record.ordinal < steps


def _marked(record: AnyRecord, leader: str) -> AnyRecord:
    """Return a record in which a finished step says which run executed it."""
    if not isinstance(record, EndRecord):
        return record
    result = record.result.model_copy(update={"facts": {**record.result.facts, "done_in": leader}})
    return record.model_copy(update={"result": result})


def _manifest(leader: Manifest, child: Child, steps: int) -> Manifest:
    """Return the manifest of a run that was interrupted after its shared first steps."""
    method = find_method(child.method)
    params = method.params.model_validate(child.params)
    moment = now()
    assert leader.member is not None  # only runs of a suite are forked
    member = Member(
        suite=leader.member.suite,
        part=child.part,
        preparation_seed=child.preparation_seed,
        span_bytes=child.span_bytes,
        prepared_by=leader.run_id,
        prepared_steps=steps,
    )
    session = Session(started=moment, ended=moment, status="interrupted", boot_id=leader.sessions[-1].boot_id)
    return leader.model_copy(
        update={
            "run_id": child.run_id,
            "status": "interrupted",
            "method": method.info(params),
            "params": child.params,
            "quick": child.quick,
            "seed": child.seed,
            "created": moment,
            "sessions": (session,),
            "failure": None,
            "member": member,
        }
    )


class Forks:
    """The groups of runs of a suite on simulated drives that share an initial state.

    A group shares the first steps that its plans have in common, if these end with preconditioning. So what
    the suite declares and what the procedures do must agree.

    Parameters
    ----------
    suite
        Manifest of the suite.
    library
        Library of its runs.
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
        """Return the run that this run must be forked from; None if it can begin."""
        leader = self._leaders.get(child.part)
        return leader if leader is not None and not self._begun(child) else None

    def pause_of(self, child: Child) -> int | None:
        """Return the ordinal of the step after which a run stops to be forked; None if it need not stop."""
        steps = self._steps.get(child.part)
        if steps is None or all(self._begun(each) for each in self._followers[child.part]):
            return None
        return steps - 1

    def fork(self, leader: Child) -> None:
        """Fork all runs that begin where `leader` has stopped; do nothing if it has not.

        Raises
        ------
        HostError
            The library cannot be written.
        """
        folder, steps = self._library / leader.run_id, self._steps.get(leader.part, 0)
        if can_fork(folder, steps):
            for child in self._followers[leader.part]:
                if not self._begun(child):
                    fork_run(folder, child, steps)

    def _begun(self, child: Child) -> bool:
        return (self._library / child.run_id / MANIFEST).exists()


def _planned(child: Child) -> PlannedChild:
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
