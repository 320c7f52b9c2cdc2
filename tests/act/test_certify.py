"""The certificate from nothing known: search, a day, a day at twice the load; and what is published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.cli import main
from ssdlab.formats.act import StorageConfig
from ssdlab.formats.act_files import read_config
from ssdlab.lab.outcome import read_result
from ssdlab.methods.act import search
from ssdlab.methods.act.result import ActResult
from ssdlab.results.run_folder import RunFolder

SEARCH = {
    "arrivals": "even",
    "load": "8",
    "most": "8",
    "coarse": "4",
    "fine": "4",
    "test_duration_sec": "2",
    "slice_sec": "2",
    "day_sec": "4",
    "prepare": "no",
}


def certified(folder: RunFolder) -> ActResult:
    result = read_result(folder)
    assert isinstance(result, ActResult)
    return result


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run("act-certify", tmp_path_factory.mktemp("held"), "sim:xpoint,scale=64", **SEARCH)


@pytest.mark.long
def test_the_load_of_the_search_runs_for_a_day_and_twice_of_it_for_another(held: RunFolder) -> None:
    labels = [step.label for step in held.steps() if step.verb == "run"]
    assert labels == ["load 8x", "test", "stress, twice the load"]
    result = certified(held)
    assert (result.load, result.asked_s, result.stress_completed) == (8, 4.0, True)
    assert [each.load for each in result.tries] == [8]
    assert result.held and result.certified is False
    assert result.trial
    (figure,) = result.scalars
    (tried,) = result.tries
    assert (figure.steps, figure.chosen_among) == ((result.ordinal,), (tried.ordinal,))


def test_where_no_load_holds_there_is_no_day(tmp_path: Path) -> None:
    """The lowest load tried, 60x of records as long as a large block, is far beyond the drive."""
    loads = {"load": "60", "most": "60", "fine": "60", "record_bytes": "131072"}
    folder = run("act-certify", tmp_path, "sim:tiny-test,scale=4", **(SEARCH | loads))
    assert [step.label for step in folder.steps() if step.verb == "run"] == ["load 60x"]
    result = certified(folder)
    assert result.load == 60 and not result.held and result.certified is False
    (figure,) = result.scalars
    assert (figure.value, figure.steps, figure.chosen_among) == (None, (result.ordinal,), ())


@pytest.mark.long
def test_a_try_has_its_load_from_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a step is called."""
    monkeypatch.setattr(search, "load_of", lambda load: "a try")
    loads = {"most": "16", "coarse": "8", "fine": "8", "begin": "below"}
    result = certified(run("act-certify", tmp_path, "sim:xpoint,scale=64", **(SEARCH | loads)))
    assert [each.load for each in result.tries] == [8, 16]
    assert result.load == 16


def test_the_bundle_has_acts_files_both_verdicts_the_host_and_digests(
    held: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "bundle"
    assert main(["act", "bundle", str(held.path), "--output", str(output)]) == 0
    sums = dict(reversed(line.split("  ")) for line in (output / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {"summary.txt", "act.conf", "act.log", "verdicts.json", "host.json"}
    for name, digest in sums.items():
        assert hashlib.sha256((output / name).read_bytes()).hexdigest() == digest
    config = read_config((output / "act.conf").read_text(), "act.conf", StorageConfig)
    assert config.read_reqs_per_sec == 16_000
    assert "after 4 sec:" in (output / "act.log").read_text()
    verdicts = json.loads((output / "verdicts.json").read_text())
    assert [each["rule"] for each in verdicts["verdicts"]] == ["2019", "6.x"]
    assert all(each["limits_kept"] and each["limits_kept_and_delivered"] for each in verdicts["verdicts"])
    assert verdicts["judged"] is False, "its days were seconds"
    assert verdicts["sealed"] and verdicts["run"] == held.manifest.run_id
    assert json.loads((output / "host.json").read_text())["drive"]["text"].startswith("sim:xpoint")
    assert "give --device" in capsys.readouterr().err, "a simulated drive is none of ACT's"
    named = tmp_path / "named"
    drives = ["--device", "/dev/sdb", "--device", "/dev/sdc"]
    assert main(["act", "bundle", str(held.path), "--output", str(named), *drives]) == 0
    assert "give --device" not in capsys.readouterr().err
    config = read_config((named / "act.conf").read_text(), "act.conf", StorageConfig)
    assert config.device_names == ("/dev/sdb", "/dev/sdc")
    assert main(["act", "bundle", str(held.path), "--output", str(output)]) == 2
    assert "cannot be created" in capsys.readouterr().err
