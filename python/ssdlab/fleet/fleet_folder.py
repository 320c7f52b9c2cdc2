"""The files of a started plan, in the library, so that every host sees them.

::

    .fleet/PLAN_ID/plan.json            the plan, sealed by the user who made it
    .fleet/PLAN_ID/consent.json         consent to data loss, sealed by the user who started the plan
    .fleet/PLAN_ID/attempts/0001-1.json the first attempt at job 0001: host, process, how it ended
    .fleet/PLAN_ID/logs/0001.log        output of its attempts
    .fleet/PLAN_ID/submitted.json       back end, and the back end's own names of the jobs
    .fleet/PLAN_ID/cancelled            exists once the plan was cancelled

Progress and end of a run are in the run's own folder, not here.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field, StringConstraints, ValidationError

from ssdlab.fleet.fleet_plan import FleetPlan, parse_plan, read_plan
from ssdlab.fleet.inventory import FLEET
from ssdlab.fleet.trusted_files import BackendName, JobName, Line, private_folder, read_private
from ssdlab.host.defaults import library_words
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.programs import own_module
from ssdlab.model.errors import Refused, UsageError, of_os, unknown
from ssdlab.model.frozen import Stored
from ssdlab.results.store import LAST, newest_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.fleet.fleet_consent import FleetConsent
    from ssdlab.fleet.fleet_plan import FleetJob

PLAN = "plan.json"
ATTEMPTS, LOGS = "attempts", "logs"
SUBMITTED, CANCELLED = "submitted.json", "cancelled"
_ATTEMPT = re.compile(r"(\d{4,})-(\d+)\.json")


class Attempt(Stored):
    """One attempt at a job, as recorded by its host."""

    job: JobName
    number: int = Field(ge=1, description="from 1")
    host: Line
    pid: int = Field(ge=1)
    backend_job: Line = Field(default="", description="job id of the back end")
    began: float = Field(description="host time, in seconds since 1970")
    ended: float | None = None
    exit_status: int | None = None
    sentence: str = Field(default="", description="why it was refused or failed")
    failed: bool = Field(default=False, description="whether its run failed; a refusal or a stop is none")
    cpu_s: float | None = Field(
        default=None, description="CPU time of it and its child processes, once it ended"
    )


BackendJob = Annotated[str, StringConstraints(pattern=r"^[0-9]*$")]
"""A job's number at the back end, passed as an argument to its programs; empty if it has none."""


class Submitted(Stored):
    """A plan's submission to a back end."""

    backend: BackendName
    jobs: dict[JobName, BackendJob] = Field(default={}, description="by job, its id at the back end")
    given: dict[JobName, float] = Field(
        default={}, description="by job, last submission: host time, in seconds since 1970"
    )


_Kept = TypeVar("_Kept", bound=Stored)


