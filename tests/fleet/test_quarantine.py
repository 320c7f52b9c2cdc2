"""Drives that fail: begun again as often as the plan has it, then in quarantine until they are released."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import dispatch
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.fleet.quarantine import DriveFailure, known_failures, note_failure, quarantined
from ssdlab.model.errors import DriveError, Refused

pytestmark = pytest.mark.long

SELECTION = """
[[drives]]
model = "tiny-test"
[[work]]
run = "peak-random-read"
quick = true
set = {{ depths = "1", seconds = "50ms" }}
[limits]
retries = {retries}
"""
FAILS = """
import os
from pathlib import Path
from ssdlab.model.errors import DriveError
from ssdlab.runs.step_executor import StepExecutor
whole = StepExecutor.measure
def measure(self, *words, **options):
    left = Path(os.environ["FAILS_LEFT"])
    if getattr(self.drive.identity, "serial", "") == "A1" and int(left.read_text()):
        left.write_text(str(int(left.read_text()) - 1))
        raise DriveError("the medium is gone", "replace it")
    return whole(self, *words, **options)
StepExecutor.measure = measure
"""
FAILURE = DriveFailure(plan="20260101-000000-x", job="0001", host="n1", at=1.0, what="it smokes")


@pytest.fixture
def failing(tmp_path: Path) -> Callable[[int], dict[str, str]]:
    """``failing(2)``: an environment in which drive A1 fails two times."""
    place = tmp_path / "site"
    place.mkdir()
    (place / "sitecustomize.py").write_text(FAILS)

    def make(times: int) -> dict[str, str]:
        (tmp_path / "left").write_text(str(times))
        return {**os.environ, "PYTHONPATH": str(place), "FAILS_LEFT": str(tmp_path / "left")}

    return make


def test_a_drive_that_fails_once_is_begun_again(
    failing: Callable[[int], dict[str, str]],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    path = make_plan(SELECTION.format(retries=1), n1=["A1", "A2"])
    done = ssdlab("fleet", "run", str(path), "--backend", "local", environment=failing(1))
    assert done.returncode == 0, done.stderr
    told = states()
    assert {serial: (job["state"], job["attempts"]) for serial, job in told.items()} == {
        "A1": ("finished", 2),
        "A2": ("finished", 1),
    }
    assert not quarantined(library)


def test_a_drive_that_fails_twice_is_planned_again_when_it_is_released(
    failing: Callable[[int], dict[str, str]],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
    tmp_path: Path,
) -> None:
    path = make_plan(SELECTION.format(retries=1), n1=["A1", "A2"])
    done = ssdlab("fleet", "run", str(path), "--backend", "local", environment=failing(9))
    assert done.returncode == 3
    told = states()["A1"]
    assert (told["state"], told["attempts"]) == ("failed", 2)
    assert "in quarantine" in told["reason"] and "ssdlab fleet release A1" in told["reason"]
    place = ("--library", str(library))
    again = ssdlab("fleet", "plan", "selection.toml", *place, "-o", "second.json", "--json")
    plan = json.loads(again.stdout)
    assert [job["serial"] for job in plan["jobs"]] == ["A2"]
    assert "the medium is gone" in plan["left_out"]["A1"]
    (tmp_path / "named.toml").write_text(
        SELECTION.format(retries=0).replace('model = "tiny-test"', 'serials = ["A1"]')
    )
    refused = ssdlab("fleet", "plan", "named.toml", *place)
    assert refused.returncode == 2 and "ssdlab fleet release A1" in refused.stderr
    assert ssdlab("fleet", "release", "A9", *place).returncode == 2
    assert ssdlab("fleet", "release", "A1", *place).returncode == 0
    assert ssdlab("fleet", "plan", "named.toml", *place, "-o", "third.json").returncode == 0


def test_slurm_is_asked_to_begin_a_job_again_that_failed(
    make_plan: Callable[..., Path], library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_plan(make_plan(SELECTION.format(retries=1), n1=["A1"]))
    folder = FleetFolder.make(plan)
    asked: list[str] = []

    def fail(*_: object, **__: object) -> None:
        raise DriveError("the medium is gone", "replace it")

    monkeypatch.setenv("SLURMD_NODENAME", "n1")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setattr("ssdlab.runs.step_executor.StepExecutor.measure", fail)
    monkeypatch.setattr("ssdlab.fleet.slurm.requeue", asked.append)
    words = ["fleet", "job", str(folder.path), "0001", "--plan", plan.digest]
    with pytest.raises(DriveError):
        dispatch(words)
    assert asked == ["7"]
    with pytest.raises(DriveError):
        dispatch(words)
    assert asked == ["7"], "as often as the plan has it"
    assert quarantined(library)["A1"].failures[-1].what == "the medium is gone"


def test_what_failed_is_kept_of_each_drive_and_damage_is_named(library: Path) -> None:
    serial = 'S/64 "x"' + 118 * "y"  # as long as a serial may be
    note_failure(library, serial, FAILURE)
    assert not quarantined(library)
    note_failure(library, serial, FAILURE)
    assert quarantined(library)[serial].words.endswith("it smokes")
    (kept,) = (library / ".fleet" / "quarantine").iterdir()
    kept.write_text("{")
    with pytest.raises(Refused, match="damaged") as refused:
        known_failures(library)
    assert str(kept) in refused.value.what
