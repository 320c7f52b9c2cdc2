"""Starts, resumes and cancels a plan, on any back end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.fleet.fleet_consent import check_consent, record_consent, standing_consent
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.host_checks import check_clock, check_shared, check_version
from ssdlab.fleet.quarantine import quarantined, release_command
from ssdlab.fleet.status import find_backend, status_of, unfinished, usual_backend
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from ssdlab.fleet.fleet_plan import FleetPlan


def begin(
    plan: FleetPlan, *, destroy_all: int | None, backend: str | None, wipe_signatures: bool = False
) -> FleetFolder:
    """Start a plan, and return its folder when the back end returns.

    Raises
    ------
    Refused
        The plan is another user's, or was started before. Or consent is missing or is for another number of
        drives, or the back end cannot run the plan. Nothing was started.
    """
    plan.check_seal()
    check_consent(plan, destroy_all, wipe_signatures=wipe_signatures)
    chosen = find_backend(backend or usual_backend())
    check_version(plan)
    library = Path(plan.library)
    check_shared(plan)
    check_clock(library)
    _check_quarantine(plan, library)
    chosen.check(plan, plan.jobs)
    folder = FleetFolder.make(plan)  # after all checks: a refused plan leaves no folder
    if folder.submitted() is not None:
        raise Refused(
            f"plan {plan.plan_id} was started before",
            f"resume it: {folder.command('resume')}; to repeat all of it, make a new plan",
        )
    folder.consent = record_consent(folder.path, plan, wipe_signatures=wipe_signatures)
    chosen.submit(folder, plan.jobs)
    return folder


def _check_quarantine(plan: FleetPlan, library: Path) -> None:
    bad = quarantined(library)
    for job in plan.jobs:
        if job.serial in bad:
            release = release_command(job.serial, library)
            raise Refused(bad[job.serial].words, f"make the plan again without it, or release it: {release}")


def resume(
    folder: FleetFolder, *, backend: str | None, destroy_all: int | None = None, wipe_signatures: bool = False
) -> int:
    """Submit the remaining jobs again; return how many.

    Raises
    ------
    Refused
        The plan or its folder is another user's. Or its consent does not count here and was not given again,
        or the back end cannot run the jobs.
    """
    folder.check_private()
    plan = folder.plan
    plan.check_seal()
    if destroy_all is not None or wipe_signatures:
        check_consent(plan, destroy_all, wipe_signatures=wipe_signatures)
        folder.consent = record_consent(folder.path, plan, wipe_signatures=wipe_signatures)
    elif plan.destroyed:
        folder.consent = standing_consent(folder.path, plan)
    given = folder.submitted()
    chosen = find_backend(backend or (given.backend if given is not None else usual_backend()))
    check_version(folder.plan)
    folder.cancel(again=True)
    bad = quarantined(folder.library)
    left = [job for job in unfinished(status_of(folder)) if job.serial not in bad]
    chosen.check(plan, left)
    if left:
        chosen.submit(folder, left)
    return len(left)


def cancel(folder: FleetFolder) -> int | None:
    """Start no more jobs, and stop running ones; return how many were asked to stop.

    Return None if all jobs have succeeded.

    Raises
    ------
    Refused
        Another user owns the plan's folder.
    """
    folder.check_private()
    if all(each.state == "finished" for each in status_of(folder)):
        return None
    folder.cancel()
    given = folder.submitted()
    if given is None:
        return 0
    going = [each.job for each in status_of(folder) if each.state in {"running", "waiting", "held"}]
    find_backend(given.backend).cancel(folder, going)
    return len(going)
