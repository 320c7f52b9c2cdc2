"""What readers see of power: the meter and its error beside the figures, or "not metered" once."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import run as run_simulated
from power.fake_meter import install
from report.reading import Page
from ssdlab.cli import main
from ssdlab.report.page import render
from ssdlab.report.source import read_run

PEAK = ["--size", "32MiB", "--set", "depths=1,4", "--set", "seconds=0.3", "--set", "ramp_seconds=0"]


def peak(scratch: Path, *words: str) -> Path:
    library = scratch / "runs"
    target = str(scratch / "drive.img")
    assert main(["run", "peak-random-read", target, *PEAK, "--library", str(library), *words]) == 0
    (folder,) = [each for each in library.iterdir() if (each / "manifest.json").exists()]
    assert main(["show", str(folder), "--all"]) == 0
    return folder


def test_a_run_without_a_meter_says_so_once(scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = peak(scratch)
    assert capsys.readouterr().out.lower().count("not metered") == 1
    html = render([read_run(folder)])
    assert html.lower().count("not metered") == 1
    assert "Efficiency and power" in Page.of(html).text


def test_a_metered_run_shows_its_meter_and_the_error_of_its_efficiency(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, watts=lambda at: 2.0)
    folder = peak(scratch, "--meter", "fake:0,accuracy=1%,offset=20mW,calibrated=2026-03-01")
    shown = capsys.readouterr().out
    assert "not metered" not in shown
    assert "fake (fake:0), error 1 % + 0.02 W, calibrated 2026-03-01" in shown
    html = render([read_run(folder)])
    assert "not metered" not in html.lower()
    text = Page.of(html).text
    assert "fake (fake:0), error 1 % + 0.02 W" in text
    # 1 % and 20 mW of 2 W: the error of each efficiency is that of its watts.
    assert "2 %" in text


def test_a_simulated_run_is_metered_by_its_model(tmp_path: Path) -> None:
    settings = {"depths": "1,8", "seconds": "0.2", "ramp_seconds": "0"}
    run = run_simulated("peak-random-read", tmp_path, "sim:samsung-950-pro-512gb,scale=64", **settings)
    html = render([read_run(run.path)])
    assert "not metered" not in html.lower()
    assert "the simulated drive's power model" in Page.of(html).text
