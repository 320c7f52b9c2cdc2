"""The state of each job of a plan, from its run, its attempts, and the back end."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ssdlab.fleet.host_checks import known_faults
from ssdlab.fleet.inventory import SHARED_WITHIN_S
from ssdlab.fleet.local import Local
from ssdlab.fleet.quarantine import quarantined, release_command
from ssdlab.fleet.slurm import Slurm, is_set_up
from ssdlab.model.errors import HostError, unknown
from ssdlab.results.progress import Progress, read_live
from ssdlab.results.run_folder import MANIFEST, read_manifest
from ssdlab.results.store import actual_status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ssdlab.fleet.backend import Backend, Queued
    from ssdlab.fleet.fleet_folder import Attempt, FleetFolder, Submitted
    from ssdlab.fleet.fleet_plan import FleetJob
    from ssdlab.fleet.quarantine import Failures
    from ssdlab.fleet.trusted_files import BackendName
    from ssdlab.results.schema import Manifest

State = Literal[
    "finished", "running", "waiting", "held", "interrupted", "failed", "refused", "cancelled", "not begun"
]
ENDED: frozenset[State] = frozenset(("finished", "interrupted", "failed", "refused", "cancelled"))
"""States that change only by a command of the user."""
REFUSED_STATUS = 2
_WELL = (0, 1, 130)
"""Exit statuses of a run that ended normally, or that a signal stopped."""


BACKENDS: dict[str, Callable[[], Backend]] = {"local": Local, "slurm": Slurm}


def find_backend(name: str) -> Backend:
    """Return a back end by its name.

    Raises
    ------
    UsageError
        There is no such back end.
    """
    if name not in BACKENDS:
        raise unknown("back end", name, BACKENDS)
    return BACKENDS[name]()


def usual_backend() -> BackendName:
    """Return the default back end: Slurm if this host can submit jobs to it, else local."""
    return "slurm" if is_set_up() else "local"


@dataclass(frozen=True)
class JobStatus:
    """The present state of a job.

    Attributes
    ----------
    host
        Its present or last host; before the start, its planned host.
    attempts
        Number of starts, without those that were refused.
    reason
        Why it waits, is held, was interrupted or refused, or failed.
    live
        Last progress of its run, while running.
    """

    job: FleetJob
    state: State
    host: str
    attempts: int
    reason: str = ""
    live: Progress | None = None

    def as_dict(self) -> dict[str, object]:
        return {
            "job": self.job.name,
            "serial": self.job.serial,
            "model": self.job.model,
            "work": self.job.task.run,
            "run": self.job.run_id,
            "state": self.state,
            "host": self.host,
            "attempts": self.attempts,
            "reason": self.reason,
            "live": None if self.live is None else self.live.as_dict(),
        }


def status_of(folder: FleetFolder, *, strict: bool = True) -> tuple[JobStatus, ...]:
    """Return the state of every job, in the order of the plan.

    Parameters
    ----------
    strict
        Whether the back end must answer. If it need not and does not, the states come from the library alone.
        Jobs that the back end may still have are then shown as waiting, with that reason.

    Raises
    ------
    HostError
        The back end does not answer.
    """
    given = folder.submitted()
    queued: Mapping[str, Queued] = {}
    silent = ""
    try:
        queued = {} if given is None else find_backend(given.backend).queued(folder)
    except HostError as error:
        if strict:
            raise
        silent = f"unknown while {error.what}"
    attempts, cancelled = folder.attempts(), folder.cancelled
    faults = known_faults(folder.library)
    found = [
        _status(folder, job, attempts.get(job.name, ()), queued.get(job.name), cancelled=cancelled)
        for job in folder.plan.jobs
    ]
    if silent:  # the back end may still have jobs in any other state
        known = {"finished", "running", "refused"}
        return tuple(
            each if each.state in known else replace(each, state="waiting", reason=silent) for each in found
        )
    heard = (_with_silence(folder, each, given) for each in found)
    bad = quarantined(folder.library)
    return tuple(_with_quarantine(folder, _with_fault(each, faults), bad) for each in heard)


def _with_quarantine(folder: FleetFolder, found: JobStatus, bad: Mapping[str, Failures]) -> JobStatus:
    """Give an unfinished job whose drive is in quarantine that reason, and the command to release it."""
    if found.state == "finished" or found.job.serial not in bad:
        return found
    release = release_command(found.job.serial, folder.library)
    return replace(found, reason=f"{bad[found.job.serial].words}; to release it: {release}")


def _with_silence(folder: FleetFolder, found: JobStatus, given: Submitted | None) -> JobStatus:
    """Return a job as failed if its back end no longer has it and the library has no record of it.

    Its host does not see the library, so it cannot report the failure itself.
    """
    name = found.job.name
    number = "" if given is None else given.jobs.get(name, "")
    if given is None or not number or found.state != "not begun" or found.attempts:
        return found
    if time.time() - given.given.get(name, 0.0) < SHARED_WITHIN_S:  # its record may only be late
        return replace(
            found, state="waiting", reason=f"{given.backend} no longer has it; its host may be late"
        )
    why = f"job {number} of {given.backend} ended without a record in the library"
    return replace(
        found, state="failed", reason=f"{why}: check that {found.host} has {folder.library} mounted"
    )


def _with_fault(found: JobStatus, faults: Mapping[tuple[str, str], str]) -> JobStatus:
    """Add the drive's fault, as its host last found it, to the reason of a job that waits."""
    fault = faults.get((found.job.host, found.job.serial), "")
    if not fault or found.state not in {"waiting", "held", "not begun"}:
        return found
    return replace(found, reason="; ".join(filter(None, (found.reason, fault))))


