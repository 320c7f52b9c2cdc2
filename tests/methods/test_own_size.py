"""What a method has in seconds or bytes of its own is told of a drive that was made smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import run
from ssdlab.lab.found import all_methods, find_method
from ssdlab.lab.method import RunData, no_remarks
from ssdlab.lab.parts.workloads import scale_of
from ssdlab.model.warnings import judge_scale

OWN = ("whole-drive-fill", "paced-burst", "low-depths", "pts-host-idle-recovery")
BRIEF = {"depths": "1", "seconds": "0.1", "rest_seconds": "0", "most_bytes": "1MiB"}


def scaled(drive: str, library: Path) -> list[str]:
    warnings = run("low-depths", library, drive, **BRIEF).manifest.warnings
    return [each.what for each in warnings if each.code == "scaled-drive"]


@pytest.mark.long
def test_a_drive_that_was_made_smaller_is_warned_of_once_and_a_whole_one_not(tmp_path: Path) -> None:
    (said,) = scaled("sim:tiny-test,scale=4", tmp_path / "small")
    assert said.startswith("the drive is simulated at 1/4 of its size: its writes at each point")
    assert scaled("sim:tiny-test", tmp_path / "whole") == []


def test_a_fill_of_a_smaller_drive_says_so(tmp_path: Path) -> None:
    found = run("whole-drive-fill", tmp_path)
    assert [each.code for each in found.manifest.warnings] == ["scaled-drive"]
    assert scale_of(RunData(tuple(found.steps()), 1, 512)) == 4


@pytest.mark.parametrize("name", OWN)
def test_these_methods_look_at_the_size_of_the_drive(name: str) -> None:
    assert find_method(name).remarks is not no_remarks


def test_a_run_that_measured_nothing_is_of_no_smaller_drive() -> None:
    assert scale_of(RunData((), 1, 512)) == 1
    assert judge_scale("the fill", 1) == []
    assert set(OWN) < {method.name for method in all_methods()}
