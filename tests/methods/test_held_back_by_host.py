"""Where the host was the limit of what a state is judged by, steady state is neither claimed nor denied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from methods.on_simulated import SMALL, run
from pts.scripted import Scripted, round_of
from ssdlab.cli import main
from ssdlab.lab.method import RunData
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.steady import checks_of
from ssdlab.lab.presented.steady import check_claim
from ssdlab.methods.pts.iops import PtsIopsParams, conclude, procedure
from ssdlab.model.host_load import HostLoad
from ssdlab.results import evidence
from ssdlab.results.claim import sentence
from ssdlab.results.drive_states import moved
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Attribution

BUSY = HostLoad(cores=2, threads=8, cpu_busy_share=0.99, run_queue_delay_share=0.0)
WHY = "the CPUs were 99.0 % busy"
STEADY = {"round_seconds": "0.5", "least_seconds": "1", "most_seconds": "120"}
VERDICTS = (
    "n steady state after",
    "was not reached",
    "steady from",
    "no steady state found",
    "steady in rounds",
    "ended by steady state",
    "NOT ACHIEVED",
    "state moved",
)
"""What is said of a drive's state where it could be judged."""


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("steady-random-write", {**STEADY, "depths": "1,8", "seconds": "1"}),
        ("steady-sequential-write", {**STEADY, "depths": "1,8", "seconds": "1"}),
        ("mixed-random", {**STEADY, "seconds": "0.5", "ramp_seconds": "0"}),
        ("qd1", {**STEADY, "seconds": "1", "size_seconds": "0.2", "ramp_seconds": "0", "sizes": "4k"}),
        ("consistency", {"seconds": "300", "round_seconds": "10", "spares": "0"}),
        ("pts-throughput", {"seconds": "1", "overwrites": "1"}),
        ("pts-write-saturation", {"seconds": "0.5", "cycle": "2", "histogram_seconds": "1"}),
    ],
)
@pytest.mark.usefixtures("wide")
@pytest.mark.long
def test_no_verdict_on_steady_state_is_given(
    name: str,
    settings: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drive_was_it = run(name, tmp_path / "drive", SMALL, **settings)
    monkeypatch.setattr(evidence, "attribute", lambda load: Attribution(limit="host", reasons=(WHY,)))
    host_was_it = run(name, tmp_path / "host", SMALL, **settings)
    capsys.readouterr()
    said = {}
    for folder in (drive_was_it, host_was_it):
        assert main(["show", str(folder.path), "--all"]) == 0
        said[folder] = capsys.readouterr().out
    assert any(each in said[drive_was_it] for each in VERDICTS), "the scene is of a verdict"
    assert [each for each in VERDICTS if each in said[host_was_it]] == []
    assert "not assessed" in said[host_was_it] and WHY in said[host_was_it]
    result = read_result(host_was_it)
    writes = [each for each in result.scalars if "read" not in each.name]
    assert all(each.qualifiers for each in writes), "a headline without its mark"


def test_rounds_that_the_host_limited_are_no_proof_either_way() -> None:
    """What is not tracked decides nothing, and so its steps do not count."""
    for host_in, steady, verdict in (
        ("5/95 8 KiB", True, "achieved"),
        ("0/100 4 KiB", False, "not assessed: host-limited"),
    ):
        scripted = Scripted(lambda label: 1000.0 + round_of(label))
        procedure(scripted.lab(), PtsIopsParams())
        scripted.steps = [
            replace(step, result=step.result.model_copy(update={"host": BUSY}))
            if step.label == f"round 3, {host_in}"
            else step
            for step in scripted.steps
        ]
        (group,) = conclude(scripted.data(), PtsIopsParams()).groups
        assert (group.steady, group.verdict) == (steady, verdict)
    (doubt,) = group.doubts
    assert doubt.code == "host-limited"
    assert doubt.why.startswith("in 1 of 15 tracked steps, first round 3, 0/100 4 KiB: the CPUs were 99.0 %")


@pytest.mark.parametrize("by_host", [False, True])
def test_a_point_taken_again_on_a_loaded_host_says_nothing_of_the_drive(by_host: bool) -> None:
    figures = {"depth 1": 100.0, "depth 8": 40.0, "depth 1 again": 30.0}
    steps = tuple(
        Step(
            at,
            1,
            "run",
            label,
            {},
            StepResult(
                seconds=1.0, measurement={"iops": iops}, host=BUSY if by_host and "again" in label else None
            ),
        )
        for at, (label, iops) in enumerate(figures.items())
    )
    (check,) = checks_of(RunData(steps, 1, 1), [["depth 1", "depth 8"]], "IOPS")
    assert not check.held
    (mark,) = moved([check])
    assert ("host-limited" in sentence(check_claim(check))) is by_host
    assert mark.code == ("state-unproven" if by_host else "state-moved")
