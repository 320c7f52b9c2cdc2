"""Signatures on a device: file systems, partition tables, members of arrays, volume groups and pools.

Asked of `wipefs` (util-linux), whose library knows every format that Linux mounts or assembles and also looks
where a magic number at the front is not: backup tables at the end, superblocks in the middle. It reads and
writes nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from ssdlab.drives.admin.port import AdminPort
from ssdlab.model.errors import DriveError

_LIMIT_S = 30.0
_WORDS = {
    "LVM2_member": "a physical volume of LVM",
    "linux_raid_member": "a member of an md array",
    "ddf_raid_member": "a member of a DDF array",
    "isw_raid_member": "a member of an Intel array",
    "zfs_member": "a member of a ZFS pool",
    "bcache": "a bcache device",
    "crypto_LUKS": "a LUKS volume",
    "btrfs": "a btrfs file system, or a member of one",
    "swap": "swap space",
    "mpath_member": "a path of a multipath device",
}
_BY_WEIGHT = ("raid", "crypto", "filesystem", "other", "partition-table")
"""What a person should see first, where there are several."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A magic number found: `kind` and `usage` in the words of libblkid, and where it lies, in bytes."""

    kind: str
    usage: str
    offset: int
    length: int
    label: str | None = None

    @property
    def words(self) -> str:
        """What that is, for people.

        >>> Signature("ext4", "filesystem", 0x438, 2, "backup").words
        "an ext4 file system named 'backup'"
        """
        known = _WORDS.get(self.kind)
        if known is None and self.usage == "partition-table":
            known = f"a partition table ({self.kind})"
        elif known is None and self.usage == "filesystem":
            known = f"{'an' if self.kind[:1] in 'aeiou' else 'a'} {self.kind} file system"
        name = f" named '{self.label}'" if self.label else ""
        return f"{known or f'a signature of {self.kind}'}{name}"


def read_signatures(path: Path, port: AdminPort) -> tuple[Signature, ...]:
    """Return the signatures on a device, the weightiest first.

    Parameters
    ----------
    path
        What it goes by.
    port
        The way to it, under the same path.

    Raises
    ------
    HostError
        `wipefs` is not installed.
    DriveError
        It could not read the device, or its answer is invalid.
    """
    reply = port.tool(
        "wipefs", "--json", "--output", "OFFSET,LENGTH,TYPE,USAGE,LABEL", str(path), limit_s=_LIMIT_S
    )
    try:
        entries = None if reply.status else json.loads(reply.output or "{}").get("signatures", ())
        found = [_signature(entry) for entry in entries or ()]
    except (ValueError, KeyError, TypeError, AttributeError):
        entries = None
    if entries is None:
        raise DriveError(
            f"wipefs ended with {reply.status}: {reply.output.strip() or 'no output'}",
            "check the kernel log (dmesg) for the drive's state",
            reason="signatures-unknown",
            device=str(path),
        )
    return tuple(sorted(found, key=lambda one: (_weight(one), one.offset)))


def wipe_signatures(descriptor: int, path: Path, found: tuple[Signature, ...]) -> None:
    """Overwrite the magic numbers of signatures with zeroes, durably; all other data stays.

    Parameters
    ----------
    descriptor
        Of the device, open for writing.
    path
        What it goes by.
    found
        What `read_signatures` found on it.

    Raises
    ------
    DriveError
        The device cannot be written.
    """
    try:
        for signature in found:
            os.pwrite(descriptor, bytes(signature.length), signature.offset)
        os.fsync(descriptor)
    except OSError as error:
        raise DriveError(
            f"the signatures on {path} cannot be wiped: {error.strerror}",
            "check the kernel log (dmesg) for the drive's state",
            errno=error.errno,
            device=str(path),
        ) from error


def _signature(entry: dict[str, object]) -> Signature:
    label = entry.get("label")
    return Signature(
        kind=str(entry["type"]),
        usage=str(entry["usage"]),
        offset=_number(entry["offset"]),
        length=_number(entry["length"]),
        label=None if label is None else str(label),
    )


def _number(value: object) -> int:
    """Return a number as the program writes it: ``0x1fe``, ``2``, or a plain one."""
    return int(f"{value}", 0)


def _weight(signature: Signature) -> int:
    usage = signature.usage
    if signature.kind == "PMBR":  # stands in front of a GPT, for programs that do not know one
        return len(_BY_WEIGHT)
    return _BY_WEIGHT.index(usage) if usage in _BY_WEIGHT else len(_BY_WEIGHT)
