"""How much of a drive's flash is spare, if on record, and what a share of spare means.

A share of spare refers to the raw flash if that is on record, else to the user capacity. The source is always
stated. No raw size is guessed from the capacity, such as the next power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ssdlab.drives.drive_record import find_record

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity

SpareSource = Literal["drive record", "profile", "asked for"]


@dataclass(frozen=True, slots=True)
class Spare:
    """What is on record about a drive's flash beyond its user capacity.

    Attributes
    ----------
    share
        Share of the flash for data that the user cannot address; None if unknown.
    raw_bytes
        Bytes of that flash; None if unknown.
    cache_bytes
        Memory that may hold back writes; None if unknown.
    one_bit_cache
        Whether writes go to an SLC cache first; None if unknown.
    placeable
        Whether the steady state of random writes can be placed by computation. None for a real drive, which
        has to be written.
    """

    share: float | None
    source: SpareSource
    cache_bytes: int | None = None
    one_bit_cache: bool | None = None
    raw_bytes: int | None = None
    placeable: bool | None = None


def spare_of(identity: Identity) -> Spare:
    """Return the spare of a drive, from its profile if simulated, else from its drive record.

    Raises
    ------
    UsageError, HostError
        A drive record is invalid, or cannot be read.
    """
    if identity.capabilities.made_to_order:
        return spare_of_simulated(identity.path)

    record = find_record(identity.model, identity.serial)
    if record is None:
        return Spare(None, "drive record")
    cached = None if record.slc_bytes is None else record.slc_bytes > 0
    share = record.spare_share(identity.capacity_bytes)
    return Spare(share, "drive record", record.dram_bytes, cached, record.raw_bytes)


def spare_of_simulated(text: str) -> Spare:
    """Return the spare of a simulated drive from its profile, without creating the drive.

    Raises
    ------
    UsageError
        The text is not that of a simulated drive, or no such drive is possible.
    """
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    parsed = SimulatedText.parse(text)
    made = check_profile(parsed.profile, **parsed.settings())
    buffer_bytes = round(float(made["profile"]["buffer"]["size_mib"]["value"]) * 2**20)
    return Spare(
        made["effective_spare"],
        "profile",
        buffer_bytes,
        made["profile"].get("slc_cache") is not None,
        int(made["raw_bytes"]),
        placeable=bool(made["placeable"]),
    )


def usable_bytes(share: float, capacity_bytes: int, raw_bytes: int | None) -> int:
    """Return the usable bytes for a share of spare: of raw flash if known, else of the capacity.

    The result can exceed the capacity if the drive already has more spare.

    >>> usable_bytes(0.25, 240, 256), usable_bytes(0.25, 240, None)
    (192, 180)
    """
    return round((capacity_bytes if raw_bytes is None else raw_bytes) * (1 - share))
