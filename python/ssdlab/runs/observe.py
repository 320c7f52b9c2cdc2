"""The state of the host during a measurement, for `ssdlab.model.warnings.judge`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ssdlab.model.closing import Closing
from ssdlab.model.host_load import HostContext
from ssdlab.model.summary import MIN_PAUSE_S, PERIOD_S, Gap, Pause, pauses_in

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.model.host_load import Conditions
    from ssdlab.model.summary import Summary


class Heartbeat(Closing):
    """A thread that beats from now on; closed with the run.

    Parameters
    ----------
    beats
        False where a stop changes nothing, as in virtual time: then there are no pauses.

    Raises
    ------
    HostError
        There can be no thread.
    """

    def __init__(self, *, beats: bool = True) -> None:
        import ssdlab._core as _core

        self._native = _core.Heartbeat(PERIOD_S, MIN_PAUSE_S) if beats else None

    def pauses(self) -> tuple[Pause, ...]:
        """Return the pauses since they were last asked for, up to now."""
        return () if self._native is None else pauses_in(Gap(*each) for each in self._native.gaps())

    def close(self) -> None:
        """End it; from then on there are none."""
        if self._native is not None:
            self._native.close()


_DEVICE_READING_S = 0.5
"""The kernel adds a request's time when it completes: over a shorter run the mean in flight is too rough."""


class Observation:
    """Reads the counters of host and device when it is made, and again when the measurement is there.

    Parameters
    ----------
    drive
        What is about to be measured.
    allow_unwritten
        Whether it was opened so.
    written_unknown
        Whether nothing says that what may be read was ever written.
    """

    def __init__(self, drive: Drive, *, allow_unwritten: bool = False, written_unknown: bool = False) -> None:
        from ssdlab.host.cpus import read_cpu_times

        self._drive = drive
        self._allow_unwritten, self._written_unknown = allow_unwritten, written_unknown
        self._conditions = drive.conditions()
        self._device = drive.counters()
        self._left = _left_on(drive, self._conditions)
        self._cpu = read_cpu_times()

    def around(self, summary: Summary) -> HostContext:
        """Return the state of the host during the measurement that has just ended, given its summary."""
        from ssdlab.host.cpus import busy_share, governors, read_cpu_times

        if self._drive.capabilities.virtual_time:
            # In virtual time the host's load changes how long a run takes and nothing that it gives.
            return HostContext(allow_unwritten=self._allow_unwritten, cores=len(os.sched_getaffinity(0)))
        busy = busy_share(self._cpu, read_cpu_times())
        device = self._drive.counters()
        return HostContext(
            conditions=self._conditions,
            is_file=self._drive.capabilities.on_file_system,
            allow_unwritten=self._allow_unwritten,
            written_unknown=self._written_unknown,
            cores=len(os.sched_getaffinity(0)),
            cpu_busy_share=busy,
            governors=governors(),
            device_in_flight=self._in_flight(device, float(summary.total_s or 0)),
            build_profile=None if summary.build is None else summary.build.profile,
            left=self._left,
            unseen=self._drive.unseen,
        )

    def _in_flight(self, later: Any, total_s: float) -> float | None:  # noqa: ANN401 - IoCounters or None
        # Divided by the time of the run, not of the readings: threads start before it, memory is freed after.
        if self._device is None or later is None or total_s < _DEVICE_READING_S:
            return None
        return float(later.in_flight_ns - self._device.in_flight_ns) / (total_s * 1e9)


def _left_on(drive: Drive, conditions: Conditions | None) -> tuple[tuple[str, str], ...]:
    """Return what runs that died have left set on the disk of a real drive, or beneath a file."""
    from ssdlab.runs.conditions.ledger import ledger_paths

    if conditions is None or not ledger_paths():
        return ()
    from ssdlab.runs.conditions.leftovers import describe_leftovers, leftovers

    return describe_leftovers(*leftovers(conditions.device))
