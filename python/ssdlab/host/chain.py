"""A block device and everything below it, down to the disks and the files of loop devices.

Number and attachment count (`diskseq`) distinguish a disk from a later one with the same name. They do not
show what a volume is built on. A device mapper table can move to another disk, and a loop device to another
file, while name, number and count stay the same. So each layer includes its lower layers, and all are
compared.

Source: `struct dm_ioctl` in linux/dm-ioctl.h.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.host.attributes import disk_of
from ssdlab.host.sysfs import HostFiles, is_folder, names, not_looked_at, number, raw_bytes, text

# The backing of each loop device is found by device and inode number.
#
# `loop/backing_file` in sysfs is only a path: after a bind mount, a rename or a removal, with a trailing
# blank, or in another mount namespace, it leads nowhere or elsewhere. LOOP_GET_STATUS64 (loop(4),
# linux/loop.h) gives numbers. It needs an open node of the loop device; if there is none, one is made in a
# private folder.

_GET_STATUS = 0x4C05
_STATUS_BYTES = 232


@dataclass(frozen=True, slots=True)
class Loop:
    """An attached loop device.

    Attributes
    ----------
    name
        Kernel name.
    device
        `major:minor` of its backing block device; None if it is backed by a file.
    file
        Device and inode number of its backing file; None if it is backed by a device.
    seen
        Whether the kernel gave the numbers; otherwise they are those of the path in sysfs.
    """

    name: str
    device: str | None = None
    file: tuple[int, int] | None = None
    seen: bool = True


def attached_loops(files: HostFiles) -> tuple[Loop, ...]:
    found = []
    for name in _disks(files):
        folder = files.sys / "block" / name
        backing_path = raw_bytes(folder / "loop" / "backing_file") if name.startswith("loop") else None
        number = text(folder / "dev")
        if backing_path is None or number is None:
            continue
        path = os.fsdecode(backing_path.removesuffix(b"\n"))
        loop = backing(files, name, number, path)
        if loop is not None:
            found.append(loop)
    return tuple(found)


def _disks(files: HostFiles) -> tuple[str, ...]:
    """Return the names of all disks; raise if the folder cannot be read, so that no disk is overlooked."""
    folder = files.sys / "block"
    try:
        return tuple(sorted(os.listdir(folder)))  # noqa: PTH208 - only the names
    except OSError as error:
        if files.copied:
            return ()
        raise not_looked_at(folder, error) from error


def backing(files: HostFiles, name: str, number: str, path: str) -> Loop | None:
    """Return the loop device with this `major:minor` and its backing; None if it was detached meanwhile."""
    if files.copied:
        return replace(_by_text(files, name, path), seen=True)
    try:
        with _node(files, name, number) as descriptor:
            status = fcntl.ioctl(descriptor, _GET_STATUS, bytes(_STATUS_BYTES))
    except OSError as error:
        return None if error.errno == errno.ENXIO else _by_text(files, name, path)
    return _by_status(files, name, status, path)


def _by_status(files: HostFiles, name: str, status: bytes, path: str) -> Loop:
    # lo_device, lo_inode, lo_rdevice. For a file, lo_rdevice is lo_device in older kernels, 0 in newer ones.
    device, inode, special = struct.unpack_from("=QQQ", status)
    if special not in {0, device} or (special and _is_block(files, path)):
        return Loop(name, device=f"{os.major(special)}:{os.minor(special)}")
    return Loop(name, file=(device, inode))


def _by_text(files: HostFiles, name: str, path: str) -> Loop:
    device = files.number_of(path)
    try:
        status = files.at(path).stat()
    except OSError:
        return Loop(name, device=device, seen=False)
    return Loop(name, device, None if device else (status.st_dev, status.st_ino), seen=False)


def _is_block(files: HostFiles, path: str) -> bool:
    try:
        return stat.S_ISBLK(files.at(path).stat().st_mode)
    except OSError:
        return False


@contextmanager
def _node(files: HostFiles, name: str, number: str) -> Iterator[int]:
    """Open the node of a loop device; make a temporary one if `/dev` has none, or has another device's."""
    descriptor = _opened(files.dev / name, number)
    if descriptor is None:
        descriptor = _opened_by_own_node(files, number)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _opened(path: Path, number: str) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISBLK(status.st_mode) and f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" == number:
        return descriptor
    os.close(descriptor)
    return None


def _opened_by_own_node(files: HostFiles, number: str) -> int:
    """Make a node where only this user can reach it, open it and remove it again.

    It is made in `/dev`, as most other file systems are mounted without device nodes.
    """
    import tempfile  # takes 5 ms to import, and is hardly ever needed

    major, _, minor = number.partition(":")
    with tempfile.TemporaryDirectory(prefix=".ssdlab-", dir=files.dev) as folder:
        path = Path(folder) / "loop"
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
        descriptor = _opened(path, number)
    if descriptor is None:
        raise OSError(errno.ENODEV, "the node that was made is not the device's")
    return descriptor


