"""The test platform: the component table that a review prints beside its numbers.

What the machine tells comes from DMI, sysfs and procfs; what it does not, with links and prices, from the rig
file (:mod:`ssdlab.host.rig`). A component that neither names is in the table all the same, as unknown. Serial
numbers are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host import smbios
from ssdlab.host.attributes import controller_of, disk_of, model_of
from ssdlab.host.fillers import known
from ssdlab.host.identity import SECTOR_BYTES
from ssdlab.host.mounts import devices_of, mounts
from ssdlab.host.pci import device_name, pci_device_of
from ssdlab.host.rig import Rig, read_rig
from ssdlab.host.sysfs import HostFiles, names, number, raw_bytes, text, there
from ssdlab.model.units import block_text, capacity_text

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity

PARTS = {
    "chassis": "Chassis",
    "board": "Board",
    "board_firmware": "Board firmware",
    "cpu": "CPU",
    "cooler": "Cooler",
    "memory": "Memory",
    "power_supply": "Power supply",
    "graphics": "Graphics",
    "fans": "Fans",
    "os_disk": "OS disk",
    "operating_system": "OS",
    "kernel": "Kernel",
    "host_adapter": "Host adapter, driver",
    "slot": "Slot, link",
}
"""The lines of the table: name in the rig file, and what a reader sees."""


@dataclass(frozen=True, slots=True)
class Component:
    """One line of the table.

    Attributes
    ----------
    part, title
        Name in the rig file, and what a reader sees.
    name
        What it is: of the rig file, else as found; None is unknown.
    found
        What the machine says; None where it does not.
    link, price
        Of the rig file.
    """

    part: str
    title: str
    name: str | None
    found: str | None = None
    link: str | None = None
    price: str | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """The component table, what its owner calls the machine, who tests on it, and who audits that."""

    name: str | None
    components: tuple[Component, ...]
    tested_by: str | None = None
    audited_by: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        components = [asdict(one) for one in self.components]
        people = {"tested_by": self.tested_by, "audited_by": self.audited_by}
        return {"name": self.name, **people, "components": components}


def read_platform(
    files: HostFiles | None = None, rig: Path | None = None, identity: Identity | None = None
) -> Platform:
    """Return the test platform of this host.

    Parameters
    ----------
    files
        The host; another root for tests.
    rig
        The rig file; None takes the user's own, if there is one.
    identity
        The drive under test.

    Raises
    ------
    UsageError, HostError
        The rig file is wrong, or is not there.
    """
    noted = read_rig(rig)
    components = read_components(files or HostFiles(), noted, identity)
    return Platform(noted.name, components, noted.tested_by, noted.audited_by)


def read_components(files: HostFiles, rig: Rig, identity: Identity | None = None) -> tuple[Component, ...]:
    """Return the component table of this host.

    Parameters
    ----------
    files
        The host.
    rig
        What its rig file says.
    identity
        The drive under test, for host adapter and slot; None leaves these unknown.
    """
    found = {**_machine(files), **_attachment(files, identity)}
    table = []
    for part, title in PARTS.items():
        noted = getattr(rig, part)
        name = found.get(part) if noted is None else noted.name
        link, price = (None, None) if noted is None else (noted.link, noted.price)
        table.append(Component(part, title, name, found.get(part), link, price))
    others = (Component("other", one.part, one.name, None, one.link, one.price) for one in rig.other)
    return (*table, *others)


def _machine(files: HostFiles) -> dict[str, str | None]:
    dmi = files.sys / "class" / "dmi" / "id"

    def joined_attributes(*wanted: str) -> str | None:
        return _joined(*dict.fromkeys(known(text(dmi / name)) for name in wanted))

    return {
        "chassis": joined_attributes("sys_vendor", "product_name") or joined_attributes("chassis_vendor"),
        "board": joined_attributes("board_vendor", "board_name", "board_version"),
        "board_firmware": joined_attributes("bios_vendor", "bios_version", "bios_date"),
        "cpu": _cpu(files),
        "memory": _memory(files),
        "graphics": _graphics(files),
        "fans": _fans(files),
        "os_disk": _os_disk(files),
        "operating_system": _operating_system(files),
        "kernel": text(files.proc / "sys/kernel/osrelease"),
    }


def _joined(*words: str | None) -> str | None:
    return " ".join(word for word in words if word) or None


def _cpu(files: HostFiles) -> str | None:
    table = text(files.proc / "cpuinfo") or ""
    models = re.findall(r"^(?:model name|cpu model|Processor)\s*:\s*(.+)$", table, re.MULTILINE)
    sockets = len(set(re.findall(r"^physical id\s*:\s*(\d+)", table, re.MULTILINE)))
    if not models:
        return None
    return f"{sockets} x {models[0].strip()}" if sockets > 1 else models[0].strip()


def _memory(files: HostFiles) -> str | None:
    """Return the modules if the SMBIOS table may be read (root only), else the size alone."""
    table = raw_bytes(files.sys / "firmware/dmi/tables/DMI") or b""
    modules = Counter(
        " ".join(
            word
            for word in (
                block_text(one.size_bytes),
                one.kind,
                f"at {one.speed_mt_s} MT/s" if one.speed_mt_s else None,
                _joined(one.maker, one.part),
            )
            if word
        )
        for one in smbios.memory_modules(table)
    )
    if modules:
        return "; ".join(f"{count} x {what}" for what, count in modules.items())
    total = re.search(r"^MemTotal:\s*(\d+) kB", text(files.proc / "meminfo") or "", re.MULTILINE)
    return f"{int(total.group(1)) / 2**20:.1f} GiB usable" if total else None


def _graphics(files: HostFiles) -> str | None:
    root = files.sys / "bus" / "pci" / "devices"
    cards = [
        root / name
        for name in names(root)
        if (text(root / name / "class") or "").startswith("0x03")  # display controllers
    ]
    return "; ".join(filter(None, (device_name(files, card) for card in cards))) or None


def _fans(files: HostFiles) -> str | None:
    root = files.sys / "class" / "hwmon"
    speeds = []
    for chip in names(root):
        for name in names(root / chip):
            if re.fullmatch(r"fan\d+_input", name) and (speed := number(root / chip / name)):
                label = text(root / chip / name.replace("_input", "_label"))
                speeds.append(f"{label or name.removesuffix('_input')} {speed} RPM")
    return ", ".join(speeds) or None


def _os_disk(files: HostFiles) -> str | None:
    for mount in reversed(mounts(files)):
        if mount.point != "/":
            continue
        nodes = [files.node(device) for device in devices_of(files, mount)]
        disks = [disk_of(node) for node in nodes if node is not None]
        if disks:
            size = capacity_text((number(disks[0] / "size") or 0) * SECTOR_BYTES)
            return f"{model_of(disks[0]) or disks[0].name}, {size}, {mount.kind}"
    return None


def _operating_system(files: HostFiles) -> str | None:
    release = text(files.root / "etc/os-release") or text(files.root / "usr/lib/os-release") or ""
    named = re.search(r'^PRETTY_NAME="?([^"\n]+)"?', release, re.MULTILINE)
    return named.group(1) if named else None


def _attachment(files: HostFiles, identity: Identity | None) -> dict[str, str | None]:
    """Return the controller of a drive, or of the one beneath a file, with its driver and its place."""
    if identity is None or identity.capabilities.virtual_time:
        return {}
    on_file = identity.capabilities.on_file_system
    beneath = (identity.backing or "").removeprefix("/dev/") if on_file else identity.name
    node = files.node_named(beneath) if beneath else None
    device = None if node is None else pci_device_of(controller_of(disk_of(node)))
    if device is None:
        return {}
    driver = device / "driver"
    named = driver.resolve().name if there(driver) else None
    version = text(driver / "module" / "version")
    joined_attributes = _joined(named, version)
    adapter = ", ".join(
        filter(
            None, (device_name(files, device), f"driver {joined_attributes}" if joined_attributes else None)
        )
    )
    return {"host_adapter": adapter or None, "slot": _slot(files, device)}


def _slot(files: HostFiles, device: Path) -> str:
    """Return the slot of a PCI device or of the bridge above it, its address, and its link."""
    table = raw_bytes(files.sys / "firmware/dmi/tables/DMI") or b""
    of_address = {slot.address: slot.name for slot in smbios.slots(table)}
    root = files.sys / "bus" / "pci" / "slots"
    of_address |= {
        address: f"slot {name}" for name in names(root) if (address := text(root / name / "address"))
    }
    above = [one for one in (device, *device.parents) if re.fullmatch(r"[\da-f]{4}:[\da-f:.]+", one.name)]
    named = next(
        (of_address[key] for one in above if (key := one.name.rpartition(".")[0]) in of_address), None
    )
    speed, width = text(device / "current_link_speed"), text(device / "current_link_width")
    link = f"{speed} x{width}".replace(" PCIe", "") if speed and width and width != "0" else None
    return ", ".join(filter(None, (named, device.name, link)))
