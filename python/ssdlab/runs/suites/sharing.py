"""Forking a run of a suite: another run begins with the steps that the first has done, and with its drive.

Only a simulated drive can be forked. The new run gets the records of the shared steps, their logs and the
snapshot of the drive, so it tells everything that it rests on; from there on it is resumed as any run
that was interrupted, which checks the drive's state against the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.results.journal import now
from ssdlab.results.lines import journal_bytes
from ssdlab.results.records import EndRecord, OpenRecord
from ssdlab.results.run_folder import JOURNAL, MANIFEST, STEPS, RunFolder
from ssdlab.results.schema import Member, Session
from ssdlab.results.step_log import log_name, power_name, samples_name
from ssdlab.results.store import write_manifest
from ssdlab.runs.drive_state import STATES, state_name

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.records import AnyRecord
    from ssdlab.results.schema import Child, Manifest


def can_fork(leader: Path, steps: int) -> bool:
    """Whether a run stands just behind its first steps, with the state of its drive kept."""
    if steps == 0 or not (leader / MANIFEST).exists():
        return False
    done = RunFolder(leader).steps()
    return len(done) == steps and (leader / STATES / state_name(steps - 1)).exists()


def fork_run(leader: Path, child: Child, steps: int) -> Path:
    """Make the folder of a run that begins with the first steps of another, whole or not at all.

    Raises
    ------
    HostError
        When the library cannot be written.
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
    """Say of a finished step which run did it."""
    if not isinstance(record, EndRecord):
        return record
    result = record.result.model_copy(update={"facts": {**record.result.facts, "done_in": leader}})
    return record.model_copy(update={"result": result})


def _manifest(leader: Manifest, child: Child, steps: int) -> Manifest:
    """Return the manifest of a run that has those steps behind it and was stopped there."""
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
