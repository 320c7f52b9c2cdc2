"""Gathers the facts against using a block device, for :mod:`ssdlab.drives.guard.judge` to judge."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ssdlab.drives.admin.port import KernelPort
from ssdlab.drives.guard import usage
from ssdlab.drives.guard.judge import DeviceFacts, Intent, in_use, judge_device, without_size
from ssdlab.drives.guard.signatures import read_signatures
from ssdlab.drives.guard.usage import Seen, Tables, look_around, read_tables
from ssdlab.host.attributes import (
    disk_of,
    model_of,
    namespace_siblings,
    own_wwid_of,
    transport_of,
    zone_model_of,
)
from ssdlab.host.consent import consent_id, consent_ids, disks_of
from ssdlab.host.identity import SECTOR_BYTES
from ssdlab.host.openers import Opener
from ssdlab.host.sysfs import HostFiles, flag, is_folder, names, number, text, there
from ssdlab.model.errors import LabError
from ssdlab.model.units import capacity_text

_PATIENCE_S = 1.0
"""Seconds a device may look busy before it counts: udev opens every device that was just closed or made."""

_LOOK_AGAIN_S = 0.1


def device_facts(
    files: HostFiles,
    path: str,
    node: Path,
    intent: Intent,
    *,
    patience_s: float = _PATIENCE_S,
    seen: Seen | None = None,
) -> DeviceFacts:
    """Gather the facts against using the block device at `path`, whose sysfs folder is `node`.

    Parameters
    ----------
    intent
        The intended use: signatures are read only before writing.
    patience_s
        Seconds to look again while the only objection is that the device is open or claimed.
    seen
        An earlier look at the whole host, if there was one.
    """
    deadline = time.monotonic() + patience_s
    passing_by = _PassingBy()
    while True:
        look = look_around(files) if seen is None else seen
        facts = device_tables(files, path, node, intent, look.tables)
        if (in_use(facts) or without_size(facts, intent)) is not None:
            return facts
        facts = _with_openers(_with_claim(files, facts, node), files, node, look)
        facts = replace(facts, openers=passing_by.without(facts.openers))
        refusal = judge_device(facts, Intent(formats=intent.formats))
        passing = refusal is not None and refusal.reason in {"open", "claimed"}
        if not passing or time.monotonic() >= deadline:
            return _carried(facts, node, intent, refusal is None or facts.claimed)
        time.sleep(_LOOK_AGAIN_S)


def held_facts(
    files: HostFiles, path: str, node: Path, intent: Intent, *, patience_s: float = _PATIENCE_S
) -> DeviceFacts:
    """Gather the facts again for a device that this process holds.

    The process's own descriptors and claim do not count. Signatures are not read, because the device is being
    written.
    """
    deadline = time.monotonic() + patience_s
    passing_by = _PassingBy()
    while True:
        look = look_around(files)
        facts = _with_openers(device_tables(files, path, node, intent, look.tables), files, node, look)
        others = tuple(one for one in facts.openers if one.pid != os.getpid())
        facts = replace(facts, openers=passing_by.without(others))
        if in_use(facts) is not None or not facts.openers or time.monotonic() >= deadline:
            return facts
        time.sleep(_LOOK_AGAIN_S)


class _PassingBy:
    """Ignores processes that have a device open for reading in some looks only.

    udev opens every device that was just closed or made. Each ssdlab opens every loop device, to read what is
    behind it. So on a busy host some process always has the device open, but each time another one.
    """

    def __init__(self) -> None:
        self._always: set[Opener] | None = None

    def without(self, openers: tuple[Opener, ...]) -> tuple[Opener, ...]:
        """Return the openers of the next look that write, or that were there in every look."""
        self._always = set(openers) if self._always is None else self._always & set(openers)
        return tuple(one for one in openers if one.writing or one in self._always)


def device_tables(
    files: HostFiles, path: str, node: Path, intent: Intent, tables: Tables | None = None
) -> DeviceFacts:
    """Gather the facts in the kernel's tables, without opening anything but the nodes of loop devices."""
    tables = read_tables(files) if tables is None else tables
    family = usage.family_of(files, node, tables.loops)
    disk = disk_of(node)
    capacity_bytes = (number(node / "size") or 0) * SECTOR_BYTES
    own_id = consent_id(files, node)
    named = intent.destroy is not None and intent.destroy != own_id
    return DeviceFacts(
        path=path,
        name=node.name,
        disk=disk.name,
        consent_id=own_id,
        label=", ".join(filter(None, (model_of(disk), capacity_text(capacity_bytes)))),
        capacity_bytes=capacity_bytes,
        read_only=bool(flag(node / "ro")) or bool(flag(disk / "ro")),
        blocks=_blocks(disk),
        zoned=zone_model_of(disk),
        mounts=usage.mounted(files, node, family, tables),
        swaps=usage.swapped(node, family, tables),
        holders=(
            *usage.holders(files, node, family, tables),
            *usage.served(files, node, family, tables),
        ),
        unseen=tables.unseen,
        twins=_twins(files, disk),
        volume=_volume(disk),
        named=_named(files, node, intent.destroy or "") if named else None,
    )


