"""Faults of a host's drives: one is mounted, missing, or in another slot.

They are checked by a job before it starts, by Slurm's scripts (`slurm_files`), and by `ssdlab fleet check`.
The last result is in the library (`.fleet/health/HOST.json`), so that `ssdlab fleet status` can say why a job
cannot run.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from ssdlab.drives import list_drives
from ssdlab.fleet.inventory import FLEET, inventories_in, serial_on
from ssdlab.fleet.trusted_files import HostName
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.model.errors import Refused, unknown
from ssdlab.model.frozen import Stored
from ssdlab.runs.provenance import slot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ssdlab.drives.opening import Look

HEALTH = "health"
_STANDING = frozenset({"mounted", "swap", "root", "held", "read-only", "empty", "fault"})
"""What the guard has against a drive that no run of ours brings about; not that a run has it open."""


class Health(Stored):
    """A host's last check of its drives."""

    host: HostName
    at: float = Field(description="host time, in seconds since 1970")
    faults: dict[str, str] = Field(description="fault of each drive by serial, in a sentence")


def drive_fault(
    serial: str, slot: str, host: str, drives: Callable[[], Sequence[Look]] = list_drives
) -> tuple[Look | None, str]:
    """Return the drive with a serial, and its fault; empty if none."""
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
    """Return what is wrong with the drives of a host's inventory, by serial; simulated ones never are.

    Raises
    ------
    UsageError
        There is no inventory of such a host.
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
    """Store a host's check.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    text = Health(host=host, at=time.time(), faults=dict(faults)).model_dump_json(indent=1)
    # Not held to be private: a prolog of Slurm is root, whoever the library belongs to, and what it says is
    # only shown.
    with library_errors(library), HeldFolder(library / FLEET / HEALTH, make=FOLDER_MODE) as folder:
        folder.replace(f"{host}.json", text)


def known_faults(library: Path) -> dict[tuple[str, str], str]:
    """Return all hosts' last faults, by host and serial; unreadable files are ignored."""
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
