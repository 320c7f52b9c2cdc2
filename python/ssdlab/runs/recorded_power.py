"""Power of a run from a recording by another program: load marks at both ends align its clock.

The steps of a run do not wait for the recording file. When all steps are done, the file is read, the marks
give its clock, and each measurement gets its power. If the file or the marks are missing, the run is
interrupted. `ssdlab resume` then reads the finished steps back and looks for the file again. An empty file
means that nothing was recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.host.documents import user_path
from ssdlab.host.durable import library_errors
from ssdlab.model.errors import LabError, Refused
from ssdlab.model.warnings import Warning
from ssdlab.results.run_folder import STEPS
from ssdlab.results.schema import Warned
from ssdlab.results.store import run_words
from ssdlab.runs.metering import Metering, fault_of, power_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from ssdlab.analysis.clock_offset import Marks
    from ssdlab.analysis.energy import PowerTrace
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.lab.lab import Lab
    from ssdlab.lab.method import Method, Params
    from ssdlab.model.meter_text import MeterText
    from ssdlab.power.meter import MeterInfo
    from ssdlab.results.run_folder import Step

_ROUNDED_NS = 1000
"""Tolerance for rounding: the times of a step are sums of fractional seconds."""
_SEEDS = (0x5D1AB, 0x5D1AC)
"""Seeds of the marks before and after the steps; each end has its own sequence."""


def marked(method: Method, meter: MeterText | None) -> Method:
    """Return a method with marks at both ends, if the meter is a recording; else the method unchanged."""
    from ssdlab.power.kinds import RECORDED

    if meter is None or meter.kind not in RECORDED:
        return method
    from ssdlab.analysis.clock_offset import plan_steps
    from ssdlab.lab.verbs.resting import PowerMarks

    unit_s = max(0.5, 2 / meter.rate) if meter.rate else 0.5
    first, last = (PowerMarks(on_and_rest_s=plan_steps(seed, unit_s=unit_s), seed=seed) for seed in _SEEDS)

    def procedure(lab: Lab, params: Params) -> None:
        lab.do(first, label="marks for the recording of power")
        method.procedure(lab, params)
        lab.do(last, label="marks for the recording of power, at the end")

    return replace(method, procedure=procedure)


class RecordedMetering(Metering):
    """A recording that is read when all steps are done.

    Parameters
    ----------
    text
        ``csv:FILE``.
    virtual
        Whether the drive and the recording use virtual time.
    """

    def __init__(self, text: MeterText, *, virtual: bool = False) -> None:
        self._text, self._virtual = text, virtual
        self._record: dict[str, JsonValue] = {"use": text.use, "gone": "no recording was read"}

    def record(self) -> dict[str, JsonValue]:
        return self._record

    def settled(self, steps: Sequence[Step], folder: HeldFolder) -> Sequence[Step]:
        """Return the steps with their power from the recording.

        Raises
        ------
        Refused
            The file is missing, or does not have the marks; `resume` looks again.
        """
        from ssdlab.power.recording import read_recording

        path = user_path(self._text.place)
        again = (
            f"then continue with: ssdlab resume {run_words(folder.path)}; if nothing was recorded, "
            "put an empty file there"
        )
        if not path.exists():
            raise Refused(
                f"all steps are done, but the recording {path} is missing",
                f"put it there, {again}",
                path=str(path),
            )
        if path.is_file() and not path.stat().st_size:
            return _without(steps, Warning.of("meter-gone", meter=self._text.use, why=f"{path} is empty"))
        try:
            recording = read_recording(self._text)
        except LabError as error:
            raise Refused(f"all steps are done, but {error.what}", f"{error.advice}, {again}") from error
        ends = _marks_of(steps)
        if not ends:
            why = (
                "the host was rebooted between the marks"
                if ends is None
                else "nothing was written that the marks could read"
            )
            return _without(steps, Warning.of("meter-gone", meter=self._text.use, why=why))
        return self._with_power(steps, folder, recording.info, recording.trace, ends, again)

    def _with_power(
        self,
        steps: Sequence[Step],
        folder: HeldFolder,
        info: MeterInfo,
        trace: PowerTrace,
        ends: Sequence[Marks],
        again: str,
    ) -> Sequence[Step]:
        from ssdlab.analysis.clock_offset import NotFound, aligned
        from ssdlab.analysis.energy import PowerTrace

        try:
            found = aligned(trace, ends)
        except NotFound as error:
            raise Refused(
                f"all steps are done, but {self._text.use} is not of this run: {error}",
                f"give the recording of the whole run, including its marks, {again}",
            ) from error
        info = replace(info, bound_ns=found.bound_ns)
        self._record = {
            **info.as_dict(),
            "clock": "by load steps",
            "clock_offset_s": found.offset_ns / 1e9,
            "clock_drift_ppm": found.drift_ppm,
            "clock_fit": found.correlation,
        }
        placed = PowerTrace(found.times(trace.start_ns), found.times(trace.end_ns), trace.watts)
        done: list[Step] = []
        latest_ns = 0
        for step in steps:
            window = _window_of(step, virtual=self._virtual)
            if window is None:
                done.append(_unmetered(step))
                continue
            # A simulated drive that returned to an earlier time: which samples belong to the step is unknown.
            known = placed if window[0] >= latest_ns - _ROUNDED_NS else placed.window(0, 0)
            latest_ns = max(latest_ns, window[2])
            done.append(_metered(step, info, known, folder, window))
        return done


def _window_of(step: Step, *, virtual: bool) -> tuple[int, int, int] | None:
    """Return start, end of the ramp, and end of the metered time on the drive's clock; None if unmetered."""
    rest, summary, telemetry = step.result.rest, step.summary, step.result.telemetry
    if rest is not None:
        return rest.start_ns, rest.start_ns, rest.end_ns
    if summary is None:
        return None
    if virtual:
        # Virtual time stands still between steps, so a step starts when telemetry starts.
        if telemetry is None:
            return None
        zero = telemetry.began_ns
    elif summary.started is not None:
        zero = summary.started.monotonic_ns
    else:
        return None
    ramp = 0 if step.workload is None else step.workload.ramp_ns
    return zero, zero + ramp, zero + ramp + round(summary.elapsed_s * 1e9)


