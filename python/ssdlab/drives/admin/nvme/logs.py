"""Decoders of log pages: health, power, sanitize status, and those of the Open Compute Project.

Source: NVM Express Base Specification 2.0c; each decoder names its figures. Power fields exist since 2.3
(bytes 232 to 243 of the health log, log 25h), here in the layout of libnvme 3. Offsets are in bytes; bits
count from the least significant.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.admin.fields import Malformed, Page, kelvin, plausible
from ssdlab.drives.admin.nvme.commands import LOG_BYTES

POWER_BYTES = 64
"""Length of log 25h without its histogram."""


@dataclass(frozen=True, slots=True)
class Health:
    """SMART / Health Information (log 02h, Base figure 207); None if not reported or not `PLAUSIBLE`.

    Attributes
    ----------
    warnings
        Critical warnings in words.
    temperature_c, sensors_c
        Composite temperature, and the sensors that exist, in degrees Celsius.
    spare_pct, spare_threshold_pct, used_pct
        Spare left, the threshold below which the drive warns, and used share of rated endurance (it may
        exceed 100).
    read_bytes, written_bytes
        Bytes read and written by the host, in multiples of 512,000, rounded up by the drive.
    throttled_light, throttled_heavy, throttled_light_s, throttled_heavy_s
        How often heat began to slow the drive lightly and heavily, and the seconds of each (thermal
        management temperatures 1 and 2).
    interval_w
        Mean power of the whole drive over the last second; None if not reported, or of a part of the drive.
    lifetime_wh
        Energy over its life in Wh, rounded up by the drive.
    """

    warnings: tuple[str, ...]
    temperature_c: int | None
    sensors_c: tuple[int, ...]
    spare_pct: int | None
    spare_threshold_pct: int | None
    used_pct: int | None
    read_bytes: int | None
    written_bytes: int | None
    host_reads: int | None
    host_writes: int | None
    busy_minutes: int | None
    power_cycles: int | None
    power_on_hours: int | None
    unsafe_shutdowns: int | None
    media_errors: int | None
    error_log_entries: int | None
    warning_minutes: int | None
    critical_minutes: int | None
    throttled_light: int | None
    throttled_heavy: int | None
    throttled_light_s: int | None
    throttled_heavy_s: int | None
    interval_w: float | None
    lifetime_wh: int | None


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
        The page is too short or empty.
    """
    page = Page(content, "SMART / Health log", LOG_BYTES)
    warned = page.plausible("warnings", 0, 1) or 0
    sensors = (kelvin(page.number(200 + 2 * index, 2)) for index in range(8))
    return Health(
        warnings=tuple(text for bit, text in enumerate(_WARNINGS) if warned >> bit & 1),
        temperature_c=kelvin(page.number(1, 2)),
        sensors_c=tuple(value for value in sensors if value is not None),
        spare_pct=page.plausible("spare_pct", 3, 1),
        spare_threshold_pct=page.plausible("spare_pct", 4, 1),
        used_pct=page.plausible("used_pct", 5, 1),
        read_bytes=plausible("moved_bytes", page.number(32, 16) * _DATA_UNIT_BYTES),
        written_bytes=plausible("moved_bytes", page.number(48, 16) * _DATA_UNIT_BYTES),
        host_reads=page.plausible("commands", 64, 16),
        host_writes=page.plausible("commands", 80, 16),
        busy_minutes=page.plausible("minutes", 96, 16),
        power_cycles=page.plausible("events", 112, 16),
        power_on_hours=page.plausible("power_on_h", 128, 16),
        unsafe_shutdowns=page.plausible("events", 144, 16),
        media_errors=page.plausible("events", 160, 16),
        error_log_entries=page.plausible("events", 176, 16),
        warning_minutes=page.plausible("minutes", 192, 4),
        critical_minutes=page.plausible("minutes", 196, 4),
        throttled_light=page.plausible("events", 216, 4),
        throttled_heavy=page.plausible("events", 220, 4),
        throttled_light_s=page.plausible("seconds", 224, 4),
        throttled_heavy_s=page.plausible("seconds", 228, 4),
        interval_w=scaled_watts(page.number(240, 4)) if _of_the_drive(page.number(240, 4) >> 20) else None,
        lifetime_wh=page.plausible("energy_wh", 232, 8) or None,
    )


_SCALES_W = {1: 1e-4, 2: 1e-2}
"""Unit of a power in bits 15:0, by its bits 17:16; 0 means not reported, 3 is reserved."""


def scaled_watts(number: int) -> float | None:
    """Return a power in watts from a field that has its own scale; None if not reported.

    >>> scaled_watts(2 << 16 | 812)
    8.12
    """
    scale, value = _SCALES_W.get(number >> 16 & 3), number & 0xFFFF
    return plausible("power_w", round(value * scale, 4)) if scale else None


def _of_the_drive(measurement_type: int) -> bool:
    """Return whether a power covers the whole NVM subsystem: type 0. Other types are reserved or custom."""
    return measurement_type & 0x3F == 0


@dataclass(frozen=True, slots=True)
class PowerMeasurement:
    """Power Measurement, log 25h.

    Attributes
    ----------
    running
        Whether the drive is collecting. Set Features 25h starts it; ssdlab never does.
    estimated
        Whether the powers are computed, not measured.
    count
        Intervals of one second so far.
    mean_w, max_w
        Power over these intervals; None if not reported, or of a part of the drive.
    error
        Maximum error of a power, as a share; None if not reported.
    """

    running: bool
    estimated: bool
    count: int
    mean_w: float | None
    max_w: float | None
    error: float | None


