"""Runs and measurements with a meter: figures, samples, what the manifest keeps, meters that fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from methods.on_simulated import run as run_simulated
from power.fake_meter import FakeMeter, install
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import HostError
from ssdlab.model.measurement import Measurement
from ssdlab.model.meter_text import MeterText
from ssdlab.power.meter import silent
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.meters import open_metering, reopened_metering

MEASURE = ["--size", "16MiB", "--rw", "randread", "--seconds", "0.3", "--allow-unwritten", "--json"]
JOB = """
[[step]]
do = "fill"

[[step]]
do = "run"
rw = "randread"
interval = "100ms"
seconds = "300ms"

[[step]]
do = "idle"
seconds = "200ms"

[[step]]
do = "run"
rw = "randread"
interval = "100ms"
ramp = "100ms"
seconds = "300ms"
"""


def power_table(folder: Path) -> tables.Columns:
    run = RunFolder(folder)
    return run.read_table(tables.POWER, tables.POWER_COLUMNS, "true", "ordinal, rail, start_ns")


def only_run(library: Path) -> Path:
    (folder,) = [each for each in library.iterdir() if (each / "manifest.json").exists()]
    return folder


def job(scratch: Path, *words: str, text: str = JOB) -> Path:
    (scratch / "job.toml").write_text(text)
    target = str(scratch / "drive.img")
    library = scratch / "runs"
    assert (
        main(["job", str(scratch / "job.toml"), target, "--size", "16MiB", "--library", str(library), *words])
        == 0
    )
    return only_run(library)


def test_a_measurement_has_the_power_of_its_window(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch)
    words = ["measure", str(scratch / "a.img"), *MEASURE, "--meter", "fake:0,accuracy=2%,offset=40mW"]
    assert main(words) == 0
    shown = json.loads(capsys.readouterr().out)
    power = shown["power"]
    assert power["mean_w"] == pytest.approx(3.0)
    assert power["energy_j"] == pytest.approx(3.0 * shown["elapsed_s"])
    assert power["source"] == "fake:0"
    assert power["error_w"] == pytest.approx(0.1)
    assert not [each for each in shown["warnings"] if each["code"].startswith("meter")]


def test_every_step_of_a_run_is_metered_on_its_own_clock(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, watts=lambda at: 4.0)
    folder = job(scratch, "--meter", "fake:0,accuracy=1%")
    run = RunFolder(folder)
    found = power_table(folder)
    assert set(found["rail"]) == {"a", "b"}
    lasting = [step for step in run.steps() if step.verb in ("fill", "run", "idle")]
    assert len(lasting) == 4
    assert set(found["ordinal"].tolist()) >= {step.ordinal for step in lasting}
    for step in lasting:
        mine = (found["ordinal"] == step.ordinal) & (found["rail"] == "b")
        assert found["mean_w"][mine] == pytest.approx(8 / 3)
        if step.summary is not None:
            assert step.measured.power is not None
            assert step.measured.mean_w == pytest.approx(4.0)
            rows = run.rows(step.ordinal)
            # The same zero: its samples begin before the first I/O and reach beyond the last row.
            assert found["start_ns"][mine].min() <= 0
            assert found["end_ns"][mine].max() >= rows["end_ns"].max() - 20_000_000
    meter = run.manifest.environment["meter"]
    assert isinstance(meter, dict)
    assert (meter["use"], meter["accuracy"], meter["lost_samples"]) == ("fake:0", 0.01, 0)
    assert run.manifest.open_options["meter"] == "fake:0,accuracy=1%"
    assert run.verify() == "sealed"


def test_a_meter_that_goes_away_leaves_a_mark_and_the_run_goes_on(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, answers=3)
    run = RunFolder(job(scratch, "--meter", "fake:0"))
    assert run.manifest.status == "finished"
    marks = [each for each in run.manifest.warnings if each.code == "meter-gone"]
    assert len(marks) == 1
    assert "connection reset" in marks[0].what
    assert all(step.summary is None or step.measured.power is None for step in run.steps())
    meter = run.manifest.environment["meter"]
    assert isinstance(meter, dict)
    assert "connection reset" in meter["gone"]


@pytest.mark.parametrize(
    ("says", "code"),
    [
        ({"watts": lambda at: 0.0}, "meter-nothing"),
        ({"bound_ns": 10**9}, "meter-window"),
        ({"lost": 7}, "meter-lost"),
        ({"drift_ppm": -900.0}, "meter-drift"),
        ({"lacks": range(10, 30)}, "meter-gap"),
        ({"late": range(12, 14)}, "meter-order"),
    ],
)
def test_what_can_be_wrong_is_said(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: dict, code: str
) -> None:
    install(monkeypatch, **says)
    assert main(["measure", str(scratch / "a.img"), *MEASURE, "--meter", "fake:0"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert code in [each["code"] for each in shown["warnings"]]
    assert (shown["power"] is None) == (code not in ("meter-lost", "meter-drift", "meter-order"))


@pytest.mark.parametrize(
    ("meter", "status", "words"),
    [
        ("fake:0,calibrated=2999-01-01", 2, "in the future"),
        ("fake:0,calibrated=yesterday", 2, "calibrated"),
        ("fake:0,rails=a+c", 2, "rail"),
        ("scpi:127.0.0.1:9", 3, "does not answer"),
        ("quarch:127.0.0.1:9", 3, "does not answer"),
        ("ppk2:/dev/null@5V", 3, "does not answer"),
        ("hwmon:none", 2, "no chip named"),
        ("rapl:0", 2, "never a drive"),
        ("joulescope:0", 2, "not tested"),
        ("nvme:smart", 2, "does not report its power"),
        ("ppk3:0", 2, "kind of meter"),
    ],
)
def test_a_meter_that_cannot_be_had_stops_a_run_before_anything_is_done(
    scratch: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    meter: str,
    status: int,
    words: str,
) -> None:
    install(monkeypatch, rails=("a", "b"))
    target, library = scratch / "drive.img", scratch / "runs"
    run = ["run", "peak-random-read", str(target), "--size", "16MiB", "--library", str(library)]
    assert main([*run, "--meter", meter]) == status
    assert words in capsys.readouterr().err
    assert not list(library.glob("*/manifest.json"))


def test_a_meter_of_the_rig_file_is_used(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    rig = scratch / "rig.toml"
    rig.write_text('[meter]\nuse = "fake:0"\naccuracy = "3%"\n')
    run = RunFolder(job(scratch, "--rig", str(rig)))
    assert run.manifest.open_options["meter"] == "fake:0,accuracy=3%"


def test_a_rig_without_a_meter_can_say_so(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch)
    rig = scratch / "rig.toml"
    rig.write_text('meter = "none"\n')
    run = RunFolder(job(scratch, "--rig", str(rig)))
    assert run.manifest.environment.get("meter") is None
    capsys.readouterr()
    assert main(["meters", "none", "--rig", str(rig)]) == 0
    assert "there is no kind" not in capsys.readouterr().out


def test_none_is_no_meter_whatever_the_rig_file_has(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    rig = scratch / "rig.toml"
    rig.write_text('[meter]\nuse = "fake:0"\n')
    run = RunFolder(job(scratch, "--rig", str(rig), "--meter", "none"))
    assert "meter" not in run.manifest.environment
    assert run.manifest.open_options.get("meter") is None


def test_a_simulated_drive_has_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "sim:tiny-test", "--meter", "hwmon:ina226"]) == 2
    assert "it has its own meter" in capsys.readouterr().err.lower()


def test_energy_of_simulated_runs_is_the_simulators_own(tmp_path: Path) -> None:
    settings = {"depths": "1,8", "seconds": "2", "ramp_seconds": "1"}
    run = run_simulated("peak-random-read", tmp_path, "sim:samsung-950-pro-512gb,scale=64", **settings)
    found = power_table(run.path)
    for step in run.steps():
        if step.summary is None:
            continue
        mine = found["ordinal"] == step.ordinal
        counted = found["start_ns"][mine] >= 1_000_000_000
        seconds = (found["end_ns"] - found["start_ns"])[mine][counted] / 1e9
        energy = float((found["mean_w"][mine][counted] * seconds).sum())
        assert step.measured.power is not None
        assert energy == pytest.approx(step.measured.power.energy_j, rel=0.01)
    result = read_result(run)
    for point in result.points:
        step = next(each for each in run.steps() if each.ordinal == point.ordinal)
        joules = step.measured.power.energy_j
        assert point.efficiency.value == pytest.approx(point.iops * point.seconds / 1e3 / joules, rel=1e-6)


def test_a_run_that_goes_on_without_its_meter_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    monkeypatch.setattr(FakeMeter, "__init__", unplugged)
    metering = reopened_metering(MeterText.parse("fake:0"), FakeDrive())
    measured = Measurement({"elapsed_s": 1.0}, lambda: None)
    first, second = metering.measured(measured, 0), metering.measured(measured, 0)
    assert [each.code for each in first[1]] == ["meter-gone"]
    assert second == (measured, [])
    assert "does not answer" in metering.record()["gone"]
    # At the start it is refused: nothing was done yet.
    with pytest.raises(HostError, match="does not answer"):
        open_metering(MeterText.parse("fake:0"), FakeDrive())


def unplugged(meter: FakeMeter, text: MeterText) -> None:
    raise silent(text.use, "connection refused")