def unfinished(found: Sequence[JobStatus]) -> list[FleetJob]:
    """Return the jobs that are neither finished, running, waiting nor held."""
    return [each.job for each in found if each.state not in {"finished", "running", "waiting", "held"}]


def _status(
    folder: FleetFolder,
    job: FleetJob,
    attempts: Sequence[Attempt],
    queued: Queued | None,
    *,
    cancelled: bool,
) -> JobStatus:
    last = attempts[-1] if attempts else None
    host = (queued.host if queued is not None else "") or (last.host if last is not None else "") or job.host
    sentence = "" if last is None else last.sentence
    begun = sum(each.exit_status != REFUSED_STATUS for each in attempts)
    found = JobStatus(job, "not begun", host, begun, sentence)
    run = folder.library / job.run_id
    known = read_manifest(run) if (run / MANIFEST).is_file() else None
    if known is not None and actual_status(run, known) == "finished":
        return replace(found, state="finished", reason="")
    state = _at_rest(run, known, last, cancelled=cancelled) if queued is None else queued.state
    reason = found.reason or _why_ended(folder, state, last) if queued is None else queued.reason
    live = read_live(run) if state == "running" and known is not None else None
    return replace(found, state=state, reason=reason, live=None if live is None else Progress.of(live))


def _why_ended(folder: FleetFolder, state: State, last: Attempt | None) -> str:
    """Return why a job that no back end has did not finish, if its last attempt gave no reason."""
    if state == "cancelled":
        return "the plan was cancelled"
    if state == "not begun":
        return f"no command is working on the plan: {folder.command('resume')}"
    if state not in {"interrupted", "failed"} or last is None:
        return ""
    if last.ended is None:
        return f"{last.host} ended attempt {last.number} without a record: power, reset or kill"
    return f"attempt {last.number} ended with exit status {last.exit_status}"


def _at_rest(run: Path, known: Manifest | None, last: Attempt | None, *, cancelled: bool) -> State:
    """Return the state of a job that no back end has."""
    state: State = "not begun"
    if known is not None:
        now = actual_status(run, known)
        state = "running" if now == "running" else "failed" if now == "failed" else "interrupted"
    ended = None if last is None else last.exit_status
    if state == "running":
        return state  # even if a second attempt was refused: the first still runs
    if ended == REFUSED_STATUS:
        state = "refused"
    elif ended not in (None, *_WELL) and known is None:
        state = "failed"
    return "cancelled" if cancelled and state in {"not begun", "interrupted"} else state