def _with_claim(files: HostFiles, facts: DeviceFacts, node: Path) -> DeviceFacts:
    disk = disk_of(node)
    whole = files.dev / disk.name.replace("!", "/")
    try:
        # The whole disk is tried too, because a claim on a sibling partition shows only there.
        claimed = usage.claimed(facts.path, text(node / "dev")) or (
            disk != node and usage.claimed(str(whole), text(disk / "dev"))
        )
    except PermissionError:
        return replace(facts, permitted=False)
    except OSError as error:
        return replace(facts, fault=error.strerror)
    return replace(facts, claimed=claimed)


def _with_openers(facts: DeviceFacts, files: HostFiles, node: Path, look: Seen) -> DeviceFacts:
    family = usage.family_of(files, node, look.tables.loops)
    behind = look.opened.writers_behind(*family.behind)
    openers = (*look.opened.of_devices(usage.numbers_of(family.own)), *behind)
    return replace(facts, openers=openers, unseen=(*look.opened.unseen, *facts.unseen))


def _carried(facts: DeviceFacts, node: Path, intent: Intent, wanted: bool) -> DeviceFacts:
    if not (intent.writing and wanted and facts.capacity_bytes):
        return facts
    path = Path(facts.path)
    try:
        return replace(facts, signatures=read_signatures(path, KernelPort.of(path, node)))
    except LabError as error:
        return replace(facts, signatures_unknown=error.what)


def _blocks(disk: Path) -> Literal["nvme", "scsi"] | None:
    if number(disk / "nsid") is not None:
        return "nvme"
    fixed = there(disk / "device" / "scsi_level") and flag(disk / "removable") is False
    return "scsi" if fixed and transport_of(disk) != "usb" else None


def _twins(files: HostFiles, disk: Path) -> tuple[str, ...]:
    """Return the disks with the same world-wide name and size: other paths to the same drive.

    USB bridges are left out, because different drives behind them share names.
    """
    own = own_wwid_of(disk)
    if own is None or transport_of(disk) == "usb":
        return ()
    size = number(disk / "size")
    return tuple(
        f"/dev/{other.name.replace('!', '/')}"
        for other in disks_of(files)
        if other != disk and own_wwid_of(other) == own and number(other / "size") == size
    )


def _named(files: HostFiles, node: Path, identifier: str) -> str | None:
    """Return a phrase for the other device that an identifier belongs to; None if there is none."""
    other = consent_ids(files).get(identifier)
    if other is None:
        return None
    path, disk = f"/dev/{other.name.replace('!', '/')}", disk_of(node)
    if disk_of(other) == disk:
        what = "its whole disk" if other == disk else "its partition" if node == disk else "the partition"
    else:
        what = "the other namespace" if other.name in namespace_siblings(disk) else ""
    return f"{what} {path}".strip()


def _volume(disk: Path) -> str | None:
    """Return a phrase for an md or device mapper volume and its lower devices; None for any other disk."""
    if not is_folder(disk / "md") and not is_folder(disk / "dm"):
        return None
    kind = "an md array" if is_folder(disk / "md") else "a device mapper volume"
    named = text(disk / "dm" / "name")
    below = ", ".join(names(disk / "slaves")) or "nothing"
    return f"{kind}{f', {named},' if named else ''} on {below}"
