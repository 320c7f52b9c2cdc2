"""Where each job of a plan is: worked out from its run, its attempts, and what the back end says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.fleet.backend import find_backend
from ssdlab.results.live import read_live
from ssdlab.results.progress import Progress
from ssdlab.results.run_folder import MANIFEST, read_manifest
from ssdlab.results.store import actual_status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.fleet.backend import Queued
    from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob

State = Literal[
    "finished", "running", "waiting", "held", "interrupted", "failed", "refused", "cancelled", "not begun"
]
REFUSED_STATUS = 2
ENDED: frozenset[State] = frozenset({"finished", "failed", "refused", "cancelled"})


@dataclass(frozen=True)
class JobStatus:
    """One job as it is now.

    Attributes
    ----------
    job
        What was planned.
    state
        Where it is.
    host
        Where it runs or ran last; where it has not begun, where it is to run.
    attempts
        How often it was begun.
    reason
        Why it waits, is held, was refused or failed.
    live
        What its run wrote last of its progress, while it runs.
    """

    job: FleetJob
    state: State
    host: str
    attempts: int
    reason: str = ""
    live: Progress | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "job": self.job.name,
            "serial": self.job.serial,
            "model": self.job.model,
            "work": self.job.words[0],
            "run": self.job.run_id,
            "state": self.state,
            "host": self.host,
            "attempts": self.attempts,
            "reason": self.reason,
            "live": None if self.live is None else self.live.as_dict(),
        }


def status_of(folder: FleetFolder) -> tuple[JobStatus, ...]:
    """Return the state of every job, in the order of the plan.

    Raises
    ------
    HostError
        The back end does not answer.
    """
    given = folder.submitted()
    queued: Mapping[str, Queued] = {} if given is None else find_backend(given.backend).queued(folder)
    attempts, cancelled = folder.attempts(), folder.cancelled
    return tuple(
        _status(folder, job, attempts.get(job.name, ()), queued.get(job.name), cancelled=cancelled)
        for job in folder.plan.jobs
    )


def unfinished(found: Sequence[JobStatus]) -> list[FleetJob]:
    """Return the jobs that nobody works on and that have not ended well."""
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
    made = {"job": job, "host": host, "attempts": len(attempts)}
    run = folder.library / job.run_id
    known = read_manifest(run) if (run / MANIFEST).is_file() else None
    sentence = "" if last is None else last.sentence
    if known is not None and known.status == "finished":
        return JobStatus(**made, state="finished")  # type: ignore[arg-type]
    if queued is not None:
        live = read_live(run) if queued.state == "running" and known is not None else None
        progress = None if live is None else Progress.of(live)
        return JobStatus(**made, state=queued.state, reason=queued.reason or sentence, live=progress)  # type: ignore[arg-type]
    state: State = "not begun"
    if known is not None:
        now = actual_status(run, known)
        state = "running" if now == "running" else "failed" if now == "failed" else "interrupted"
    if last is not None and last.exit_status == REFUSED_STATUS:
        state = "refused"
    elif last is not None and last.exit_status not in (None, 0, 1, 130) and known is None:
        state = "failed"
    if cancelled and state in {"not begun", "interrupted"}:
        state = "cancelled"
    return JobStatus(**made, state=state, reason=sentence)  # type: ignore[arg-type]
