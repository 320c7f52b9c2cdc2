"""Mounts and swap areas, and whether a file system may have users on other hosts.

Names in these tables are unreliable. The root file system is often called `/dev/root`. A bind mount repeats
the name of another mount. A loop device is mounted under the name of its node, while the disk under its
backing file is not mentioned. So the `major:minor` column is used, and a name is looked up only if the kernel
gives no block number (btrfs).

Locks of this kernel do not keep users on other hosts away. Whether there may be such users follows from
the mount through which a descriptor was opened (`mnt_id`, proc(5)), since no mount table has the device
numbers of btrfs and overlays.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.sysfs import HostFiles, names, raw_bytes, text, within

_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the mount table.

    Attributes
    ----------
    number
        `major:minor` of the file system; major 0 if it has no block device of its own.
    root
        Part of the file system that is mounted (`/`, or a folder in a bind mount).
    point
        Mount point.
    kind, source, options
        Type of file system, source of the mount, and options (of the mount, then of the file system).
    """

    number: str
    root: str
    point: str
    kind: str
    source: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Swap:
    """One active swap area.

    Attributes
    ----------
    path
        As the kernel names it.
    device, file
        `major:minor` of the block device, or device and inode number of the file, at that path.
    near
        `major:minor` of the file system that the path is on, by the mount table.
    """

    path: str
    device: str | None = None
    file: tuple[int, int] | None = None
    near: str | None = None

    @property
    def lost(self) -> bool:
        """Whether the path leads nowhere: deleted, or in another mount namespace."""
        return self.device is None and self.file is None


def parse_mountinfo(table: str) -> tuple[Mount, ...]:
    r"""Parse `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

    >>> parse_mountinfo("36 35 98:0 /a\\040b /mnt rw,noatime shared:1 - ext4 /dev/root rw,discard")[0].root
    '/a b'
    """
    mounts = []
    for line in table.split("\n"):  # unlike splitlines: names may contain its other line ends
        fields = line.split(" ")
        # The optional fields end with a lone hyphen; there may be any number of them.
        if "-" not in fields[6:]:
            continue
        separator = fields.index("-", 6)
        tail = fields[separator + 1 :]
        if len(tail) < 2:
            continue
        options = dict.fromkeys(",".join([fields[5], *tail[2:]]).split(","))
        mounts.append(
            Mount(
                number=fields[2],
                root=_unescape(fields[3]),
                point=_unescape(fields[4]),
                kind=tail[0],
                source=_unescape(tail[1]),
                options=tuple(options),
            )
        )
    return tuple(mounts)


def parse_swaps(table: str) -> tuple[str, ...]:
    r"""Return the paths in `/proc/swaps`.

    >>> parse_swaps("Filename Type Size Used Priority\n/dev/zram1 partition 100 0 -2\n")
    ('/dev/zram1',)
    """
    return tuple(_unescape(re.split("[ \t]", line)[0]) for line in table.split("\n")[1:] if line)


def mounts(files: HostFiles) -> tuple[Mount, ...]:
    return parse_mountinfo(text(files.proc / "self" / "mountinfo") or "")


def swap_areas(files: HostFiles) -> tuple[Swap, ...]:
    """Return the active swap areas, both partitions and files."""
    table = os.fsdecode(raw_bytes(files.proc / "swaps") or b"")
    return tuple(_swap(files, path) for path in parse_swaps(table))


def _swap(files: HostFiles, path: str) -> Swap:
    device = files.number_of(path)
    if device is not None:
        return Swap(path, device=device)
    mount = mount_of(mounts(files), Path(path))
    near = None if mount is None else mount.number
    try:
        status = files.at(path).stat()
    except OSError:
        return Swap(path, near=near)
    return Swap(path, file=(status.st_dev, status.st_ino), near=near)


def devices_of(files: HostFiles, mount: Mount) -> tuple[str, ...]:
    """Return `major:minor` of every block device that is known to be under a mount.

    btrfs reports an anonymous number, and only one of its members as the source; sysfs lists the members.
    """
    found = [] if mount.number.startswith("0:") else [mount.number]
    if not found:
        source = files.number_of(mount.source)
        if source is not None:
            found.append(source)
    if mount.kind == "btrfs":
        found.extend(_btrfs_siblings(files, found))
    return tuple(dict.fromkeys(found))


def mount_of(table: tuple[Mount, ...], path: Path) -> Mount | None:
    """Return the mount of a resolved path: the longest mount point above it, and the last mount on that."""
    best: Mount | None = None
    for mount in table:
        point = Path(mount.point)
        if path.is_relative_to(point) and (best is None or len(point.parts) >= len(Path(best.point).parts)):
            best = mount
    return best


def _btrfs_siblings(files: HostFiles, members: list[str]) -> list[str]:
    for volume in within(files.sys / "fs" / "btrfs", "*"):
        devices = volume / "devices"
        numbers = [text(devices / name / "dev") for name in names(devices)]
        if any(member in numbers for member in members):
            return [number for number in numbers if number is not None]
    return []


def _unescape(field: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), field)


OF_ONE_HOST = frozenset(
    {
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "jfs", "reiserfs", "nilfs2"),
        *("tmpfs", "ramfs", "overlay", "squashfs", "erofs"),
        *("vfat", "exfat", "ntfs3", "hfsplus", "udf"),
    }
)
"""File systems of one kernel. Others may be shared: NFS, SMB, Ceph, Lustre, GFS2, 9p, and all of FUSE."""
_MOUNT_ID = re.compile(r"^mnt_id:\s*(\d+)$", re.MULTILINE)


def file_system_of(descriptor: int, proc: Path = Path("/proc/self")) -> str | None:
    """Return the type of file system that an open file or folder is on; None if unknown."""
    try:
        found = _MOUNT_ID.search((proc / "fdinfo" / str(descriptor)).read_text(encoding="ascii"))
        if found is None:
            return None
        for line in (proc / "mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(f"{found[1]} "):
                return line.partition(" - ")[2].partition(" ")[0]
    except OSError:
        pass
    return None


def may_be_shared(descriptor: int) -> bool:
    """Return whether another host may have the same files; True if that is unknown."""
    return file_system_of(descriptor) not in OF_ONE_HOST
