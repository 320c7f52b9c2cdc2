"""What a SCSI device says of itself: vital product data, log pages, and how they are asked for.

Sources: SPC-6 6.7 (INQUIRY), 6.9 (LOG SENSE), 7.3 (log pages), 7.7 (VPD pages); SBC-4 6.4.6 (Solid State
Media log page 11h), 6.6.2 (Block Device Characteristics B1h), 6.6.7 (Logical Block Provisioning B2h).
SCSI numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.plausible import plausible

REPLY_BYTES = 252
CHARACTERISTICS, PROVISIONING = 0xB1, 0xB2
TEMPERATURE, SOLID_STATE = 0x0D, 0x11
_INQUIRY, _LOG_SENSE = 0x12, 0x4D
_CURRENT_VALUES = 0x40
_FORM_FACTORS = {1: '5.25"', 2: '3.5"', 3: '2.5"', 4: '1.8"', 5: 'below 1.8"'}
_NOT_ROTATING = 1


@dataclass(frozen=True, slots=True)
class Characteristics:
    """VPD page B1h; `solid_state` is None where the device does not say."""

    solid_state: bool | None
    form_factor: str | None


@dataclass(frozen=True, slots=True)
class Provisioning:
    """VPD page B2h: whether UNMAP is taken, and what an unmapped block reads as.

    `unmapped_reads` is `zeroes`, `the provisioning initialization pattern`, or None for "not said".
    """

    unmap: bool
    write_same_unmap: bool
    unmapped_reads: str | None


def vpd_cdb(page: int) -> bytes:
    """Return INQUIRY for a page of vital product data."""
    return bytes([_INQUIRY, 1, page, *REPLY_BYTES.to_bytes(2, "big"), 0])


def log_cdb(page: int) -> bytes:
    """Return LOG SENSE for the cumulative values of a page."""
    return bytes([_LOG_SENSE, 0, _CURRENT_VALUES | page, 0, 0, 0, 0, *REPLY_BYTES.to_bytes(2, "big"), 0])


def characteristics(content: bytes) -> Characteristics:
    """Decode VPD page B1h.

    Raises
    ------
    Malformed
        It is another page, or too short.
    """
    page = _vpd(content, CHARACTERISTICS, 8)
    rate = int.from_bytes(page[4:6], "big")
    return Characteristics(
        solid_state=None if rate == 0 else rate == _NOT_ROTATING,
        form_factor=_FORM_FACTORS.get(page[7] & 0xF),
    )


def provisioning(content: bytes) -> Provisioning:
    """Decode VPD page B2h.

    Raises
    ------
    Malformed
        It is another page, or too short.
    """
    page = _vpd(content, PROVISIONING, 8)
    reads = page[5] >> 2 & 7
    return Provisioning(
        unmap=bool(page[5] & 0x80),
        write_same_unmap=bool(page[5] & 0x60),
        # Bit 0 of three means zeroes; 010b is a pattern of the device's own (SBC-4 table 288).
        unmapped_reads="zeroes" if reads & 1 else {2: "the provisioning initialization pattern"}.get(reads),
    )


def temperature_c(content: bytes) -> int | None:
    """Return the temperature of log page 0Dh, in degrees Celsius; None where the device measures none.

    Raises
    ------
    Malformed
        It is another page, or holds no such parameter.
    """
    return plausible("temperature_c", _parameter(content, TEMPERATURE, 0x0000)[-1])  # FFh is "none"


def used_pct(content: bytes) -> int | None:
    """Return the share of rated endurance used of log page 11h, in percent; it may exceed 100.

    Raises
    ------
    Malformed
        It is another page, or holds no such parameter.
    """
    return plausible("used_pct", _parameter(content, SOLID_STATE, 0x0001)[-1])


def _vpd(content: bytes, page: int, needed_bytes: int) -> bytes:
    if len(content) < needed_bytes or content[1] != page:
        raise Malformed(f"VPD page {page:02X}h is not what the device sent")
    return content


def _parameter(content: bytes, page: int, code: int) -> bytes:
    """Return the value of a log parameter: after code, flags and length."""
    if len(content) >= 4 and content[0] & 0x3F == page:
        end, at = min(len(content), 4 + int.from_bytes(content[2:4], "big")), 4
        while at + 4 < end:
            length = content[at + 3]
            if int.from_bytes(content[at : at + 2], "big") == code and 0 < length <= end - at - 4:
                return content[at + 4 : at + 4 + length]
            at += 4 + length
    raise Malformed(f"log page {page:02X}h holds no parameter {code:04X}h")
