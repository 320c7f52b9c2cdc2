"""Metering during a run: the meter, the samples of each step, the power of each measurement.

The power of a step is averaged over the same window as its throughput: from the end of the ramp to the last
completion. Interval rows and meters both use CLOCK_MONOTONIC. A simulated drive meters itself, in its own
virtual time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from ssdlab.model.closing import Closing
from ssdlab.model.errors import LabError, Refused
from ssdlab.model.meter_text import MeterText
from ssdlab.model.telemetry import PERIOD_S
from ssdlab.model.units import share_text, significant, span_text
from ssdlab.model.warnings import Warning

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.analysis.energy import Drawn, PowerTrace
    from ssdlab.drives.base import Drive
    from ssdlab.drives.simulated.drive import SimulatedDrive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.model.measurement import Measurement
    from ssdlab.power.collecting import Collector
    from ssdlab.power.meter import MeterInfo
    from ssdlab.results.records import RestRecord
    from ssdlab.results.run_folder import Step
    from ssdlab.results.step_log import StepPower
    from ssdlab.runs.observe import Watched


_MODEL_BINS = 1000
"""Maximum power samples of a simulated step that measures nothing: enough to draw a chart."""


class Metering(Closing):
    """Metering without a meter; subclasses add one."""

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        """Return a measurement with its power, if any, and warnings."""
        del ramp_ns, watched
        return measurement, []

    def rested(self, start_ns: int, end_ns: int) -> tuple[RestRecord, list[Warning]]:
        """Return the record of an idle period with its power, if any, and warnings."""
        from ssdlab.results.records import RestRecord

        power, warnings = self._rest_power(start_ns, end_ns)
        return RestRecord(start_ns=start_ns, end_ns=end_ns, power=power), warnings

    def _rest_power(self, start_ns: int, end_ns: int) -> tuple[dict[str, JsonValue] | None, list[Warning]]:
        del start_ns, end_ns
        return None, []

    @contextmanager
    def step(self, steps: HeldFolder, name: str) -> Iterator[None]:
        """Meter a step and store its samples in the file `name`, even if the step fails."""
        del steps, name
        yield

    def settled(self, steps: Sequence[Step], folder: HeldFolder) -> Sequence[Step]:
        """Return the finished steps of a run, with power that is known only at the end."""
        del folder
        return steps

    def record(self) -> dict[str, JsonValue] | None:
        """Return the manifest's record of the meter: error, clock, losses; None without a meter."""
        return None

    def close(self) -> None:
        """Close the meter, if any."""


class NoMetering(Metering):
    """Metering is disabled, including a simulated drive's own power."""

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        del ramp_ns, watched
        return measurement.with_power(None), []


def fault_of(info: MeterInfo, drawn: Drawn | None, window_ns: int) -> Warning | None:
    """Return a warning why a window has no power figure; None if it has one."""
    from ssdlab.analysis.energy import MIN_BOUNDS, MIN_COVERED

    covered = 0.0 if drawn is None else drawn.covered
    if window_ns < MIN_BOUNDS * info.bound_ns:
        words = {"window": span_text(window_ns / 1e9), "bound": span_text(info.bound_ns / 1e9)}
        return Warning.of("meter-window", words, meter=info.use, window_ns=window_ns, bound_ns=info.bound_ns)
    if drawn is None or covered < MIN_COVERED:
        return Warning.of("meter-gap", {"covered": share_text(covered)}, meter=info.use, covered=covered)
    if drawn.mean_w <= 0:
        words = {"watts": significant(drawn.mean_w)}
        return Warning.of("meter-nothing", words, meter=info.use, mean_w=drawn.mean_w)
    return None


def power_of(info: MeterInfo, drawn: Drawn) -> dict[str, JsonValue]:
    """Return the power for a measurement's summary: mean, energy, source and error."""
    return {
        "mean_w": drawn.mean_w,
        "energy_j": drawn.energy_j,
        "source": info.use,
        "error_w": info.error_w(drawn.mean_w),
    }


