"""Whether a file system may have users on other hosts, whom no lock of this kernel need keep away.

Asked of the mount that a descriptor was opened through (`mnt_id`, proc(5)), since device numbers of btrfs and
overlays are in no table of mounts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

OF_ONE_HOST = frozenset(
    {
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "bcachefs", "zfs", "jfs", "reiserfs", "nilfs2"),
        *("tmpfs", "ramfs", "overlay", "squashfs", "erofs"),
        *("vfat", "exfat", "ntfs3", "hfsplus", "udf"),
    }
)
"""File systems of one kernel. All others may be shared: NFS, SMB, Ceph, Lustre, GFS2, 9p, and all of FUSE."""


_MOUNT_ID = re.compile(r"^mnt_id:\s*(\d+)$", re.MULTILINE)


def file_system_of(descriptor: int, proc: Path = Path("/proc/self")) -> str | None:
    """Return the kind of file system that an open file or folder is on; None where that cannot be known."""
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
    """Say whether another host may have the same files; also of what cannot be known."""
    return file_system_of(descriptor) not in OF_ONE_HOST
