"""An inventory as Slurm's configuration has it: lines for gres.conf and slurm.conf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.fleet.slurm import GRES, gres_type
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from ssdlab.fleet.inventory import Inventory


def gres_lines(inventory: Inventory) -> list[str]:
    """Return the lines of gres.conf: each drive that may be written, its serial as the type.

    They name the devices, unless a simulated drive is among them, which has none.

    Raises
    ------
    Refused
        Two serials are the same as types.
    """
    _check_types(inventory)
    # slurmd does not start where some lines of one GRES name a file and others do not.
    devices = all(drive.who.capabilities.block_device for drive in inventory.drives)
    return [
        f"NodeName={inventory.host} Name={GRES} Type={gres_type(drive.serial)} "
        + (f"File={drive.who.path}" if devices else "Count=1")
        for drive in inventory.drives
    ]


def node_line(inventory: Inventory) -> str:
    """Return the line of slurm.conf for the host."""
    gres = ",".join(f"{GRES}:{gres_type(drive.serial)}:1" for drive in inventory.drives)
    listed = f" Gres={gres}" if gres else ""
    memory = f" RealMemory={inventory.memory_mib}" if inventory.memory_mib else ""
    return f"NodeName={inventory.host} CPUs={inventory.cpus}{memory}{listed} State=UNKNOWN"


def _check_types(inventory: Inventory) -> None:
    seen: dict[str, str] = {}
    for drive in inventory.drives:
        kind = gres_type(drive.serial).lower()
        if (other := seen.setdefault(kind, drive.serial)) != drive.serial:
            raise Refused(
                f"the serials {other} and {drive.serial} are one type for Slurm: {kind}",
                "leave one of the two out of Slurm",
            )
