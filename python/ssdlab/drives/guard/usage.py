"""Users of a block device or a file: mounts, swap, holders, exports, open descriptors, exclusive claims.

This module only gathers facts; :mod:`ssdlab.drives.guard.judge` judges them. A device is checked with its
family, because its users are often elsewhere: on the partitions of its disk, on volumes above them, or on the
disks below a volume.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ssdlab.host.attributes import disk_of
from ssdlab.host.chain import Loop, attached_loops
from ssdlab.host.mounts import Mount, Swap, devices_of, mounts, swap_areas
from ssdlab.host.openers import Opened, look_at_processes
from ssdlab.host.rights import BY_RIGHTS, Unseen
from ssdlab.host.sysfs import (
    HostFiles,
    device_number,
    is_folder,
    may_be_there,
    names,
    number,
    raw_bytes,
    text,
    there,
    within,
)

# Exports: devices and files that the kernel itself serves. No process has them open, and there is no claim.
#
# NVMe target namespaces (nvmet), SCSI targets (LIO) and USB mass storage gadgets are set up in configfs, and
# name the device or file by a path. The kernel resolved the path when the export was switched on. If the path
# leads nowhere any more, it is unknown what the export serves.

_USERS = ("nvmet", "target_core_mod", "usb_f_mass_storage")
"""Kernel modules that serve devices and are set up in configfs."""


@dataclass(frozen=True, slots=True)
class Export:
    """A device or file that the kernel serves.

    Attributes
    ----------
    server
        Name of the server, as part of a sentence.
    end
        Command that ends the export.
    path
        Path in the server's settings.
    device, file, controller
        `major:minor` of the block device, device and inode number of the file, or `major:minor` of the NVMe
        controller that the path leads to. All are None if it leads nowhere.
    """

    server: str
    end: str
    path: str
    device: str | None = None
    file: tuple[int, int] | None = None
    controller: str | None = None

    @property
    def seen(self) -> bool:
        """Whether it is known what is served."""
        return (self.device or self.file or self.controller) is not None


def exports(files: HostFiles) -> tuple[Export, ...]:
    """Return everything that the kernel exports, as far as configfs shows it."""
    root = files.sys / "kernel" / "config"
    return tuple(
        _resolved(files, server, end, path)
        for found in (_nvme, _scsi, _usb)
        for server, end, path in found(root)
        if path
    )


def hidden_servers(files: HostFiles) -> tuple[str, ...]:
    """Return the kernel's servers whose settings cannot be inspected."""
    if names(files.sys / "kernel" / "config"):
        return ()
    return tuple(name for name in _USERS if may_be_there(files.sys / "module" / name))


def _nvme(root: Path) -> Iterator[tuple[str, str, str]]:
    for subsystem in _folders(root / "nvmet" / "subsystems"):
        for space in _folders(subsystem / "namespaces"):
            if text(space / "enable") != "0":
                server = f"namespace {space.name} of the NVMe target {subsystem.name}"
                yield server, f"echo 0 >{space}/enable", _path_in(space / "device_path")
        passed = subsystem / "passthru"
        if text(passed / "enable") not in {None, "0"}:
            server = f"the NVMe target {subsystem.name}, which passes a controller through,"
            yield server, f"echo 0 >{passed}/enable", _path_in(passed / "device_path")


def _scsi(root: Path) -> Iterator[tuple[str, str, str]]:
    for adapter in _folders(root / "target" / "core"):
        for store in _folders(adapter):
            if text(store / "enable") in {None, "0"}:
                continue
            named = re.search(r"File: (.*)  Size: ", text(store / "info") or "")
            path = named.group(1) if named else _path_in(store / "udev_path")
            yield (
                f"the SCSI target {adapter.name}/{store.name}",
                f"targetcli /backstores delete {store.name}",
                path,
            )


def _usb(root: Path) -> Iterator[tuple[str, str, str]]:
    for gadget in _folders(root / "usb_gadget"):
        for function in _folders(gadget / "functions"):
            for unit in _folders(function):
                if function.name.startswith("mass_storage.") and unit.name.startswith("lun."):
                    yield f"the USB gadget {gadget.name}", f"echo >{unit}/file", _path_in(unit / "file")


