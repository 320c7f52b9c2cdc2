"""What stood around a measurement, observed from before it to after it, for `ssdlab.model.warnings.judge`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.drives.base import Drive
    from ssdlab.host.queue_settings import Conditions

_CPUS = Path("/sys/devices/system/cpu")
_DEVICE_READING_S = 0.5
"""The kernel adds a request's time when it completes: over a shorter run the mean in flight is too rough."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stood around a measurement; None is "not known".

    Attributes
    ----------
    conditions
        Settings of the drive, or of the device beneath a file.
    is_file
        Whether the target is a file on a file system.
    allow_unwritten
        Whether reads of never-written parts were allowed.
    cores
        CPUs that this process may use.
    cpu_busy_share
        Busy share of all CPUs during the run, others' work included, 0 to 1.
    governors
        CPU frequency governors in force.
    device_in_flight
        Mean I/Os in flight at the block device, by the kernel's own accounting.
    build_profile
        How the native part was built: ``release`` or ``debug``.
    left
        What runs that died have left set on the drive or its host: ``(what, advice)`` each.
    """

    conditions: Conditions | None = None
    is_file: bool = False
    allow_unwritten: bool = False
    cores: int | None = None
    cpu_busy_share: float | None = None
    governors: tuple[str, ...] = ()
    device_in_flight: float | None = None
    build_profile: str | None = None
    left: tuple[tuple[str, str], ...] = ()

    def as_facts(self) -> dict[str, Any]:
        """Return what is not part of the environment record, as a result holds it."""
        return {
            "cores": self.cores,
            "cpu_busy_share": self.cpu_busy_share,
            "device_in_flight": self.device_in_flight,
        }


class Observation:
    """Reads the counters of host and device when it is made, and again when the measurement is there.

    Parameters
    ----------
    drive
        What is about to be measured.
    allow_unwritten
        Whether it was opened so.
    """

    def __init__(self, drive: Drive, *, allow_unwritten: bool = False) -> None:
        from ssdlab.model.host_load import read_cpu_times

        self._drive = drive
        self._allow_unwritten = allow_unwritten
        self._conditions = drive.conditions()
        self._device = drive.counters()
        self._left = _left_on(drive, self._conditions)
        self._cpu = read_cpu_times()

    def around(self, summary: Mapping[str, Any]) -> Surroundings:
        """Return what stood around the measurement that has just ended, whose summary this is."""
        from ssdlab.model.host_load import busy_share, read_cpu_times

        if self._drive.identity.kind == "sim":
            # In virtual time the host's load changes how long a run takes and nothing that it gives.
            return Surroundings(allow_unwritten=self._allow_unwritten, cores=len(os.sched_getaffinity(0)))
        busy = busy_share(self._cpu, read_cpu_times())
        device = self._drive.counters()
        return Surroundings(
            conditions=self._conditions,
            is_file=self._drive.identity.kind == "file",
            allow_unwritten=self._allow_unwritten,
            cores=len(os.sched_getaffinity(0)),
            cpu_busy_share=busy,
            governors=governors(),
            device_in_flight=self._in_flight(device, float(summary.get("total_s") or 0)),
            build_profile=(summary.get("build") or {}).get("profile"),
            left=self._left,
        )

    def _in_flight(self, later: Any, total_s: float) -> float | None:  # noqa: ANN401 - IoCounters or None
        # Divided by the time of the run, not of the readings: threads start before it, memory is freed after.
        if self._device is None or later is None or total_s < _DEVICE_READING_S:
            return None
        return float(later.in_flight_ns - self._device.in_flight_ns) / (total_s * 1e9)


def _left_on(drive: Drive, conditions: Conditions | None) -> tuple[tuple[str, str], ...]:
    """Return what runs that died have left set on the disk of a real drive, or beneath a file."""
    from ssdlab.runs.conditions.place import ledger_paths

    if conditions is None or not ledger_paths():
        return ()
    from ssdlab.runs.conditions.leftovers import leftovers, told

    return told(*leftovers(conditions.device))


def governors(cpus: Path = _CPUS) -> tuple[str, ...]:
    """Return the CPU frequency governors in force, each once; none where the host does not say."""
    paths = cpus.glob("cpu[0-9]*/cpufreq/scaling_governor")
    found = {path.read_text(encoding="ascii").strip() for path in paths}
    return tuple(sorted(found))
