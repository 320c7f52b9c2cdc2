"""How a target is reached: its name is resolved once; afterwards only its descriptor is used.

Between two uses of a name, somebody may lead it elsewhere. So `find` walks a path once and pins its end with
`O_PATH`: nothing is opened, nothing waits, and no device notices. What is pinned is inspected, judged and
opened through the pin. What is open is opened again through its descriptor. Nothing is opened by its name a
second time.

Links on the way to a file are followed only where nobody else gains control by that (`host.plain_files`).
The last part of a file's name is never followed.

Sources: open(2) (O_PATH, O_NOFOLLOW), proc_pid_fd(5), `BLKGETDISKSEQ` in linux/fs.h.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.plain_files import walk
from ssdlab.host.sysfs import device_number
from ssdlab.model.closing import Closing
from ssdlab.model.errors import DriveError, HostError

_PIN = os.O_PATH | os.O_CLOEXEC
_BLKGETDISKSEQ = 0x80081280


def through(descriptor: int) -> str:
    """Return the path by which this process, or a child that inherits the descriptor, reaches its file."""
    return f"/proc/self/fd/{descriptor}"


def reopen(descriptor: int, flags: int, path: Path) -> int:
    """Open the file behind a pinned or open descriptor, with other flags; `path` is for messages.

    Raises
    ------
    HostError
        `/proc` is missing, or belongs to another PID namespace.
    OSError
        The file cannot be opened with these flags.
    """
    try:
        made = os.open(through(descriptor), flags | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_proc(path) from error  # the descriptor is open, so /proc is at fault
    if not _same(os.fstat(descriptor), os.fstat(made)):
        os.close(made)
        raise _no_proc(path)
    return made


def diskseq_of(descriptor: int) -> int | None:
    """Return the attachment count of an open block device (`diskseq`); None before Linux 5.15."""
    try:
        (number,) = struct.unpack("=Q", fcntl.ioctl(descriptor, _BLKGETDISKSEQ, bytes(8)))
    except OSError:
        return None
    return int(number)


class Pin(Closing):
    """A file, folder or device, pinned so that no other can take its place; a context manager.

    Parameters
    ----------
    path
        Path for messages.
    descriptor
        Descriptor of it, which the pin then owns.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @property
    def status(self) -> os.stat_result:
        return os.fstat(self.descriptor)

    def open(self, flags: int) -> int:
        return reopen(self.descriptor, flags, self.path)

    def inside(self, name: str) -> Pin | None:
        """Pin what has this name in the folder, without following a link; None if there is nothing."""
        try:
            return Pin(self.path / name, os.open(name, _PIN | os.O_NOFOLLOW, dir_fd=self.descriptor))
        except FileNotFoundError:
            return None

    def leads_to(self, name: str, held: os.stat_result) -> bool:
        """Return whether a name in this folder still belongs to the file with this status."""
        try:
            now = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except OSError:
            return False
        return _same(now, held)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


@dataclass(frozen=True, slots=True)
class Place(Closing):
    """Where a path leads: to a block device, or to a name in a folder.

    Attributes
    ----------
    path
        Absolute path; for a file, its folder is resolved and its last part is not.
    device
        Node of the block device.
    folder
        Folder of a file; None if it cannot be entered, or if the path has no name in it.
    """

    path: Path
    device: Pin | None = None
    folder: Pin | None = None

    def close(self) -> None:
        for pin in (self.device, self.folder):
            if pin is not None:
                pin.close()


def pin_device(path: Path, number: str | None) -> Pin:
    """Pin the node of the block device with this number (`major:minor`); the last part is not followed.

    Raises
    ------
    DriveError
        There is no such node, or it belongs to another device.
    """
    try:
        pin = Pin(path, os.open(path, _PIN | os.O_NOFOLLOW))
    except OSError:
        raise _no_node(path, number) from None
    status = pin.status
    if not stat.S_ISBLK(status.st_mode) or device_number(status.st_rdev) != number:
        pin.close()
        raise _no_node(path, number)
    return pin


def find(path: Path) -> Place:
    """Follow a path once, and pin the device or folder to which it leads.

    Raises
    ------
    Refused
        The path to a file has a link by which another user could lead it anywhere.
    """
    if (device := _device(path)) is not None:
        return Place(device.path, device=device)
    if path.name in {"", ".."}:
        return Place(Path(os.path.realpath(path)))
    try:
        folder = Pin(*walk(path.parent))
    except OSError:
        return Place(Path(os.path.realpath(path.parent), path.name))
    return Place(folder.path / path.name, folder=folder)


def _device(path: Path) -> Pin | None:
    try:
        descriptor = os.open(path, _PIN)
    except OSError:
        return None
    if stat.S_ISBLK(os.fstat(descriptor).st_mode):
        return Pin(Path(os.readlink(through(descriptor))), descriptor)  # noqa: PTH115
    os.close(descriptor)
    return None


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino, one.st_rdev) == (other.st_dev, other.st_ino, other.st_rdev)


def _no_node(path: Path, number: str | None) -> DriveError:
    return DriveError(
        f"{path} is gone, or is no longer device {number}",
        "see `ssdlab drives`, and start again",
        reason="replaced",
        device=str(path),
    )


def _no_proc(path: Path) -> HostError:
    return HostError(
        f"{path} cannot be opened by its descriptor: /proc/self/fd does not lead to it",
        "mount the proc file system of this PID namespace at /proc (mount -t proc proc /proc)",
        reason="no-proc",
        device=str(path),
    )
