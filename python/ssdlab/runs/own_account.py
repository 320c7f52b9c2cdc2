"""Power reported by a real drive: the mean of the last second in its SMART log, as telemetry reads it.

It sends nothing beyond telemetry, so idle steps have no figure. Readings come once a second and may be one
second old, which is the clock error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.analysis.energy import PowerTrace
from ssdlab.model.errors import Refused
from ssdlab.model.telemetry import PERIOD_S
from ssdlab.power.meter import MeterInfo
from ssdlab.runs.metering import Metering, fault_of, power_of

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.meter_text import MeterText
    from ssdlab.model.warnings import Warning
    from ssdlab.runs.observe import Watched

_RAIL = "drive"


class OwnAccount(Metering):
    """The power that a drive reports.

    Parameters
    ----------
    text
        ``nvme:smart``, and its owner's statements.
    drive
        Held; asked once whether it reports power.

    Raises
    ------
    Refused
        It does not report its power, or not to this user.
    """

    period_s = PERIOD_S
    """Interval and averaging time of readings."""

    def __init__(self, text: MeterText, drive: Drive) -> None:
        health = drive.telemetry.reading()
        if health is None or health.source != "nvme" or health.drawn_w is None:
            raise Refused(
                f"{drive.identity.path} does not report its power to this user",
                "use a meter in its supply; few NVMe drives report power (SMART log, bytes 240 to 243)",
                meter=text.use,
            )
        how = {None: "", True: ", estimated", False: ", measured"}[health.power_estimated]
        info = MeterInfo(
            use=text.use,
            name=f"the drive's own reading{how}",
            rails=(_RAIL,),
            rate_hz=1 / self.period_s,
            accuracy=health.power_error,
            bound_ns=round(self.period_s * 1e9),
        )
        self._info = info.as_described(text)
        self._trace: PowerTrace | None = None

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        """Add the power over the window of the totals; without one, say why."""
        started = measurement.as_dict().get("started")
        if started is None or watched is None:
            return measurement, []
        self._trace = _trace_of(watched, started["monotonic_ns"], self._info.bound_ns)
        end_ns = ramp_ns + round(measurement.as_dict()["elapsed_s"] * 1e9)
        drawn = self._trace.drawn(ramp_ns, end_ns)
        fault = fault_of(self._info, drawn, end_ns - ramp_ns)
        if fault is not None or drawn is None:
            return measurement, [] if fault is None else [fault]
        return measurement.with_power(power_of(self._info, drawn)), []

    def _rest_power(self, start_ns: int, end_ns: int) -> tuple[dict[str, JsonValue] | None, list[Warning]]:
        fault = fault_of(self._info, None, end_ns - start_ns)
        return None, [] if fault is None else [fault]

    @contextmanager
    def step(self, steps: HeldFolder, name: str) -> Iterator[None]:
        """Store the readings of a measuring step."""
        from ssdlab.results.step_log import StepPower, write_power

        self._trace = None
        try:
            yield
        finally:
            trace = self._trace
            if trace is not None and len(trace.start_ns):
                write_power(steps, name, StepPower((_RAIL,), trace.start_ns, trace.end_ns, trace.watts))

    def record(self) -> dict[str, JsonValue]:
        """Return what the manifest keeps."""
        return {**self._info.as_dict(), "clock": "CLOCK_MONOTONIC"}


def _trace_of(watched: Watched, zero_ns: int, period_ns: int) -> PowerTrace:
    """Return what a drive said while it was measured and just after, on the step's clock.

    Each reading is the mean of the period before it, so it stands for the time around the middle of that.
    """
    readings = [(each.at_ns, each.drawn_w) for each in watched.samples]
    if (after := watched.telemetry) is not None and after.health is not None:
        readings.append((after.ended_ns - zero_ns, after.health.drawn_w))
    known = [(at_ns, watts) for at_ns, watts in readings if watts is not None]
    times = np.array([at_ns for at_ns, _ in known], dtype=np.int64)
    rising = np.flatnonzero(np.diff(times, prepend=-1) > 0)
    watts = np.array([watts for _, watts in known], dtype=np.float64)
    return PowerTrace.of_points(times[rising] - period_ns // 2, watts[rising])