def _folders(folder: Path) -> list[Path]:
    return [folder / name for name in names(folder) if is_folder(folder / name)]


def _path_in(attribute: Path) -> str:
    """Return the path in a file unchanged: blanks at its end are part of it."""
    return os.fsdecode((raw_bytes(attribute) or b"").removesuffix(b"\n"))


def _resolved(files: HostFiles, server: str, end: str, path: str) -> Export:
    device = files.number_of(path)
    if device is not None:
        return Export(server, end, path, device=device)
    try:
        status = files.at(path).stat()
    except OSError:
        return Export(server, end, path)
    if stat.S_ISCHR(status.st_mode):
        return Export(server, end, path, controller=device_number(status.st_rdev))
    return Export(server, end, path, file=(status.st_dev, status.st_ino))


_MOUNT_CONFIGFS = "mount -t configfs none /sys/kernel/config"

_LOOKS = 3
"""Maximum number of looks at the processes while the tables keep changing; then the last ones count."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The kernel's tables: mounts, swap areas, attached loop devices and exports."""

    mounts: tuple[Mount, ...]
    swaps: tuple[Swap, ...]
    loops: tuple[Loop, ...]
    exports: tuple[Export, ...]
    hidden: tuple[str, ...] = ()

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be inspected, with remedies."""
        lost = any(not loop.seen for loop in self.loops)
        return (
            *([Unseen("what loop devices are based on", BY_RIGHTS)] if lost else []),
            *(
                Unseen(
                    f"what {one.server} serves, as {one.path} does not exist,", f"stop that first: {one.end}"
                )
                for one in self.exports
                if not one.seen
            ),
            *(
                Unseen(f"what the kernel's {name} serves", f"mount configfs: {_MOUNT_CONFIGFS}")
                for name in self.hidden
            ),
        )


class Seen(NamedTuple):
    """One look at the whole host: its tables, and what its processes had open meanwhile."""

    tables: Tables
    opened: Opened


def read_tables(files: HostFiles) -> Tables:
    return Tables(
        mounts(files), swap_areas(files), attached_loops(files), exports(files), hidden_servers(files)
    )


def look_around(
    files: HostFiles, file: tuple[int, int] | None = None, own_descriptor: int | None = None
) -> Seen:
    """Read the tables and the processes of the host, until the tables are the same before and after.

    Parameters
    ----------
    file
        Device and inode number of a file to look for, besides all block devices and the files behind loop
        devices.
    own_descriptor
        A descriptor of this process that does not count.
    """
    tables = read_tables(files)
    for _ in range(_LOOKS):
        wanted = {loop.file for loop in tables.loops if loop.file is not None}
        wanted |= set() if file is None else {file}
        before, seen = tables, look_at_processes(files, wanted, own_descriptor)
        tables = read_tables(files)
        if tables == before:
            break
    return Seen(tables, seen)


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a device.

    Attributes
    ----------
    device, what
        Kernel name of the device in use, and its user: mount point, swap area, or volume built on it.
    kind
        Kind of file system, or of volume: `lvm`, `crypt`, `multipath`, `dm`, `md`, `bcache`, `loop`; or
        `export`.
    relation
        Relation of this device to the target, as part of a sentence.
    end
        Command that ends the use, if `kind` does not imply it.
    """

    device: str
    what: str
    kind: str = ""
    relation: str = "it"
    end: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """The block devices that share storage with a target, as sysfs folders.

    Attributes
    ----------
    own
        The whole disk of the target and its partitions.
    above
        Volumes built on `own` (device mapper, md, bcache), transitively.
    below
        For a volume: the disks under it, their partitions, and the other volumes on them.
    loops
        The loop devices among the target and the devices under it.
    """

    own: tuple[Path, ...]
    above: tuple[Path, ...]
    below: tuple[Path, ...]
    loops: tuple[Loop, ...] = ()

    @property
    def on_files(self) -> tuple[Loop, ...]:
        """The loop devices that are backed by a file."""
        return tuple(loop for loop in self.loops if loop.file is not None)

    @property
    def behind(self) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
        """Backing stores of the loop devices: numbers of block devices; device and inode number of files."""
        devices = (loop.device.partition(":") for loop in self.loops if loop.device is not None)
        numbers = tuple(os.makedev(int(major), int(minor)) for major, _, minor in devices)
        return numbers, tuple(loop.file for loop in self.loops if loop.file is not None)


