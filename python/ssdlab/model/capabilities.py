"""What follows from the kind of a drive: nobody outside `drives/` uses the kind itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

StoredKind = Literal["file", "block", "sim", "imported"]
"""What a manifest calls a drive; a partition is a block device. Of an imported one only the name is known."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a drive can do, and what stands behind it.

    Attributes
    ----------
    words
        What a reader calls its kind.
    stored_as
        How a manifest has it.
    block_device
        The kernel has a node for it: it has settings, counters, an attachment, and perhaps a rating.
    whole
        It is all of its device, and no partition.
    on_file_system
        It lies on a file system, whose disk is shared with others.
    virtual_time
        It keeps time of its own: neither the host's load nor a pause of the run reaches its figures.
    made_to_order
        Its text says what it is; a real drive has to be brought there.
    forks
        Its state can be kept and gone back to.
    purges_at_once
        A purge takes no time, or there is none.
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
"""Block devices that are no drive, by how they are reached or named, and what a reader calls them."""

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
    """Return what a drive can do, by the first of its kinds that is known: what it says, how it is stored.

    Of a damaged record none may be; nothing is then taken for granted.
    """
    known = (_OF_KIND[kind] for kind in kinds if isinstance(kind, str) and kind in _OF_KIND)
    return next(known, _UNKNOWN)


def words_of(known: Capabilities, identity: Mapping[str, object]) -> str:
    """Return what a reader calls a drive: what the kernel makes up is no real one."""
    if not known.block_device:
        return known.words
    found = _made_of(identity.get("transport"), identity.get("name"))
    return next((MADE_UP[each] for each in found if each in MADE_UP), known.words)


def is_made_up(transport: object, name: object) -> bool:
    """Whether the kernel makes a block device up: it has no flash of its own."""
    return any(each in MADE_UP for each in _made_of(transport, name))


def _made_of(transport: object, name: object) -> tuple[str, str]:
    found = re.match(r"[a-z]*", str(name or ""))
    return str(transport), found.group() if found else ""


SIMULATED_PREFIX = "sim:"
"""What the text of a simulated drive begins with; here, so that who only asks loads no drive."""
