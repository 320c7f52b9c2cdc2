"""What a fleet keeps of a plan that is carried out: in the library, so that every host sees it.

::

    .fleet/PLAN_ID/plan.json            the plan, sealed
    .fleet/PLAN_ID/attempts/0001-1.json the first attempt at job 0001: host, process, how it ended
    .fleet/PLAN_ID/logs/0001.log        what its attempts printed
    .fleet/PLAN_ID/submitted.json       back end, and the back end's own names of the jobs
    .fleet/PLAN_ID/cancelled            there once the plan was cancelled

How far a run is, and how it ended, is not kept here: that stands in its own folder.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field, ValidationError

from ssdlab.fleet.fleet_plan import FleetPlan, read_plan
from ssdlab.fleet.inventory import FLEET, fleet_folder
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.state_folder import library_words
from ssdlab.model.errors import Refused, UsageError, unknown
from ssdlab.model.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAN = "plan.json"
ATTEMPTS, LOGS = "attempts", "logs"
SUBMITTED, CANCELLED = "submitted.json", "cancelled"
_ATTEMPT = re.compile(r"(\d{4,})-(\d+)\.json")


class Attempt(Stored):
    """One try at a job, as the host that made it wrote it down."""

    job: str
    number: int = Field(description="from 1")
    host: str
    pid: int
    backend_job: str = Field(default="", description="what the back end calls it")
    began: float = Field(description="seconds since 1970, by the host's clock")
    ended: float | None = None
    exit_status: int | None = None
    sentence: str = Field(default="", description="why it was refused or failed")
    cpu_s: float | None = Field(
        default=None, description="CPU time of it and of what it began, once it ended"
    )


class Submitted(Stored):
    """How a plan was given to a back end."""

    backend: str
    jobs: dict[str, str] = Field(default={}, description="by job, what the back end calls it")
    given: dict[str, float] = Field(
        default={}, description="by job, when it was given last: seconds since 1970, by the host's clock"
    )


_Kept = TypeVar("_Kept", bound=Stored)


class FleetFolder:
    """The folder of one plan that is carried out.

    Attributes
    ----------
    path
        The folder.
    plan
        What is carried out.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan = read_plan(path / PLAN)

    @classmethod
    def make(cls, plan: FleetPlan) -> FleetFolder:
        """Put a plan into its library; one that is there already stays.

        Raises
        ------
        HostError
            The library cannot be written.
        """
        library = Path(plan.library)
        with library_errors(library), fleet_folder(library) as fleet:
            with fleet.folder(plan.plan_id, make=True) as folder:
                for name in (ATTEMPTS, LOGS):
                    folder.folder(name, make=True).close()
                if not folder.is_file(PLAN):
                    folder.replace(PLAN, plan.as_text())
            return cls(fleet.path / plan.plan_id)

    @property
    def library(self) -> Path:
        """The library that it lies in."""
        return self.path.parent.parent

    def command(self, verb: str) -> str:
        """Return a command of the fleet on this plan, complete, for hints."""
        return f"ssdlab fleet {verb} {self.plan.plan_id}{library_words(self.library)}"

    @property
    def cancelled(self) -> bool:
        """Whether nothing more is to begin."""
        return (self.path / CANCELLED).exists()

    def cancel(self, *, again: bool = False) -> None:
        """Let nothing more begin; with `again` let it begin again."""
        with library_errors(self.path), HeldFolder(self.path, writing=True) as folder:
            if again:
                folder.remove(CANCELLED)
            else:
                folder.replace(CANCELLED, b"")

    def submitted(self) -> Submitted | None:
        """Return how it was given to a back end; None before."""
        path = self.path / SUBMITTED
        return self._stored(Submitted, path) if path.is_file() else None

    def note_submitted(self, backend: str, jobs: Mapping[str, str]) -> None:
        """Write down what a back end calls the jobs, beside those that it was given before."""
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
        for path in (self.path / ATTEMPTS).glob("*.json"):
            if _ATTEMPT.fullmatch(path.name):
                attempt = self._stored(Attempt, path)
                found.setdefault(attempt.job, []).append(attempt)
        return {job: sorted(tries, key=lambda each: each.number) for job, tries in found.items()}

    def write_attempt(self, attempt: Attempt) -> None:
        """Write an attempt down, in place of what was known of it."""
        with library_errors(self.path), HeldFolder(self.path / ATTEMPTS, writing=True) as folder:
            folder.replace(f"{attempt.job}-{attempt.number}.json", attempt.model_dump_json(indent=1))

    def next_attempt(self, job: str) -> int:
        """Return the number of the next attempt at a job."""
        names = (self.path / ATTEMPTS).glob(f"{job}-*.json")
        return max((int(path.stem.rpartition("-")[2]) for path in names), default=0) + 1

    def _stored(self, kind: type[_Kept], path: Path) -> _Kept:
        """Read what the fleet keeps of a plan; damage is refused by the file's name."""
        try:
            return kind.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise Refused(
                f"{path} is damaged",
                f"move it away: what it says of a job is found again by {self.command('resume')}",
                path=str(path),
            ) from error


def find_fleet(text: str, library: Path) -> FleetFolder:
    """Return the folder that PLAN means: the file of a plan, its id, the beginning of its id, or `last`.

    Raises
    ------
    UsageError
        No plan that was carried out fits, or several do.
    """
    root = library / FLEET
    known = sorted(path.parent.name for path in root.glob(f"*/{PLAN}"))
    if "/" in text or Path(text).is_file():
        plan = read_plan(Path(text))
        path = Path(plan.library) / FLEET / plan.plan_id
        if not (path / PLAN).is_file():
            raise UsageError(f"plan {plan.plan_id} was not begun", f"begin it: {plan.run_command(text)}")
        return FleetFolder(path)
    fits = known[-1:] if text == "last" else [name for name in known if name.startswith(text)]
    if len(fits) > 1 and text not in fits:
        raise UsageError(f"{text!r} means {len(fits)} plans", f"give more letters: {', '.join(fits[:8])}")
    if not fits:
        raise unknown(
            "plan of a fleet", text, known, elsewhere=f"those in {library}: {', '.join(known[-5:]) or 'none'}"
        )
    return FleetFolder(root / (text if text in fits else fits[0]))
