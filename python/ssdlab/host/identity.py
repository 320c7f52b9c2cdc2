"""The identity of a drive as the kernel knows it, without commands to the drive, and its link's throughput.

The facts come from :mod:`ssdlab.host.attributes`; the name that gives consent from
:mod:`ssdlab.host.consent`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import (
    disk_of,
    firmware_of,
    model_of,
    namespace_siblings,
    numa_node_of,
    serial_of,
    transport_of,
    wwid_of,
)
from ssdlab.host.consent import consent_id
from ssdlab.host.sysfs import HostFiles, flag, names, number, text
from ssdlab.model.capabilities import Capabilities, capabilities_of

# Throughput of a drive's link, an upper bound of the drive's own.
#
# Sources: PCI Express Base Specification 6.0, section 4.2 (8b/10b up to 5 GT/s, 128b/130b above); Serial ATA
# 3.5 and SAS-4 (line rate and coding).

OF_TRANSPORT_BYTES_S = {"sata": 600e6, "sas": 4.8e9, "usb": 2.5e9, "mmc": 600e6}
"""Fastest generation: SATA 6 Gbit/s, two lanes of SAS 24 Gbit/s, USB 3.2 2x2, eMMC and UHS-II."""
_CODED_8B10B_GT_S = 5.0


def link_bytes_s(disk: Path, transport: str | None) -> float | None:
    """Return a disk's link throughput in one direction, in bytes per second; None if unknown.

    Parameters
    ----------
    disk
        Folder of the disk in sysfs.
    transport
        As returned by `attributes.transport_of`.
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


SECTOR_BYTES = 512
"""Unit of `/sys/block/*/size`, whatever the logical block size."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a drive, read without sending it a command; None: not reported.

    Attributes
    ----------
    path
        Path that reaches the drive now (resolved: `/dev/nvme0n1`, `/data/scratch.img`).
    name
        Kernel name of a block device, name of a file.
    kind
        `block`, `partition`, `file` or `sim`.
    consent_id
        Identifier to give to `--destroy` for writing to this drive.
    serial, wwid, model, firmware
        As the drive reports them.
    transport
        `pcie`, `tcp`, `sata`, `sas`, `usb`, `virtio`, `mmc`, `loop`, `zram`, `dm`, `md`, or None.
    nsid, siblings
        Namespace number, and the names of other namespaces of the same NVMe controller or subsystem.
    capacity_bytes, logical_block_bytes, physical_block_bytes
        Sizes in bytes.
    rotational
        Whether the kernel takes the drive for a rotating disk; it often does for virtual disks.
    numa_node
        NUMA node of the controller; None if the host does not report one.
    hardware_queues
        Submission queues that blk-mq set up; 0 for a bio-based device.
    diskseq
        The kernel's sequence number of this attachment; another drive under the same name has another number.
    backing
        File or device behind a loop device.
    links
        Names under `/dev/disk/by-id`.
    inode, file_device, birth_ns
        Of a file: its inode number, the device (`major:minor`) of that number, and when it was created.
        Another file under the same name differs in one of them.
    """

    path: str
    name: str
    kind: str
    consent_id: str
    capacity_bytes: int
    logical_block_bytes: int
    physical_block_bytes: int | None = None
    serial: str | None = None
    wwid: str | None = None
    model: str | None = None
    firmware: str | None = None
    transport: str | None = None
    nsid: int | None = None
    siblings: tuple[str, ...] = ()
    rotational: bool | None = None
    numa_node: int | None = None
    hardware_queues: int | None = None
    diskseq: int | None = None
    backing: str | None = None
    links: tuple[str, ...] = ()
    inode: int | None = None
    file_device: str | None = None
    birth_ns: int | None = None
    token: str | None = None

    @property
    def capabilities(self) -> Capabilities:
        return capabilities_of(self.kind)


def changes_of(identity: Identity, node: Path) -> dict[str, tuple[object, object]]:
    """Return what changed on a block device: by name, the values before and now.

    Only properties that are constant while a drive is open are compared. The attachment count (`diskseq`)
    never repeats. The check is cheap enough during a measurement.
    """
    disk = disk_of(node)
    now = {
        "diskseq": number(disk / "diskseq"),
        "serial": serial_of(disk),
        "wwid": wwid_of(disk),
        "model": model_of(disk),
        "nsid": number(disk / "nsid"),
        "capacity_bytes": (number(node / "size") or 0) * SECTOR_BYTES,
        "logical_block_bytes": number(disk / "queue" / "logical_block_size") or SECTOR_BYTES,
    }
    return {name: (then, value) for name, value in now.items() if (then := getattr(identity, name)) != value}


def block_identity(files: HostFiles, node: Path) -> Identity:
    disk = disk_of(node)
    queue = disk / "queue"
    kernel_name = node.name.replace("!", "/")
    return Identity(
        path=f"/dev/{kernel_name}",
        name=kernel_name,
        kind="block" if disk == node else "partition",
        consent_id=consent_id(files, node),
        capacity_bytes=(number(node / "size") or 0) * SECTOR_BYTES,
        logical_block_bytes=number(queue / "logical_block_size") or SECTOR_BYTES,
        physical_block_bytes=number(queue / "physical_block_size"),
        serial=serial_of(disk),
        wwid=wwid_of(disk),
        model=model_of(disk),
        firmware=firmware_of(disk),
        transport=transport_of(disk),
        nsid=number(disk / "nsid"),
        siblings=namespace_siblings(disk),
        rotational=flag(queue / "rotational"),
        numa_node=numa_node_of(disk),
        hardware_queues=len(names(disk / "mq")),
        diskseq=number(disk / "diskseq"),
        backing=text(disk / "loop" / "backing_file"),
        links=_links(files, kernel_name),
    )


def _links(files: HostFiles, kernel_name: str) -> tuple[str, ...]:
    folder = files.dev / "disk" / "by-id"
    target = files.dev / kernel_name
    return tuple(
        name for name in names(folder) if os.path.realpath(folder / name) == os.path.realpath(target)
    )