class FleetFolder:
    """The folder of a started plan.

    Attributes
    ----------
    plan
        The plan, read once. Call `check_private` and the plan's `check_seal` to verify its owner.
    consent
        Consent to data loss, as given or found; None: none.

    Raises
    ------
    UsageError, HostError
        The folder cannot be read.
    Refused
        Its file is not a plan, or is the plan of another folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.consent: FleetConsent | None = None
        try:
            with HeldFolder(path) as folder:
                data = folder.read_bytes(PLAN)
        except OSError as error:
            raise of_os(
                error,
                f"cannot read the fleet plan {path / PLAN}",
                "name a started plan: ssdlab fleet status shows the last one",
                path=str(path),
            ) from error
        self.plan = parse_plan(data, path / PLAN)
        if self.plan.plan_id != path.name:
            raise Refused(
                f"{path / PLAN} has plan_id {self.plan.plan_id}, but its folder belongs to another plan",
                "put the folder back under its own name, or make a new plan",
                path=str(path),
            )

    @classmethod
    def make(cls, plan: FleetPlan) -> FleetFolder:
        """Store a plan in its library; an existing copy is kept.

        Raises
        ------
        HostError
            The library cannot be written.
        Refused
            Other users can change the folder, or another plan is in it.
        """
        path = Path(plan.library) / FLEET / plan.plan_id
        with library_errors(path):
            for name in (ATTEMPTS, LOGS):
                private_folder(path / name, make=True).close()
            with private_folder(path) as folder:
                if not folder.is_file(PLAN):
                    folder.replace(PLAN, plan.as_text())
        made = cls(path)
        made.check_plan(plan.digest)
        return made

    def check_private(self) -> None:
        """Refuse the folder unless this user owns it, and no other user can change it or its content.

        Raises
        ------
        Refused
            Other users could change something; the error names it.
        HostError
            The folder cannot be read.
        """
        with library_errors(self.path), private_folder(self.path) as folder:
            folder.check_plain(ATTEMPTS, LOGS)
            for name in (ATTEMPTS, LOGS):
                private_folder(self.path / name).close()
            for name in (PLAN, SUBMITTED):
                with suppress(FileNotFoundError):
                    read_private(folder, name)

    def check_plan(self, digest: str) -> None:
        """Refuse the folder unless its plan has this digest.

        Raises
        ------
        Refused
            It holds another plan.
        """
        if self.plan.digest != digest:
            raise Refused(
                f"{self.path / PLAN} is not the plan that was started: its digest is "
                f"{self.plan.digest[:16]}, not {digest[:16]}",
                "find out who changed it; make a new plan: ssdlab fleet plan SELECTION.toml",
                path=str(self.path),
            )

    def job_command(self, job: FleetJob) -> list[str]:
        """Return a back end's command for a job.

        It includes the plan's digest and the consent, which the host must not take from a file.
        """
        words = [str(self.path), job.name, f"--plan={self.plan.digest}"]
        if self.consent is not None and job.serial in self.consent.destroyed and job.writes:
            words.append(f"--destroy={job.serial}")
            wipe = self.consent.wipe_signatures and job.serial in self.plan.wiped
            words += ["--wipe-signatures"] if wipe else []
        return own_module("ssdlab", "fleet", "job", *words)

    @property
    def library(self) -> Path:
        return self.path.parent.parent

    def command(self, verb: str) -> str:
        return f"ssdlab fleet {verb} {self.plan.plan_id}{library_words(self.library)}"

    @property
    def cancelled(self) -> bool:
        return (self.path / CANCELLED).exists()

    def cancel(self, *, again: bool = False) -> None:
        """Forbid that more jobs start; with `again`, allow it again."""
        with library_errors(self.path), HeldFolder(self.path, writing=True) as folder:
            if again:
                folder.remove(CANCELLED)
            else:
                folder.replace(CANCELLED, b"")

    def submitted(self) -> Submitted | None:
        with library_errors(self.path), HeldFolder(self.path) as folder:
            return self._stored(Submitted, folder, SUBMITTED) if folder.exists(SUBMITTED) else None

    def note_submitted(self, backend: str, jobs: Mapping[str, str]) -> None:
        """Record a back end's names of jobs, in addition to earlier ones."""
        before = self.submitted()
        if before is None or before.backend != backend:
            before = Submitted(backend=backend)
        given = {**before.given, **dict.fromkeys(jobs, time.time())}
        known = Submitted(backend=backend, jobs={**before.jobs, **jobs}, given=given)
        with library_errors(self.path), HeldFolder(self.path, writing=True) as folder:
            folder.replace(SUBMITTED, known.model_dump_json(indent=1))

    def attempts(self) -> dict[str, list[Attempt]]:
        """Return all attempts by job, oldest first."""
        found: dict[str, list[Attempt]] = {}
        with library_errors(self.path), HeldFolder(self.path / ATTEMPTS) as folder:
            for name in folder.names():
                if _ATTEMPT.fullmatch(name):
                    attempt = self._stored(Attempt, folder, name)
                    found.setdefault(attempt.job, []).append(attempt)
        return {job: sorted(tries, key=lambda each: each.number) for job, tries in found.items()}

    def write_attempt(self, attempt: Attempt) -> None:
        with library_errors(self.path), HeldFolder(self.path / ATTEMPTS, writing=True) as folder:
            folder.replace(f"{attempt.job}-{attempt.number}.json", attempt.model_dump_json(indent=1))

    def may_retry(self, attempts: Sequence[Attempt]) -> bool:
        """Return whether the last attempt at a job failed, and the plan allows another."""
        failed = sum(each.failed for each in attempts)
        return bool(attempts) and attempts[-1].failed and failed <= self.plan.retries and not self.cancelled

    def next_attempt(self, job: str) -> int:
        names = (self.path / ATTEMPTS).glob(f"{job}-*.json")
        return max((int(path.stem.rpartition("-")[2]) for path in names), default=0) + 1

    def _stored(self, kind: type[_Kept], folder: HeldFolder, name: str) -> _Kept:
        """Read a file of the plan's folder; refuse a damaged one by its name."""
        path = folder.path / name
        try:
            return kind.model_validate_json(folder.read_bytes(name))
        except (OSError, ValidationError) as error:
            raise Refused(
                f"{path} is damaged",
                f"remove it from the folder; its jobs' states are recovered by {self.command('resume')}",
                path=str(path),
            ) from error


def find_fleet(text: str, library: Path) -> FleetFolder:
    """Return the folder of a plan, by its id in the library, a prefix of it, `last`, or the plan's file.

    The text means a file if it has a slash (`./x`), or if no id fits and the file exists.

    Raises
    ------
    UsageError
        No started plan fits, or several do.
    """
    root = library / FLEET
    known = sorted(path.parent.name for path in root.glob(f"*/{PLAN}"))
    fits = newest_first(known)[:1] if text == LAST else [name for name in known if name.startswith(text)]
    if "/" in text or (not fits and Path(text).is_file()):
        plan = read_plan(Path(text))
        path = Path(plan.library) / FLEET / plan.plan_id
        if not (path / PLAN).is_file():
            raise UsageError(f"plan {plan.plan_id} was not started", f"start it: {plan.run_command(text)}")
        return FleetFolder(path)
    if len(fits) > 1 and text not in fits:
        raise UsageError(
            f"{text!r} matches {len(fits)} plans", f"give more characters: {', '.join(fits[:8])}"
        )
    if not fits:
        raise unknown(
            "plan of a fleet", text, known, elsewhere=f"those in {library}: {', '.join(known[-5:]) or 'none'}"
        )
    return FleetFolder(root / (text if text in fits else fits[0]))
