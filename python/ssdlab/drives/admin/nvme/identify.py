"""Decoders of Identify Controller, Identify Namespace, and the lists of Identify.

Sources: NVM Express Base Specification 2.0c (each decoder names its figures and sections) and NVM Command Set
Specification 1.0c. Offsets are in bytes; bits count from the least significant.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Page, kelvin, plausible
from ssdlab.drives.admin.nvme.commands import PAGE_BYTES


@dataclass(frozen=True, slots=True)
class PowerState:
    """A power state: power in watts, latency to enter and leave it in microseconds; None if not reported."""

    index: int
    max_w: float | None
    operational: bool
    entry_us: int | None
    exit_us: int | None
    idle_w: float | None
    active_w: float | None


@dataclass(frozen=True, slots=True)
class Sanitizing:
    """Sanitize operations that the controller supports (SANICAP)."""

    block: bool
    crypto: bool
    overwrite: bool

    @property
    def any(self) -> bool:
        return self.block or self.crypto or self.overwrite


@dataclass(frozen=True, slots=True)
class Controller:
    """Identify Controller, Base figure 275; None if not reported or implausible (`PLAUSIBLE`).

    Attributes
    ----------
    total_bytes, unallocated_bytes
        NVM capacity of the drive, and the part of it that is in no namespace.
    format_all, erase_all
        Whether a format, or a format with secure erase, always affects every namespace (FNA).
    erase_crypto
        Whether a format can erase by changing the encryption key.
    apst
        Whether the drive can enter low-power states by itself (APSTA).
    warning_c, critical_c
        Composite temperatures at which the drive warns and shuts down.
    """

    vendor_id: int
    subsystem_vendor_id: int
    serial: str | None
    model: str | None
    firmware: str | None
    ieee_oui: str
    version: str | None
    controller_id: int
    multiple_ports: bool
    max_transfer_units: int
    security: bool
    format: bool
    namespace_management: bool
    self_test: bool
    deallocate: bool
    write_zeroes: bool
    format_all: bool
    erase_all: bool
    erase_crypto: bool
    write_cache: bool
    apst: bool
    sanitize: Sanitizing
    namespaces: int
    total_bytes: int | None
    unallocated_bytes: int | None
    warning_c: int | None
    critical_c: int | None
    power_states: tuple[PowerState, ...]


def controller(content: bytes) -> Controller:
    """Decode Identify Controller.

    Raises
    ------
    Malformed
        The page is too short or empty.
    """
    page = Page(content, "Identify Controller", PAGE_BYTES)
    total = page.plausible("capacity_bytes", 280, 16)
    return Controller(
        vendor_id=page.number(0, 2),
        subsystem_vendor_id=page.number(2, 2),
        serial=page.text(4, 20),
        model=page.text(24, 40),
        firmware=page.text(64, 8),
        ieee_oui=page.content[75:72:-1].hex(),
        version=_version(page.number(80, 4)),
        controller_id=page.number(78, 2),
        multiple_ports=page.bit(76, 0),
        max_transfer_units=page.number(77, 1),
        security=page.bit(256, 0),
        format=page.bit(256, 1),
        namespace_management=page.bit(256, 3),
        self_test=page.bit(256, 4),
        deallocate=page.bit(520, 2),
        write_zeroes=page.bit(520, 3),
        format_all=page.bit(524, 0),
        erase_all=page.bit(524, 1),
        erase_crypto=page.bit(524, 2),
        write_cache=page.bit(525, 0),
        apst=page.bit(265, 0),
        sanitize=Sanitizing(crypto=page.bit(328, 0), block=page.bit(328, 1), overwrite=page.bit(328, 2)),
        namespaces=page.number(516, 4),
        total_bytes=total,
        unallocated_bytes=left if total and (left := page.number(296, 16)) <= total else None,
        warning_c=kelvin(page.number(266, 2)),
        critical_c=kelvin(page.number(268, 2)),
        power_states=_power_states(page),
    )


def _version(value: int) -> str | None:
    """Return VER (Base 3.1.3.2) as major, minor, tertiary; None before 1.2, which left it empty."""
    major, minor, tertiary = value >> 16, value >> 8 & 0xFF, value & 0xFF
    parts = [major, minor, *([tertiary] if tertiary else [])]
    stated = major and all(plausible("version", part) is not None for part in parts)
    return ".".join(map(str, parts)) if stated else None


def _power_states(page: Page) -> tuple[PowerState, ...]:
    """Decode all descriptors; if their number is implausible, only those that report a power, and state 0."""
    last = page.plausible("power_states", 263, 1)
    states = (_power_state(page, index) for index in range((31 if last is None else last) + 1))
    return tuple(each for each in states if last is not None or each.max_w is not None or not each.index)


def _power_state(page: Page, index: int) -> PowerState:
    """Decode a power state descriptor, Base figure 276."""
    at = 2048 + 32 * index
    return PowerState(
        index=index,
        max_w=_scaled_w(page.number(at, 2), 1 if page.bit(at + 3, 0) else 2),
        operational=not page.bit(at + 3, 1),
        entry_us=page.plausible("latency_us", at + 4, 4) or None,
        exit_us=page.plausible("latency_us", at + 8, 4) or None,
        idle_w=_scaled_w(page.number(at + 16, 2), page.number(at + 18, 1) >> 6),
        active_w=_scaled_w(page.number(at + 20, 2), page.number(at + 22, 1) >> 6),
    )


def _scaled_w(value: int, scale: int) -> float | None:
    return plausible("power_w", {1: round(value * 0.0001, 4), 2: round(value * 0.01, 2)}.get(scale))


@dataclass(frozen=True, slots=True)
class LbaFormat:
    """An LBA format: bytes of data and of metadata per block; `performance` is 0 (best) to 3."""

    index: int
    data_bytes: int
    metadata_bytes: int
    performance: int


@dataclass(frozen=True, slots=True)
class Namespace:
    """Identify Namespace, NVM Command Set figure 97.

    Attributes
    ----------
    size_blocks, capacity_blocks, used_blocks
        Blocks that can be addressed, that can hold data at once, and that hold data now. The last two are
        None if they are too large to be true.
    format
        Index of the LBA format in use.
    formats
        Available LBA formats, without implausible ones.
    deallocated_reads
        What a deallocated block reads as: `zeroes`, `ones`, or None if not reported.
    """

    size_blocks: int
    capacity_blocks: int | None
    used_blocks: int | None
    thin: bool
    format: int
    formats: tuple[LbaFormat, ...]
    deallocated_reads: str | None
    nguid: str | None
    eui64: str | None
    allocated_bytes: int | None


def namespace(content: bytes) -> Namespace:
    """Decode Identify Namespace.

    Raises
    ------
    Malformed
        The page is too short or empty (the reply for an inactive namespace).
    """
    page = Page(content, "Identify Namespace", PAGE_BYTES)
    flbas, size = page.number(26, 1), page.number(0, 8)
    capacity = _limited(size, page.number(8, 8))
    formats = (_lba_format(page, index) for index in range((page.plausible("lba_formats", 25, 1) or 0) + 1))
    return Namespace(
        size_blocks=size,
        capacity_blocks=capacity,
        used_blocks=_limited(size if capacity is None else capacity, page.number(16, 8)),
        thin=page.bit(24, 0),
        format=flbas & 0xF | (flbas >> 5 & 3) << 4,
        formats=tuple(form for form in formats if form is not None),
        deallocated_reads={1: "zeroes", 2: "ones"}.get(page.number(33, 1) & 7),
        nguid=page.hex(104, 16),
        eui64=page.hex(120, 8),
        allocated_bytes=page.plausible("capacity_bytes", 48, 16),
    )


def _limited(most: int, value: int) -> int | None:
    return value if value <= most else None


def _lba_format(page: Page, index: int) -> LbaFormat | None:
    at = 128 + 4 * index
    block, metadata = (
        plausible("block_bytes", 1 << page.number(at + 2, 1)),
        page.plausible("metadata_bytes", at, 2),
    )
    if block is None or metadata is None:  # exponent 0 is an unused format
        return None
    return LbaFormat(index, block, metadata, page.number(at + 3, 1) & 3)


def active_namespaces(content: bytes) -> tuple[int, ...]:
    """Decode the Active Namespace ID list (CNS 02h): ascending numbers, ended by 0."""
    numbers = (int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content) - 3, 4))
    found: list[int] = []
    for number in numbers:
        if number == 0 or (found and number <= found[-1]):
            break
        found.append(number)
    return tuple(found)


def command_set(content: bytes) -> str | None:
    """Return the command set of a namespace from its descriptor list (CNS 03h, Base figure 277).

    It is `nvm`, `key-value` or `zoned`; None if the list has no such entry, as before version 2.0.
    """
    at = 0
    while at + 4 <= len(content) and content[at + 1]:
        if content[at] == 4 and content[at + 1] == 1:
            return {0: "nvm", 1: "key-value", 2: "zoned"}.get(content[at + 4], f"unknown ({content[at + 4]})")
        at += 4 + content[at + 1]
    return None
