"""Names of PCI devices: of the machine's own list, else their numbers.

Source of the list's form: the head of `pci.ids` (The PCI ID Repository).
"""

from __future__ import annotations

import re
from pathlib import Path

from ssdlab.host.sysfs import HostFiles, text, there

_LISTS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "usr/share/pci.ids")


def pci_device_of(folder: Path) -> Path | None:
    """Return the PCI function that a device of sysfs hangs on; None if there is none above it."""
    for one in (folder, *folder.parents):
        if re.fullmatch(r"[\da-f]{4,}:[\da-f]{2}:[\da-f]{2}\.\d", one.name) and there(one / "vendor"):
            return one
    return None


def device_name(files: HostFiles, device: Path) -> str | None:
    """Return vendor and device of a PCI function in words, or as numbers where no list names them."""
    vendor, model = (_hexadecimal(device / name) for name in ("vendor", "device"))
    if vendor is None or model is None:
        return None
    for path in _LISTS:
        named = _looked_up(files.root / path, vendor, model)
        if named is not None:
            return named
    return f"PCI {vendor}:{model}"


def _looked_up(path: Path, vendor: str, model: str) -> str | None:
    """Find a device: vendors begin a line with their number, their devices follow behind a tab."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    maker = None
    for line in lines:
        if maker is None:
            if line.startswith(f"{vendor}  "):
                maker = line[4:].strip()
        elif line.startswith(f"\t{model}  "):
            return f"{maker} {line[5:].strip()}"
        elif line and not line.startswith(("\t", "#")):
            break
    return f"{maker} {vendor}:{model}" if maker else None


def _hexadecimal(path: Path) -> str | None:
    match = re.fullmatch(r"0x([\da-f]{4})", text(path) or "")
    return match.group(1) if match else None