class LiveMetering(Metering):
    """A live meter on a real drive.

    Parameters
    ----------
    collector
        Reads the meter; `close` closes it.
    """

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._began_ns = time.monotonic_ns()
        self._zero_ns = self._step_ns = self._began_ns
        self._lost = self._disordered = 0
        self._gone_reported = False

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        """Add the mean power over the throughput window; if there is none, warn why."""
        del watched
        summary = measurement.as_dict()
        started = summary.get("started")
        if started is None:
            return measurement, []
        self._zero_ns = started["monotonic_ns"]
        start_ns = self._zero_ns + ramp_ns
        end_ns = start_ns + round(summary["elapsed_s"] * 1e9)
        power, warnings = self._rest_power(start_ns, end_ns)
        return measurement if power is None else measurement.with_power(power), warnings

    def _rest_power(self, start_ns: int, end_ns: int) -> tuple[dict[str, JsonValue] | None, list[Warning]]:
        from ssdlab.power.meter import MAX_DRIFT_PPM

        info = self._collector.info
        drawn = self._collector.trace(start_ns, end_ns).drawn(start_ns, end_ns)
        fault = self._fault(drawn, end_ns - start_ns)
        warnings = [fault] if fault is not None else []
        if abs(drift := self._collector.drift_ppm) > MAX_DRIFT_PPM:
            words = {"drift": significant(drift)}
            warnings.append(Warning.of("meter-drift", words, meter=info.use, drift_ppm=drift))
        if (lost := self._collector.lost - self._lost) > 0:
            self._lost = self._collector.lost
            warnings.append(Warning.of("meter-lost", meter=info.use, lost=lost))
        if (count := self._collector.disordered - self._disordered) > 0:
            self._disordered = self._collector.disordered
            warnings.append(Warning.of("meter-order", meter=info.use, count=count))
        return None if fault is not None or drawn is None else power_of(info, drawn), warnings

    def _fault(self, drawn: Drawn | None, window_ns: int) -> Warning | None:
        """Return a warning why a window has no power figure; a lost meter is reported once."""
        from ssdlab.analysis.energy import MIN_COVERED

        info, died = self._collector.info, self._collector.died
        covered = 0.0 if drawn is None else drawn.covered
        if covered < MIN_COVERED and died is not None:
            if self._gone_reported:
                return None
            self._gone_reported = True
            return Warning.of("meter-gone", meter=info.use, why=died.what)
        return fault_of(info, drawn, window_ns)

    @contextmanager
    def step(self, steps: HeldFolder, name: str) -> Iterator[None]:
        from ssdlab.results.step_log import StepPower, write_power

        self._step_ns = self._zero_ns = time.monotonic_ns()
        try:
            yield
        finally:
            now_ns, rails, zero = time.monotonic_ns(), self._collector.info.rails, self._zero_ns
            # A step shorter than the sampling period, such as a setting, has no sample: do not wait for one.
            brief = now_ns - self._step_ns < self._collector.period_ns
            trace = None if brief else self._collector.trace(self._step_ns, now_ns)
            if trace is not None and len(trace.start_ns):
                kept = StepPower(rails, trace.start_ns - zero, trace.end_ns - zero, trace.watts)
                write_power(steps, name, kept)
            self._collector.forget(time.monotonic_ns())

    def record(self) -> dict[str, JsonValue]:
        died = self._collector.died
        return {
            **self._collector.info.as_dict(),
            "clock": "CLOCK_MONOTONIC",
            "clock_offset_s": 0.0,
            "clock_drift_ppm": self._collector.drift_ppm,
            "lost_samples": self._collector.lost,
            "disordered_samples": self._collector.disordered,
            "gone": None if died is None else died.what,
        }

    def close(self) -> None:
        self._collector.close()


class MeterGone(Metering):
    """A meter that is missing when a run is resumed."""

    def __init__(self, text: MeterText, why: LabError) -> None:
        self._text, self._why, self._reported = text, why, False

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        """Return the measurement without power; the first time, with a warning."""
        del ramp_ns, watched
        return measurement, self._rest_power(0, 0)[1]

    def _rest_power(self, start_ns: int, end_ns: int) -> tuple[dict[str, JsonValue] | None, list[Warning]]:
        del start_ns, end_ns
        gone = Warning.of("meter-gone", meter=self._text.use, why=self._why.what)
        warnings = [] if self._reported else [gone]
        self._reported = True
        return None, warnings

    def record(self) -> dict[str, JsonValue]:
        return {"use": self._text.use, "gone": self._why.what}


