"""A fleet's complete plan: every serial, host, work, duration and byte count.

A plan has only strict fields (`ssdlab.fleet.trusted_files`), no command lines. The data to be lost is not a
field: it follows from the work. A plan has two seals. One protects its file against damage. The other is made
with the key of the user who made the plan, and nothing starts without it.
"""

from __future__ import annotations

import hashlib
import shlex
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from ssdlab.fleet.trusted_files import (
    Bounds,
    DriveText,
    Held,
    HostName,
    JobName,
    Line,
    MeterSpec,
    MethodName,
    PlanId,
    RunId,
    Serial,
    SettingName,
    SettingValue,
    WholePath,
    misfit_text,
    private_folder,
    read_private,
)
from ssdlab.host.consent import is_sealed, seal
from ssdlab.host.documents import user_path
from ssdlab.host.user_folders import state_folder
from ssdlab.model.errors import HostError, LabError, Refused, UsageError, check_schema, excerpt, of_os
from ssdlab.model.failed_ios import OnError
from ssdlab.model.frozen import Metavar, Stored
from ssdlab.model.meter_text import MeterText
from ssdlab.model.options import Endurance
from ssdlab.model.units import percent_text
from ssdlab.results.seal import Broken, canonical, read_document, seal_document
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, on_text
from ssdlab.runs.order import Order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ssdlab.fleet.inventory import FleetDrive
    from ssdlab.fleet.selection import Work
    from ssdlab.lab.method import Params
    from ssdlab.runs.suites.ordering import SuiteOrder

# The work of one job, in typed fields, from which its command and its data loss follow.
#
# No field gives consent, or names a file or another library. The command has no words taken from the file
# unchecked.

_FILE = "FILE"
"""Placeholder (`Metavar`) of parameters that name a file."""


class Task(Stored):
    """The work of one job: a method or suite, with its options."""

    run: MethodName = Field(description="name of a method or suite")
    quick: bool = False
    repeat: int = Field(1, ge=1, le=99)
    settings: dict[SettingName, SettingValue] = Field(default={}, description="parameters, as with --set")
    variant: Variant = Field(AS_IT_IS, description="drive variant")
    endurance_cap: Endurance | None = Field(None, gt=0, description="a share, or a number of bytes")
    meter: MeterSpec | None = None
    on_error: OnError = "stop"
    seed: int | None = Field(None, ge=0, lt=2**64)

    def words(self) -> tuple[str, ...]:
        """Return the words of its command after `ssdlab run`, without drive, consent and library."""
        found: list[str] = [self.run]
        if self.quick:
            found.append("--quick")
        if self.repeat > 1:
            found += ["--repeat", str(self.repeat)]
        for name, value in self.settings.items():
            found += ["--set", f"{name}={value}"]
        variant = self.variant.model_dump(mode="json", by_alias=True, exclude_none=True)
        for name, given in variant.items():
            found += [f"--{name.replace('_', '-')}", str(given)]
        found += cap_words(self.endurance_cap)
        if self.on_error != "stop":
            found += ["--on-error", self.on_error]
        for flag, option in (("--meter", self.meter), ("--seed", self.seed)):
            if option is not None:
                found += [flag, str(option)]
        return tuple(found)

    def writes_to(self, drive: str) -> bool:
        """Return whether a drive's data will be lost, by the method with its parameters or by the variant.

        Raises
        ------
        LabError
            The method or one of its settings does not exist in this ssdlab.
        """
        return _writes(self.model_dump_json(by_alias=True), drive)

    def order(self, drive: str, **own: Any) -> Order | SuiteOrder:  # noqa: ANN401 - fields of Order
        """Return the order for a drive; `own` are further fields of the order.

        Raises
        ------
        UsageError
            A method, a parameter or a variant does not exist, or a parameter names a file.
        """
        from ssdlab.lab.found import find_method
        from ssdlab.lab.suites import find_suite
        from ssdlab.runs.suites.ordering import SuiteOrder, repeated, suite_params

        suite = find_suite(self.run)
        method = find_method(self.run if suite is None else suite.parts[0].method)
        params = method.params.build(self.settings if suite is None else {}, quick=self.quick)
        like = Order(
            method,
            params,
            on_text(drive, self.variant),
            quick=self.quick,
            variant=self.variant,
            endurance_cap=self.endurance_cap,
            on_error=self.on_error,
            meter=None if self.meter is None else MeterText.parse(self.meter),
            **own,
        )
        if suite is not None:
            several = suite_params(suite, self.settings, quick=self.quick, drive=like.drive)
        elif self.repeat > 1:
            suite, several = repeated(method, params, self.repeat)
        else:
            _refuse_files({"": params})
            return like
        _refuse_files(several)
        return SuiteOrder(suite, several, like, self.repeat)


