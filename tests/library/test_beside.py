"""`run --beside`: both sides in turn, catalogued, compared and judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.library.choosing import Choice, list_runs

pytestmark = pytest.mark.long

DRIVE = "sim:tiny-test"
QUICK = ("--quick", "--set", "depths=1", "--set", "seconds=20ms")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    assert main(["run", "peak-random-read", DRIVE, *QUICK, "--library", str(tmp_path)]) == 0
    assert main(["tag", "last", "base", "--library", str(tmp_path)]) == 0
    return tmp_path


def beside(library: Path, *words: str, drive: str = DRIVE) -> list[str]:
    return [
        "run",
        "peak-random-read",
        drive,
        *QUICK,
        "--beside",
        "tag:base",
        "--library",
        str(library),
        *words,
    ]


def test_both_sides_are_run_in_turn_and_found_by_their_tags(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (before,) = list_runs(library, Choice()).runs
    capsys.readouterr()
    words = beside(
        library, "--repeat", "5", "--fail-if", "random_read_iops < -5%", "--json", drive=f"{DRIVE},seed=2"
    )
    assert main(words) == 0
    compared = json.loads(capsys.readouterr().out)
    (rule,) = compared["rules"]
    assert rule["outcome"] == "passed" and compared["exit_status"] == 0
    runs = [run for run in list_runs(library, Choice()).runs if run["folder"] != before["folder"]]
    runs.sort(key=lambda run: run["created"])
    sides = [run["tags"][0].rpartition(".")[2] for run in runs]
    assert sides == ["base", "new"] * 5
    assert [run["drive_id"] == before["drive_id"] for run in runs] == [True, False] * 5
    assert set(compared["base"]["runs"]) == {run["folder"] for run in runs[::2]}
    assert set(compared["new"]["runs"]) == {run["folder"] for run in runs[1::2]}


@pytest.mark.usefixtures("wide")
def test_fewer_than_five_repeats_decide_nothing(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(beside(library, "--repeat", "2", "--fail-if", "random_read_iops < -5%")) == 2
    assert "needs 5 runs per side" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dry-run",), "--beside cannot be combined"),
        (("--fail-if", "nonsense"), "is not a rule"),
    ],
)
def test_what_says_nothing_is_refused_before_anything_runs(
    library: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(beside(library, *words)) == 2
    assert said in capsys.readouterr().err
    assert len(list_runs(library, Choice()).runs) == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["peak-random-read", DRIVE, *QUICK[:-1], "seconds=30ms"], "parameters seconds=0.03, not 0.02"),
        (["peak-random-read", DRIVE, *QUICK[1:]], "not quick"),
        (["peak-random-read", f"{DRIVE},scale=4", *QUICK], "scale 4, not 1"),
        (["qd1", DRIVE, "--quick"], "method qd1, not peak-random-read"),
        (["peak-random-read", "FILE", "--size", "8MiB", *QUICK], "a real drive, not a simulated one"),
    ],
)
def test_what_could_not_be_compared_is_not_measured(
    library: Path, tmp_path: Path, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(tmp_path / "file.img") if word == "FILE" else word for word in words]
    assert main(["run", *words, "--repeat", "5", "--beside", "tag:base", "--library", str(library)]) == 2
    assert why in capsys.readouterr().err
    assert len(list_runs(library, Choice()).runs) == 1


def test_runs_of_several_kinds_are_no_base(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = ["run", "peak-random-read", DRIVE, "--quick", "--set", "depths=2", "--set", "seconds=20ms"]
    assert main([*other, "--library", str(library)]) == 0
    assert main(["tag", "last", "base", "--library", str(library)]) == 0
    assert main(beside(library)) == 2
    assert "several methods, drives or parameters" in capsys.readouterr().err
    assert main(["run", "peak-random-read", DRIVE, "--fail-if", "iops < -5%", "--library", str(library)]) == 2
    assert "--fail-if needs a run to compare with" in capsys.readouterr().err
