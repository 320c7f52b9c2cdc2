"""What is published of a test: by whom and when, to read, and no pass of what was no day of whole hours."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lab.synthetic import edited
from methods.on_simulated import run
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.act.result import UNEXPLAINED, ActResult
from ssdlab.results.run_folder import RunFolder

FLAT = "sim:xpoint,scale=64"
LOW = {"load": "0.001", "prepare": "no"}
"""Two reads and a write a second: a day of it is over in seconds."""


def bundled(folder: Path, output: Path, *words: str) -> dict[str, Any]:
    assert main(["act", "bundle", str(folder), "--output", str(output), *words]) == 0
    found = json.loads((output / "verdicts.json").read_text())
    assert isinstance(found, dict)
    return found


def passes(stored: object) -> list[bool]:
    """Return what is said to have passed, anywhere."""
    if isinstance(stored, dict):
        own = [stored["passed"]] if isinstance(stored.get("passed"), bool) else []
        return own + [each for value in stored.values() for each in passes(value)]
    return [each for value in stored for each in passes(value)] if isinstance(stored, list) else []


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run("act", tmp_path_factory.mktemp("day"), FLAT, **LOW)


@pytest.mark.long
def test_a_day_of_whole_hours_passes(day: RunFolder, tmp_path: Path) -> None:
    found = bundled(day.path, tmp_path / "b")
    assert (found["trial"], found["why_trial"]) == (False, "")
    assert passes(found) == [True, True]
    assert [each["verdict"] for each in found["verdicts"]] == ["passed", "passed"]
    summary = (tmp_path / "b" / "summary.txt").read_text()
    assert "trial" not in summary.lower()
    assert [line.split()[0] for line in summary.splitlines() if line.strip()[:1].isdigit()] == [
        str(hour) for hour in range(1, 25)
    ]


def test_what_is_written_is_told_as_json(
    day: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    found = bundled(day.path, tmp_path / "b", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told == {**found, "folder": str(tmp_path / "b"), "files": told["files"]}
    assert sorted(told["files"]) == sorted(each.name for each in (tmp_path / "b").iterdir())
    assert main(["act", "log", str(day.path), "--json"]) == 0
    log = json.loads(capsys.readouterr().out)["log"]
    assert f"{log}\n" == (tmp_path / "b" / "act.log").read_text()
    file = tmp_path / "own.log"
    assert main(["act", "log", str(day.path), "--output", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == str(file)
    assert file.read_text() == f"{log}\n"


@pytest.mark.parametrize(
    "shorter", [{"test_duration_sec": "3600"}, {"test_duration_sec": "10", "slice_sec": "5"}]
)
@pytest.mark.long
def test_what_is_no_day_of_whole_hours_is_a_trial(tmp_path: Path, shorter: dict[str, str]) -> None:
    found = bundled(run("act", tmp_path, FLAT, **(LOW | shorter)).path, tmp_path / "b")
    assert found["trial"] is True and found["why_trial"]
    assert True not in passes(found) and found["certified"] is not True
    assert all(each["verdict"] == "trial, limits kept" for each in found["verdicts"])
    summary = (tmp_path / "b" / "summary.txt").read_text()
    assert summary.startswith("ACT trial: 0.001x") and "passed" not in summary


def test_every_length_below_a_day_is_a_trial_and_so_are_other_slices(day: RunFolder) -> None:
    result = read_result(day)
    assert isinstance(result, ActResult) and not result.trial
    for changes in (
        *({"asked_s": float(seconds)} for seconds in (1, 3600, 82_800, 86_399)),
        *({"slice_s": float(seconds)} for seconds in (1800, 7200, 86_400)),
        {"completed": False, "stopped": f"{UNEXPLAINED}, after 80000 s"},
    ):
        assert result.model_copy(update=changes).trial, changes
    ended = {"completed": False, "stopped": "service fell more than 10 s (max-lag-sec) behind, after 80000 s"}
    assert not result.model_copy(update=ended).trial, "ACT ends such a day itself: it has failed"


def test_a_day_without_one_of_its_hours_is_a_trial(day: RunFolder) -> None:
    """An hour in which nothing was read keeps every limit."""
    result = read_result(day)
    assert isinstance(result, ActResult) and not result.trial
    for hour in (0, 11, 23):
        lost = (*result.slices[:hour], *result.slices[hour + 1 :])
        assert str(hour + 1) in result.model_copy(update={"slices": lost}).trial
        empty = result.slices[hour].model_copy(update={"ios": {"2019": 0, "6.x": 0}})
        slices = (*result.slices[:hour], empty, *result.slices[hour + 1 :])
        assert str(hour + 1) in result.model_copy(update={"slices": slices}).trial


@pytest.mark.long
def test_slices_of_more_than_an_hour_are_not_judged(tmp_path: Path) -> None:
    """A slow hour is lost in a slice of a day."""
    result = read_result(run("act", tmp_path, FLAT, slice_sec="7200", test_duration_sec="7200", **LOW))
    assert isinstance(result, ActResult) and result.passed is None and not result.judged


def test_a_trial_that_fails_an_hour_has_failed_it(tmp_path: Path) -> None:
    slow = {"load": "300", "read_reqs_per_sec": "30", "max_lag_sec": "3", "test_duration_sec": "7200"}
    folder = run("act", tmp_path, "sim:tiny-test,scale=4", prepare="no", **slow)
    found = bundled(folder.path, tmp_path / "b")
    assert found["trial"] is True and passes(found) == [False, False]
    assert all(each["verdict"] == "trial, limits not kept" and each["why"] for each in found["verdicts"])


@pytest.mark.long
def test_the_loads_of_a_search_pass_nothing(tmp_path: Path) -> None:
    loads = {"load": "8", "most": "8", "test_duration_sec": "2", "slice_sec": "2", "day_sec": "4"}
    folder = run("act-certify", tmp_path, FLAT, prepare="no", arrivals="act6", **loads)
    found = bundled(folder.path, tmp_path / "b")
    assert found["search"] and found["search"][0]["limits_kept"] is True
    assert True not in passes(found) and found["certified"] is False
    assert [each["test"] for each in found["tests"]] == ["test", "stress, twice the load"]


def test_who_tested_and_when_stands_in_it(day: RunFolder, tmp_path: Path) -> None:
    found = bundled(day.path, tmp_path / "b", "--tester", "A. Tester, Example Lab")
    summary = (tmp_path / "b" / "summary.txt").read_text()
    assert found["tester"] == "A. Tester, Example Lab" and "A. Tester, Example Lab" in summary
    begin, end = (datetime.fromisoformat(found[name]) for name in ("begin", "end"))
    (test,) = found["tests"]
    assert begin <= datetime.fromisoformat(test["begin"]) < datetime.fromisoformat(test["end"]) <= end
    for at in (begin, end):
        assert at.strftime("%Y-%m-%d %H:%M:%S UTC") in summary
    manifest = json.loads(day.manifest.model_dump_json())
    assert (found["begin"], found["end"]) == (
        manifest["sessions"][0]["started"],
        manifest["sessions"][-1]["ended"],
    )
    assert bundled(day.path, tmp_path / "c")["tester"] is None
    assert re.search("tested by +unknown", (tmp_path / "c" / "summary.txt").read_text())


def test_a_redacted_bundle_names_no_drive_and_no_host(tmp_path: Path) -> None:
    """The serial number stands in the drive's path, its links and its identity."""
    folder = run("act", tmp_path, FLAT, test_duration_sec="2", slice_sec="2", **LOW)
    stored = json.loads(folder.manifest.model_dump_json(by_alias=True))
    path = "/dev/disk/by-id/nvme-Model_SERIAL0815"
    stored["drive"] |= {"text": path, "kind": "block", "id": "Model_SERIAL0815", "name": "Model SERIAL0815"}
    stored["drive"]["identity"] |= {"kind": "block", "serial": "SERIAL0815", "path": path, "links": [path]}
    platform = {"name": None, "tested_by": "B. Noted", "components": []}
    stored["environment"] |= {"hostname": "secret-host", "platform": platform}
    edited(folder.path, drive=stored["drive"], environment=stored["environment"])
    assert bundled(folder.path, tmp_path / "plain")["tester"] == "B. Noted"
    words = ["--redact", "--device", path, "--tester", "A. Tester"]
    assert bundled(folder.path, tmp_path / "redacted", *words)["redacted"] is True
    text = {
        name: "".join(each.read_text() for each in (tmp_path / name).iterdir())
        for name in ("plain", "redacted")
    }
    for private in ("SERIAL0815", "secret-host"):
        assert private in text["plain"] and private not in text["redacted"]
    assert "A. Tester" in text["redacted"]
    for name in ("act.conf", "act.log", "host.json", "summary.txt"):
        assert "redacted-" in (tmp_path / "redacted" / name).read_text()
