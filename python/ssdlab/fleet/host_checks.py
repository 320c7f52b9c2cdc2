"""Checks by a host of its drives, and of all else before it starts a job.

A drive is at fault if it is mounted, missing or in another slot. Jobs, Slurm's scripts (`slurm_files`) and
`ssdlab fleet check` look for faults. The last result is stored in the library (`.fleet/health/HOST.json`) for
`ssdlab fleet status`. A job that finds a deviation from its plan ends with a message and exit status 2,
before anything is written. It never fails the host: in a Slurm prolog, that would take the whole node out of
service.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from ssdlab.drives import list_drives
from ssdlab.fleet.fleet_plan import cap_words
from ssdlab.fleet.inventory import (
    FLEET,
    SHARED_WITHIN_S,
    TOKEN,
    check_ahead,
    clock_ahead_s,
    fleet_folder,
    inventories_in,
    own_version,
    serial_on,
)
from ssdlab.fleet.trusted_files import HostName, private_folder, read_private
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, excerpt, unknown
from ssdlab.model.frozen import Stored
from ssdlab.results.lease import host_name
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.runs.provenance import slot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.drives.opening import Look
    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan

HEALTH = "health"
_STANDING = frozenset({"mounted", "swap", "root", "held", "read-only", "empty", "fault"})
"""The guard's objections that no run of ssdlab causes; a drive that a run has open is not at fault."""


class Health(Stored):
    """A host's last check of its drives."""

    host: HostName
    at: float = Field(description="host time, in seconds since 1970")
    faults: dict[str, str] = Field(description="fault of each drive by serial, in a sentence")


def drive_fault(
    serial: str, slot: str, host: str, drives: Callable[[], Sequence[Look]] = list_drives
) -> tuple[Look | None, str]:
    """Return the drive with a serial (None: not attached), and its fault in words (empty: none)."""
    looks = [each for each in drives() if each.identity is not None]
    found = {serial_on(host, each.identity): each for each in looks if each.identity is not None}
    here = found.get(serial)
    there = next((name for name, each in found.items() if _slot(each) == slot), None)
    if here is None:
        instead = "" if there is None else f"; in its slot is {there}"
        return None, f"drive {serial} is not attached to {host}{instead}"
    if _slot(here) != slot:
        if _slot(here).partition(" (")[0] == slot.partition(" (")[0]:
            return here, f"drive {serial} is only a kernel name, and its device was attached after planning"
        now_there = "nothing" if there is None else there
        return here, f"drive {serial} has moved, and {now_there} is in its slot"
    guard = here.writing
    return here, f"drive {serial}: {guard.what}" if guard and guard.reason in _STANDING else ""


def host_faults(
    library: Path, host: str, drives: Callable[[], Sequence[Look]] = list_drives
) -> dict[str, str]:
    """Return the faults of the drives in a host's inventory, by serial; simulated drives have none.

    Raises
    ------
    UsageError
        The host has no inventory.
    """
    inventories = {each.host: each for each in inventories_in(library)}
    if host not in inventories:
        raise unknown("host with an inventory", host, inventories)
    looks, mine = tuple(drives()), inventories[host].drives
    found = {
        each.serial: drive_fault(each.serial, each.slot, host, lambda: looks)[1]
        for each in mine
        if not each.simulated
    }
    return {serial: what for serial, what in found.items() if what}


def note_health(library: Path, host: str, faults: Mapping[str, str]) -> None:
    """Store the result of a host's check.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    text = Health(host=host, at=time.time(), faults=dict(faults)).model_dump_json(indent=1)
    # The folder need not be private: Slurm's prolog runs as root whoever owns the library, and the content is
    # only shown.
    with library_errors(library), HeldFolder(library / FLEET / HEALTH, make=FOLDER_MODE) as folder:
        folder.replace(f"{host}.json", text)


def known_faults(library: Path) -> dict[tuple[str, str], str]:
    """Return the last known faults of all hosts, by host and serial; unreadable files are ignored."""
    found: dict[tuple[str, str], str] = {}
    with suppress(OSError, Refused), HeldFolder(library / FLEET / HEALTH) as folder:
        for name in folder.names():
            with suppress(OSError, Refused, ValidationError):
                kept = Health.model_validate_json(folder.read_bytes(name))
                found |= {(kept.host, serial): what for serial, what in kept.faults.items()}
    return found


def _slot(found: Look) -> str:
    assert found.identity is not None
    return slot_of(Path("/sys/class/block") / found.identity.name.replace("/", "!"), found.identity)


_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Command:
    """The command of a job: the words after `ssdlab`, or nothing if its run is finished."""

    words: tuple[str, ...]


def consent_words(job: FleetJob, destroy: str | None, *, wipe_signatures: bool) -> tuple[str, ...]:
    """Return the consent options for a job's command; none if not needed.

    Raises
    ------
    Refused
        The job writes, but no consent was passed on.
    """
    if not job.writes:
        return ()
    if destroy != job.serial:
        handed = "no consent was passed on" if destroy is None else f"--destroy is {excerpt(destroy)}"
        raise Refused(
            f"job {job.name} destroys the data of drive {job.serial}, but {handed}",
            "start the plan with ssdlab fleet run, which takes that consent",
            reason="no-consent",
            serial=job.serial,
        )
    if job.drive.startswith(SIMULATED_PREFIX):  # it keeps no data, as its text names no state file
        return ()
    wipe = ("--wipe-signatures",) if wipe_signatures else ()
    return ("--destroy", job.consent_id, *wipe)


def command_of(folder: FleetFolder, job: FleetJob, drive: str, consent: tuple[str, ...]) -> Command:
    """Return the command that starts or resumes a job's run, with the consent for its drive."""
    run = folder.library / job.run_id
    if not (run / MANIFEST).is_file():
        place = ("--library", str(folder.library), "--run-id", job.run_id)
        method, *words = job.task.words()
        return Command(("run", method, drive, *words, *consent, *place))
    if consent:  # consent is for the run as its manifest has it
        with private_folder(run) as held:
            read_private(held, MANIFEST)
    found = RunFolder(run)
    if found.manifest.status == "finished" and not found.lacks_tables:
        return Command(())
    cap = cap_words(job.task.endurance_cap) if consent else []
    return Command(("resume", str(run), *consent, *cap))


