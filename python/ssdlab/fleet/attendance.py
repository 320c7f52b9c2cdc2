"""A host's checks before it starts a job: everything must be as planned.

If not, the job ends with a message and exit status 2, before anything is written. It never fails the host: in
a Slurm prolog that would take the whole node out of service.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives import list_drives
from ssdlab.fleet.drive_faults import drive_fault
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
)
from ssdlab.fleet.trusted_files import private_folder, read_private
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, excerpt
from ssdlab.results.lease import host_name
from ssdlab.results.run_folder import MANIFEST, RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.drives.opening import Look
    from ssdlab.fleet.fleet_folder import FleetFolder
    from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan

_LOOK_EVERY_S = 0.5


@dataclass(frozen=True)
class Command:
    """The command of a job: the words after `ssdlab`, or nothing where its run is finished."""

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
    if job.drive.startswith(SIMULATED_PREFIX):  # keeps nothing, as its text names no state
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
    if consent:  # what the run was begun with is what consent is for
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
        Another version of ssdlab, another library, a clock that is off, or another drive.
    """
    check_version(folder.plan)
    check_shared(folder.plan)
    check_clock(folder.library)
    return check_drive(job, drives, _slot_here(folder, job))


def check_version(plan: FleetPlan) -> None:
    """Refuse a plan of another version of ssdlab.

    Raises
    ------
    Refused
        With both versions.
    """
    ours = own_version()
    if plan.version != ours:
        raise Refused(
            f"the plan was made by ssdlab {plan.version}, but {host_name()} runs {ours}",
            "install the same version on all hosts, and make the plan again",
            host=host_name(),
        )


def check_shared(plan: FleetPlan, within_s: float = SHARED_WITHIN_S) -> None:
    """Refuse a library that is not the one of the plan; a file just made may take its time to be seen.

    Raises
    ------
    Refused
        What the plan's library holds is not seen from here.
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
        With how far.
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
        What is wrong with it, or what is now where it was.
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
    """Return where a drive hangs on this host, if another host may do the job as well; None: as planned."""
    if host_name() == job.host:
        return None
    found = inventories_in(folder.library, private=True)
    mine = [each for host in found if host.host == host_name() for each in host.drives]
    return next((each.slot for each in mine if each.serial == job.serial), None)
