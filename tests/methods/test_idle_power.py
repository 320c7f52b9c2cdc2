"""A drive at rest: the watts and wake-up latencies that are found are those that its profile holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from methods.on_simulated import run
from methods.statements import Told
from report.reading import Page
from ssdlab.cli import main
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.methods.results.idle_power import IdlePowerResult
from ssdlab.methods.results.outcome import read_result
from ssdlab.report.page import render
from ssdlab.report.source import read_run


def test_a_drive_with_nothing_to_rest_in_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "idle-power", "sim:tiny-test", "--quick", "--library", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "its profile has no states to rest in" in shown
    assert "nothing metered the drive: there are no watts" in shown
    assert "States to rest in none" in shown


def test_a_file_is_refused_before_it_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "drive.img"
    words = ["idle-power", str(path), "--size", "16MiB", "--quick"]
    assert main(["run", *words, "--library", str(tmp_path / "runs")]) == 2
    said = capsys.readouterr().err
    assert "has no power states to look at: a file on a file system is no drive" in said
    assert not path.exists()
    assert main(["plan", *words, "--json"]) in (0, 2)
    objection = json.loads(capsys.readouterr().out)
    assert "no power states" in json.dumps(objection)


def test_the_page_has_its_tables_and_charts(tmp_path: Path) -> None:
    settings = {"settle_seconds": "3", "seconds": "2", "again_seconds": "3", "reads": "3"}
    folder = run("idle-power", tmp_path, "sim:samsung-950-pro-512gb,scale=64", **settings)
    result = read_result(folder)
    assert isinstance(result, IdlePowerResult)
    (rest,) = result.rests
    held = check_profile("samsung-950-pro-512gb")["profile"]["power"]["idle_mw"]["value"]
    assert rest.mean_w == pytest.approx(held / 1e3, rel=1e-3)
    text = Page.of(render([read_run(folder.path)])).text
    for heading in ("Power at rest", "Wake-up latency", "Power features and states"):
        assert heading in text
    assert Told(folder.path).faults() == []