def family_of(files: HostFiles, node: Path, loops: tuple[Loop, ...]) -> Family:
    """Find all block devices that share storage with the device of a sysfs folder."""
    disk = disk_of(node)
    own = _with_partitions(disk)
    above = _above(files, own, loops)
    bases: dict[Path, None] = {}
    waiting = [disk]
    while waiting:
        for base in _bases(files, waiting.pop(), loops):
            if disk_of(base) not in bases:
                bases[disk_of(base)] = None
                waiting.append(disk_of(base))
    under = [member for base in bases for member in _with_partitions(base)]
    below = [*under, *_above(files, under, loops)]
    known = {*own, *above}
    names_below = {disk.name, *(base.name for base in bases)}
    return Family(
        own=tuple(own),
        above=tuple(above),
        below=tuple(n for n in dict.fromkeys(below) if n not in known),
        loops=tuple(loop for loop in loops if loop.name in names_below),
    )


def mounted(files: HostFiles, node: Path, family: Family, tables: Tables) -> tuple[Use, ...]:
    """Return the mounts of a device and its family."""
    of_number = _by_number(family)
    return tuple(
        Use(member.name, mount.point, mount.kind, _relation(node, family, member))
        for mount in tables.mounts
        for device in devices_of(files, mount)
        if (member := of_number.get(device)) is not None
    )


def swapped(node: Path, family: Family, tables: Tables) -> tuple[Use, ...]:
    """Return the swap areas on a device or its family; a swap file shows as a mount of its file system."""
    of_number = _by_number(family)
    return tuple(
        Use(member.name, swap.path, "swap", _relation(node, family, member))
        for swap in tables.swaps
        if (member := of_number.get(swap.device)) is not None
    ) + tuple(
        Use(loop.name, swap.path, "swap", _file_behind(loop))
        for loop in family.on_files
        for swap in tables.swaps
        if swap.file == loop.file
    )


def holders(files: HostFiles, node: Path, family: Family, tables: Tables) -> tuple[Use, ...]:
    """Return the volumes that the kernel has built on a device, its disk, or the disk's partitions.

    Other loop devices on the same backing file are included.
    """
    return tuple(
        Use(member.name, _volume_name(holder), _volume_kind(holder), _relation(node, family, member))
        for member in family.own
        for holder in _holders(files, member, tables.loops)
    ) + tuple(
        Use(loop.name, other.name, "loop", _file_behind(loop))
        for loop in family.on_files
        for other in tables.loops
        if other.file == loop.file and other.name != loop.name
    )


def served(files: HostFiles, node: Path, family: Family, tables: Tables) -> tuple[Use, ...]:
    """Return the exports of a device and its family."""
    of_number = _by_number(family)
    found = []
    for export in tables.exports:
        members = [of_number.get(export.device)] if export.device else []
        if export.controller is not None:
            members = [one for one in family.own if export.controller in _controllers(files, disk_of(one))]
        found += [
            Use(member.name, export.server, "export", _relation(node, family, member), export.end)
            for member in members
            if member is not None
        ]
        found += [
            Use(loop.name, export.server, "export", _file_behind(loop), export.end)
            for loop in family.on_files
            if export.file == loop.file
        ]
    return tuple(found)


def loops_on(tables: Tables, file: tuple[int, int]) -> tuple[str, ...]:
    """Return the loop devices backed by a file, which is given by device and inode number."""
    return tuple(loop.name for loop in tables.loops if loop.file == file)