def cap_words(cap: float | None) -> list[str]:
    if cap is None:
        return []
    return ["--endurance-cap", str(cap) if isinstance(cap, int) else percent_text(Fraction(str(cap)))]


@cache
def _writes(task: str, drive: str) -> bool:
    found = Task.model_validate_json(task)
    order = found.order(drive)
    if found.variant.destroys:
        return True
    return order.method.writes(order.params) if isinstance(order, Order) else order.writes


def _refuse_files(parts: Mapping[str, Params]) -> None:
    """Refuse parameters that name a file: no plan contains it, and each host may have another."""
    for params in parts.values():
        for name, field in type(params).model_fields.items():
            value = getattr(params, name)
            if value != field.default and any(
                isinstance(each, Metavar) and each.word == _FILE for each in field.metadata
            ):
                raise UsageError(
                    f"{name} = {value!r} names a file; fleet runs read no files",
                    "leave it out, or do that run separately: ssdlab run",
                    field=name,
                )


SCHEMA: Final = "ssdlab.fleet-plan/2"
_PURPOSE = "plan of a fleet"
_AGAIN = "make it again: ssdlab fleet plan SELECTION.toml"


class FleetJob(Stored):
    """One run or suite on one drive."""

    name: JobName = Field(description="number within the plan, from 0001, in starting order")
    serial: Serial
    model: Line
    host: HostName
    drive: DriveText = Field(description="its name on its host when the plan was made")
    slot: Line = Field(description="its location then")
    resettable: bool = Field(False, description="whether it can be reset unnoticed, as zram can")
    consent_id: Line = Field(description="its identifier for consent on its host")
    signatures: tuple[Line, ...] = Field((), description="file systems and the like on it then")
    run_id: RunId = Field(description="id of its run in the library")
    task: Task
    cpus: int = Field(ge=1, le=4096)
    holds: tuple[Held, ...] = Field(default=(), description="exclusive resources: drive, meter, link")
    seconds: Bounds = Field(description="bounds of its duration by the host's clock")
    drive_seconds: Bounds | None = Field(
        default=None, description="for a drive with its own time: bounds in that time"
    )
    bytes_written: Bounds
    endurance_share: Bounds | None = None

    @property
    def writes(self) -> bool:
        """Whether its work loses the data on its drive."""
        return self.task.writes_to(self.drive)

    @property
    def shared(self) -> tuple[str, ...]:
        """Exclusive resources beyond drive and host: meters, power budgets."""
        parts = (each.partition(":") for each in self.holds)
        return tuple(name for kind, _, name in parts if kind in {"meter", "shared"})


