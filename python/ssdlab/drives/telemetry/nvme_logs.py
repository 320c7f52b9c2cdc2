"""What an NVMe drive tells in its logs: health (02h), power (25h) and OCP's (C0h, C3h) where it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ssdlab.drives.admin import nvme
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.nvme import ocp
from ssdlab.drives.telemetry.sources import Source
from ssdlab.model.errors import DriveError
from ssdlab.model.telemetry import DriveHealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssdlab.drives.admin.port import AdminPort

T = TypeVar("T")
_LIMIT_S = 60.0
"""The kernel's own limit of admin commands: after a shorter one it would reset the drive."""


class NvmeLogs(Source):
    """The logs of one drive; what it lacks is asked for once. Nothing is asked before the step has begun."""

    def __init__(self, port: AdminPort) -> None:
        self.port = port
        self._extended = self._monitor = self._power = True

    @property
    def words(self) -> str:
        """Which logs are read."""
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
        """Read all that it tells of itself.

        Raises
        ------
        DriveError, Malformed
            It does not answer, or answers nonsense.
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

    def _read_extended(self) -> ocp.Extended | None:
        found = self._if_there(self._extended, lambda: ocp.extended(self._log(ocp.LOG_EXTENDED)))
        self._extended = found is not None
        return found

    def _read_monitor(self) -> ocp.LatencyMonitor | None:
        found = self._if_there(self._monitor, lambda: ocp.latency_monitor(self._log(ocp.LOG_LATENCY)))
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


def _throttled(health: nvme.Health, extended: ocp.Extended | None) -> int | None:
    """Return how often heat slowed it; by OCP's count where NVMe's own stands still at none."""
    own = _sum(health.throttled_light, health.throttled_heavy)
    return own if own or extended is None else extended.throttle_events


def _sum(light: int | None, heavy: int | None) -> int | None:
    return None if light is None or heavy is None else light + heavy
