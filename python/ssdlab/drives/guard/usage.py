"""Who uses a block device or a file: mounts, swap, holders, open descriptors, exclusive claims.

Facts only; :mod:`ssdlab.drives.guard.judge` judges them. A device is looked at with its family, since what
breaks when it is overwritten, or disturbs what it is timed for, seldom sits on the node that was named: the
partitions of its disk, the volumes above them, and for a volume the disks below it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import disk_of
from ssdlab.host.mounts import devices_of, mounts, swaps
from ssdlab.host.sysfs import HostFiles, names, number, text

_NO_FILE = re.compile(r"(socket|pipe|anon_inode|net|mnt|pid|user|uts|ipc|cgroup|time):")


@dataclass(frozen=True, slots=True)
class Opener:
    """A process that holds a descriptor of the target."""

    pid: int
    command: str
    writing: bool


OpenDevices = Mapping[int, tuple[Opener, ...]]
"""Who has which block device open, by device number."""


@dataclass(frozen=True, slots=True)
class Use:
    """One thing that keeps a device in use.

    Attributes
    ----------
    device, what
        Kernel name of the device in use, and by what: mount point, swap area, volume built on it.
    kind
        Kind of file system, or of volume: `lvm`, `crypt`, `multipath`, `dm`, `md`, `bcache`, `loop`.
    relation
        What that device is to the target, as part of a sentence.
    """

    device: str
    what: str
    kind: str = ""
    relation: str = "it"


@dataclass(frozen=True, slots=True)
class Family:
    """The block devices that share storage with a target, as sysfs folders.

    Attributes
    ----------
    own
        The whole disk of the target and its partitions.
    above
        Volumes built on those (device mapper, md, bcache), transitively.
    below
        For a volume: the disks under it, their partitions, and the other volumes on them.
    """

    own: tuple[Path, ...]
    above: tuple[Path, ...]
    below: tuple[Path, ...]


def family_of(files: HostFiles, node: Path) -> Family:
    """Find all block devices that share storage with the one of a sysfs folder."""
    disk = disk_of(node)
    own = _with_partitions(disk)
    above = _above(files, own)
    bases: dict[Path, None] = {}
    waiting = [disk]
    while waiting:
        for base in _bases(files, waiting.pop()):
            if disk_of(base) not in bases:
                bases[disk_of(base)] = None
                waiting.append(disk_of(base))
    under = [member for base in bases for member in _with_partitions(base)]
    below = [*under, *_above(files, under)]
    known = {*own, *above}
    return Family(
        own=tuple(own), above=tuple(above), below=tuple(n for n in dict.fromkeys(below) if n not in known)
    )


def mounted(files: HostFiles, node: Path, family: Family) -> tuple[Use, ...]:
    """Return where a device or any of its family is mounted."""
    of_number = _by_number(family)
    return tuple(
        Use(member.name, mount.point, mount.kind, _relation(node, family, member))
        for mount in mounts(files)
        for device in devices_of(files, mount)
        if (member := of_number.get(device)) is not None
    )


def swapped(files: HostFiles, node: Path, family: Family) -> tuple[Use, ...]:
    """Return the swap areas on a device or its family; a swap file shows as a mount of its file system."""
    of_number = _by_number(family)
    return tuple(
        Use(member.name, path, "swap", _relation(node, family, member))
        for path in swaps(files)
        if (member := of_number.get(files.number_of(path))) is not None
    )


def holders(files: HostFiles, node: Path, family: Family) -> tuple[Use, ...]:
    """Return the volumes that the kernel has built on a device, its disk, or the partitions of that."""
    return tuple(
        Use(member.name, _volume_name(holder), _volume_kind(holder), _relation(node, family, member))
        for member in family.own
        for holder in _holders(files, member)
    )


def loops_on(files: HostFiles, path: Path) -> tuple[str, ...]:
    """Return the loop devices that a file is the backing store of."""
    return tuple(
        name
        for name in names(files.sys / "block")
        if name.startswith("loop") and text(files.sys / "block" / name / "loop" / "backing_file") == str(path)
    )


def open_devices(files: HostFiles) -> OpenDevices:
    """Return who has which block device open; of processes that this user may look into."""
    found: dict[int, list[Opener]] = {}
    for status, opener in _openers(files, lambda status: stat.S_ISBLK(status.st_mode)):
        found.setdefault(status.st_rdev, []).append(opener)
    return {device: tuple(openers) for device, openers in found.items()}


def openers_of(devices: OpenDevices, members: Iterable[Path]) -> tuple[Opener, ...]:
    """Return the processes that have any of these devices open."""
    return _in_order(opener for member in members for opener in devices.get(_device(member), ()))


def file_openers(files: HostFiles, device: int, inode: int) -> tuple[Opener, ...]:
    """Return the processes that have a file open."""
    found = _openers(files, lambda status: (status.st_dev, status.st_ino) == (device, inode))
    return _in_order(opener for _, opener in found)


def claimed(path: str) -> bool:
    """Say whether the kernel refuses an exclusive claim.

    It does for a mount in any namespace, md, device mapper, ZFS, and another lab.

    Raises
    ------
    PermissionError
        The device may not be opened by this user.
    OSError
        The device cannot be opened at all.
    """
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return True
        raise
    return False


def _openers(
    files: HostFiles, wanted: Callable[[os.stat_result], bool]
) -> Iterator[tuple[os.stat_result, Opener]]:
    """Yield the open files that are wanted, and who has them open."""
    for name in names(files.proc):
        if not name.isdigit():
            continue
        process = files.proc / name
        for descriptor in names(process / "fd"):
            # Plain text for a path: a busy host has tens of thousands of descriptors, and each is looked at.
            link = f"{process}/fd/{descriptor}"
            try:
                if _NO_FILE.match(os.readlink(link)):  # noqa: PTH115
                    continue
                status = os.stat(link)  # noqa: PTH116
            except OSError:
                continue  # closed, or the process ended, between the listing and the look
            if wanted(status):
                command = text(process / "comm") or "?"
                yield status, Opener(int(name), command, _for_writing(process / "fdinfo" / descriptor))


def _in_order(openers: Iterable[Opener]) -> tuple[Opener, ...]:
    return tuple(sorted(set(openers), key=lambda opener: (opener.pid, opener.writing)))


def _for_writing(info: Path) -> bool:
    match = re.search(r"^flags:\s*(\d+)", text(info) or "", re.MULTILINE)
    return match is None or int(match.group(1), 8) & os.O_ACCMODE != os.O_RDONLY


def _with_partitions(disk: Path) -> list[Path]:
    return [disk, *(disk / name for name in names(disk) if number(disk / name / "partition") is not None)]


def _above(files: HostFiles, members: Iterable[Path]) -> list[Path]:
    found: dict[Path, None] = {}
    waiting = list(members)
    while waiting:
        for holder in _holders(files, waiting.pop()):
            if holder not in found:
                found[holder] = None
                waiting.extend(_with_partitions(holder))
    return list(found)


def _bases(files: HostFiles, disk: Path) -> list[Path]:
    """Return the block devices that a volume is built on."""
    found = [files.node_named(name) for name in names(disk / "slaves")]
    backing = text(disk / "loop" / "backing_file")
    if backing is not None:
        found.append(_device_at(files, backing))
    return [node for node in found if node is not None]


def _holders(files: HostFiles, member: Path) -> list[Path]:
    """Return the volumes built on a block device.

    A loop device on a block device is listed nowhere in sysfs but in its own folder, and claims nothing.
    """
    found = [files.node_named(name) for name in names(member / "holders")]
    for name in names(files.sys / "block"):
        backing = (
            text(files.sys / "block" / name / "loop" / "backing_file") if name.startswith("loop") else None
        )
        if backing is not None and _device_at(files, backing) == member:
            found.append(files.node_named(name))
    return [node for node in found if node is not None]


def _device_at(files: HostFiles, path: str) -> Path | None:
    device = files.number_of(path)
    return None if device is None else files.node(device)


def _by_number(family: Family) -> dict[str | None, Path]:
    return {text(member / "dev"): member for member in (*family.below, *family.above, *family.own)}


def _relation(node: Path, family: Family, member: Path) -> str:
    name = member.name.replace("!", "/")
    if member == node:
        return "it"
    if member == disk_of(node):
        return f"its disk {name}"
    if member in family.own:
        return f"its partition {name}" if node == disk_of(node) else f"{name} (a partition beside it)"
    return f"{name} (a volume on it)" if member in family.above else f"{name} (which shares its storage)"


def _volume_name(holder: Path) -> str:
    return text(holder / "dm" / "name") or holder.name.replace("!", "/")


def _volume_kind(holder: Path) -> str:
    """Return which kind of volume a holder is; device mapper says it in the prefix of its UUIDs."""
    if (holder / "dm").is_dir():
        prefix = (text(holder / "dm" / "uuid") or "").partition("-")[0]
        return {"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath"}.get(prefix, "dm")
    known = re.match(r"(md|bcache|loop)", holder.name)
    return known.group(1) if known else ""


def _device(member: Path) -> int:
    major, _, minor = (text(member / "dev") or "0:0").partition(":")
    return os.makedev(int(major), int(minor))
