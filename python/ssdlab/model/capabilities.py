"""What each kind of drive can do. Code outside `drives/` uses these capabilities, never the kind itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

StoredKind = Literal["file", "block", "sim", "imported"]
"""A drive's kind in manifests; a partition is a block device. For an imported drive only the name is
known."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a drive can do.

    Attributes
    ----------
    words
        Its kind in words.
    stored_as
        Its kind in manifests.
    block_device
        It has a device node, with settings, counters, an attachment number and possibly ratings.
    whole
        It is a whole device, not a partition.
    on_file_system
        It is on a file system, which shares its disk.
    virtual_time
        It has virtual time, independent of host load and pauses.
    made_to_order
        It is created with the settings in its text; on a real drive, settings must be changed.
    forks
        Its state can be saved and restored.
    purges_at_once
        A purge takes no time, or does not exist.
    """

    words: str
    stored_as: StoredKind
    block_device: bool = False
    whole: bool = True
    on_file_system: bool = False
    virtual_time: bool = False
    made_to_order: bool = False
    forks: bool = False
    purges_at_once: bool = False


MADE_UP = {
    "loop": "Loop device",
    "zram": "Device in memory (zram)",
    "ram": "Device in memory",
    "dm": "Mapped device",
    "md": "Array of drives",
    "nbd": "Network block device",
    "null": "Null device",
    "virtio": "Virtual disk",
}
"""Block devices that are not drives, by transport or name, with their kind in words."""

_OF_KIND = {
    "block": Capabilities("Real drive", "block", block_device=True),
    "partition": Capabilities("Real drive", "block", block_device=True, whole=False),
    "file": Capabilities("File on a file system", "file", on_file_system=True, purges_at_once=True),
    "sim": Capabilities(
        "Simulated drive", "sim", virtual_time=True, made_to_order=True, forks=True, purges_at_once=True
    ),
    "imported": Capabilities("Drive of imported results", "imported"),
}
_UNKNOWN = Capabilities("Drive", "block")


def capabilities_of(*kinds: object) -> Capabilities:
    """Return a drive's capabilities by its reported kind, else by its stored kind.

    If neither is known, as in a damaged record, the drive has no capabilities.
    """
    known = (_OF_KIND[kind] for kind in kinds if isinstance(kind, str) and kind in _OF_KIND)
    return next(known, _UNKNOWN)


def words_of(known: Capabilities, identity: Mapping[str, object]) -> str:
    """Return a drive's kind in words; devices made by the kernel are not real drives."""
    if not known.block_device:
        return known.words
    found = _made_of(identity.get("transport"), identity.get("name"))
    return next((MADE_UP[each] for each in found if each in MADE_UP), known.words)


def is_made_up(transport: object, name: object) -> bool:
    """Return whether a block device is provided by the kernel, such as a loop device, and is not a drive."""
    return any(each in MADE_UP for each in _made_of(transport, name))


def _made_of(transport: object, name: object) -> tuple[str, str]:
    found = re.match(r"[a-z]*", str(name or ""))
    return str(transport), found.group() if found else ""


SIMULATED_PREFIX = "sim:"
"""Prefix of a simulated drive's text. It is here so that a check for it imports no drive module."""
