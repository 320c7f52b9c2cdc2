"""ATA pages through SCSI: IDENTIFY DEVICE, Device Statistics, and SMART.

Sources: ACS-5 (T13 BSR INCITS 558) 7.13 IDENTIFY DEVICE, 9.5 Device Statistics log; SAT-5 12.2 ATA
PASS-THROUGH (16). Words are 16 bits, little-endian; a page of statistics is 512 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed, Page, plausible
from ssdlab.host.attributes import ata_text
from ssdlab.host.fillers import is_filler

# SMART of an ATA drive: its attributes, and its verdict on itself.
#
# Sources: ATA8-ACS 7.53 SMART (a feature set that is obsolete since ACS-5, but still in drives); SAT-5
# 12.2.2.6 (ATA Status Return descriptor). Attribute numbers are custom, not standard; those read here mean
# the same for all makers of SSDs.

PAGE_BYTES = 512
_PASS_THROUGH_16 = 0x85
_PIO_IN, _NO_DATA = 4, 3
_FROM_DRIVE_IN_BLOCKS = 0x0E
_IDENTIFY_DEVICE, _SET_FEATURES, _READ_LOG_EXT = 0xEC, 0xEF, 0x2F
_STATISTICS_LOG = 0x04


def identify_cdb() -> bytes:
    return _cdb(_IDENTIFY_DEVICE, _PIO_IN, _FROM_DRIVE_IN_BLOCKS, count=1)


def statistics_cdb(page: int) -> bytes:
    """Return READ LOG EXT for a page of Device Statistics (log 04h)."""
    extended = _cdb(_READ_LOG_EXT, _PIO_IN, _FROM_DRIVE_IN_BLOCKS, count=1, extend=True)
    return extended[:8] + bytes([_STATISTICS_LOG, 0, page]) + extended[11:]


def write_cache_cdb(*, enabled: bool) -> bytes:
    """Return SET FEATURES 02h or 82h: volatile write cache on or off."""
    return _cdb(_SET_FEATURES, _NO_DATA, 0, feature=0x02 if enabled else 0x82)


def _cdb(
    command: int, protocol: int, flags: int, *, count: int = 0, feature: int = 0, extend: bool = False
) -> bytes:
    return bytes(
        [_PASS_THROUGH_16, protocol << 1 | extend, flags, 0, feature, 0, count, *(0,) * 6, 0x40, command, 0]
    )


@dataclass(frozen=True, slots=True)
class Security:
    """The ATA Security feature set (words 82, 85, 89, 90, 128).

    `erase_minutes` and `enhanced_minutes` are the drive's estimates; None if not reported.
    """

    supported: bool
    enabled: bool
    locked: bool
    frozen: bool
    attempts_exhausted: bool
    enhanced: bool
    erase_minutes: int | None
    enhanced_minutes: int | None


@dataclass(frozen=True, slots=True)
class AtaDevice:
    """Fields of IDENTIFY DEVICE; None if not reported or implausible (`PLAUSIBLE`).

    Attributes
    ----------
    link, link_most
        Negotiated and highest SATA speed.
    write_cache, write_cache_enabled
        Whether the drive has a volatile cache, and whether the cache is on.
    trim, trimmed_reads
        Whether the drive supports TRIM, and what a trimmed block reads as: `zeroes`, `the same each time`, or
        None if not reported.
    zoned
        `host-aware` or `device-managed`; None for a conventional drive.
    host_power, device_power, device_sleep
        Support of host-initiated and device-initiated link power management, and of DevSleep.
    """

    serial: str | None
    model: str | None
    firmware: str | None
    wwn: str | None
    capacity_bytes: int | None
    logical_block_bytes: int | None
    physical_block_bytes: int | None
    form_factor: str | None
    solid_state: bool
    link: str | None
    link_most: str | None
    smart: bool
    write_cache: bool
    write_cache_enabled: bool
    trim: bool
    trimmed_reads: str | None
    sanitize: bool
    security: Security
    zoned: str | None
    host_power: bool
    device_power: bool
    device_sleep: bool


_FORM_FACTORS = {
    1: '5.25"',
    2: '3.5"',
    3: '2.5"',
    4: '1.8"',
    5: 'below 1.8"',
    6: "mSATA",
    7: "M.2",
    8: "MicroSSD",
}
_GENERATIONS = {1: "1.5 Gb/s", 2: "3.0 Gb/s", 3: "6.0 Gb/s"}


def device(content: bytes) -> AtaDevice:
    """Decode IDENTIFY DEVICE.

    Raises
    ------
    Malformed
        The page is too short or empty, or its checksum (word 255) is wrong.
    """
    page = Page(content, "IDENTIFY DEVICE", PAGE_BYTES)
    if content[510] == 0xA5 and sum(content[:PAGE_BYTES]) % 256:
        raise Malformed("IDENTIFY DEVICE has a wrong checksum")

    def word(index: int) -> int:
        return page.number(2 * index, 2)

    def bit(index: int, number: int) -> bool:
        return bool(word(index) >> number & 1)

    logical, physical = _block_sizes(page)
    wwn = "".join(f"{word(index):04x}" for index in range(108, 112))
    blocks = page.number(200, 8) if bit(83, 10) else page.number(120, 4)
    return AtaDevice(
        serial=ata_text(content, 10, 19),
        model=ata_text(content, 27, 46),
        firmware=ata_text(content, 23, 26),
        wwn=wwn if bit(87, 8) and not is_filler(f"naa.{wwn}") else None,
        capacity_bytes=None if logical is None else plausible("capacity_bytes", blocks * logical),
        logical_block_bytes=logical,
        physical_block_bytes=physical,
        form_factor=_FORM_FACTORS.get(word(168) & 0xF),
        solid_state=word(217) == 1,
        link=_GENERATIONS.get(word(77) >> 1 & 7),
        link_most=_GENERATIONS.get(max((g for g in (1, 2, 3) if bit(76, g)), default=0)),
        smart=bit(82, 0),
        write_cache=bit(82, 5),
        write_cache_enabled=bit(85, 5),
        trim=bit(169, 0),
        trimmed_reads=_trimmed_reads(deterministic=bit(69, 14), zeroes=bit(69, 5)) if bit(169, 0) else None,
        sanitize=bit(59, 12),
        security=_security(word(82), word(85), word(89), word(90), word(128)),
        zoned={1: "host-aware", 2: "device-managed"}.get(word(69) & 3),
        host_power=bit(76, 9),
        device_power=bit(78, 3),
        device_sleep=bit(78, 8),
    )


def _trimmed_reads(*, deterministic: bool, zeroes: bool) -> str | None:
    return ("zeroes" if zeroes else "the same each time") if deterministic else None


def _security(supported: int, enabled: int, erase: int, enhanced: int, state: int) -> Security:
    return Security(
        supported=bool(supported >> 1 & 1),
        enabled=bool(enabled >> 1 & 1),
        locked=bool(state >> 2 & 1),
        frozen=bool(state >> 3 & 1),
        attempts_exhausted=bool(state >> 4 & 1),
        enhanced=bool(state >> 5 & 1),
        erase_minutes=_minutes(erase),
        enhanced_minutes=_minutes(enhanced),
    )


def _minutes(word: int) -> int | None:
    """Return an erase time from word 89 or 90: 2-minute units in 15 bits if bit 15 is set, else in 8 bits."""
    return 2 * (word & 0x7FFF if word >> 15 else word & 0xFF) or None


def _block_sizes(page: Page) -> tuple[int | None, int | None]:
    """Return logical and physical block size from words 106, 117 and 118."""
    word = page.number(212, 2)
    if word >> 14 != 1:
        return 512, 512
    logical = page.number(234, 4) * 2 if word >> 12 & 1 else 512
    physical = logical << (word & 0xF) if word >> 13 & 1 else logical
    return plausible("block_bytes", logical), plausible("block_bytes", physical)


@dataclass(frozen=True, slots=True)
class AtaStatistics:
    """Device Statistics; None if not supported, not valid now, or implausible (`PLAUSIBLE`)."""

    power_on_hours: int | None = None
    power_cycles: int | None = None
    written_bytes: int | None = None
    read_bytes: int | None = None
    temperature_c: int | None = None
    used_pct: int | None = None


def statistics(pages: dict[int, bytes], logical_block_bytes: int | None) -> AtaStatistics:
    """Decode Device Statistics from pages 1 (general), 5 (temperature) and 7 (solid state), where given."""

    def value(field: str, number: int, at: int, length: int, unit: int | None = 1) -> int | None:
        content = pages.get(number, b"")
        # Bits 63 and 62 of each statistic: supported, valid (ACS-5 9.5.2). Byte 2 is the page's number.
        if len(content) < PAGE_BYTES or content[2] != number or content[at + 7] & 0xC0 != 0xC0:
            return None
        kept = content[at : at + length]
        if unit is None or (length > 1 and kept == b"\xff" * length):
            return None
        return plausible(field, int.from_bytes(kept, "little", signed=number == 5) * unit)

    return AtaStatistics(
        power_on_hours=value("power_on_h", 1, 16, 4),
        power_cycles=value("events", 1, 8, 4),
        written_bytes=value("moved_bytes", 1, 24, 6, logical_block_bytes),
        read_bytes=value("moved_bytes", 1, 40, 6, logical_block_bytes),
        temperature_c=value("temperature_c", 5, 8, 1),
        used_pct=value("used_pct", 7, 8, 1),
    )


_SMART = 0xB0
_READ_DATA, _RETURN_STATUS = 0xD0, 0xDA
_KEY_MID, _KEY_HIGH = 0x4F, 0xC2
_BAD_MID, _BAD_HIGH = 0xF4, 0x2C
_ATTRIBUTES = 30
_DESCRIPTOR_AT, _STATUS_RETURN = 8, 0x09

_HEAT = (194, 190)
"""Numbers of temperature and airflow temperature, in the order of smartctl."""
UNCORRECTED, CRC_ERRORS = 187, 199


@dataclass(frozen=True, slots=True)
class Attribute:
    """A SMART attribute: `value` and `worst` are normalised, `raw` is the maker's own number."""

    value: int
    worst: int
    raw: int


