"""How much of a drive's flash is spare, if on record, and what a share of spare means.

A share of spare is one of the raw flash where that is on record, else of what the user can address, and then
said to be that: no raw size is guessed from a capacity, by the next power of two or otherwise.
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
        Of the flash that can hold data, the share that is not the user's; None: not known.
    raw_bytes
        That flash; None: not known.
    source
        Who says so.
    cache_bytes
        Memory that may hold writes back; None: not known.
    one_bit_cache
        Whether writes go to an SLC cache first; None: not known.
    placeable
        Whether the steady state of random writes can be placed into it; None of a real drive, which has to be
        written.
    """

    share: float | None
    source: SpareSource
    cache_bytes: int | None = None
    one_bit_cache: bool | None = None
    raw_bytes: int | None = None
    placeable: bool | None = None


def spare_of(identity: Identity) -> Spare:
    """Return what the profile of a simulated drive, or the record of a real one, says.

    Raises
    ------
    UsageError
        A drive record is wrong.
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
    """Return what the profile of a simulated drive says, which need not be made for it.

    Raises
    ------
    UsageError
        It is no text of a simulated drive, or there can be no such drive.
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
    """Return the usable bytes if a share is to be spare: of raw flash if known, else of the capacity.

    It can exceed the capacity if the drive already has more spare.

    >>> usable_bytes(0.25, 240, 256), usable_bytes(0.25, 240, None)
    (192, 180)
    """
    return round((capacity_bytes if raw_bytes is None else raw_bytes) * (1 - share))
