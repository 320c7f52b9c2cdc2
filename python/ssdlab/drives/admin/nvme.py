"""NVMe admin pages and commands.

Sources: NVM Express Base Specification 2.0c (figures and sections named at each decoder) and NVM Command Set
Specification 1.0c. Offsets are bytes, bits count from the least.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Page, kelvin

GET_LOG, IDENTIFY, SET_FEATURES, GET_FEATURES, FORMAT, SANITIZE = 0x02, 0x06, 0x09, 0x0A, 0x80, 0x84
"""Admin opcodes, Base figure 138."""
CNS_NAMESPACE, CNS_CONTROLLER, CNS_ACTIVE_NAMESPACES, CNS_DESCRIPTORS = 0x00, 0x01, 0x02, 0x03
LOG_SMART, LOG_SANITIZE = 0x02, 0x81
FEATURE_POWER, FEATURE_WRITE_CACHE = 0x02, 0x06
ALL_NAMESPACES = 0xFFFFFFFF
PAGE_BYTES = 4096
LOG_BYTES = 512

_STATUS = {
    (0, 0x01): "invalid opcode",
    (0, 0x02): "invalid field in command",
    (0, 0x06): "internal error",
    (0, 0x0B): "invalid namespace or format",
    (0, 0x0C): "command sequence error",
    (0, 0x15): "operation denied",
    (0, 0x1C): "sanitize failed",
    (0, 0x1D): "sanitize in progress",
    (0, 0x20): "namespace is write protected",
    (0, 0x84): "format in progress",
    (1, 0x09): "invalid log page",
    (1, 0x0A): "invalid format",
    (1, 0x0D): "feature not saveable",
    (1, 0x0E): "feature not changeable",
}
"""Status code type and status code in words, Base figures 97 to 99."""


def status_text(status: int) -> str:
    """Return a status field in words: bits 10:8 its type, 7:0 its code (Base 3.3.3.2).

    >>> status_text(0x4001)
    'invalid opcode'
    >>> status_text(0x0702)
    'status 702h'
    """
    return _STATUS.get((status >> 8 & 7, status & 0xFF), f"status {status & 0x7FF:x}h")


@dataclass(frozen=True, slots=True)
class PowerState:
    """A power state descriptor: watts, and microseconds to enter and leave it; None is "not reported"."""

    index: int
    max_w: float | None
    operational: bool
    entry_us: int
    exit_us: int
    idle_w: float | None
    active_w: float | None


@dataclass(frozen=True, slots=True)
class Sanitizing:
    """What SANICAP says the controller can erase with."""

    block: bool
    crypto: bool
    overwrite: bool

    @property
    def any(self) -> bool:
        """Whether there is any way."""
        return self.block or self.crypto or self.overwrite


@dataclass(frozen=True, slots=True)
class Controller:
    """Identify Controller, Base figure 275.

    Attributes
    ----------
    total_bytes, unallocated_bytes
        NVM capacity of the drive and what of it is in no namespace; None where not reported.
    format_all, erase_all
        Whether a format, or one with secure erase, hits every namespace whatever is asked (FNA).
    erase_crypto
        Whether a format can erase by changing the key.
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
        It is too short, or empty.
    """
    page = Page(content, "Identify Controller", PAGE_BYTES)
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
        sanitize=Sanitizing(crypto=page.bit(328, 0), block=page.bit(328, 1), overwrite=page.bit(328, 2)),
        namespaces=page.number(516, 4),
        total_bytes=page.number(280, 16) or None,
        unallocated_bytes=page.number(296, 16) if page.number(280, 16) else None,
        warning_c=kelvin(page.number(266, 2)),
        critical_c=kelvin(page.number(268, 2)),
        power_states=tuple(_power_state(page, index) for index in range(min(page.number(263, 1), 31) + 1)),
    )


def _version(value: int) -> str | None:
    """Return VER, Base 3.1.3.2: major, minor, tertiary; None before 1.2, which left it empty."""
    major, minor, tertiary = value >> 16, value >> 8 & 0xFF, value & 0xFF
    return (f"{major}.{minor}" + (f".{tertiary}" if tertiary else "")) if value else None


def _power_state(page: Page, index: int) -> PowerState:
    """Decode a power state descriptor, Base figure 276."""
    at = 2048 + 32 * index
    unit_w = 0.0001 if page.bit(at + 3, 0) else 0.01
    power = page.number(at, 2)
    return PowerState(
        index=index,
        max_w=round(power * unit_w, 4) if power else None,
        operational=not page.bit(at + 3, 1),
        entry_us=page.number(at + 4, 4),
        exit_us=page.number(at + 8, 4),
        idle_w=_scaled_w(page.number(at + 16, 2), page.number(at + 18, 1) >> 6),
        active_w=_scaled_w(page.number(at + 20, 2), page.number(at + 22, 1) >> 6),
    )


def _scaled_w(value: int, scale: int) -> float | None:
    return {1: round(value * 0.0001, 4), 2: round(value * 0.01, 2)}.get(scale)


@dataclass(frozen=True, slots=True)
class LbaFormat:
    """One LBA format: bytes of data and of metadata per block; `performance` 0 is the best of 4."""

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
        Blocks that can be addressed, that can hold data at once, and that hold data now.
    format
        Index of the LBA format in use.
    formats
        Those that can be had.
    deallocated_reads
        What a deallocated block reads as: `zeroes`, `ones`, or None where the drive does not say.
    """

    size_blocks: int
    capacity_blocks: int
    used_blocks: int
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
        It is too short, or empty (the answer for a namespace that is not active).
    """
    page = Page(content, "Identify Namespace", PAGE_BYTES)
    flbas = page.number(26, 1)
    formats = tuple(
        LbaFormat(index, 1 << page.number(at + 2, 1), page.number(at, 2), page.number(at + 3, 1) & 3)
        for index in range(page.number(25, 1) + 1)
        if 9 <= page.number((at := 128 + 4 * index) + 2, 1) < 32  # below 9 it is not in use
    )
    return Namespace(
        size_blocks=page.number(0, 8),
        capacity_blocks=page.number(8, 8),
        used_blocks=page.number(16, 8),
        thin=page.bit(24, 0),
        format=flbas & 0xF | (flbas >> 5 & 3) << 4,
        formats=formats,
        deallocated_reads={1: "zeroes", 2: "ones"}.get(page.number(33, 1) & 7),
        nguid=page.hex(104, 16),
        eui64=page.hex(120, 8),
        allocated_bytes=page.number(48, 16) or None,
    )


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

    `nvm`, `key-value` or `zoned`; None where the list has no such entry, as before version 2.0.
    """
    at = 0
    while at + 4 <= len(content) and content[at + 1]:
        if content[at] == 4 and content[at + 1] == 1:
            return {0: "nvm", 1: "key-value", 2: "zoned"}.get(content[at + 4], f"unknown ({content[at + 4]})")
        at += 4 + content[at + 1]
    return None