_MAX_LAYERS = 16
_DM_TABLE_STATUS = 0xC138FD0C
_DM_HEADER = struct.Struct("=3IIIIiIIIQ")  # version, size, start, targets, opens, flags, event, pad, device
_DM_HEADER_BYTES = 312
_DM_REPLY_BYTES = 64 * 1024
_DM_TABLE, _DM_FULL = 1 << 4, 1 << 8


@dataclass(frozen=True, slots=True)
class Layer:
    """One device of a chain.

    Attributes
    ----------
    name, number, diskseq
        Kernel name, `major:minor`, and attachment count.
    start
        First sector of a partition.
    backing
        Of a loop device: its block device, or device and inode of its file; then offset and size limit.
    table
        Of a device mapper volume: its UUID and a digest of its table.
    below
        Layers directly below, in the order of their names.
    """

    name: str
    number: str | None
    diskseq: int | None
    start: int | None = None
    backing: tuple[str | int, ...] | None = None
    table: str | None = None
    below: tuple[Layer, ...] = ()


def chain_of(files: HostFiles, node: Path, depth: int = 0) -> Layer:
    """Inspect a block device and all layers below; `node` is its folder in sysfs."""
    disk = disk_of(node)
    behind, file_node = _backing(files, disk)
    found = [files.node_named(name) for name in names(disk / "slaves")]
    below = [each for each in (*found, file_node) if each is not None and depth < _MAX_LAYERS]
    return Layer(
        name=node.name.replace("!", "/"),
        number=text(node / "dev"),
        diskseq=number(disk / "diskseq"),
        start=number(node / "start"),
        backing=behind,
        table=_table(files, disk),
        below=tuple(chain_of(files, each, depth + 1) for each in below),
    )


def difference(then: Layer, now: Layer) -> str | None:
    """Return the first difference between two chains, in words; None if equal.

    >>> difference(Layer("sda", "8:0", 3), Layer("sda", "8:0", 7))
    'sda was attached again since (disk sequence number 7, was 3)'
    """
    if (then.name, then.number) != (now.name, now.number):
        return f"{now.name} ({now.number}) replaced {then.name} ({then.number})"
    if then.diskseq != now.diskseq:
        return f"{now.name} was attached again since (disk sequence number {now.diskseq}, was {then.diskseq})"
    if then.start != now.start:
        return f"{now.name} starts at sector {now.start}, was {then.start}"
    for one, other in zip(then.below, now.below, strict=False):
        if (found := difference(one, other)) is not None:
            return f"below {now.name}, {found}"
    if len(then.below) != len(now.below):
        return f"{now.name} is built on {len(now.below)} devices, was {len(then.below)}"
    if then.backing != now.backing:
        return f"{now.name} has another file behind it, or another part of it"
    return f"the table of {now.name} was changed" if then.table != now.table else None


def _backing(files: HostFiles, disk: Path) -> tuple[tuple[str | int, ...] | None, Path | None]:
    """Return the backing of a loop device and, if that is a block device, its folder in sysfs."""
    backing_path, number = raw_bytes(disk / "loop" / "backing_file"), text(disk / "dev")
    if backing_path is None or number is None:
        return None, None
    loop = backing(files, disk.name, number, os.fsdecode(backing_path.removesuffix(b"\n")))
    part = tuple(text(disk / "loop" / name) or "" for name in ("offset", "sizelimit"))
    if loop is None:
        return part, None
    node = None if loop.device is None else files.node(loop.device)
    return (loop.device or "", *(loop.file or ()), *part), node


def _table(files: HostFiles, disk: Path) -> str | None:
    """Return UUID and digest of a device mapper table; without the right to read the table, only the UUID."""
    if not is_folder(disk / "dm"):
        return None
    uuid = text(disk / "dm" / "uuid") or ""
    major, _, minor = (text(disk / "dev") or "0:0").partition(":")
    device = int(minor) & 0xFF | int(major) << 8 | (int(minor) & ~0xFF) << 12
    size = _DM_REPLY_BYTES
    while True:
        request = bytearray(size)
        head = (4, 0, 0, size, _DM_HEADER_BYTES, 0, 0, _DM_TABLE, 0, 0, device)
        _DM_HEADER.pack_into(request, 0, *head)
        try:
            with (files.dev / "mapper" / "control").open("rb", buffering=0) as control:
                fcntl.ioctl(control, _DM_TABLE_STATUS, request, True)
        except OSError:
            return uuid
        *_, size_used, start, targets, _, flags, _, _, _ = _DM_HEADER.unpack_from(request)
        if not flags & _DM_FULL:
            # The table holds the key of a crypt volume: only its digest leaves this function.
            return f"{uuid} {targets} {hashlib.sha256(request[start:size_used]).hexdigest()}"
        size *= 4
