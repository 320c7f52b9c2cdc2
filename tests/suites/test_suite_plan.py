"""What the plan of a suite says: drive time and real time apart, sums, endurance, and one JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main
from ssdlab.cli.suites import suite_order
from ssdlab.lab.suites.suite import SHARED_BY_FORK
from ssdlab.model.errors import Refused
from ssdlab.runs.suites.ordering import groups, shared_steps
from ssdlab.runs.suites.session import plan_suite
from ssdlab.runs.suites.side_by_side import processes
from ssdlab.runs.suites.suite_plan import SuitePlan

SIMULATED = "sim:tiny-test"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def planned(name: str, drive: str, **options: Any) -> SuitePlan:
    several = suite_order(name, drive, (), quick=True, **options)
    assert several is not None
    return plan_suite(several)


def told(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == status
    return json.loads(capsys.readouterr().out)  # of two documents it makes none


def test_sums_are_those_of_the_parts_and_both_clocks_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "plan", "client-review", SIMULATED, "--quick")
    parts = [part for part in found["parts"] if part["left_out"] is None]
    for key in ("seconds", "bytes_written"):
        ends = [sum(part[key][end] for part in parts) for end in (0, 1)]
        assert found[key] == pytest.approx(ends)
    longest = [max(part["real_seconds"][end] for part in parts) for end in (0, 1)]
    total_s = sum(part["real_seconds"][1] for part in parts)
    lower, upper = found["real_seconds"]
    assert longest[0] <= lower and longest[1] <= upper <= total_s
    for part in parts:
        assert sum(line["steps"] for line in part["lines"]) <= part["steps"]
        assert len(part["lines"]) <= part["steps"]
    assert main(["plan", "client-review", SIMULATED, "--quick"]) == 0
    printed = capsys.readouterr().out
    headings, *rows = printed.splitlines()
    assert "drive time" in headings and "real time" in headings
    (real,) = (line for line in printed.splitlines() if line.startswith("real time"))
    at_once = processes()
    assert real.endswith(f", {at_once} parts at a time") == (at_once > 1), "the sum is less than the parts'"
    assert [row.split()[0] for row in rows[: len(found["parts"])]] == [p["part"] for p in found["parts"]]
    assert "based on" in printed and "endurance" in printed


def test_a_plan_says_how_much_of_its_upper_bound_is_writing_to_steady_state(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A range from minutes to days was told, and not that its end is of a drive that never gets there."""
    says = "preconditioning  at most {}, stops when steady"
    assert main(["plan", "steady-random-write", "sim:c916,scale=64"]) == 0
    assert says.format("24 h 00 min") in capsys.readouterr().out
    assert main(["plan", "enterprise-review", "sim:c916,scale=64"]) == 0
    assert says.format("120 h 00 min") in capsys.readouterr().out
    assert main(["plan", "peak-random-read", "sim:c916,scale=64"]) == 0
    assert "preconditioning" not in capsys.readouterr().out


def test_a_state_that_is_made_once_counts_once() -> None:
    """The lower bound of real time: less than an even share of what the parts need alone."""
    plan = planned("enterprise-review", SIMULATED)
    group = next(each for each in groups(plan.children, SHARED_BY_FORK) if shared_steps(each))
    work = sum(each.real_seconds.lower for each in plan.plans)
    first = group[0].plan
    assert first is not None
    made_s = sum(step.simulating.lower for step in first.steps[: shared_steps(group)])
    made_s += first.preparation.lower
    longest_s = max(each.real_seconds.lower for each in plan.plans)
    again = sum(len(each) - 1 for each in groups(plan.children, SHARED_BY_FORK) if shared_steps(each))
    assert made_s > 0 and again > 0
    assert plan.at_once in (1, 2)
    if plan.at_once == 2:
        assert plan.real_seconds.lower == pytest.approx(max(longest_s, (work - again * made_s) / 2), rel=0.3)


def test_a_drive_whose_state_is_kept_does_one_part_after_another(tmp_path: Path) -> None:
    plan = planned("quick-look", f"sim:tiny-test,state={tmp_path / 'drive.state'}")
    assert plan.at_once == 1
    assert plan.real_seconds.upper == pytest.approx(sum(each.real_seconds.upper for each in plan.plans))


def test_a_file_that_has_to_be_made_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new.img"
    words = ("plan", "quick-look", str(file), "--size", "64MiB")
    found = told(capsys, *words)
    assert found["layout"]["bytes"] == 64 << 20 and found["seconds"] == found["real_seconds"]
    parts = sum(part["bytes_written"][0] for part in found["parts"] if part["bytes_written"])
    assert found["bytes_written"][0] == parts + (64 << 20)
    assert main(list(words)) == 0
    printed = capsys.readouterr().out
    assert "real time" not in printed and "67.1 MB, create and fill the file" in printed
    assert not file.exists()


def test_what_a_dry_run_says_as_json_is_one_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the refusal in it, and its exit status: of a run, of a suite, of a job."""
    foreign = tmp_path / "foreign.img"
    foreign.write_bytes(bytes(1 << 20))
    job = tmp_path / "job.toml"
    job.write_text('[[step]]\ndo = "fill"\n')
    for words in (
        ("run", "whole-drive-fill", str(foreign)),
        ("run", "quick-look", str(foreign)),
        ("run", "qd1", str(foreign), "--repeat", "2"),
        ("job", str(job), str(foreign)),
    ):
        found = told(capsys, *words, "--dry-run", status=Refused.exit_status)
        assert found["schema"] == "ssdlab.plan/1"
        assert found["objection"]["facts"]["target"] == str(foreign)
    told(capsys, "run", "quick-look", SIMULATED, "--dry-run")
