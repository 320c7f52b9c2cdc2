"""What drives are reached by: bars are grouped by it, and none can be longer than it carries."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ssdlab.host.link import OF_TRANSPORT_BYTES_S
from ssdlab.model.errors import LabError

if TYPE_CHECKING:
    from ssdlab.results.schema import DriveInfo

_WORDS = {
    "pcie": "NVMe",
    "nvme": "NVMe",
    "ahci": "PCIe (AHCI)",
    "sata": "SATA",
    "sas": "SAS",
    "usb": "USB",
    "mmc": "MMC",
}


@dataclass(frozen=True)
class Link:
    """What a drive is reached by, in words, and what that carries in one direction; None: not known."""

    interface: str | None = None
    mb_s: float | None = None


def link_of(drive: DriveInfo) -> Link:
    """Return the link of a drive, a simulated one's as its profile has it."""
    if drive.capabilities.made_to_order:
        return _simulated(drive.text)
    transport = drive.identity.get("transport")
    if not isinstance(transport, str):
        return Link()
    carried = OF_TRANSPORT_BYTES_S.get(transport) if transport == "sata" else None
    return Link(_WORDS.get(transport, transport), None if carried is None else carried / 1e6)


@cache
def _simulated(text: str) -> Link:
    from ssdlab.drives.simulated.profiles import profile_text
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        link = tomllib.loads(profile_text(SimulatedText.parse(text).profile))["link"]
        protocol, mb_s = link["protocol"]["value"], link["bandwidth_mb_s"]["value"]
    except (LabError, ValueError, KeyError, TypeError):  # a profile that is not there any more, or another
        return Link()
    return Link(_WORDS.get(protocol, str(protocol)), float(mb_s))