class ModelMetering(Metering):
    """Stores the power samples of a simulated drive; its measurements already have the mean power."""

    def __init__(self, drive: SimulatedDrive) -> None:
        self._drive = drive
        self._edges: list[tuple[int, int]] | None = None
        self._base_ns = 0

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
        """Record the times of the interval rows; the measurement already has its power."""
        del ramp_ns, watched
        summary = measurement.as_dict()
        self._base_ns = self._drive.native.now_ns - round(summary["total_s"] * 1e9)
        rows = measurement.rows()
        ends = rows["start_ns"] + rows["duration_ns"]
        self._edges = list(zip(rows["start_ns"].tolist(), ends.tolist(), strict=True))
        return measurement, []

    @contextmanager
    def step(self, steps: HeldFolder, name: str) -> Iterator[None]:
        """Store the mean power of each interval row, or of equal parts of a step without rows."""
        from ssdlab.results.step_log import write_power

        self._edges, began_ns = None, self._drive.native.now_ns
        yield
        if self._edges is None:
            self._base_ns = began_ns
            self._edges = _equal_parts(self._drive.native.now_ns - began_ns)
        if self._edges:
            write_power(steps, name, self._samples(self._edges))

    def _rest_power(self, start_ns: int, end_ns: int) -> tuple[dict[str, JsonValue] | None, list[Warning]]:
        drawn = self._drive.power(start_ns, end_ns)
        return None if drawn is None else asdict(drawn), []

    def _samples(self, edges: list[tuple[int, int]]) -> StepPower:
        import numpy as np

        from ssdlab.results.step_log import StepPower

        base = self._base_ns
        drawn = [self._drive.power(base + start, base + end) for start, end in edges]
        watts = np.array([[0.0 if each is None else each.mean_w] for each in drawn])
        start, end = np.array(edges, dtype=np.int64).T
        return StepPower(("model",), start, end, watts)

    def record(self) -> dict[str, JsonValue]:
        """Return the manifest's record; the model has no error and uses the drive's clock."""
        return {"use": "model", "name": "the simulated drive's power model", "rails": ["model"]}


def _equal_parts(length_ns: int) -> list[tuple[int, int]]:
    if length_ns <= 0:
        return []
    parts = min(_MODEL_BINS, max(1, length_ns // 1_000_000_000))
    edges = [length_ns * at // parts for at in range(parts + 1)]
    return list(itertools.pairwise(edges))


class OwnAccount(Metering):
    """The power that a real drive reports in its SMART log: the mean over the last second.

    Telemetry reads the log; metering sends no further commands, so idle steps have no power figure. Readings
    come once a second and may be one second old, which is the clock error.

    Parameters
    ----------
    text
        ``nvme:smart``, with the user's statements about the meter.
    drive
        The open drive; asked once whether it reports power.

    Raises
    ------
    Refused
        The drive does not report its power, or not to this user.
    """

    period_s = PERIOD_S
    """Interval and averaging time of the readings."""

    def __init__(self, text: MeterText, drive: Drive) -> None:
        from ssdlab.power.meter import MeterInfo

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
            rails=("drive",),
            rate_hz=1 / self.period_s,
            accuracy=health.power_error,
            bound_ns=round(self.period_s * 1e9),
        )
        self._info = info.as_described(text)
        self._trace: PowerTrace | None = None

    def measured(
        self, measurement: Measurement, ramp_ns: int, watched: Watched | None = None
    ) -> tuple[Measurement, list[Warning]]:
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
        from ssdlab.results.step_log import StepPower, write_power

        self._trace = None
        try:
            yield
        finally:
            trace = self._trace
            if trace is not None and len(trace.start_ns):
                write_power(steps, name, StepPower(("drive",), trace.start_ns, trace.end_ns, trace.watts))

    def record(self) -> dict[str, JsonValue]:
        return {**self._info.as_dict(), "clock": "CLOCK_MONOTONIC"}


def _trace_of(watched: Watched, zero_ns: int, period_ns: int) -> PowerTrace:
    """Return a drive's power readings during a measurement and just after it, on the step's clock.

    Each reading is the mean over the period before it, so it is dated to the middle of that period.
    """
    import numpy as np

    from ssdlab.analysis.energy import PowerTrace

    readings = [(each.at_ns, each.drawn_w) for each in watched.samples]
    if (after := watched.telemetry) is not None and after.health is not None:
        readings.append((after.ended_ns - zero_ns, after.health.drawn_w))
    known = [(at_ns, watts) for at_ns, watts in readings if watts is not None]
    times = np.array([at_ns for at_ns, _ in known], dtype=np.int64)
    rising = np.flatnonzero(np.diff(times, prepend=-1) > 0)
    watts = np.array([watts for _, watts in known], dtype=np.float64)
    return PowerTrace.of_points(times[rising] - period_ns // 2, watts[rising])
