"""Which drives a selection means, from the inventories of all hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ssdlab.model.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.fleet.inventory import FleetDrive, Inventory
    from ssdlab.fleet.selection import Drives, Selection
    from ssdlab.model.errors import LabError


@dataclass(frozen=True)
class Placed:
    """A drive with the host that it is attached to."""

    drive: FleetDrive
    host: str


def chosen_drives(
    selection: Selection, inventories: Sequence[Inventory], faults: list[LabError]
) -> tuple[Placed, ...]:
    """Return the drives that a selection means, each once, in its order; what does not exist is a fault."""
    everywhere = [Placed(drive, each.host) for each in inventories for drive in each.drives]
    if not everywhere:
        raise UsageError(
            "no host has an inventory with drives in this library",
            "run `ssdlab fleet inventory` on each host first, with the library that they share",
        )
    taken: dict[str, Placed] = {}
    for wanted in selection.drives:
        for find in _finders(wanted, everywhere, taken):
            try:
                taken |= {placed.drive.serial: placed for placed in find()}
            except UsageError as error:
                faults.append(error)
    return tuple(taken.values())


def _finders(
    wanted: Drives, everywhere: Sequence[Placed], taken: dict[str, Placed]
) -> list[Callable[[], list[Placed]]]:
    """Return what finds the drives of an entry: each serial by itself, so that all unknown ones are named."""
    if wanted.serials:
        return [partial(_one, serial, wanted.host, everywhere) for serial in wanted.serials]
    return [partial(_fitting, wanted, everywhere, taken)]


def _fitting(wanted: Drives, everywhere: Sequence[Placed], taken: dict[str, Placed]) -> list[Placed]:
    assert wanted.model is not None  # seen to when the selection was read
    hosts = sorted({each.host for each in everywhere})
    if wanted.host is not None and wanted.host not in hosts:
        raise unknown("host", wanted.host, hosts)
    fits = [
        each
        for each in everywhere
        if wanted.model.casefold() in each.drive.model.casefold()
        and wanted.firmware in (None, each.drive.who.firmware)
        and wanted.host in (None, each.host)
    ]
    free = [each for each in fits if each.drive.serial not in taken]
    if not fits:
        raise unknown("drive of model", wanted.model, sorted({each.drive.model for each in everywhere}))
    gone = f"{len(fits) - len(free)} taken by entries of [[drives]] before"
    if not free:
        raise UsageError(
            f"no drive of model {wanted.model} is left: {gone}",
            "leave this entry out, or let the entries before take fewer: count = N",
        )
    if wanted.count is not None and len(free) < wanted.count:
        others = "" if len(free) == len(fits) else f" ({gone})"
        raise UsageError(
            f"{wanted.count} drives of model {wanted.model} are asked for, and {len(free)} are there{others}",
            f"lower count to {len(free)}, or take the inventory of more hosts",
        )
    return free[: wanted.count]


def _one(serial: str, host: str | None, everywhere: Sequence[Placed]) -> list[Placed]:
    """Return the drive of a serial; on which host must be said where several have it."""
    found = [each for each in everywhere if each.drive.serial == serial]
    if not found:
        raise unknown("drive of the fleet with serial", serial, [each.drive.serial for each in everywhere])
    fits = [each for each in found if host in (None, each.host)]
    hosts = ", ".join(each.host for each in found)
    if not fits:
        raise UsageError(f"{serial} is on {hosts}, and the selection says {host}", "correct host")
    if len(fits) > 1:
        raise UsageError(
            f"{serial} is on several hosts: {hosts}", "give that entry of [[drives]] a host = '...'"
        )
    return fits
