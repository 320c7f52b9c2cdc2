"""Reads of `/sys`, `/proc` and `/dev` below a root that a test may replace.

All facts about a host are read through :class:`HostFiles`. So copies of a few sysfs files can stand in for a
machine with NVMe namespaces, multipath or bcache, which no test machine has.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ssdlab.model.errors import HostError


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The kernel's file trees of one host.

    Parameters
    ----------
    root
        Folder with `sys`, `proc` and `dev`; `/` on a real host.
    """

    root: Path = Path("/")

    @property
    def copied(self) -> bool:
        """Whether this is a copied tree, whose nodes have no devices behind them."""
        return self.root != Path("/")

    @property
    def sys(self) -> Path:
        return self.root / "sys"

    @property
    def proc(self) -> Path:
        return self.root / "proc"

    @property
    def dev(self) -> Path:
        return self.root / "dev"

    def at(self, path: str) -> Path:
        """Return the place of an absolute path of this host, below the root."""
        return self.root / path.lstrip("/")

    def node(self, number: str) -> Path | None:
        """Return the sysfs folder of the block device with `major:minor` number, or None if there is none.

        Raises
        ------
        HostError
            sysfs cannot be read.
        """
        return _led_to(self.sys / "dev" / "block" / number)

    def node_named(self, name: str) -> Path | None:
        """Return the sysfs folder of the block device with this kernel name; see `node`."""
        return _led_to(self.sys / "class" / "block" / name.replace("/", "!"))

    def number_of(self, path: str) -> str | None:
        """Return `major:minor` of the block device that a path names; None if it names none.

        A real node counts by its number, whatever its name. If there is no node, the last part of the path is
        looked up in sysfs. That happens in a copied tree, or for a source in the mount table such as
        `/dev/mapper/x`, seen from a container.
        """
        local = self.at(path)
        try:
            status = local.stat()
        except OSError:
            status = None
        if status is not None and stat.S_ISBLK(status.st_mode):
            return device_number(status.st_rdev)
        node = self.node_named(local.resolve().name) if path.startswith("/dev/") else None
        return text(node / "dev") if node is not None else None


def within(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the entries of a folder whose names match a pattern, sorted; none if it cannot be read."""
    return tuple(folder / name for name in names(folder) if fnmatchcase(name, pattern))


def there(path: Path) -> bool:
    """Return whether a file or folder exists; False without permission, where `Path.exists` raises."""
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: Path) -> bool:
    """Return whether a folder exists; False without permission, where `Path.is_dir` raises."""
    return os.path.isdir(path)  # noqa: PTH112


def link_name(path: Path) -> str | None:
    """Return the last part of a link's target; None if there is no link, or without permission."""
    try:
        return path.readlink().name
    except OSError:
        return None


def may_be_there(path: Path) -> bool:
    """Return whether a file or folder exists; True without permission, so that the guard misses none."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def not_looked_at(path: Path, error: OSError) -> HostError:
    """Return the error for a part of sysfs that cannot be read but is needed to tell drives apart."""
    return HostError(
        f"{path} cannot be read: {error.strerror}",
        "make it readable (mode 0555, as usual): only sysfs tells which drive is which",
        reason="no-sysfs",
        path=str(path),
        errno=error.errno,
    )


def _led_to(link: Path) -> Path | None:
    try:
        link.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # no entry has such a name
            return None
        raise not_looked_at(link, error) from error
    return link.resolve()


def device_number(device: int) -> str:
    """Return a device number in the form of the kernel's tables.

    >>> import os
    >>> device_number(os.makedev(259, 3))
    '259:3'
    """
    return f"{os.major(device)}:{os.minor(device)}"


def text(path: Path) -> str | None:
    """Return a sysfs attribute stripped of blanks, or None if it is absent, empty or unreadable."""
    raw = raw_bytes(path)
    if raw is None:
        return None
    return raw.decode("utf-8", "replace").replace("\0", "").strip() or None


def name_at(path: Path) -> str | None:
    """Return a sysfs attribute that holds a name field of the drive, cleaned by `plain_name`."""
    raw = raw_bytes(path)
    return None if raw is None else plain_name(raw)


def plain_name(field: bytes) -> str | None:
    r"""Return the name in a field without its padding; None if the field is empty or not text.

    NVMe, ATA and SCSI allow the characters 20h to 7Eh; anything after a zero byte is padding too.

    >>> plain_name(b"PC711 NVMe     "), plain_name(b"PC711\x01")
    ('PC711 NVMe', None)
    """
    kept = field.strip(b"\0 \t\r\n").partition(b"\0")[0].rstrip()
    return kept.decode("ascii") if kept and all(0x20 <= byte < 0x7F for byte in kept) else None


def number(path: Path) -> int | None:
    """Return a sysfs attribute as an integer; None if it is absent or not an integer."""
    value = text(path)
    try:
        return None if value is None else int(value)
    except ValueError:
        return None


def flag(path: Path) -> bool | None:
    """Return a sysfs attribute of 0 or 1 as a bool; None if it is absent."""
    value = number(path)
    return None if value is None else value != 0


def raw_bytes(path: Path) -> bytes | None:
    """Return the bytes of a sysfs attribute; None on errors, as many vanish or fail with EINVAL or ENODEV."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def names(folder: Path) -> tuple[str, ...]:
    """Return the sorted names in a folder; none if it is absent or cannot be read."""
    try:
        return tuple(sorted(entry.name for entry in folder.iterdir()))
    except OSError:
        return ()
