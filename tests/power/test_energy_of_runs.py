"""Energy of whole runs, a limit beside what was drawn, and the meter's error in headline figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lab.synthetic import make_finished_run
from methods.on_simulated import run as run_simulated
from power.fake_meter import install
from power.test_metered_runs import power_table
from report.reading import Page
from ssdlab.cli import main
from ssdlab.report.page import render
from ssdlab.report.source import read_run
from ssdlab.results.metered import MeterRecord, limit_words, meter_of, with_errors
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Metric, VariantInfo
from ssdlab.results.step_log import StepPower, highest_mean_w

SETTINGS = {"depths": "1,8", "seconds": "2", "ramp_seconds": "0"}
S = 10**9


def bins(watts: list[float], each_s: float = 1.0) -> StepPower:
    edges = np.round(np.arange(len(watts) + 1) * each_s * S).astype(np.int64)
    return StepPower(("a",), edges[:-1], edges[1:], np.array(watts).reshape(-1, 1))


def test_the_highest_mean_is_that_of_the_worst_ten_seconds() -> None:
    watts = [1.0] * 30 + [5.0] * 10 + [9.0] * 5 + [1.0] * 30
    slow = max(np.mean(watts[at : at + 10]) for at in range(len(watts) - 9))
    assert highest_mean_w(bins(watts)) == pytest.approx(slow)
    assert highest_mean_w(bins([2.0, 4.0])) == pytest.approx(3.0), "shorter than that: all of it"
    assert highest_mean_w(bins([7.0] * 2000, 0.01)) == pytest.approx(7.0)
    both_ends = [8.0, 6.0, *[5.0] * 8, 6.0, 8.0]
    assert highest_mean_w(bins(both_ends)) == pytest.approx(68 / 12), "more than the 54 / 10 of either end"
    assert highest_mean_w(bins([])) == 0.0


def test_a_run_says_the_energy_of_all_of_its_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_simulated("peak-random-read", tmp_path, "sim:samsung-950-pro-512gb,scale=64", **SETTINGS)
    meter = meter_of(run.manifest)
    assert meter is not None and meter.energy_j is not None and meter.metered_s is not None
    table = power_table(run.path)
    lengths_s = (table["end_ns"] - table["start_ns"]) / 1e9
    assert meter.energy_j == pytest.approx(float((table["mean_w"] * lengths_s).sum()))
    assert meter.metered_s == pytest.approx(float(lengths_s.sum()))
    assert main(["show", str(run.path), "--all"]) == 0
    shown = capsys.readouterr().out
    assert f"{meter.energy_j:.3g}"[:3] in shown and " J in " in shown
    assert " J in " in Page.of(render([read_run(run.path)])).text


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("limit", "seconds", "over"), [("3.2W", "12", "10 s"), ("4W", "2", "a step of 2.00 s")]
)
def test_a_limit_stands_beside_what_was_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str, seconds: str, over: str
) -> None:
    words = [f"{name}={value}" for name, value in {**SETTINGS, "seconds": seconds}.items()]
    sets = [part for each in words for part in ("--set", each)]
    drive = "sim:samsung-950-pro-512gb,scale=64"
    line = ["run", "peak-random-read", drive, *sets, "--power-limit", limit, "--library", str(tmp_path)]
    assert main(line) == 0
    shown = capsys.readouterr().out
    (folder,) = (path.parent for path in tmp_path.glob("*/manifest.json"))
    said = limit_words(RunFolder(folder).manifest)
    assert said is not None and said.startswith(f"{limit[:-1]} W, kept: ")
    assert "kept: maximum " in said and f" W over {over}" in said
    assert said in shown
    assert said in Page.of(render([read_run(folder)])).text


@pytest.mark.parametrize(("seconds", "kept"), [("10", "NOT kept"), ("2", "not judged")])
def test_a_limit_that_is_passed_is_said(tmp_path: Path, seconds: str, kept: str) -> None:
    """A limit holds over ten seconds: two of them may hold more, if those around them hold less."""
    settings = {**SETTINGS, "seconds": seconds}
    run = run_simulated("peak-random-read", tmp_path, "sim:samsung-950-pro-512gb,scale=64", **settings)
    manifest = run.manifest
    variant = {"asked": {"power_limit": "1W"}, "words": ["at most 1 W"], "made": True}
    drive = type(manifest.drive).model_validate({**manifest.drive.model_dump(), "variant": variant})
    said = limit_words(manifest.model_copy(update={"drive": drive}))
    assert said is not None and said.startswith(f"1 W, {kept}: ")
    bare = manifest.model_copy(update={"drive": drive, "environment": {}})
    assert limit_words(bare) == "1 W, not metered"


@pytest.mark.parametrize(
    ("error", "highest_w", "kept"),
    [
        ({}, 10.0, True),
        ({}, 10.01, False),
        ({"accuracy": 0.005}, 10.05, True),
        ({"accuracy": 0.005}, 10.06, False),
        ({"accuracy": 0.005, "offset_w": 0.3}, 10.35, True),  # 10.35 W read are 9.998 W at least
        ({"accuracy": 0.005, "offset_w": 0.3}, 10.36, False),
        ({"accuracy": 0.0, "offset_w": 0.3}, 0.0, True),
    ],
)
def test_a_limit_is_kept_within_all_of_the_meters_error(
    tmp_path: Path, error: dict[str, float], highest_w: float, kept: bool
) -> None:
    manifest = RunFolder(make_finished_run(tmp_path, seed=1, seconds=3)).manifest
    variant = VariantInfo(asked={"power_limit": "10W"}, words=("at most 10 W",), made=False)
    drive = manifest.drive.model_copy(update={"variant": variant})
    meter = {"use": "hwmon:ina226", "energy_j": 1.0, "metered_s": 1.0, "highest_w": highest_w, **error}
    changes = {"drive": drive, "environment": {"meter": meter}}
    said = limit_words(manifest.model_copy(update=changes))
    assert said is not None and said.startswith("10 W, kept: " if kept else "10 W, NOT kept: ")


def test_figures_of_power_carry_the_meters_error(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, watts=lambda at: 2.0)
    library = scratch / "runs"
    words = ["--size", "32MiB", "--set", "depths=1,4", "--set", "seconds=0.3", "--set", "ramp_seconds=0"]
    meter = ["--meter", "fake:0,accuracy=1%,offset=20mW", "--library", str(library)]
    assert main(["run", "peak-random-read", str(scratch / "drive.img"), *words, *meter]) == 0
    (folder,) = (path.parent for path in library.glob("*/manifest.json"))
    kept = (RunFolder(folder).manifest.result or {})["scalars"]
    assert isinstance(kept, list)
    figures = [Metric.model_validate(each) for each in kept]
    power = [each for each in figures if each.unit == "W" or each.unit.endswith("/W")]
    assert len(power) >= 2
    for each in power:
        # 1 % and 20 mW of 2 W are 2 %, of the watts and of what is divided by them.
        assert each.value is not None and each.error == pytest.approx(0.02 * each.value, rel=1e-3)
    assert all(each.error is None for each in figures if each not in power)


def test_an_error_that_cannot_be_told_is_none() -> None:
    alone = Metric.more("x_kiops_per_w", "x", 10.0, "kIOPS/W")
    with_offset = MeterRecord(use="a", accuracy=0.01, offset_w=0.02)
    assert with_errors([alone], with_offset)[0].error is None
    assert with_errors([alone], MeterRecord(use="a", accuracy=0.01))[0].error == pytest.approx(0.1)
    assert with_errors([alone], MeterRecord(use="a"))[0].error is None
    assert with_errors([alone], None)[0].error is None
    own = alone.resting(steps=(3, 4))
    watts = [Metric.less(f"{at}_w", "w", each, "W", steps=(4, 3)) for at, each in enumerate((2.0, 2.0, 4.0))]
    for known in (watts[:1], watts[:2], [*watts[:1], watts[1].resting(value=None)]):
        assert with_errors([*known, own], with_offset)[-1].error == pytest.approx(0.2), "1 % and 20 mW of 2 W"
    for unclear in (watts, watts[1:], watts[::-1]):
        assert with_errors([*unclear, own], with_offset)[-1].error is None, "of which watts is not known"
    assert with_errors([watts[0].resting(steps=(3,)), own], with_offset)[-1].error is None
    speed = Metric.more("x_iops", "x", 10.0, "IOPS")
    assert "error" not in with_errors([speed], with_offset)[0].model_dump()
