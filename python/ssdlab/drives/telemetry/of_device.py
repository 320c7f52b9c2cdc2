"""Telemetry of a block device: an NVMe drive's logs, a SATA drive's pages, or a temperature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ssdlab.drives.admin import ata, nvme
from ssdlab.drives.admin.fields import Malformed, plausible
from ssdlab.drives.admin.nvme import logs
from ssdlab.drives.telemetry.sampler import HostTelemetry
from ssdlab.drives.telemetry.sources import Source, host_sources
from ssdlab.host.attributes import controller_of, disk_of
from ssdlab.host.rights import may_command
from ssdlab.host.sysfs import number, text, within
from ssdlab.model.errors import DriveError
from ssdlab.model.telemetry import DriveHealth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.host.identity import Identity
    from ssdlab.host.sysfs import HostFiles

# Temperature from the kernel's hwmon, for a user who may not send commands to the drive.
#
# The driver queries the drive on each read, so a drive that must be left alone is not read this way either.
# The driver of SATA drives (`drivetemp`) empties the queue, so it is not read while the drive works.
# Source: Documentation/hwmon/sysfs-interface.

_MILLI = 1000


class Hwmon(Source):
    """The temperature sensors of one drive."""

    words = "hwmon"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def figures(self) -> dict[str, float | int | None]:
        """Read the composite temperature, and the hottest sensor."""
        sensors = {path.name: _celsius(number(path)) for path in within(self.folder, "temp*_input")}
        return {
            "temperature_c": sensors.get("temp1_input"),
            "hottest_c": max((each for each in sensors.values() if each is not None), default=None),
        }


def _celsius(milli: int | None) -> float | None:
    return None if milli is None else plausible("temperature_c", milli / _MILLI)


def hwmon_of(disk: Path) -> Hwmon | None:
    """Return the sensors of an NVMe drive; None if it has none."""
    controller = controller_of(disk)
    for folder in (*within(controller, "hwmon*"), *within(controller / "hwmon", "hwmon*")):
        if text(folder / "name") == "nvme":
            return Hwmon(folder)
    return None


_STATISTICS = (1, 5, 7)


@dataclass
class AtaHealth:
    """SMART and Device Statistics of one drive; a missing page is requested only once."""

    port: AdminPort
    logical_block_bytes: int
    _lacking: set[int] = field(default_factory=set)

    def reading(self) -> DriveHealth:
        """Read everything that the drive reports about itself.

        Raises
        ------
        DriveError, Malformed
            The drive does not answer, or its answers are invalid.
        """
        pages = self._pages()
        statistics = ata.statistics(pages, self.logical_block_bytes)
        try:
            found = ata.attributes(self._read(ata.data_cdb()))
        except (Malformed, DriveError):
            if not pages:
                raise
            found = {}
        heat = statistics.temperature_c
        return DriveHealth(
            source="ata",
            failing=("SMART: the drive reports that it is failing",) if self._failing() else (),
            temperature_c=ata.temperature_c(found) if heat is None else heat,
            used_pct=statistics.used_pct,
            host_read_bytes=statistics.read_bytes,
            host_written_bytes=statistics.written_bytes,
            media_errors=ata.count(found, ata.UNCORRECTED),
            link_errors=ata.count(found, ata.CRC_ERRORS),
            power_on_hours=statistics.power_on_hours,
        )

    def _failing(self) -> bool:
        # The registers come back as sense data; each SCSI/ATA translator sets another status with them.
        return ata.failing(self.port.scsi(ata.verdict_cdb()).sense) is True

    def _pages(self) -> dict[int, bytes]:
        pages = {}
        for page in _STATISTICS:
            if page in self._lacking:
                continue
            try:
                pages[page] = self._read(ata.statistics_cdb(page))
            except (Malformed, DriveError):
                self._lacking.add(page)
        return pages

    def _read(self, cdb: bytes) -> bytes:
        reply = self.port.scsi(cdb, read_bytes=ata.PAGE_BYTES)
        if reply.status or reply.transport:
            raise Malformed("the drive refused the command")
        return reply.data


T = TypeVar("T")
_LIMIT_S = 60.0
"""The kernel's own limit for admin commands; after a shorter limit it would reset the drive."""


