"""Before it starts, a quick run says which state it surely will not show; what it says comes true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import find_run

DRIVE = "sim:tiny-test,scale=4"
STEADY = ["steady-random-write", "--set", "depths=1", "--set", "seconds=0.1"]


def planned(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["plan", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return [why for part in found.get("parts", [found]) for why in part["cannot_show"]]


@pytest.mark.parametrize(
    ("words", "cannot"),
    [
        ([*STEADY, DRIVE, "--quick"], False),
        ([*STEADY, DRIVE, "--quick", "--set", "most_seconds=2"], True),  # five rounds of 0.5 s are more
        ([*STEADY, DRIVE, "--quick", "--set", "least_seconds=9"], True),  # the writing ends after 8 s
        (["steady-random-write", "sim:kingston-dc500r-3.84tb", "--quick"], True),  # 8 s are little of it
        (["steady-random-write", "sim:kingston-dc500r-3.84tb"], False),
        (["qd1", DRIVE, "--quick"], True),
        (["qd1", DRIVE], False),
        (["mixed-random", DRIVE, "--quick", "--precondition", "analytic"], False),
        (["peak-random-read", DRIVE, "--quick"], False),
        (["quick-look", DRIVE], True),
    ],
)
def test_a_plan_says_where_steady_state_cannot_be_shown(
    capsys: pytest.CaptureFixture[str], words: list[str], cannot: bool
) -> None:
    assert bool(planned(capsys, *words)) is cannot
    assert main(["plan", *words]) == 0
    assert ("cannot show" in capsys.readouterr().out) is cannot


@pytest.mark.long
@pytest.mark.parametrize(("more", "cannot"), [([], False), (["--set", "most_seconds=2"], True)])
def test_a_quick_run_says_so_first_and_it_comes_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], cannot: bool
) -> None:
    assert main(["run", *STEADY, DRIVE, "--quick", *more, "--library", str(tmp_path)]) == 0
    first = capsys.readouterr().err.partition("\n")[0]
    assert ("cannot show steady state" in first) is cannot
    result = read_result(RunFolder(find_run("last", tmp_path)))
    assert result is not None
    if cannot:
        assert all("state-unproven" in each.codes for each in result.scalars if each.value is not None)
