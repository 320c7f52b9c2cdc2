"""How a plan is begun, resumed and cancelled, on whatever back end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.fleet.attendance import check_clock, check_shared, check_version
from ssdlab.fleet.backends import find_backend, usual_backend
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.status import status_of, unfinished
from ssdlab.model.errors import Refused
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.fleet.fleet_plan import FleetPlan


def begin(plan: FleetPlan, *, destroy_all: int | None, backend: str | None) -> FleetFolder:
    """Carry a plan out; returns when the back end does.

    Raises
    ------
    Refused
        Consent is missing or of another number of drives, the plan was begun before, or the back end cannot
        carry it out; nothing was begun then.
    """
    _check_consent(plan, destroy_all)
    chosen = find_backend(backend or usual_backend())
    check_version(plan)
    folder = FleetFolder.make(plan)
    if folder.submitted() is not None:
        raise Refused(
            f"plan {plan.plan_id} was begun before",
            f"resume it: {folder.command('resume')}; to do it all again, make a new plan",
        )
    check_shared(folder)
    check_clock(folder.library)
    chosen.check(folder, plan.jobs)
    chosen.submit(folder, plan.jobs)
    return folder


def resume(folder: FleetFolder, *, backend: str | None) -> int:
    """Give the jobs that are left to the back end again; returns how many those were.

    Raises
    ------
    Refused
        The back end cannot carry them out.
    """
    given = folder.submitted()
    chosen = find_backend(backend or (given.backend if given is not None else usual_backend()))
    check_version(folder.plan)
    folder.cancel(again=True)
    left = unfinished(status_of(folder))
    chosen.check(folder, left)
    if left:
        chosen.submit(folder, left)
    return len(left)


def cancel(folder: FleetFolder) -> int | None:
    """Let nothing more begin, and end what runs; returns how many jobs were told.

    A plan whose jobs have all ended well is left as it is: None.
    """
    if all(each.state == "finished" for each in status_of(folder)):
        return None
    folder.cancel()
    given = folder.submitted()
    if given is None:
        return 0
    going = [each.job for each in status_of(folder) if each.state in {"running", "waiting", "held"}]
    find_backend(given.backend).cancel(folder, going)
    return len(going)


def _check_consent(plan: FleetPlan, destroy_all: int | None) -> None:
    count = len(plan.destroyed)
    if count == (destroy_all or 0):
        return
    given = "no consent was given" if destroy_all is None else f"--destroy-all says {destroy_all}"
    loses = f"writes {counted(count, 'drive')} and loses what they hold" if count else "writes no drive"
    raise Refused(
        f"the plan {loses}, and {given}",
        f"look at the serials, then say --destroy-all {count}" if count else "leave --destroy-all out",
        serials=list(plan.destroyed),
    )
