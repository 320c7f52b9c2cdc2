"""Links of drives: charts group bars by link, and no throughput can exceed it.

A point near the link's throughput was limited by the link, not by the drive.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ssdlab.host.identity import OF_TRANSPORT_BYTES_S
from ssdlab.model.errors import LabError
from ssdlab.model.units import throughput_text

if TYPE_CHECKING:
    from ssdlab.host.documents import Document
    from ssdlab.results.schema import Attribution, DriveInfo, Point

LIMIT_SHARE = 0.9
"""Share of a link's throughput from which the link is taken as the limit. Frames and handshakes use the rest:
SATA leaves 93 % of its coded rate to data in frames of 8 KiB, minus the commands."""

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
    """Interface of a drive, in words, and its throughput in one direction; None if unknown."""

    interface: str | None = None
    mb_s: float | None = None


def link_of(drive: DriveInfo) -> Link:
    """Return the link of a drive; for a simulated drive, the link of its profile."""
    if drive.capabilities.made_to_order:
        try:
            link = profile_of(drive)["link"]
            protocol, mb_s = link["protocol"]["value"], float(link["bandwidth_mb_s"]["value"])
        except (ValueError, KeyError, TypeError):  # the profile is gone, or has other keys
            return Link()
        return Link(_WORDS.get(protocol, str(protocol)), mb_s)
    transport = drive.identity.get("transport")
    if not isinstance(transport, str):
        return Link()
    carried = OF_TRANSPORT_BYTES_S.get(transport) if transport == "sata" else None
    return Link(_WORDS.get(transport, transport), None if carried is None else carried / 1e6)


def attribution_of(point: Point, link_mb_s: float | None) -> Attribution | None:
    """Return what limited a point: its link if nearly saturated, else the stored cause.

    A stored limit by the host stays, since the host can cause a tail at any throughput.
    """
    stored = point.attribution
    if stored is None or stored.limit == "host" or point.mb_s is None or link_mb_s is None:
        return stored
    if point.mb_s < LIMIT_SHARE * link_mb_s:
        return stored
    carried = f"{throughput_text(point.mb_s)} of the {throughput_text(link_mb_s)} that the link carries"
    return stored.model_copy(update={"limit": "link", "reasons": (carried,)})


def profile_of(drive: DriveInfo) -> Document:
    """Return the profile of a simulated drive; empty for a real drive, or if the profile is gone."""
    return _profile(drive.text) if drive.capabilities.made_to_order else {}


@cache
def _profile(text: str) -> Document:
    from ssdlab.drives.simulated.profiles import profile_text
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return tomllib.loads(profile_text(SimulatedText.parse(text).profile))
    except (LabError, ValueError):
        return {}