class FleetPlan(Stored):
    """A plan of a fleet: all jobs, and their common fields."""

    schema_version: Literal["ssdlab.fleet-plan/2"] = Field(default=SCHEMA, alias="schema")
    plan_id: PlanId
    created: Line
    version: Line = Field(description="version of the ssdlab that made it; its hosts must run the same")
    library: WholePath
    library_token: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    at_once: int | None = Field(ge=1, le=100_000, description="jobs at once; None: the back end's own limit")
    retries: int = Field(0, ge=0, le=9, description="how often a job that fails is begun again")
    golden: Serial | None = Field(None, description="drive of each plan whose change is the lab's own")
    left_out: dict[Serial, Line] = Field(default={}, description="drives in quarantine, and why")
    jobs: tuple[FleetJob, ...] = Field(min_length=1)
    key_seal: str | None = Field(default=None, description="seal with the key of the user who made it")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for field in ("name", "run_id"):
            value, count = Counter(getattr(job, field) for job in self.jobs).most_common(1)[0]
            if count > 1:
                raise ValueError(f"the field {field} is {value!r} in {count} jobs")
        return self

    @property
    def destroyed(self) -> tuple[str, ...]:
        """Serials of the drives whose data will be lost, each once."""
        return tuple(dict.fromkeys(job.serial for job in self.jobs if job.writes))

    @property
    def wiped(self) -> dict[str, tuple[str, ...]]:
        """Signatures (file systems and the like) on drives whose data will be lost, by serial."""
        return {job.serial: job.signatures for job in self.jobs if job.signatures and job.writes}

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(job.host for job in self.jobs))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self._content()).hexdigest()

    def job(self, name: str) -> FleetJob:
        """Return a job by its name.

        Raises
        ------
        Refused
            The plan has no such job.
        """
        for each in self.jobs:
            if each.name == name:
                return each
        raise Refused(
            f"plan {self.plan_id} has no job {excerpt(repr(name))}", f"it has 0001 to {self.jobs[-1].name}"
        )

    def run_command(self, path: Path | str) -> str:
        """Return the command that starts the plan from its file, with the needed consent."""
        return f"ssdlab fleet run {shlex.quote(str(path))}{self.consent_words()}"

    def consent_words(self) -> str:
        """Return the options that give consent to the plan's data loss; empty if there is none."""
        wipe = " --wipe-signatures" if self.wiped else ""
        return f" --destroy-all {len(self.destroyed)}{wipe}" if self.destroyed else ""

    def sealed(self) -> Self:
        """Return the plan with this user's seal on this host.

        Raises
        ------
        HostError
            The state folder cannot store a key.
        Refused
            Other users can access the key.
        """
        made = seal(self._content(), _PURPOSE)
        if made is None:
            raise HostError(
                f"the plan cannot be sealed: {state_folder()} cannot store this user's key",
                "make that folder writable, or name another by XDG_STATE_HOME",
            )
        return self.model_copy(update={"key_seal": made})

    def check_seal(self) -> None:
        """Refuse the plan unless this user sealed it on this host.

        Raises
        ------
        Refused
            It has no seal, or that of another user or host: its fields may be forged.
        """
        if not is_sealed(self._content(), _PURPOSE, self.key_seal):
            raise Refused(
                f"plan {self.plan_id} was not sealed by this user on this host (key_seal)",
                f"run it as the user and on the host that made it, or {_AGAIN}",
                reason="not-sealed",
                plan=self.plan_id,
            )

    def as_text(self) -> str:
        return seal_document(self.model_dump_json(by_alias=True, indent=1))

    def _content(self) -> bytes:
        return canonical(self.model_dump(mode="json", by_alias=True, exclude={"key_seal"}))


def read_plan(path: Path) -> FleetPlan:
    """Read a plan that `ssdlab fleet plan` wrote, from a file that no other user can change.

    Raises
    ------
    UsageError, HostError
        There is no such file.
    Refused
        The file was changed after it was written, another version of ssdlab wrote it, or other users can
        change it. They could replace it by another plan of the same user.
    """
    place = user_path(path).absolute()
    try:
        with private_folder(place.parent, writing=False) as folder:
            data = read_private(folder, place.name)
    except OSError as error:
        raise of_os(
            error,
            f"cannot read the fleet plan {path}",
            "name a file that `ssdlab fleet plan` wrote",
            path=str(path),
        ) from error
    return parse_plan(data, path)


def check_place(path: Path) -> None:
    """Refuse a path for a plan's file at which other users could replace the file.

    Raises
    ------
    Refused
        Other users can change the folder; the error says what they can change.
    UsageError, HostError
        There is no such folder.
    """
    place = user_path(path).absolute()
    try:
        private_folder(place.parent, writing=False).close()
    except OSError as error:
        raise of_os(error, f"cannot write the plan {path}", "name another file", path=str(path)) from error


def parse_plan(data: bytes, path: Path) -> FleetPlan:
    """Parse the content of a plan's file; `path` is for messages.

    Raises
    ------
    Refused
        The content is damaged, is from another version of ssdlab, or has an invalid field.
    """
    try:
        fields, _ = read_document(data, SCHEMA, sealed_since=1)
    except Broken as error:
        raise Refused(
            f"{path} was changed after it was written: {error}",
            f"plans must not be edited; {_AGAIN}",
            path=str(path),
        ) from error
    except ValueError as error:
        raise Refused(f"{path} is not a fleet plan: {error}", _AGAIN, path=str(path)) from error
    check_schema(fields.get("schema"), SCHEMA, user_path(path))
    try:
        return FleetPlan.model_validate(fields)
    except (ValidationError, LabError) as error:
        raise Refused(f"{path} is not a fleet plan: {misfit_text(error)}", _AGAIN, path=str(path)) from error


def holds_of(drive: FleetDrive, host: str, work: Work, one_at_a_time: tuple[str, ...]) -> tuple[str, ...]:
    """Return the exclusive resources of a job on a drive, each with its kind, such as `drive:SERIAL`."""
    held = [f"drive:{drive.serial}"]
    if work.meter is not None:
        held.append(f"meter:{work.meter}")
    held += [f"shared:{name}" for name in work.shares]
    if "link" in one_at_a_time and drive.link:
        held.append(f"link:{host}/{drive.link}")
    if "host" in one_at_a_time:
        held.append(f"host:{host}")
    return tuple(held)
