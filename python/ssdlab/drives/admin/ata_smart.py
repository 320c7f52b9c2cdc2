"""SMART of an ATA drive: its attributes, and the verdict it gives of itself.

Sources: ATA8-ACS 7.53 SMART (feature set obsolete since ACS-5, and still what drives have); attribute numbers
are custom and not standard, those read here mean the same with all makers of SSDs. SAT-5 12.2.2.6: ATA Status
Return descriptor.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed, Page
from ssdlab.drives.admin.plausible import plausible

PAGE_BYTES = 512
_SMART = 0xB0
_READ_DATA, _RETURN_STATUS = 0xD0, 0xDA
_KEY_MID, _KEY_HIGH = 0x4F, 0xC2
_BAD_MID, _BAD_HIGH = 0xF4, 0x2C
_ATTRIBUTES = 30
_DESCRIPTOR_AT, _STATUS_RETURN = 8, 0x09

_HEAT = (194, 190)
"""Temperature, and that of the air flow, in the order of smartctl."""
UNCORRECTED, CRC_ERRORS = 187, 199


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: `value` and `worst` are normalised, `raw` is the maker's own number."""

    value: int
    worst: int
    raw: int


def data_cdb() -> bytes:
    """Return the command that reads the attributes (SMART READ DATA)."""
    return _cdb(protocol=4, flags=0x0E, feature=_READ_DATA, count=1)


def verdict_cdb() -> bytes:
    """Return the command that asks for the drive's verdict (SMART RETURN STATUS): registers in the sense."""
    return _cdb(protocol=3, flags=0x20, feature=_RETURN_STATUS, count=0)


def attributes(content: bytes) -> dict[int, Attribute]:
    """Decode the attributes by their numbers.

    Raises
    ------
    Malformed
        It is too short or empty, or its checksum is wrong.
    """
    Page(content, "SMART data", PAGE_BYTES)
    if sum(content[:PAGE_BYTES]) % 256:
        raise Malformed("SMART data have a wrong checksum")
    found = {}
    for at in range(2, 2 + 12 * _ATTRIBUTES, 12):
        if number := content[at]:
            raw = int.from_bytes(content[at + 5 : at + 11], "little")
            found[number] = Attribute(content[at + 3], content[at + 4], raw)
    return found


def temperature_c(found: dict[int, Attribute]) -> int | None:
    """Return the temperature: the least byte of an attribute, as makers have it, of the first with one."""
    given = (plausible("temperature_c", found[number].raw & 0xFF) for number in _HEAT if number in found)
    return next((each for each in given if each is not None), None)


def count(found: dict[int, Attribute], number: int) -> int | None:
    """Return what an attribute counts, in its lower four bytes; None where the drive has none."""
    return plausible("events", found[number].raw & 0xFFFFFFFF) if number in found else None


def failing(sense: bytes) -> bool | None:
    """Return whether the drive says that it is failing; None where the answer has no registers."""
    at = _DESCRIPTOR_AT
    if len(sense) < at + 14 or sense[0] & 0x7F != 0x72 or sense[at] != _STATUS_RETURN:
        return None
    registers = (sense[at + 9], sense[at + 11])
    return {(_KEY_MID, _KEY_HIGH): False, (_BAD_MID, _BAD_HIGH): True}.get(registers)


def _cdb(*, protocol: int, flags: int, feature: int, count: int) -> bytes:
    head = [0x85, protocol << 1, flags, 0, feature, 0, count]
    return bytes([*head, 0, 0, 0, _KEY_MID, 0, _KEY_HIGH, 0, _SMART, 0])