class NvmeLogs(Source):
    """The logs of one drive; a missing log is requested only once. None is read before the step begins."""

    def __init__(self, port: AdminPort) -> None:
        self.port = port
        self._extended = self._monitor = self._power = True

    @property
    def words(self) -> str:
        return "NVMe SMART log" + (", OCP SMART extended log" if self._extended else "")

    def figures(self) -> dict[str, float | int | None]:
        """Read the logs that change by the second."""
        health, extended = self._health(), self._read_extended()
        sensors = [each for each in (health.temperature_c, *health.sensors_c) if each is not None]
        return {
            "temperature_c": health.temperature_c,
            "drawn_w": health.interval_w,
            "hottest_c": max(sensors, default=None),
            "throttle_events": _throttled(health, extended),
            "throttled_s": _sum(health.throttled_light_s, health.throttled_heavy_s),
            "media_errors": health.media_errors,
            "host_read_bytes": health.read_bytes,
            "host_written_bytes": health.written_bytes,
            "nand_written_bytes": None if extended is None else extended.written_bytes,
            "link_retrains": None if extended is None else extended.link_retrains,
        }

    def reading(self) -> DriveHealth:
        """Read everything that the drive reports about itself.

        Raises
        ------
        DriveError, Malformed
            The drive does not answer, or its answer is invalid.
        """
        health, extended, monitor = self._health(), self._read_extended(), self._read_monitor()
        power = self._read_power()
        sensors = [each for each in (health.temperature_c, *health.sensors_c) if each is not None]
        return DriveHealth(
            source="nvme",
            failing=health.warnings,
            temperature_c=health.temperature_c,
            hottest_c=max(sensors, default=None),
            spare_pct=health.spare_pct,
            used_pct=health.used_pct,
            host_read_bytes=health.read_bytes,
            host_written_bytes=health.written_bytes,
            nand_written_bytes=None if extended is None else extended.written_bytes,
            media_errors=health.media_errors,
            error_log_entries=health.error_log_entries,
            link_errors=None if extended is None else extended.pcie_errors,
            link_retrains=None if extended is None else extended.link_retrains,
            throttle_events=_throttled(health, extended),
            throttled_s=_sum(health.throttled_light_s, health.throttled_heavy_s),
            drawn_w=health.interval_w,
            energy_wh=health.lifetime_wh,
            power_error=None if power is None else power.error,
            power_estimated=None if power is None else power.estimated,
            unsafe_shutdowns=health.unsafe_shutdowns,
            power_on_hours=health.power_on_hours,
            slow_commands=monitor.slow if monitor is not None and monitor.enabled else None,
        )

    def _health(self) -> nvme.Health:
        return nvme.health(self._log(nvme.LOG_SMART))

    def _read_extended(self) -> logs.Extended | None:
        found = self._if_there(self._extended, lambda: logs.extended(self._log(logs.LOG_EXTENDED)))
        self._extended = found is not None
        return found

    def _read_monitor(self) -> logs.LatencyMonitor | None:
        found = self._if_there(self._monitor, lambda: logs.latency_monitor(self._log(logs.LOG_LATENCY)))
        self._monitor = found is not None
        return found

    def _read_power(self) -> nvme.PowerMeasurement | None:
        found = self._if_there(self._power, lambda: nvme.power_measurement(self._log(nvme.LOG_POWER)))
        self._power = found is not None
        return found

    def _if_there(self, known: bool, read: Callable[[], T]) -> T | None:
        if not known:
            return None
        try:
            return read()
        except (Malformed, DriveError):
            return None

    def _log(self, identifier: int) -> bytes:
        words = nvme.LOG_BYTES // 4 - 1
        reply = self.port.nvme(
            nvme.GET_LOG,
            nsid=nvme.ALL_NAMESPACES,
            cdw=(identifier | words << 16,),
            read_bytes=nvme.LOG_BYTES,
            limit_s=_LIMIT_S,
        )
        if reply.status:
            raise Malformed(f"the drive answered {nvme.status_text(reply.status)}")
        return reply.data


def _throttled(health: nvme.Health, extended: logs.Extended | None) -> int | None:
    """Return how often heat slowed the drive: NVMe's count, or OCP's if NVMe's is 0 or missing."""
    own = _sum(health.throttled_light, health.throttled_heavy)
    return own if own or extended is None else extended.throttle_events


def _sum(light: int | None, heavy: int | None) -> int | None:
    return None if light is None or heavy is None else light + heavy


def telemetry_of(identity: Identity, files: HostFiles, node: Path, port: AdminPort) -> HostTelemetry:
    """Return the telemetry of a block device, as far as this user may query it."""
    disk = disk_of(node)
    sources: list[Source] = host_sources(files, disk, identity.transport)
    if identity.nsid is not None or number(disk / "nsid") is not None:
        if not may_command():
            hwmon = hwmon_of(disk)
            return HostTelemetry([*([hwmon] if hwmon is not None else []), *sources])
        logs = NvmeLogs(port)
        return HostTelemetry([logs, *sources], logs.reading)
    if identity.transport == "sata" and may_command():
        return HostTelemetry(sources, AtaHealth(port, identity.logical_block_bytes).reading)
    return HostTelemetry(sources)
