"""The name by which a drive is given up: what `--destroy` must say, letter by letter.

The serial number where the drive has one (`serial/nsid` where its controller has several namespaces), else
the world-wide name, else the kernel name. Cheap bridges report `000000000000` or share one serial among all
their drives: an identifier that is a filler, or that another disk of this host bears too, names no drive, and
the next one is taken. A partition is named after its disk: `serial-part2`.
"""

from __future__ import annotations

import re
from pathlib import Path

from ssdlab.drives.attributes import disk_of, namespace_siblings, serial_of, wwid_of
from ssdlab.drives.sysfs import HostFiles, names, number, text

_FILLER = re.compile(r"(.)\1*|0?123456789\w*", re.ASCII)


def consent_id(files: HostFiles, node: Path) -> str:
    """Return the identifier that gives consent to writing to the block device with this sysfs folder."""
    disk = disk_of(node)
    others = [_candidates(other) for other in _disks(files) if other != disk]
    kernel_name = disk.name.replace("!", "/")
    name = next(
        (
            candidate
            for candidate in _candidates(disk)
            if not _FILLER.fullmatch(candidate) and not any(candidate in other for other in others)
        ),
        kernel_name,
    )
    part = number(node / "partition")
    return name if part is None else f"{name}-part{part}"


def _candidates(disk: Path) -> tuple[str, ...]:
    found = []
    serial = serial_of(disk)
    if serial is not None:
        nsid = number(disk / "nsid")
        found.append(f"{serial}/{nsid}" if namespace_siblings(disk) and nsid is not None else serial)
    wwid = wwid_of(disk)
    if wwid is not None:
        found.append(wwid)
    return tuple(found)


def _disks(files: HostFiles) -> list[Path]:
    """Return the sysfs folders of all whole disks, without the hidden per-path devices of NVMe multipath."""
    nodes = [files.node_named(name) for name in names(files.sys / "block")]
    return [node for node in nodes if node is not None and text(node / "hidden") != "1"]
