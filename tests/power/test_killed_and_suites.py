"""A metered run that is killed keeps what its finished steps drew, and suites are metered run by run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from power.fake_meter import install
from power.test_metered_runs import only_run, power_table
from ssdlab.cli import main
from ssdlab.results.metered import meter_of
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

JOB = """
[[step]]
do = "fill"

[[step]]
do = "run"
rw = "randread"
seconds = "500ms"

[[step]]
do = "idle"
seconds = "300ms"

[[step]]
do = "run"
rw = "randread"
seconds = "4s"
"""
KILLED = 4
"""Ordinal of the step that the kill comes into; the first sets conditions, and is over at once."""
METERED = """
import sys
sys.path.insert(0, sys.argv[1])
from power.fake_meter import PLACE, FakeMeter
from ssdlab.cli import main
from ssdlab.power import kinds
kinds.KINDS["fake"] = (PLACE, "for tests")
FakeMeter.watts = staticmethod(lambda at: 4.0)
sys.exit(main(sys.argv[2:]))
"""
TESTS = Path(__file__).parents[1]
PATIENCE_S = 120


def begun(folder: Path, ordinal: int) -> bool:
    path = folder / "journal.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return any(each.get("t") == "begin" and each["ordinal"] == ordinal for each in map(json.loads, lines))


def killed(scratch: Path, library: Path) -> Path:
    """Start the job with a meter of 4 W in a process of its own, and kill that in the last step."""
    (scratch / "job.toml").write_text(JOB)
    words = ["job", str(scratch / "job.toml"), str(scratch / "drive.img"), "--size", "16MiB"]
    line = [sys.executable, "-c", METERED, str(TESTS), *words, "--library", str(library), "--meter", "fake:0"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        until = time.monotonic() + PATIENCE_S
        while not any(begun(path.parent, KILLED) for path in library.glob("*/manifest.json")):
            assert process.poll() is None and time.monotonic() < until, process.stderr
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
    return only_run(library)


def test_a_kill_loses_no_samples_of_finished_steps(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = killed(scratch, scratch / "runs")
    install(monkeypatch, watts=lambda at: 5.0)
    assert main(["resume", str(folder)]) == 0, capsys.readouterr().err
    run = RunFolder(folder)
    table = power_table(folder)
    whole = {
        ordinal: table["mean_w"][(table["ordinal"] == ordinal) & (table["rail"] == "a")] * 3
        for ordinal in range(KILLED + 1)
    }
    for ordinal in range(1, KILLED):
        assert len(whole[ordinal]), f"the samples of step {ordinal} are there"
        assert whole[ordinal] == pytest.approx(4.0), "and are those of before the kill"
    assert whole[KILLED] == pytest.approx(5.0), "what the killed attempt drew is not mixed in"
    steps = {step.ordinal: step for step in run.steps()}
    assert steps[2].measured.mean_w == pytest.approx(4.0)
    assert steps[KILLED].measured.mean_w == pytest.approx(5.0)
    counted = {(step.ordinal, step.attempt) for step in steps.values()}
    assert set(zip(table["ordinal"].tolist(), table["attempt"].tolist(), strict=True)) <= counted
    assert not [each for each in run.manifest.warnings if each.code.startswith("meter")]
    meter = meter_of(run.manifest)
    lengths_s = (table["end_ns"] - table["start_ns"]) / 1e9
    assert meter is not None
    assert meter.energy_j == pytest.approx(float((table["mean_w"] * lengths_s).sum()))
    assert run.verify() == "sealed"


def test_a_kill_whose_meter_is_gone_guesses_nothing(
    scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The resumed process knows no meter of that kind: it goes on, and what it does is not metered."""
    folder = killed(scratch, scratch / "runs")
    assert main(["resume", str(folder)]) == 0, capsys.readouterr().err
    run = RunFolder(folder)
    steps = {step.ordinal: step for step in run.steps()}
    assert steps[2].measured.mean_w == pytest.approx(4.0)
    assert steps[KILLED].measured.power is None
    assert [each.code for each in run.manifest.warnings if each.code.startswith("meter")] == ["meter-gone"]
    assert KILLED not in power_table(folder)["ordinal"].tolist()


@pytest.mark.slow
def test_every_run_of_a_suite_is_metered(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, watts=lambda at: 2.5)
    library, target = scratch / "runs", str(scratch / "drive.img")
    words = ["run", "quick-look", target, "--size", "32MiB", "--quick", "--destroy", "drive.img"]
    assert main([*words, "--library", str(library), "--meter", "fake:0,accuracy=1%"]) in (0, 1)
    capsys.readouterr()
    runs = [RunFolder(path.parent) for path in library.glob("*/manifest.json")]
    parts = [each for each in runs if not each.manifest.children]
    assert len(parts) >= 3 and len(runs) == len(parts) + 1
    for each in parts:
        meter = meter_of(each.manifest)
        assert meter is not None and meter.use == "fake:0" and meter.accuracy == 0.01
        assert meter.energy_j == pytest.approx(2.5 * (meter.metered_s or 0))
        lasting = [
            step for step in each.steps() if step.summary is not None and step.measured.elapsed_s > 0.2
        ]
        assert lasting
        for step in lasting:
            assert step.measured.mean_w == pytest.approx(2.5), (each.manifest.method.name, step.label)
