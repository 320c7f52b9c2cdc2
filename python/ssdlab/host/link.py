"""How much the link of a drive can carry: what none of its transfers can exceed.

Sources: PCI Express Base Specification 6.0, section 4.2 (8b/10b up to 5 GT/s, 128b/130b above); Serial ATA
3.5 and SAS-4 (line rate and coding).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ssdlab.host.sysfs import text

if TYPE_CHECKING:
    from pathlib import Path

OF_TRANSPORT_BYTES_S = {"sata": 600e6, "sas": 4.8e9, "usb": 2.5e9, "mmc": 600e6}
"""Of the fastest generation: SATA 6 Gbit/s, two lanes of SAS 24 Gbit/s, USB 3.2 2x2, eMMC and UHS-II."""
_CODED_8B10B_GT_S = 5.0


def link_bytes_s(disk: Path, transport: str | None) -> float | None:
    """Return what the link of a disk carries in one direction; None where nothing shows it.

    Parameters
    ----------
    disk
        Its folder in sysfs.
    transport
        As `attributes.transport_of` has it.
    """
    if transport == "pcie":
        for folder in (disk, *disk.parents):
            speed, width = text(folder / "current_link_speed"), text(folder / "current_link_width")
            if speed is not None and width is not None:
                return _of_pcie(speed, width)
    return OF_TRANSPORT_BYTES_S.get(transport or "")


def _of_pcie(speed: str, width: str) -> float | None:
    rate = re.match(r"([\d.]+) GT/s", speed)
    if rate is None or not width.isdigit():
        return None
    transfers = float(rate[1])
    coding = 0.8 if transfers <= _CODED_8B10B_GT_S else 128 / 130
    return transfers * 1e9 * coding / 8 * int(width)
