"""Signatures on a device: file systems, partition tables, members of arrays, volume groups and pools.

They are found by `wipefs` (util-linux). Its library knows every format that Linux mounts or assembles. It
also finds magic numbers that are not at the front: backup tables at the end, superblocks in the middle. It
changes nothing.
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
"""The order in which several signatures are shown to a person."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A magic number on a device; `kind` and `usage` are words of libblkid, `offset` and `length` bytes."""

    kind: str
    usage: str
    offset: int
    length: int
    label: str | None = None

    @property
    def words(self) -> str:
        """Description for readers.

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
    """Return the signatures on a device, the most important first.

    Parameters
    ----------
    path
        Path of the device.
    port
        Access to the device, under the same path.

    Raises
    ------
    HostError
        `wipefs` is not installed.
    DriveError
        `wipefs` could not read the device, or its output is invalid.
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
        Descriptor of the device, open for writing.
    path
        Path of the device in errors.
    found
        Signatures from `read_signatures`.

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
    """Parse a number of wipefs, such as ``0x1fe`` or ``2``."""
    return int(f"{value}", 0)


def _weight(signature: Signature) -> int:
    usage = signature.usage
    if signature.kind == "PMBR":  # precedes a GPT, for programs that do not know GPT
        return len(_BY_WEIGHT)
    return _BY_WEIGHT.index(usage) if usage in _BY_WEIGHT else len(_BY_WEIGHT)