def attend(folder: FleetFolder, job: FleetJob, drives: Callable[[], Sequence[Look]] = list_drives) -> str:
    """Check that this host can do a job as planned; return its drive's name here.

    Raises
    ------
    Refused
        The version of ssdlab, the library, the clock or the drive is not as planned.
    """
    check_version(folder.plan)
    check_shared(folder.plan)
    check_clock(folder.library)
    return check_drive(job, drives, _slot_here(folder, job))


def check_version(plan: FleetPlan) -> None:
    """Refuse a plan that another version of ssdlab made.

    Raises
    ------
    Refused
        The versions differ; the error names both.
    """
    ours = own_version()
    if plan.version != ours:
        raise Refused(
            f"the plan was made by ssdlab {plan.version}, but {host_name()} runs {ours}",
            "install the same version on all hosts, and make the plan again",
            host=host_name(),
        )


def check_shared(plan: FleetPlan, within_s: float = SHARED_WITHIN_S) -> None:
    """Refuse the plan if this host does not see the plan's library.

    Wait up to `within_s`, as a network file system may show a new file late.

    Raises
    ------
    Refused
        The library's token is missing here, or is another one.
    """
    token = Path(plan.library) / FLEET / TOKEN
    until = time.monotonic() + within_s
    while True:
        seen = _token(token.parent)
        if seen == plan.library_token:
            return
        if time.monotonic() >= until:
            raise Refused(
                f"{host_name()} does not see the plan's library: {token} "
                + ("is not there" if seen is None else "belongs to another library"),
                "mount the shared folder there under the same path",
                host=host_name(),
            )
        time.sleep(_LOOK_EVERY_S)


def _token(folder: Path) -> str | None:
    with suppress(OSError), HeldFolder(folder) as held:
        return held.read_bytes(TOKEN).decode("ascii", errors="replace")
    return None


def check_clock(library: Path, clock: Callable[[], float] = time.time) -> None:
    """Refuse a clock that is far from that of the library's file system.

    Raises
    ------
    Refused
        The clock is off by more than `MAX_FROM_FILES_S`; the error says by how much.
    """
    with fleet_folder(library) as folder:
        ahead = clock_ahead_s(folder, clock)
    check_ahead(host_name(), ahead)


def check_drive(
    job: FleetJob, drives: Callable[[], Sequence[Look]] = list_drives, slot: str | None = None
) -> str:
    """Refuse a drive that is missing, mounted or in another slot; return its name here.

    Parameters
    ----------
    slot
        Expected slot; by default the planned one.

    Raises
    ------
    Refused
        The drive is at fault; the error says what is wrong, or which drive is in its slot.
    """
    if job.drive.startswith(SIMULATED_PREFIX):
        return job.drive
    here, fault = drive_fault(job.serial, slot or job.slot, host_name(), drives)
    if not fault and here and here.identity and here.identity.consent_id != job.consent_id:
        own = here.identity.consent_id
        fault = f"drive {job.serial} has consent_id {own} here, but {job.consent_id} in the plan"
    if fault or here is None or here.identity is None:
        raise Refused(
            fault,
            "check the drive; if the change is intended, record the host's inventory again and make a new "
            "plan",
            serial=job.serial,
            host=host_name(),
        )
    return here.identity.path


def _slot_here(folder: FleetFolder, job: FleetJob) -> str | None:
    """Return a drive's slot on this host, if the job was planned for another host; None: as planned."""
    if host_name() == job.host:
        return None
    found = inventories_in(folder.library, private=True)
    mine = [each for host in found if host.host == host_name() for each in host.drives]
    return next((each.slot for each in mine if each.serial == job.serial), None)
