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
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field, ValidationError

from ssdlab.fleet.fleet_plan import FleetPlan, read_plan
from ssdlab.fleet.inventory import FLEET, fleet_folder
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
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
        return _stored(Submitted, path) if path.is_file() else None

    def note_submitted(self, backend: str, jobs: Mapping[str, str]) -> None:
        """Write down what a back end calls the jobs, beside those that it was given before."""
        before = self.submitted()
        known = dict(before.jobs) if before is not None and before.backend == backend else {}
        text = Submitted(backend=backend, jobs={**known, **jobs}).model_dump_json(indent=1)
        with library_errors(self.path), HeldFolder(self.path, writing=True) as folder:
            folder.replace(SUBMITTED, text)

    def attempts(self) -> dict[str, list[Attempt]]:
        """Return all attempts by job, oldest first."""
        found: dict[str, list[Attempt]] = {}
        for path in (self.path / ATTEMPTS).glob("*.json"):
            if _ATTEMPT.fullmatch(path.name):
                attempt = _stored(Attempt, path)
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


def _stored(kind: type[_Kept], path: Path) -> _Kept:
    """Read what the fleet keeps of a plan; damage is refused by the file's name."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise Refused(
            f"{path} is damaged",
            "move it away: what it says of a job is found again by `ssdlab fleet resume`",
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
            raise UsageError(f"plan {plan.plan_id} was not begun", f"begin it: ssdlab fleet run {text}")
        return FleetFolder(path)
    fits = known[-1:] if text == "last" else [name for name in known if name.startswith(text)]
    if len(fits) > 1 and text not in fits:
        raise UsageError(f"{text!r} means {len(fits)} plans", f"give more letters: {', '.join(fits[:8])}")
    if not fits:
        raise unknown(
            "plan of a fleet", text, known, elsewhere=f"those in {library}: {', '.join(known[-5:]) or 'none'}"
        )
    return FleetFolder(root / (text if text in fits else fits[0]))
