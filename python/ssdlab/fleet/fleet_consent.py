"""Consent to a plan's data loss: given on the command line, kept with the plan, sealed by the user's key.

No selection or plan can give consent. `ssdlab fleet run` takes it, and passes it on in each job's command
line. For `ssdlab fleet resume` it is stored with the plan, and counts for that plan in that folder only, like
a run's consent (`ssdlab.runs.consent_record`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from ssdlab.fleet.trusted_files import private_folder, read_private
from ssdlab.host.consent import is_sealed, seal
from ssdlab.host.durable import library_errors
from ssdlab.model.errors import Refused
from ssdlab.model.frozen import Stored
from ssdlab.model.units import counted
from ssdlab.results.journal import now
from ssdlab.results.seal import canonical

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.fleet.fleet_plan import FleetPlan
    from ssdlab.host.held_folder import HeldFolder

CONSENT = "consent.json"
_PURPOSE = "consent of a fleet"


class FleetConsent(Stored):
    """Consent to the loss of data on the drives of a plan."""

    at: str
    plan: str = Field(description="SHA-256 of the plan it was given for")
    folder_inode: int = Field(description="folder of the plan; a copy has another")
    folder_birth_ns: int | None
    destroyed: tuple[str, ...] = Field(description="serials of the drives to lose, as planned then")
    wipe_signatures: bool
    seal: str | None = None


def check_consent(plan: FleetPlan, destroy_all: int | None, *, wipe_signatures: bool) -> None:
    """Refuse a plan unless the command line gives consent to all that it destroys.

    Raises
    ------
    Refused
        Consent is missing, is for another number of drives, or `wipe_signatures` does not fit the plan.
    """
    count = len(plan.destroyed)
    if count != (destroy_all or 0):
        given = "no consent was given" if destroy_all is None else f"--destroy-all is {destroy_all}"
        loses = f"destroys the data of {counted(count, 'drive')}" if count else "writes no drive"
        raise Refused(
            f"the plan {loses}, but {given}",
            f"check the serials, then add{plan.consent_words()}" if count else "leave --destroy-all out",
            serials=list(plan.destroyed),
        )
    if wipe_signatures and not plan.wiped:
        raise Refused(
            "no drive to be overwritten carries a file system or the like",
            "leave --wipe-signatures out",
        )
    if plan.wiped and not wipe_signatures:
        carried = "; ".join(f"{serial}: {', '.join(kinds)}" for serial, kinds in plan.wiped.items())
        raise Refused(
            f"--destroy-all alone does not cover what drives of the plan carry: {carried}",
            f"if that may be lost, add{plan.consent_words()}",
            serials=list(plan.wiped),
        )


def record_consent(path: Path, plan: FleetPlan, *, wipe_signatures: bool) -> FleetConsent:
    """Seal the consent and store it in the plan's folder.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    with library_errors(path / CONSENT), private_folder(path) as folder:
        made = FleetConsent(
            at=now(),
            plan=plan.digest,
            folder_inode=folder.id.inode,
            folder_birth_ns=folder.id.birth_ns,
            destroyed=plan.destroyed,
            wipe_signatures=wipe_signatures,
        )
        made = made.model_copy(update={"seal": seal(_content(made), _PURPOSE)})
        folder.replace(CONSENT, made.model_dump_json(indent=1))
    return made


def standing_consent(path: Path, plan: FleetPlan) -> FleetConsent:
    """Return the stored consent with which a plan was started.

    Raises
    ------
    Refused
        There is no valid consent, so it must be given again.
    """
    with library_errors(path), private_folder(path) as folder:
        found = _read(folder)
        if isinstance(found, FleetConsent):
            why = _fault(found, folder, plan)
            if not why:
                return found
        else:
            why = found
    raise Refused(
        f"plan {plan.plan_id} destroys the data of {counted(len(plan.destroyed), 'drive')}, but {why}",
        f"check the serials, then add{plan.consent_words()}",
        reason="no-consent",
        serials=list(plan.destroyed),
    )


def _fault(found: FleetConsent, folder: HeldFolder, plan: FleetPlan) -> str:
    if not is_sealed(_content(found), _PURPOSE, found.seal):
        return f"{CONSENT} was not sealed by this user on this host"
    if (found.plan, found.destroyed) != (plan.digest, plan.destroyed):
        return f"{CONSENT} is of another plan"
    if (found.folder_inode, found.folder_birth_ns) != (folder.id.inode, folder.id.birth_ns):
        return f"its folder is a copy of the one for which {CONSENT} was sealed"
    for job in plan.jobs:
        if job.serial in found.destroyed and job.resettable:
            return f"{job.serial} may hold other data now: the kernel does not count its resets"
    return ""


def _read(folder: HeldFolder) -> FleetConsent | str:
    try:
        return FleetConsent.model_validate_json(read_private(folder, CONSENT))
    except FileNotFoundError:
        return f"consent is missing ({CONSENT})"
    except ValidationError:
        return f"{CONSENT} is damaged"


def _content(consent: FleetConsent) -> bytes:
    return canonical(consent.model_dump(mode="json", exclude={"seal"}))
