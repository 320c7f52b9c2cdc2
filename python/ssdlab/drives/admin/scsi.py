"""SCSI commands, sense data, mode and log pages.

Sources: SPC-6 4.4 (sense data), 6.41 (REQUEST SENSE); SBC-4 5.4 (FORMAT UNIT), 5.34 (SANITIZE), 6.6.5 (Block
Limits), 6.6.7 (Logical Block Provisioning). SCSI numbers are big-endian.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed, plausible

SENSE_BYTES = 252
SANITIZE_ACTIONS = {"block": 0x02, "crypto": 0x03}
SUPPORTED_BYTES = 64


@dataclass(frozen=True, slots=True)
class Sense:
    """Sense data: key, additional code and qualifier, and progress (0 to 1) if reported."""

    key: int
    code: int
    qualifier: int
    share: float | None

    @property
    def working(self) -> str | None:
        """The long command in progress, `format` or `sanitize`; None if there is none."""
        return (
            {4: "format", 0x1B: "sanitize"}.get(self.qualifier) if (self.key, self.code) == (2, 4) else None
        )


def sense(content: bytes) -> Sense | None:
    """Decode fixed (70h) or descriptor (72h) sense data; None if there is none."""
    kind = content[0] & 0x7F if content else 0
    if kind in {0x70, 0x71} and len(content) >= 14:
        share = _share(content[15:18]) if len(content) >= 18 else None
        return Sense(content[2] & 0xF, content[12], content[13], share)
    if kind in {0x72, 0x73} and len(content) >= 8:
        at, share = 8, None
        while at + 8 <= len(content) and content[at + 1]:
            if content[at] == 0x02:  # sense key specific
                share = _share(content[at + 4 : at + 7])
            at += 2 + content[at + 1]
        return Sense(content[1] & 0xF, content[2], content[3], share)
    return None


def _share(field: bytes) -> float | None:
    """Return a progress indication in 65536ths; it is valid if bit 7 of the first byte is set."""
    return int.from_bytes(field[1:3], "big") / 65536 if len(field) == 3 and field[0] & 0x80 else None


def request_sense_cdb() -> bytes:
    return bytes([0x03, 0, 0, 0, SENSE_BYTES, 0])


def supported_cdb(opcode: int, action: int | None) -> bytes:
    """Return REPORT SUPPORTED OPERATION CODES for a command or one of its service actions (SPC-6 6.36)."""
    option = 0x01 if action is None else 0x02
    return bytes([0xA3, 0x0C, option, opcode, *(action or 0).to_bytes(2, "big"),
                  *SUPPORTED_BYTES.to_bytes(4, "big"), 0, 0])  # fmt: skip


def is_supported(content: bytes) -> bool:
    """Return whether the reply to `supported_cdb` shows standard support."""
    return len(content) >= 2 and content[1] & 0x07 == 0x03


def sanitize_cdb(action: str) -> bytes:
    """Return SANITIZE for a `block` or `crypto` erase; the drive answers at once (IMMED)."""
    return bytes([0x48, 0x80 | SANITIZE_ACTIONS[action], *(0,) * 8])


def format_cdb() -> bytes:
    return bytes([0x04, 0x10, 0, 0, 0, 0])


FORMAT_LIST = bytes([0, 0x02, 0, 0])
"""Parameter list of FORMAT UNIT: the drive answers at once (IMMED), everything else is default."""


# The Caching mode page of SCSI devices, which holds the bit of the volatile write cache.
#
# Sources: SBC-4 6.5.6 (Caching mode page), SPC-6 6.13 (MODE SELECT(10)), 6.15 (MODE SENSE(10)), 7.5.5
# (header).

MODE_BYTES = 252
_PAGE = 0x08
_HEADER_BYTES = 8
_NO_DESCRIPTORS = 0x08
_PAGE_FORMAT = 0x10
_WRITE_CACHE = 0x04


@dataclass(frozen=True, slots=True)
class CachingPage:
    """The Caching mode page with its current values."""

    content: bytes

    @property
    def write_cache(self) -> bool:
        """Whether the write cache is on (WCE)."""
        return bool(self.content[2] & _WRITE_CACHE)

    def with_write_cache(self, *, on: bool) -> bytes:
        """Return the parameters of MODE SELECT: a header, which must be zero, and the page with that bit."""
        page = bytearray(self.content)
        page[0] &= 0x3F  # the bit "can be saved" is valid in MODE SENSE only
        page[2] = page[2] | _WRITE_CACHE if on else page[2] & ~_WRITE_CACHE
        return bytes(_HEADER_BYTES) + bytes(page)


def caching_page_cdb() -> bytes:
    """Return MODE SENSE(10) for the current values of the Caching page, without block descriptors."""
    return bytes([0x5A, _NO_DESCRIPTORS, _PAGE, 0, 0, 0, 0, *MODE_BYTES.to_bytes(2, "big"), 0])


def mode_select_cdb(length: int) -> bytes:
    """Return MODE SELECT(10) for `length` bytes of parameters; the device does not save them."""
    return bytes([0x55, _PAGE_FORMAT, 0, 0, 0, 0, 0, *length.to_bytes(2, "big"), 0])


def caching_page(content: bytes) -> CachingPage:
    """Decode the reply to MODE SENSE(10).

    Raises
    ------
    Malformed
        The reply does not contain the page.
    """
    at = _HEADER_BYTES + int.from_bytes(content[6:8], "big") if len(content) >= _HEADER_BYTES else 0
    page = content[at : at + 2 + content[at + 1]] if at and len(content) > at + 2 else b""
    if len(page) < 3 or page[0] & 0x3F != _PAGE:
        raise Malformed("the reply to MODE SENSE holds no Caching page")
    return CachingPage(page)


# What a SCSI device reports about itself: vital product data, log pages, and the commands that read them.
#
# Sources: SPC-6 6.7 (INQUIRY), 6.9 (LOG SENSE), 7.3 (log pages), 7.7 (VPD pages); SBC-4 6.4.6 (Solid State
# Media log page 11h), 6.6.2 (Block Device Characteristics B1h), 6.6.7 (Logical Block Provisioning B2h).
# SCSI numbers are big-endian.

REPLY_BYTES = 252
CHARACTERISTICS, PROVISIONING = 0xB1, 0xB2
TEMPERATURE, SOLID_STATE = 0x0D, 0x11
_INQUIRY, _LOG_SENSE = 0x12, 0x4D
_CURRENT_VALUES = 0x40
_FORM_FACTORS = {1: '5.25"', 2: '3.5"', 3: '2.5"', 4: '1.8"', 5: 'below 1.8"'}
_NOT_ROTATING = 1


@dataclass(frozen=True, slots=True)
class Characteristics:
    """VPD page B1h; `solid_state` is None if not reported."""

    solid_state: bool | None
    form_factor: str | None


@dataclass(frozen=True, slots=True)
class Provisioning:
    """VPD page B2h: whether UNMAP is supported, and what an unmapped block reads as.

    `unmapped_reads` is `zeroes`, `the provisioning initialization pattern`, or None if not reported.
    """

    unmap: bool
    write_same_unmap: bool
    unmapped_reads: str | None


def vpd_cdb(page: int) -> bytes:
    return bytes([_INQUIRY, 1, page, *REPLY_BYTES.to_bytes(2, "big"), 0])


def log_cdb(page: int) -> bytes:
    """Return LOG SENSE for the cumulative values of a page."""
    return bytes([_LOG_SENSE, 0, _CURRENT_VALUES | page, 0, 0, 0, 0, *REPLY_BYTES.to_bytes(2, "big"), 0])


def characteristics(content: bytes) -> Characteristics:
    """Decode VPD page B1h.

    Raises
    ------
    Malformed
        The reply is another page, or too short.
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
        The reply is another page, or too short.
    """
    page = _vpd(content, PROVISIONING, 8)
    reads = page[5] >> 2 & 7
    return Provisioning(
        unmap=bool(page[5] & 0x80),
        write_same_unmap=bool(page[5] & 0x60),
        # Bit 0 of the three bits means zeroes; 010b is a pattern of the device's own (SBC-4 table 288).
        unmapped_reads="zeroes" if reads & 1 else {2: "the provisioning initialization pattern"}.get(reads),
    )


def temperature_c(content: bytes) -> int | None:
    """Return the temperature from log page 0Dh in degrees Celsius; None if the device has no sensor.

    Raises
    ------
    Malformed
        The reply is another page, or lacks the parameter.
    """
    return plausible("temperature_c", _parameter(content, TEMPERATURE, 0x0000)[-1])  # FFh: none


def used_pct(content: bytes) -> int | None:
    """Return the used share of rated endurance from log page 11h, in percent; it may exceed 100.

    Raises
    ------
    Malformed
        The reply is another page, or lacks the parameter.
    """
    return plausible("used_pct", _parameter(content, SOLID_STATE, 0x0001)[-1])


def _vpd(content: bytes, page: int, needed_bytes: int) -> bytes:
    if len(content) < needed_bytes or content[1] != page:
        raise Malformed(f"VPD page {page:02X}h is not what the device sent")
    return content


def _parameter(content: bytes, page: int, code: int) -> bytes:
    """Return the value of a log parameter, which follows its code, flags and length."""
    if len(content) >= 4 and content[0] & 0x3F == page:
        end, at = min(len(content), 4 + int.from_bytes(content[2:4], "big")), 4
        while at + 4 < end:
            length = content[at + 3]
            if int.from_bytes(content[at : at + 2], "big") == code and 0 < length <= end - at - 4:
                return content[at + 4 : at + 4 + length]
            at += 4 + length
    raise Malformed(f"log page {page:02X}h holds no parameter {code:04X}h")
