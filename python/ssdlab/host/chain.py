"""What a block device is, down to the last disk below it, so that none of it can be exchanged unseen.

The number and the kernel's count of attachments (`diskseq`) tell a disk from a later one under its name.
They do not tell what a volume stands on: a device mapper table can be reloaded onto another disk, a loop
device can be given another file, while the volume keeps name, number and count. So each layer adds what leads
further down, and all are compared.

Source: `struct dm_ioctl` in linux/dm-ioctl.h.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import disk_of
from ssdlab.host.loops import backing
from ssdlab.host.sysfs import HostFiles, is_folder, names, number, raw_bytes, text

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
        Kernel name, `major:minor`, and the count of the attachment.
    start
        First sector of a partition.
    backing
        Of a loop device: its block device, or device and inode of its file; where in it, how much of it.
    table
        Of a device mapper volume: its UUID and a digest of its table.
    below
        What it stands on, in the order of names.
    """

    name: str
    number: str | None
    diskseq: int | None
    start: int | None = None
    backing: tuple[str | int, ...] | None = None
    table: str | None = None
    below: tuple[Layer, ...] = ()


def chain_of(files: HostFiles, node: Path, depth: int = 0) -> Layer:
    """Look at a block device and all that it stands on; `node` is its folder in sysfs."""
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
    """Say in a phrase what of a chain is not as it was; None if nothing.

    >>> difference(Layer("sda", "8:0", 3), Layer("sda", "8:0", 7))
    'sda was attached anew since (disk sequence number 7, it was 3)'
    """
    if (then.name, then.number) != (now.name, now.number):
        return f"{now.name} ({now.number}) stands where {then.name} ({then.number}) stood"
    if then.diskseq != now.diskseq:
        return (
            f"{now.name} was attached anew since (disk sequence number {now.diskseq}, it was {then.diskseq})"
        )
    if then.start != now.start:
        return f"{now.name} begins at sector {now.start}, it was {then.start}"
    for one, other in zip(then.below, now.below, strict=False):
        if (found := difference(one, other)) is not None:
            return f"below {now.name}, {found}"
    if len(then.below) != len(now.below):
        return f"{now.name} stands on {len(now.below)} devices, it was {len(then.below)}"
    if then.backing != now.backing:
        return f"{now.name} has another file behind it, or another part of it"
    return f"the table of {now.name} was changed" if then.table != now.table else None


def _backing(files: HostFiles, disk: Path) -> tuple[tuple[str | int, ...] | None, Path | None]:
    """Return what lies behind a loop device; and, if that is a block device, its folder in sysfs."""
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
    """Return what tells one device mapper table from another; without the right to read it, its UUID."""
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