def _metered(
    step: Step, info: MeterInfo, trace: PowerTrace, folder: HeldFolder, window: tuple[int, int, int]
) -> Step:
    """Return a step with its power; store its samples beside its log."""
    from ssdlab.results.step_log import StepPower, power_name, write_power

    if step.result.rest is not None:
        return _metered_rest(step, info, trace)
    stored = step.result.measurement
    assert stored is not None
    zero, start, end = window
    part = trace.window(zero, end)
    name = power_name(step.ordinal, step.attempt)
    with library_errors(folder.path / STEPS / name), folder.folder(STEPS) as steps:
        write_power(steps, name, StepPower(info.rails, part.start_ns - zero, part.end_ns - zero, part.watts))
    drawn = part.drawn(start, end)
    fault = fault_of(info, drawn, end - start)
    power = None if fault is not None or drawn is None else power_of(info, drawn)
    changed = {"measurement": {**stored, "power": power}}
    metered = replace(step, result=step.result.model_copy(update=changed))
    return metered if fault is None else _warned(metered, fault)


def _metered_rest(step: Step, info: MeterInfo, trace: PowerTrace) -> Step:
    rest = step.result.rest
    assert rest is not None
    drawn = trace.window(rest.start_ns, rest.end_ns).drawn(rest.start_ns, rest.end_ns)
    fault = fault_of(info, drawn, rest.end_ns - rest.start_ns)
    if fault is not None or drawn is None:
        unmetered = _unmetered(step)
        return unmetered if fault is None else _warned(unmetered, fault)
    changed = {"rest": rest.model_copy(update={"power": power_of(info, drawn)})}
    return replace(step, result=step.result.model_copy(update=changed))


def _marks_of(steps: Sequence[Step]) -> tuple[Marks, ...] | None:
    """Return the marks of both ends; None if they are from two boots, whose clocks are unrelated."""
    from ssdlab.analysis.clock_offset import Marks
    from ssdlab.lab.verbs.resting import MarksFacts, PowerMarks

    found = [step.found(MarksFacts) for step in steps if step.verb == PowerMarks.verb]
    if len({each.boot_id for each in found}) != 1:
        return None
    return tuple(Marks(each.on_ns) for each in found if each.on_ns)


def _without(steps: Sequence[Step], warning: Warning) -> Sequence[Step]:
    first, *others = (_unmetered(step) for step in steps)
    return [_warned(first, warning), *others]


def _unmetered(step: Step) -> Step:
    """Return a step without power; a simulated drive's own power does not replace the recording."""
    result = step.result
    rest = None if result.rest is None else result.rest.model_copy(update={"power": None})
    measured = None if result.measurement is None else {**result.measurement, "power": None}
    return replace(step, result=result.model_copy(update={"rest": rest, "measurement": measured}))


def _warned(step: Step, warning: Warning) -> Step:
    added = Warned(code=warning.code, what=warning.what, advice=warning.advice, ordinal=step.ordinal)
    changed = {"warnings": (*step.result.warnings, added)}
    return replace(step, result=step.result.model_copy(update=changed))