def swap_on(tables: Tables, file: tuple[int, int], *, suspicious: bool) -> bool:
    """Return whether a file, given by device and inode number, is swap space.

    With `suspicious`, it also counts as swap space if a swap file on the same file system has a path that
    leads nowhere.
    """
    near = f"{os.major(file[0])}:{os.minor(file[0])}"
    lost = any(swap.lost and swap.near == near for swap in tables.swaps)
    return any(swap.file == file for swap in tables.swaps) or (suspicious and lost)


def servers_of(tables: Tables, file: tuple[int, int]) -> tuple[Export, ...]:
    """Return the exports of a file, which is given by device and inode number."""
    return tuple(export for export in tables.exports if export.file == file)


def claimed(path: str, device: str | None) -> bool:
    """Return whether the kernel refuses an exclusive claim.

    It refuses if the device is mounted in any namespace, or in use by md, device mapper, ZFS or another
    ssdlab.

    Parameters
    ----------
    path
        The device's node.
    device
        The `major:minor` that the node must have.

    Raises
    ------
    PermissionError
        This user may not open the device.
    OSError
        The device cannot be opened at all, or the path leads to another one.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_EXCL | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.EBUSY:
            return True
        raise
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if not stat.S_ISBLK(status.st_mode) or f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" != device:
        raise OSError(errno.ENODEV, "its path now points to something else")
    return False


def numbers_of(members: Iterable[Path]) -> tuple[int, ...]:
    return tuple(_device(member) for member in members)


def _with_partitions(disk: Path) -> list[Path]:
    return [disk, *(disk / name for name in names(disk) if number(disk / name / "partition") is not None)]


def _above(files: HostFiles, members: Iterable[Path], loops: tuple[Loop, ...]) -> list[Path]:
    found: dict[Path, None] = {}
    waiting = list(members)
    while waiting:
        for holder in _holders(files, waiting.pop(), loops):
            if holder not in found:
                found[holder] = None
                waiting.extend(_with_partitions(holder))
    return list(found)


def _bases(files: HostFiles, disk: Path, loops: tuple[Loop, ...]) -> list[Path]:
    """Return the block devices that a volume is built on."""
    found = [files.node_named(name) for name in names(disk / "slaves")]
    found += [files.node(loop.device) for loop in loops if loop.name == disk.name and loop.device]
    return [node for node in found if node is not None]


def _holders(files: HostFiles, member: Path, loops: tuple[Loop, ...]) -> list[Path]:
    """Return the volumes built on a block device.

    A loop device on a block device is listed only in its own sysfs folder, and makes no claim.
    """
    own = text(member / "dev")
    found = [files.node_named(name) for name in names(member / "holders")]
    found += [files.node_named(loop.name) for loop in loops if loop.device is not None and loop.device == own]
    return [node for node in found if node is not None]


def _controllers(files: HostFiles, disk: Path) -> set[str | None]:
    """Return `major:minor` of the NVMe controllers of a namespace."""
    above = (disk / "device").resolve() if there(disk / "device") else disk.parent
    # With multipath the namespace hangs below its subsystem, which links to its controllers.
    return {text(folder / "dev") for folder in (above, *within(above, "nvme*"))} - {None}


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


def _file_behind(loop: Loop) -> str:
    return f"the file behind {loop.name}"


def _volume_name(holder: Path) -> str:
    return text(holder / "dm" / "name") or holder.name.replace("!", "/")


def _volume_kind(holder: Path) -> str:
    """Return the kind of a volume; device mapper states it in the prefix of its UUIDs."""
    if is_folder(holder / "dm"):
        prefix = (text(holder / "dm" / "uuid") or "").partition("-")[0]
        return {"LVM": "lvm", "CRYPT": "crypt", "mpath": "multipath"}.get(prefix, "dm")
    known = re.match(r"(md|bcache|loop)", holder.name)
    return known.group(1) if known else ""


def _device(member: Path) -> int:
    major, _, minor = (text(member / "dev") or "0:0").partition(":")
    return os.makedev(int(major), int(minor))
