"""The test platform: the component table of a review, from SMBIOS, names of PCI devices, and the rig file.

Facts that the machine reports come from DMI, sysfs and procfs. Other facts, links and prices come from the
rig file. A component that neither names is in the table too, as unknown. Serial numbers are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from ssdlab.host.attributes import controller_of, disk_of, model_of
from ssdlab.host.defaults import config_path, read_defaults, read_own_toml
from ssdlab.host.documents import read_toml, user_path, with_name
from ssdlab.host.fillers import known
from ssdlab.host.identity import SECTOR_BYTES
from ssdlab.host.mounts import devices_of, mounts
from ssdlab.host.sysfs import HostFiles, names, number, raw_bytes, text, there
from ssdlab.host.user_folders import config_folder
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Frozen
from ssdlab.model.meter_text import AnyMeter
from ssdlab.model.units import block_text, capacity_text

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity

# PCI devices are named by the machine's own list, else by their numbers.
#
# Source of the list's format: the head of `pci.ids` (The PCI ID Repository).

_LISTS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "usr/share/pci.ids")


def pci_device_of(folder: Path) -> Path | None:
    """Return the PCI function above a device in sysfs; None if there is none."""
    for one in (folder, *folder.parents):
        if re.fullmatch(r"[\da-f]{4,}:[\da-f]{2}:[\da-f]{2}\.\d", one.name) and there(one / "vendor"):
            return one
    return None


def device_name(files: HostFiles, device: Path) -> str | None:
    """Return vendor and device of a PCI function in words, or as numbers if no list names them."""
    vendor, model = (_hexadecimal(device / name) for name in ("vendor", "device"))
    if vendor is None or model is None:
        return None
    for path in _LISTS:
        named = _looked_up(files.root / path, vendor, model)
        if named is not None:
            return named
    return f"PCI {vendor}:{model}"


def _looked_up(path: Path, vendor: str, model: str) -> str | None:
    """Find a device in a list: a vendor's line starts with its number, its devices' lines with a tab."""
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


# Memory modules and slots come from the SMBIOS table, which only root can read.
#
# Source: DMTF DSP0134 (SMBIOS 3.7) 6.1 (structures, strings), 7.18 (type 17, memory device), 7.10 (type 9,
# system slots).

_MEMORY_DEVICE, _SYSTEM_SLOT, _END = 17, 9, 127
_MEMORY_TYPES = {24: "DDR3", 26: "DDR4", 30: "LPDDR4", 34: "DDR5", 35: "LPDDR5"}


@dataclass(frozen=True, slots=True)
class MemoryModule:
    """A memory module that is plugged in; None: not reported."""

    size_bytes: int
    kind: str | None
    speed_mt_s: int | None
    maker: str | None
    part: str | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of the board, with the PCI address (`0000:01:00`) of the device that is plugged into it."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class _Structure:
    kind: int
    data: bytes
    texts: tuple[str, ...]

    def number(self, at: int, length: int) -> int | None:
        """Return a number; None if the structure is of an older version and too short for it."""
        return (
            int.from_bytes(self.data[at : at + length], "little") if len(self.data) >= at + length else None
        )

    def text(self, at: int) -> str | None:
        index = self.number(at, 1)
        return known(self.texts[index - 1]) if index and index <= len(self.texts) else None


def memory_modules(table: bytes) -> tuple[MemoryModule, ...]:
    """Return the memory modules that an SMBIOS structure table (`/sys/firmware/dmi/tables/DMI`) lists."""
    found = []
    for one in _structures(table):
        size = _size_bytes(one) if one.kind == _MEMORY_DEVICE else None
        if size:
            speed = one.number(0x20, 2) or one.number(0x15, 2)
            kind = _MEMORY_TYPES.get(one.number(0x12, 1) or 0)
            found.append(
                MemoryModule(size, kind, None if speed == 0xFFFF else speed, one.text(0x17), one.text(0x1A))
            )
    return tuple(found)


def slots(table: bytes) -> tuple[Slot, ...]:
    """Return the slots of the board for which an SMBIOS structure table gives the PCI address."""
    found = []
    for one in _structures(table):
        name, segment, bus = one.text(0x04), one.number(0x0D, 2), one.number(0x0F, 1)
        device = one.number(0x10, 1)
        if one.kind != _SYSTEM_SLOT or name is None or segment is None or bus is None or device is None:
            continue
        if (segment, bus, device) != (0xFFFF, 0xFF, 0xFF):
            found.append(Slot(name, f"{segment:04x}:{bus:02x}:{device >> 3:02x}"))
    return tuple(found)


def _size_bytes(one: _Structure) -> int | None:
    size = one.number(0x0C, 2)
    if size in (None, 0, 0xFFFF):
        return None
    if size == 0x7FFF:  # the size is in the extended field, in MiB
        return (one.number(0x1C, 4) or 0) << 20
    return (size & 0x7FFF) << (10 if size & 0x8000 else 20)


def _structures(table: bytes) -> Iterator[_Structure]:
    at = 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < 4 or end < 0:
            return
        texts = table[at + length : end].decode("latin-1").split("\0")
        yield _Structure(kind, table[at : at + length], tuple(text for text in texts if text))
        if kind == _END:
            return
        at = end + 2


# The rig file: what a machine does not report about itself, written down once by its builder.
#
# A TOML file, `ssdlab/rig.toml` in the XDG configuration folder or named by ``--rig`` or `config.toml`. Each
# component is a text, or a table with a link and a price::
#
#     name = "Rig A"
#     tested_by = "J. Doe, Example Lab"
#     cooler = "Noctua NH-U14S"
#
#     [power_supply]
#     name = "Seasonic Focus PX-750"
#     link = "https://seasonic.com/focus-px"
#     price = "130 EUR"
#
#     [[other]]
#     part = "Power meter"
#     name = "Quarch PPM"
#
#     [meter]
#     use = "quarch:192.168.1.5:9722"
#     accuracy = "1%"
#     calibrated = 2026-03-01


class RigPart(Frozen):
    """One component as a person describes it."""

    noun = "entry of a component"

    name: str = Field(min_length=1, description="maker and model")
    link: str | None = Field(None, pattern=r"^https?://\S+$", description="web page about it")
    price: str | None = Field(None, description="price, with its currency")


class OtherPart(RigPart):
    """A component that the table has no line for."""

    part: str = Field(min_length=1, description="kind of component: 'Power meter'")


def _part(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, dict | RigPart):
        raise ValueError("a component is text, or a table with a name")  # noqa: TRY004 - for pydantic
    return value


Part = Annotated[RigPart, BeforeValidator(_part)]


class Rig(Frozen):
    """The content of a rig file; the fields are the lines of the component table."""

    noun = "entry of a rig file"

    name: str | None = Field(None, description="name of the rig in reports: 'Rig A'")
    tested_by: str | None = Field(None, description="tester: name and lab")
    audited_by: str | None = Field(None, description="reviewer of the tests, if any")
    chassis: Part | None = Field(None, description="case or server")
    board: Part | None = Field(None, description="mainboard")
    board_firmware: Part | None = Field(None, description="firmware of the board")
    cpu: Part | None = Field(None, description="processor")
    cooler: Part | None = Field(None, description="cooler of the processor")
    memory: Part | None = Field(None, description="memory modules")
    power_supply: Part | None = Field(None, description="power supply")
    graphics: Part | None = Field(None, description="graphics card")
    fans: Part | None = Field(None, description="fans, and airflow over the drive")
    os_disk: Part | None = Field(None, description="system disk")
    operating_system: Part | None = Field(None, description="operating system")
    kernel: Part | None = Field(None, description="kernel")
    host_adapter: Part | None = Field(None, description="controller of the drive, and its driver")
    slot: Part | None = Field(None, description="slot of the drive or its controller")
    meter: AnyMeter | None = Field(None, description="power meter on the drive under test, as --meter")
    other: tuple[OtherPart, ...] = Field((), description="other components, each with its part")


def read_rig(path: Path | None = None) -> Rig:
    """Read a rig file.

    Parameters
    ----------
    path
        Path of the file; None: the one that `config.toml` names, else the user's own, which may be missing.

    Raises
    ------
    UsageError, HostError
        The file does not exist, cannot be read, or is invalid; the error names it.
    """
    if path is not None:
        source = user_path(path)
        content = read_toml(source, "rig file", "name a readable one, or leave --rig out")
    elif (usual := read_defaults().rig) is not None:
        source = usual
        content = read_toml(source, "rig file", f"name a readable one in {config_path()}")
    else:
        source = config_folder() / "rig.toml"
        content = read_own_toml(source, "rig file")
    try:
        return Rig.model_validate(content)
    except UsageError as error:
        raise with_name(error, source) from None


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
"""Lines of the table: name in the rig file, and title for readers."""


@dataclass(frozen=True, slots=True)
class Component:
    """One line of the table.

    Attributes
    ----------
    part, title
        Name in the rig file, and title for readers.
    name
        Component, from the rig file, else as found; None: unknown.
    found
        Component as the machine reports it; None: not reported.
    link, price
        From the rig file.
    """

    part: str
    title: str
    name: str | None
    found: str | None = None
    link: str | None = None
    price: str | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """The component table, the name of the machine, the tester, and the auditor."""

    name: str | None
    components: tuple[Component, ...]
    tested_by: str | None = None
    audited_by: str | None = None

    def as_dict(self) -> dict[str, Any]:
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
        Files of the host; tests give another root.
    rig
        Path of the rig file; None: as in `read_rig`.
    identity
        The drive under test.

    Raises
    ------
    UsageError, HostError
        The rig file is invalid or does not exist.
    """
    noted = read_rig(rig)
    components = read_components(files or HostFiles(), noted, identity)
    return Platform(noted.name, components, noted.tested_by, noted.audited_by)


def read_components(files: HostFiles, rig: Rig, identity: Identity | None = None) -> tuple[Component, ...]:
    """Return the component table of this host.

    Parameters
    ----------
    files
        Files of the host.
    rig
        Content of the rig file.
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
    """Return the modules if the SMBIOS table can be read (root only), else only the size."""
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
        for one in memory_modules(table)
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
    """Return the controller of a drive, or of the drive under a file, with its driver and slot."""
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
    """Return the slot of a PCI device or of the bridge above it, the device's address, and its link."""
    table = raw_bytes(files.sys / "firmware/dmi/tables/DMI") or b""
    of_address = {slot.address: slot.name for slot in slots(table)}
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
