"""What stands behind each loop device, by device and inode number.

`loop/backing_file` in sysfs is a text: with a bind mount, a rename, a removed node, a trailing blank or
another mount namespace it leads nowhere or elsewhere. LOOP_GET_STATUS64 (loop(4), linux/loop.h) gives
numbers. It needs an open node of the loop device; where that is missing, one is made in a private folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.host.sysfs import HostFiles, not_looked_at, raw_bytes, text

_GET_STATUS = 0x4C05
_STATUS_BYTES = 232


@dataclass(frozen=True, slots=True)
class Loop:
    """An attached loop device.

    Attributes
    ----------
    name
        Its kernel name.
    device
        `major:minor` of the block device that it stands on; None for a file.
    file
        Device and inode number of the file that it stands on; None for a device.
    seen
        Whether the kernel said so; if not, `device` and `file` are what the text in sysfs leads to.
    """

    name: str
    device: str | None = None
    file: tuple[int, int] | None = None
    seen: bool = True


def attached_loops(files: HostFiles) -> tuple[Loop, ...]:
    """Return every loop device that stands on something."""
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
    """Return the names of all disks: not none, where they may not be looked at."""
    folder = files.sys / "block"
    try:
        return tuple(sorted(os.listdir(folder)))  # noqa: PTH208 - only the names
    except OSError as error:
        if files.copied:
            return ()
        raise not_looked_at(folder, error) from error


def backing(files: HostFiles, name: str, number: str, path: str) -> Loop | None:
    """Return what a loop device with this `major:minor` stands on; None if it was detached meanwhile."""
    if files.copied:
        return replace(_by_text(files, name, path), seen=True)
    try:
        with _node(files, name, number) as descriptor:
            status = fcntl.ioctl(descriptor, _GET_STATUS, bytes(_STATUS_BYTES))
    except OSError as error:
        return None if error.errno == errno.ENXIO else _by_text(files, name, path)
    return _by_status(files, name, status, path)


def _by_status(files: HostFiles, name: str, status: bytes, path: str) -> Loop:
    # lo_device, lo_inode, lo_rdevice. Older kernels say lo_device once more for a file, newer ones 0.
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
    """Open the node of a loop device; one of our own if `/dev` has none, or one that is another device's."""
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

    In `/dev`, as most other places are mounted without device nodes.
    """
    import tempfile  # which takes 5 ms, and is hardly ever needed

    major, _, minor = number.partition(":")
    with tempfile.TemporaryDirectory(prefix=".ssdlab-", dir=files.dev) as folder:
        path = Path(folder) / "loop"
        os.mknod(path, stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
        descriptor = _opened(path, number)
    if descriptor is None:
        raise OSError(errno.ENODEV, "the node that was made is not the device's")
    return descriptor
