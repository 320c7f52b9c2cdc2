"""Facts about a disk from its sysfs folder: names, model, firmware, transport, place in the machine.

Sources: Documentation/ABI/stable/sysfs-block and sysfs-class-nvme in the kernel; SPC-6 for the unit serial
number page (VPD 80h); SAT-5 for the ATA information page (VPD 89h). That page has the drive's own IDENTIFY
DEVICE data (ACS-5). It is preferred, as SCSI fields cut an ATA model to 16 characters and its firmware to 4.
"""

from __future__ import annotations

import re
from pathlib import Path

from ssdlab.host.fillers import is_filler
from ssdlab.host.sysfs import name_at, names, number, plain_name, raw_bytes, text, there

_ATA_IDENTIFY_AT = 60
_ATA_IDENTIFY_BYTES = 512


def disk_of(node: Path) -> Path:
    """Return the sysfs folder of a partition's whole disk; any other folder is returned unchanged."""
    return node.parent if there(node / "partition") else node


def serial_of(disk: Path) -> str | None:
    candidates = [disk / "device" / "serial", disk / "serial", disk / "device" / "device" / "serial"]
    for candidate in candidates:
        found = name_at(candidate)
        if found is not None:
            return found
    ata = _ata_identify(disk)
    if ata is not None:
        return ata_text(ata, 10, 19)
    page = raw_bytes(disk / "device" / "vpd_pg80")
    return None if page is None else plain_name(page[4:])


def wwid_of(disk: Path) -> str | None:
    """Return the world-wide name of a whole disk (NVMe EUI-64 or NGUID, SCSI designator, dm or md UUID)."""
    found = _wwid(disk)
    return None if found is None else " ".join(found.split())


def own_wwid_of(disk: Path) -> str | None:
    """Return the world-wide name of a whole disk; None for a filler that several drives share."""
    found = _wwid(disk)
    return None if found is None or is_filler(found, model_of(disk)) else " ".join(found.split())


def _wwid(disk: Path) -> str | None:
    places = ("wwid", "device/wwid", "dm/uuid", "md/uuid")
    return next((found for place in places if (found := name_at(disk / place)) is not None), None)


def namespace_siblings(disk: Path) -> tuple[str, ...]:
    """Return the other namespaces of the NVMe controller (or multipath subsystem) of a disk.

    Hidden per-path devices (`nvme0c1n1`) are not namespaces.
    """
    if number(disk / "nsid") is None and not re.fullmatch(r"nvme\d+n\d+", disk.name):
        return ()
    controller = (disk / "device").resolve()
    # All namespaces of a controller or subsystem are its children in sysfs, so they are next to the disk.
    found = [name for name in names(disk.parent) if re.fullmatch(r"nvme\d+n\d+", name)]
    return tuple(
        name
        for name in found
        if name != disk.name and (disk.parent / name / "device").resolve() == controller
    )


def model_of(disk: Path) -> str | None:
    ata = _ata_identify(disk)
    if ata is not None:
        return ata_text(ata, 27, 46)
    device = disk / "device"
    model = name_at(device / "model") or name_at(device / "name") or text(disk / "dm" / "name")
    vendor = name_at(device / "vendor") if there(device / "model") else None
    # A SCSI vendor is part of the name; for PCI and virtio the file has a number of the controller.
    return model if model is None or vendor is None or vendor.startswith("0x") else f"{vendor} {model}"


def firmware_of(disk: Path) -> str | None:
    ata = _ata_identify(disk)
    if ata is not None:
        return ata_text(ata, 23, 26)
    device = disk / "device"
    return name_at(device / "firmware_rev") or name_at(device / "rev") or name_at(device / "fwrev")


def zone_model_of(disk: Path) -> str | None:
    """Return the zone model of a whole disk: `host-managed`, `host-aware`, `device-managed`, or None.

    Newer kernels treat a host-aware drive as ordinary. The drive still reports its model, in word 69 of
    IDENTIFY DEVICE (ACS-5) or byte 8 of VPD page B1h (SBC-4).
    """
    kernel = text(disk / "queue" / "zoned")
    if kernel not in {None, "none"}:
        return kernel
    ata, page = _ata_identify(disk), raw_bytes(disk / "device" / "vpd_pgb1") or b""
    zoned_bits = ata[138] & 3 if ata is not None else page[8] >> 4 & 3 if len(page) > 8 else 0
    return {1: "host-aware", 2: "device-managed"}.get(zoned_bits)


def _ata_identify(disk: Path) -> bytes | None:
    page = raw_bytes(disk / "device" / "vpd_pg89")
    if page is None or len(page) < _ATA_IDENTIFY_AT + _ATA_IDENTIFY_BYTES:
        return None
    return page[_ATA_IDENTIFY_AT : _ATA_IDENTIFY_AT + _ATA_IDENTIFY_BYTES]


def ata_text(identify: bytes, first_word: int, last_word: int) -> str | None:
    """Return an ATA string: two characters a word, the first in the high byte; cleaned by `plain_name`."""
    words = identify[2 * first_word : 2 * last_word + 2]
    return plain_name(b"".join(words[i + 1 : i + 2] + words[i : i + 1] for i in range(0, len(words), 2)))


def transport_of(disk: Path) -> str | None:
    """Return the transport of the disk: `pcie`, `sata`, `usb` and so on; None if sysfs does not show it."""
    virtual = re.fullmatch(r"(loop|zram|dm|md)[-_\w]*", disk.name)
    if virtual is not None:
        return virtual.group(1)
    device = controller_of(disk)
    declared = text(device / "transport")
    if declared is not None:
        return declared
    where = f"{device}/"
    for pattern, transport in (
        (r"/usb\d+/", "usb"),
        (r"/ata\d+/", "sata"),
        (r"/(end_device|port)-\d+:", "sas"),
        (r"/virtio\d+/", "virtio"),
        (r"/mmc\d+/", "mmc"),
        (r"/nvme\d+/", "pcie"),
    ):
        if re.search(pattern, where):
            return transport
    return None


def sas_link_of(disk: Path) -> str | None:
    """Return the negotiated SAS link of a disk: `x2 12.0 Gbit of 12.0 Gbit`; None if it has none.

    A port has one phy for each lane (Documentation/scsi/scsi_transport_sas in the kernel).
    """
    folder = controller_of(disk)
    port = next((one for one in folder.parents if re.fullmatch(r"port-[\d:]+", one.name)), None)
    phys = sorted(port.glob("phy-*/sas_phy/phy-*")) if port is not None else []
    speeds = [text(phy / "negotiated_linkrate") for phy in phys]
    known = [speed for speed in speeds if speed is not None and speed[0].isdigit()]
    if not known:
        return None
    return f"x{len(known)} {known[0]} of {text(phys[0] / 'maximum_linkrate') or '?'}"


def numa_node_of(disk: Path) -> int | None:
    """Return the NUMA node of the nearest ancestor that names one; None if the kernel writes -1."""
    device = controller_of(disk)
    for folder in (device, *device.parents):
        node = number(folder / "numa_node")
        if node is not None:
            return node if node >= 0 else None
    return None


def controller_of(disk: Path) -> Path:
    """Return the folder of a disk's controller device.

    For an NVMe multipath head, `device` is the subsystem, which has no place in the machine. The result is
    then the folder of its first path.
    """
    device = (disk / "device").resolve()
    paths = [device / name for name in names(device) if re.fullmatch(r"nvme\d+", name)]
    return paths[0].resolve() if device.name.startswith("nvme-subsys") and paths else device