def power_measurement(content: bytes) -> PowerMeasurement:
    """Decode the Power Measurement log.

    Raises
    ------
    Malformed
        The page is too short or empty.
    """
    page = Page(content, "Power Measurement log", POWER_BYTES)
    whole = page.number(2, 2) >> 12 == 0
    percent = page.plausible("spare_pct", 56, 1)
    return PowerMeasurement(
        running=page.bit(2, 0),
        estimated=page.bit(2, 2),
        count=page.number(8, 4),
        mean_w=scaled_watts(page.number(40, 4)) if whole else None,
        max_w=scaled_watts(page.number(44, 4)) if whole else None,
        error=None if percent is None else percent / 100,
    )


@dataclass(frozen=True, slots=True)
class SanitizeStatus:
    """Sanitize Status, log 81h, Base figure 247.

    Attributes
    ----------
    state
        `never`, `done`, `running`, `failed`, `done-deallocated`, or `unknown (n)`.
    share
        Progress, 0 to 1; 1 if none is running.
    erased
        Whether nothing was written since the drive left the factory or since the last sanitize.
    action
        SCDW10: dword 10 of the latest sanitize command.
    overwrite_s, block_s, crypto_s
        The drive's estimates in seconds; None if not reported.
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
        The page is too short or empty: even a drive that was never sanitized reports 100 %.
    """
    page = Page(content, "Sanitize Status log", LOG_BYTES)
    state = page.number(2, 2) & 7
    return SanitizeStatus(
        state=_SANITIZE_STATES.get(state, f"unknown ({state})"),
        share=page.number(0, 2) / 65536 if state == 2 else 1.0,
        erased=page.bit(2, 8),
        action=page.number(4, 4),
        overwrite_s=page.plausible("erase_s", 8, 4),
        block_s=page.plausible("erase_s", 12, 4),
        crypto_s=page.plausible("erase_s", 16, 4),
    )


# Log pages of the Open Compute Project, which data-centre drives have besides those of NVMe.
#
# Source: OCP Datacenter NVMe SSD Specification 2.5: C0h, SMART / Health Information Extended; C3h, Latency
# Monitor. A page is recognised by its GUID, because other makers use the same numbers for other logs.

LOG_EXTENDED, LOG_LATENCY = 0xC0, 0xC3
_GUID_AT = 496
_EXTENDED_GUID = bytes.fromhex("c5af1028eabff2a49c4f6f7cc914d5af")
_LATENCY_GUID = bytes.fromhex("927ac08cd0846c9c7043e6d4585ed485")
_BUCKETS = 4
_THRESHOLD_MS = 5
"""Unit of the thresholds, which count from 0: 0 is 5 ms."""


@dataclass(frozen=True, slots=True)
class Extended:
    """SMART / Health Information Extended (OCP log C0h); None if implausible (`PLAUSIBLE`).

    Attributes
    ----------
    written_bytes, read_bytes
        Bytes programmed into the medium, and read from it (physical media units).
    throttle_events
        Count in eight bits: after 255 it continues at 0.
    """

    written_bytes: int | None
    read_bytes: int | None
    bad_blocks: int | None
    uncorrectable_reads: int | None
    throttle_events: int
    throttled_now: bool
    pcie_errors: int | None
    link_retrains: int | None
    free_blocks_pct: int | None


def extended(content: bytes) -> Extended:
    """Decode log C0h.

    Raises
    ------
    Malformed
        The page is too short or empty, or another maker's log of that number.
    """
    page = _known(content, "OCP SMART extended log", _EXTENDED_GUID)
    return Extended(
        written_bytes=page.plausible("moved_bytes", 0, 16),
        read_bytes=page.plausible("moved_bytes", 16, 16),
        bad_blocks=page.plausible("events", 32, 6),
        uncorrectable_reads=page.plausible("events", 56, 8),
        throttle_events=page.number(96, 1),
        throttled_now=page.number(97, 1) != 0,
        pcie_errors=page.plausible("events", 104, 8),
        link_retrains=page.plausible("events", 192, 8),
        free_blocks_pct=page.plausible("spare_pct", 120, 1),
    )


@dataclass(frozen=True, slots=True)
class SlowCommands:
    """Commands in one bucket of the latency monitor, between its threshold and that of the next bucket."""

    above_ms: int
    reads: int
    writes: int
    trims: int


@dataclass(frozen=True, slots=True)
class LatencyMonitor:
    """The drive's own count of slow commands in the current window (OCP log C3h)."""

    enabled: bool
    buckets: tuple[SlowCommands, ...]

    @property
    def slow(self) -> int:
        """Slow commands in all buckets."""
        return sum(each.reads + each.writes + each.trims for each in self.buckets)


def latency_monitor(content: bytes) -> LatencyMonitor:
    """Decode log C3h.

    Raises
    ------
    Malformed
        As for `extended`.
    """
    page = _known(content, "OCP latency monitor log", _LATENCY_GUID)

    def bucket(index: int) -> SlowCommands:
        at = 32 + 16 * index  # dwords: reserved, trims, writes, reads
        threshold = page.number(6 + index, 1)
        return SlowCommands(
            above_ms=(threshold + 1) * _THRESHOLD_MS,
            reads=page.number(at + 12, 4),
            writes=page.number(at + 8, 4),
            trims=page.number(at + 4, 4),
        )

    return LatencyMonitor(enabled=page.bit(0, 0), buckets=tuple(bucket(index) for index in range(_BUCKETS)))


def _known(content: bytes, name: str, guid: bytes) -> Page:
    page = Page(content, name, LOG_BYTES)
    if content[_GUID_AT : _GUID_AT + 16] != guid:
        raise Malformed(f"{name} lacks its GUID: it is another maker's log")
    return page
