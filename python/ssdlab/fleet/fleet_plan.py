"""What a fleet is to do, whole: every serial, host, command, hour and byte. Sealed when it is written."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from ssdlab.host.documents import read_document as read_text
from ssdlab.host.documents import user_path
from ssdlab.model.errors import Refused, check_schema
from ssdlab.model.stored import Stored
from ssdlab.results.seal import Broken, read_document, seal_document

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.fleet.inventory import FleetDrive
    from ssdlab.fleet.selection import Work

SCHEMA = "ssdlab.fleet-plan/1"


class FleetJob(Stored):
    """One run or suite on one drive."""

    name: str = Field(description="within the plan: 0001 and on, in the order in which they are to begin")
    serial: str
    model: str
    host: str
    drive: str = Field(description="how a command named it on its host when the plan was made")
    slot: str = Field(description="where it hung then")
    consent: str | None = Field(description="what --destroy is given; None: nothing is written")
    run_id: str = Field(description="of its run in the library")
    words: tuple[str, ...] = Field(
        description="of the command `ssdlab run`, without drive, consent and library"
    )
    writes: bool
    destroys: bool = Field(description="whether data on it will be lost")
    cpus: int
    holds: tuple[str, ...] = Field(
        default=(), description="what no two jobs may hold at once: drive, meter, link"
    )
    seconds: tuple[float, float] = Field(description="bounds of its time on the host's clock")
    drive_seconds: tuple[float, float] | None = Field(
        default=None, description="of a drive that keeps time of its own: bounds in that time"
    )
    bytes_written: tuple[float, float]
    endurance_share: tuple[float, float] | None = None

    @property
    def shared(self) -> tuple[str, ...]:
        """What it takes for itself that belongs to no drive and no host: meters, power budgets."""
        parts = (each.partition(":") for each in self.holds)
        return tuple(name for kind, _, name in parts if kind in {"meter", "shared"})


class FleetPlan(Stored):
    """All jobs, and what holds for them together."""

    schema_version: str = Field(default=SCHEMA, alias="schema")
    plan_id: str
    created: str
    version: str = Field(description="of the ssdlab that made it; its hosts run the same")
    library: str
    library_token: str
    at_once: int | None = Field(description="jobs at once; None: the back end's own limit")
    jobs: tuple[FleetJob, ...]

    @property
    def destroyed(self) -> tuple[str, ...]:
        """Serials of the drives whose data will be lost, each once."""
        return tuple(dict.fromkeys(job.serial for job in self.jobs if job.destroys))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts, each once."""
        return tuple(dict.fromkeys(job.host for job in self.jobs))

    def job(self, name: str) -> FleetJob:
        """Return a job by its name.

        Raises
        ------
        Refused
            The plan has none of that name.
        """
        for each in self.jobs:
            if each.name == name:
                return each
        raise Refused(f"plan {self.plan_id} has no job {name!r}", f"it has 0001 to {self.jobs[-1].name}")

    def run_command(self, path: Path | str) -> str:
        """Return the command that begins it from its file, with the consent that it takes."""
        consent = f" --destroy-all {len(self.destroyed)}" if self.destroyed else ""
        return f"ssdlab fleet run {shlex.quote(str(path))}{consent}"

    def as_text(self) -> str:
        """Return the plan as its file has it, with its seal."""
        return seal_document(self.model_dump_json(by_alias=True, indent=1))


def read_plan(path: Path) -> FleetPlan:
    """Read a plan that `ssdlab fleet plan` wrote.

    Raises
    ------
    UsageError, HostError
        There is no such file.
    Refused
        It was changed after it was written, or a newer ssdlab wrote it.
    """
    text = read_text(user_path(path), "fleet plan", "name a file that `ssdlab fleet plan` wrote")
    again = "make it again: ssdlab fleet plan SELECTION.toml"
    try:
        fields, _ = read_document(text.encode(), SCHEMA)
    except Broken as error:
        raise Refused(
            f"{path} is not as it was written: {error}", f"a plan is never edited; {again}", path=str(path)
        ) from error
    except ValueError as error:
        raise Refused(f"{path} is no fleet plan: {error}", again, path=str(path)) from error
    check_schema(fields.get("schema"), SCHEMA, user_path(path))
    try:
        return FleetPlan.model_validate(fields)
    except ValidationError as error:
        raise Refused(
            f"{path} is no fleet plan: {error.errors()[0]['msg']}", again, path=str(path)
        ) from error


def holds_of(drive: FleetDrive, host: str, work: Work, one_at_a_time: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a job on a drive has for itself while it runs, each with its kind in front."""
    held = [f"drive:{drive.serial}"]
    if work.meter is not None:
        held.append(f"meter:{work.meter}")
    held += [f"shared:{name}" for name in work.shares]
    if "link" in one_at_a_time and drive.link:
        held.append(f"link:{host}/{drive.link}")
    if "host" in one_at_a_time:
        held.append(f"host:{host}")
    return tuple(held)
