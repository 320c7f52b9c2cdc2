"""A recording as a simulated drive's meter: watts by the simulator's own account, on another clock."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.analysis import clock_offset
from ssdlab.cli import main
from ssdlab.drives.simulated.drive import SimulatedDrive
from ssdlab.lab.outcome import read_result
from ssdlab.results.metered import MeterRecord
from ssdlab.results.run_folder import RunFolder

DRIVE = "sim:samsung-950-pro-512gb,scale=64"
PEAK = ["--set", "depths=1,8", "--set", "seconds=2", "--set", "ramp_seconds=0"]
METHOD = "peak-random-read"
NOISE_W = 0.05
EDGE_S = 2.0


class Logger:
    """Keeps the mean watts of a simulated drive over equal parts of its own time, as it goes on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, hz: float) -> None:
        self.period_ns = round(1e9 / hz)
        self.means: dict[int, float] = {}
        self.latest = 0
        for name in ("run", "idle"):
            monkeypatch.setattr(SimulatedDrive, name, self._heard(getattr(SimulatedDrive, name)))

    def _heard(self, does: Callable) -> Callable:
        def heard(drive: SimulatedDrive, *given: object, **named: object) -> object:
            found = does(drive, *given, **named)
            for number in range(self.latest, drive.native.now_ns // self.period_ns):
                drawn = drive.power(number * self.period_ns, (number + 1) * self.period_ns)
                self.means[number] = drawn.mean_w
            self.latest = max(self.latest, drive.native.now_ns // self.period_ns)
            return found

        return heard

    def write(self, path: Path, offset_s: float, ppm: float) -> None:
        """As a logger whose clock is off by that much: at the drive's time 0 it says `-offset_s`."""
        draw = random.Random(4)
        idle_w = self.means[min(self.means)]
        edge = round(EDGE_S * 1e9 / self.period_ns)
        lines = ["time [s],power [W]"]
        for number in range(min(self.means) - edge, max(self.means) + edge):
            at_s = (number + 0.5) * self.period_ns / 1e9
            watts = self.means.get(number, idle_w) + draw.gauss(0, NOISE_W)
            lines.append(f"{at_s * (1 - ppm / 1e6) - offset_s + 100:.6f},{watts:.6f}")
        path.write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("offset_s", "ppm", "hz"),
    [
        (0.0, 0.0, 100),
        (30.0, 100.0, 100),
        pytest.param(7.3, -100.0, 100, marks=pytest.mark.slow),
        (12.5, 60.0, 10),
    ],
)
@pytest.mark.long
def test_planted_offsets_are_found_and_the_energy_is_the_simulators_own(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    offset_s: float,
    ppm: float,
    hz: int,
) -> None:
    plan = clock_offset.plan_steps
    unit_s = max(0.1, 2 / hz)
    monkeypatch.setattr(clock_offset, "plan_steps", lambda seed, unit_s: plan(seed, unit_s=unit_s_here))
    unit_s_here = unit_s
    logger = Logger(monkeypatch, hz)
    recording, library = tmp_path / "power.csv", tmp_path / "runs"
    words = ["run", METHOD, DRIVE, *PEAK, "--seed", "3", "--library", str(library)]
    assert main([*words, "--meter", f"csv:{recording},accuracy=1%"]) == 2
    assert "the recording" in capsys.readouterr().err
    (folder,) = [each for each in library.iterdir() if (each / "manifest.json").exists()]
    own = {step.ordinal: step.measured.power for step in RunFolder(folder).steps() if step.summary}
    logger.write(recording, offset_s, ppm)
    assert main(["resume", str(folder), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    run = RunFolder(folder)
    meter = run.manifest.environment["meter"]
    bound_s = max(0.02, 1 / hz)
    assert meter["clock_bound_s"] == pytest.approx(bound_s, rel=1e-3)
    # `clock_offset_s` is at the middle of the first marks, since the recording's first sample.
    first_s = (min(logger.means) - round(EDGE_S * hz) + 0.5) / hz
    middle_s = sum(marks_span(run)) / 2 / 1e9
    planted_s = first_s * (1 - ppm / 1e6) + middle_s * ppm / 1e6
    assert abs(meter["clock_offset_s"] - planted_s) < bound_s
    # Marks that are a minute apart tell the drift no better than their own error.
    assert meter["clock_drift_ppm"] == pytest.approx(ppm, abs=2e6 * bound_s / run_s(run))
    assert shown["manifest"]["environment"]["meter"]["use"].startswith("csv:")
    result = read_result(run)
    assert len(result.points) == 2
    for point in result.points:
        assert point.mean_w == pytest.approx(own[point.ordinal].mean_w, rel=0.02 if hz < 100 else 0.01)


def test_an_empty_recording_leaves_no_watts_of_the_simulators_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the simulator says of itself would stand under the name of a meter that said nothing."""
    recording, library = tmp_path / "power.csv", tmp_path / "runs"
    words = ["run", METHOD, DRIVE, *PEAK, "--quick", "--seed", "3", "--library", str(library)]
    assert main([*words, "--meter", f"csv:{recording},accuracy=1%"]) == 2
    recording.touch()
    (folder,) = [each for each in library.iterdir() if (each / "manifest.json").exists()]
    assert main(["resume", str(folder)]) == 0
    capsys.readouterr()
    run = RunFolder(folder)
    assert not [each for each in read_result(run).scalars if each.value and each.unit.endswith("W")]
    assert main(["show", str(folder), "--all"]) == 0
    said = capsys.readouterr().out
    meter = MeterRecord.model_validate(run.manifest.environment["meter"])
    assert meter.words == f"{meter.use}: no recording was read"
    assert "lost during the run" not in said and "is empty" in said


def marks_span(run: RunFolder) -> tuple[int, int]:
    from ssdlab.lab.verbs.resting import MarksFacts

    spans = next(step for step in run.steps() if step.verb == "marks").found(MarksFacts).on_ns
    return spans[0][0], spans[-1][1]


def run_s(run: RunFolder) -> float:
    from ssdlab.lab.verbs.resting import MarksFacts

    first, last = (step.found(MarksFacts).on_ns for step in run.steps() if step.verb == "marks")
    return (last[0][0] - first[0][0]) / 1e9