@dataclass(frozen=True, slots=True)
class Health:
    """SMART / Health Information, log 02h, Base figure 207.

    Attributes
    ----------
    warnings
        Critical warnings in words.
    temperature_c, sensors_c
        Composite temperature, and the sensors that are there, in degrees Celsius.
    spare_pct, spare_threshold_pct, used_pct
        Spare left, below what the drive warns, and share of rated endurance used (it may exceed 100).
    read_bytes, written_bytes
        By the host, as multiples of 512,000 bytes, rounded up by the drive.
    """

    warnings: tuple[str, ...]
    temperature_c: int | None
    sensors_c: tuple[int, ...]
    spare_pct: int
    spare_threshold_pct: int
    used_pct: int
    read_bytes: int
    written_bytes: int
    host_reads: int
    host_writes: int
    busy_minutes: int
    power_cycles: int
    power_on_hours: int
    unsafe_shutdowns: int
    media_errors: int
    error_log_entries: int
    warning_minutes: int
    critical_minutes: int


_WARNINGS = (
    "spare is low",
    "temperature",
    "reliability degraded",
    "read-only",
    "volatile memory backup failed",
)
_DATA_UNIT_BYTES = 512_000


def health(content: bytes) -> Health:
    """Decode the SMART / Health log.

    Raises
    ------
    Malformed
        It is too short, or empty.
    """
    page = Page(content, "SMART / Health log", LOG_BYTES)
    sensors = (kelvin(page.number(200 + 2 * index, 2)) for index in range(8))
    return Health(
        warnings=tuple(text for bit, text in enumerate(_WARNINGS) if page.bit(0, bit)),
        temperature_c=kelvin(page.number(1, 2)),
        sensors_c=tuple(value for value in sensors if value is not None),
        spare_pct=page.number(3, 1),
        spare_threshold_pct=page.number(4, 1),
        used_pct=page.number(5, 1),
        read_bytes=page.number(32, 16) * _DATA_UNIT_BYTES,
        written_bytes=page.number(48, 16) * _DATA_UNIT_BYTES,
        host_reads=page.number(64, 16),
        host_writes=page.number(80, 16),
        busy_minutes=page.number(96, 16),
        power_cycles=page.number(112, 16),
        power_on_hours=page.number(128, 16),
        unsafe_shutdowns=page.number(144, 16),
        media_errors=page.number(160, 16),
        error_log_entries=page.number(176, 16),
        warning_minutes=page.number(192, 4),
        critical_minutes=page.number(196, 4),
    )


@dataclass(frozen=True, slots=True)
class SanitizeStatus:
    """Sanitize Status, log 81h, Base figure 247.

    Attributes
    ----------
    state
        `never`, `done`, `running`, `failed`, `done-deallocated`, or `unknown (n)`.
    share
        Progress, 0 to 1; 1 when none is running.
    erased
        Whether nothing was written since the drive left the factory or since the last sanitize.
    action
        SCDW10: dword 10 of the sanitize command that this is about.
    overwrite_s, block_s, crypto_s
        Seconds that the drive expects to need; None where it does not say.
    """

    state: str
    share: float
    erased: bool
    action: int
    overwrite_s: int | None
    block_s: int | None
    crypto_s: int | None


_SANITIZE_STATES = {0: "never", 1: "done", 2: "running", 3: "failed", 4: "done-deallocated"}


def sanitize_status(content: bytes) -> SanitizeStatus:
    """Decode the Sanitize Status log.

    Raises
    ------
    Malformed
        It is too short, or empty: even a drive never sanitized says 100 %.
    """
    page = Page(content, "Sanitize Status log", LOG_BYTES)
    state = page.number(2, 2) & 7

    def seconds(at: int) -> int | None:
        value = page.number(at, 4)
        return None if value == 0xFFFFFFFF else value

    return SanitizeStatus(
        state=_SANITIZE_STATES.get(state, f"unknown ({state})"),
        share=page.number(0, 2) / 65536 if state == 2 else 1.0,
        erased=page.bit(2, 8),
        action=page.number(4, 4),
        overwrite_s=seconds(8),
        block_s=seconds(12),
        crypto_s=seconds(16),
    )
