"""Runs whose power something else records: marks at both ends, then the file, its clock found by them."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import scratch_folder
from ssdlab.analysis import clock_offset
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.lab.verbs.resting import MarksFacts
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

OFFSET_S, PPM, HZ = 23.456, 80.0, 100
BASE_W, LOAD_W, MEASURED_W = 1.0, 4.0, 6.5
PEAK = ["--set", "depths=1,4", "--set", "seconds=0.5", "--set", "ramp_seconds=0"]


@pytest.fixture(scope="module", autouse=True)
def brief_marks() -> Iterator[None]:
    """Marks of a few seconds: units of 0.1 s, which is ten samples here."""
    plan = clock_offset.plan_steps
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(clock_offset, "plan_steps", lambda seed, unit_s: plan(seed, unit_s=0.1))
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with scratch_folder(tmp_path_factory.mktemp("recorded")) as made:
        yield made


@pytest.fixture(scope="module")
def drive(place: Path) -> Path:
    path = place / "drive.img"
    path.write_bytes(os.urandom(1 << 20) * 16)
    return path


class Waiting(NamedTuple):
    """A run that has done all its steps and waits for its recording; what it said then."""

    folder: Path
    recording: Path
    told: str


@pytest.fixture(scope="module")
def made(place: Path, drive: Path) -> Waiting:
    """Made once, because its marks and measurements take their time."""
    library, recording = place / "made", place / "power.csv"
    words = ["run", "peak-random-read", str(drive), *PEAK, "--library", str(library)]
    with redirect_stderr(io.StringIO()) as told:
        assert main([*words, "--meter", f"csv:{recording},accuracy=1%"]) == 2
    return Waiting(only_run(library), recording, told.getvalue())


@pytest.fixture
def waiting(made: Waiting, tmp_path: Path) -> Iterator[Waiting]:
    """A copy of it, whose recording is not written yet."""
    folder = tmp_path / "runs" / made.folder.name
    shutil.copytree(made.folder, folder)
    yield made._replace(folder=folder)
    made.recording.unlink(missing_ok=True)


def only_run(library: Path) -> Path:
    (folder,) = [each for each in library.iterdir() if (each / "manifest.json").exists()]
    return folder


def record(folder: Path, path: Path, *, ppm: float = PPM, gap: bool = False) -> None:
    """Write what a logger on a clock of its own would have: the marks, and the measurements.

    With a gap it lacks 0.1 s of each measurement.
    """
    steps = RunFolder(folder).steps()
    loads = [
        (*span, LOAD_W) for step in steps if step.verb == "marks" for span in step.found(MarksFacts).on_ns
    ]
    for step in steps:
        if step.summary is not None:
            zero = step.result.measurement["started"]["monotonic_ns"]
            loads.append((zero, zero + round(step.measured.elapsed_s * 1e9), MEASURED_W))
    loads.sort()
    draw = random.Random(4)
    at, lines = loads[0][0] - 3_000_000_000, ["time [s],12V [V],12V [A]"]
    while at < loads[-1][1] + 3_000_000_000:
        watts = BASE_W + draw.gauss(0, 0.05) + next((w for a, b, w in loads if a <= at < b), 0.0)
        # Its clock began 5 s before the first sample, which nobody knows.
        own = (at - loads[0][0] + OFFSET_S * 1e9) / (1 + ppm / 1e6) / 1e9
        lacks = gap and any(w == MEASURED_W and a + 10**8 <= at < a + 2 * 10**8 for a, _, w in loads)
        if not lacks:
            lines.append(f"{own:.6f},12.0,{watts / 12:.6f}")
        at += 1_000_000_000 // HZ
    path.write_text("\n".join(lines))


def test_the_run_waits_for_its_recording_and_then_has_its_power(
    waiting: Waiting,
) -> None:
    folder, recording, told = waiting
    assert "all steps are done, but the recording" in told
    assert "ssdlab resume" in told
    assert RunFolder(folder).manifest.status == "interrupted"
    record(folder, recording)
    assert main(["resume", str(folder)]) == 0
    run = RunFolder(folder)
    assert run.manifest.status == "finished"
    meter = run.manifest.environment["meter"]
    assert isinstance(meter, dict)
    assert meter["clock"] == "by load steps"
    assert meter["clock_bound_s"] == pytest.approx(0.02)
    assert meter["clock_fit"] > 0.9
    result = read_result(run)
    # 0.5 s of known watts, of which what the clock may be off costs one end.
    off_w = meter["clock_bound_s"] / 0.5 * MEASURED_W
    for point in result.points:
        assert point.mean_w == pytest.approx(BASE_W + MEASURED_W, abs=off_w)
        assert point.efficiency.value == pytest.approx(point.iops / 1e3 / point.mean_w)
    found = run.read_table(tables.POWER, tables.POWER_COLUMNS, "true", "ordinal, start_ns")
    assert set(found["ordinal"].tolist()) == {point.ordinal for point in result.points}
    assert run.verify() == "sealed"


def test_a_gap_over_a_window_is_marked_and_leaves_no_figure(waiting: Waiting) -> None:
    folder, recording, _ = waiting
    record(folder, recording, gap=True)
    assert main(["resume", str(folder)]) == 0
    run = RunFolder(folder)
    assert "meter-gap" in {each.code for each in run.manifest.warnings}
    assert all(point.mean_w is None for point in read_result(run).points)


def test_a_clock_that_drifts_as_none_does_is_refused(
    waiting: Waiting, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, recording, _ = waiting
    record(folder, recording, ppm=8000)
    capsys.readouterr()
    assert main(["resume", str(folder)]) == 2
    assert "no clock drifts so" in capsys.readouterr().err


UNFIT = {
    "no column in W": "time,power\n1,2\n2,2\n",
    "out of order: line 4": "time [s],p [W]\n0,1\n2,1\n1,1\n",
    "do not add up to a positive power": "time [s],p [W]\n0,0\n1,0\n2,0\n",
    "the load steps are not found in it": "time [s],12V [W]\n"
    + "".join(f"{n / 10},3.5\n" for n in range(900)),
    "not of this run": "time [s],p [W]\n" + "".join(f"{n / 100},{n % 7}\n" for n in range(9000)),
}


def test_a_recording_that_does_not_fit_is_refused_and_can_be_replaced(
    waiting: Waiting, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, recording, _ = waiting
    for words, content in UNFIT.items():
        recording.write_text(content)
        capsys.readouterr()
        assert main(["resume", str(folder)]) == 2
        assert words in capsys.readouterr().err
    recording.write_text("")
    assert main(["resume", str(folder)]) == 0
    run = RunFolder(folder)
    assert [each.code for each in run.manifest.warnings if each.code == "meter-gone"] == ["meter-gone"]
    assert all(point.mean_w is None for point in read_result(run).points)


def test_marks_are_planned_and_shown(drive: Path, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "peak-random-read", str(drive), *PEAK, "--meter", f"csv:{scratch}/p.csv", "--dry-run"]
    assert main([*words, "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert "marks for the recording of power" in json.dumps(steps[0])
    assert "marks for the recording of power" in json.dumps(steps[-1])


@pytest.mark.parametrize("words", [["measure"], ["run", "client-review", "--destroy", "drive.img"]])
def test_where_a_recording_has_no_marks_it_is_refused(
    drive: Path, scratch: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    words = [*words, str(drive), "--meter", "csv:p.csv"]
    library = scratch / "runs"
    assert main([*words, "--library", str(library)] if words[0] == "run" else words) == 2
    assert "is a recording" in capsys.readouterr().err
    assert not library.exists()
