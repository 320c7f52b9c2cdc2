"""The name by which a drive is given up: what `--destroy` must say, letter by letter.

The serial number where the drive has one (`serial/nsid` where its controller has several namespaces), else
the world-wide name, else the kernel name. Cheap drives and bridges report `000000000000` or share one serial
among all their drives: an identifier that is a filler (`ssdlab.host.fillers`), or that another disk of this
host bears too, names no drive, and the next one is taken. A device mapper volume without a UUID goes by its
own name, as the kernel counts its names anew at each start. A partition is named after its disk:
`serial-part2`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ssdlab.host.attributes import disk_of, namespace_siblings, own_wwid_of, serial_of
from ssdlab.host.fillers import is_filler
from ssdlab.host.sysfs import HostFiles, names, number, text, there

_PART = re.compile(r"-part\d+$")


def consent_id(files: HostFiles, node: Path) -> str:
    """Return the identifier that gives consent to writing to the block device with this sysfs folder."""
    disk = disk_of(node)
    others = [_candidates(other) for other in disks_of(files) if other != disk]
    return _with_part(_name(disk, _candidates(disk), others), node)


def consent_ids(files: HostFiles) -> dict[str, Path]:
    """Return the identifier of every block device of this host, partitions too, with its sysfs folder."""
    all_candidates = {disk: _candidates(disk) for disk in disks_of(files)}
    found = {}
    for disk, own in all_candidates.items():
        name = _name(disk, own, [other for at, other in all_candidates.items() if at != disk])
        for node in (disk, *(disk / part for part in names(disk) if there(disk / part / "partition"))):
            found[_with_part(name, node)] = node
    return found


def disks_of(files: HostFiles) -> list[Path]:
    """Return the sysfs folders of all whole disks, without the hidden per-path devices of NVMe multipath."""
    nodes = [files.node_named(name) for name in names(files.sys / "block")]
    return [node for node in nodes if node is not None and text(node / "hidden") != "1"]


def _name(disk: Path, own: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    unique = (candidate for candidate in own if not any(candidate in other for other in others))
    return next(unique, disk.name.replace("!", "/"))


def _with_part(name: str, node: Path) -> str:
    part = number(node / "partition")
    return name if part is None else f"{name}-part{part}"


def _candidates(disk: Path) -> tuple[str, ...]:
    found = []
    serial = serial_of(disk)
    if serial is not None and not is_filler(serial):
        nsid = number(disk / "nsid")
        found.append(f"{serial}/{nsid}" if namespace_siblings(disk) and nsid is not None else serial)
    found += [name for name in (own_wwid_of(disk), text(disk / "dm" / "name")) if name is not None]
    return tuple(found)


def has_own_name(identifier: str, facts: Mapping[str, object]) -> bool:
    """Say whether an identifier is the drive's own and not one that the kernel or its user gave it.

    Parameters
    ----------
    identifier
        As `consent_id` gives it.
    facts
        `serial`, `nsid`, `wwid` and `model` of the drive.

    >>> has_own_name("S64GNE0R/2-part1", {"serial": "S64GNE0R", "nsid": 2}), has_own_name("loop0", {})
    (True, False)
    >>> has_own_name("naa.0000000000000000", {"wwid": "naa.0000000000000000"})
    False
    """
    own = (facts.get("serial"), f"{facts.get('serial')}/{facts.get('nsid')}", facts.get("wwid"))
    whole, model = _PART.sub("", identifier), facts.get("model")
    return whole in own and not is_filler(whole.partition("/")[0], None if model is None else str(model))