def data_cdb() -> bytes:
    """Return SMART READ DATA, which reads the attributes."""
    return _smart_cdb(protocol=4, flags=0x0E, feature=_READ_DATA, count=1)


def verdict_cdb() -> bytes:
    """Return SMART RETURN STATUS; the drive's verdict comes back as registers in the sense data."""
    return _smart_cdb(protocol=3, flags=0x20, feature=_RETURN_STATUS, count=0)


def attributes(content: bytes) -> dict[int, Attribute]:
    """Decode the SMART attributes; the keys are their numbers.

    Raises
    ------
    Malformed
        The data is too short or empty, or its checksum is wrong.
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
    """Return the temperature in degrees Celsius, from the lowest byte of the first plausible attribute."""
    given = (plausible("temperature_c", found[number].raw & 0xFF) for number in _HEAT if number in found)
    return next((each for each in given if each is not None), None)


def count(found: dict[int, Attribute], number: int) -> int | None:
    """Return an attribute's count from its lower four bytes; None if the attribute is missing."""
    return plausible("events", found[number].raw & 0xFFFFFFFF) if number in found else None


def failing(sense: bytes) -> bool | None:
    """Return whether the drive reports that it is failing; None if the reply has no registers."""
    at = _DESCRIPTOR_AT
    if len(sense) < at + 14 or sense[0] & 0x7F != 0x72 or sense[at] != _STATUS_RETURN:
        return None
    registers = (sense[at + 9], sense[at + 11])
    return {(_KEY_MID, _KEY_HIGH): False, (_BAD_MID, _BAD_HIGH): True}.get(registers)


def _smart_cdb(*, protocol: int, flags: int, feature: int, count: int) -> bytes:
    head = [0x85, protocol << 1, flags, 0, feature, 0, count]
    return bytes([*head, 0, 0, 0, _KEY_MID, 0, _KEY_HIGH, 0, _SMART, 0])
