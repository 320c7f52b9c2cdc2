"""A step in which ssdlab stood still: done again where that gives the same, else marked; both on record."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.fake_drive import FakeDrive, run_on
from ssdlab.analysis.saturation import saturation
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, param
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.methods.sweeps import depth_sweep
from ssdlab.model.summary import Pause
from ssdlab.results import tables
from ssdlab.results.evidence import evidence_of
from ssdlab.results.metric import Metric
from ssdlab.results.points import Point
from ssdlab.results.records import Step, StepResult
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import JobResult
from ssdlab.runs import runner


class Beats:
    """A heartbeat that saw what it was given: pauses that end now."""

    def __init__(self) -> None:
        self._seen: list[Pause] = []

    def stop(self, seconds: float) -> None:
        now, length = time.monotonic_ns(), round(seconds * 1e9)
        self._seen.append(Pause(start_ns=now - 1, end_ns=now, length_ns=length))

    def pauses(self) -> tuple[Pause, ...]:
        found, self._seen = tuple(self._seen), []
        return found


class SomeParams(Params):
    """None that matter."""

    seconds: float = param(1.0, "time")


FIGURE = Metric(name="iops", label="IOPS", value=1000.0, unit="IOPS", better="higher")

Stops = dict[int, float]
"""Number of the workload that the drive runs, from 1: seconds of the stop in it."""


@pytest.fixture
def run_stopped(tmp_path: Path) -> Callable[..., RunFolder]:
    """Runs a procedure on a drive while a process is stopped."""

    def go(procedure: Callable[[Lab, Any], None], stops: Stops) -> RunFolder:
        beats = Beats()
        drive = FakeDrive(before_run=lambda count: beats.stop(stops[count]) if count in stops else None)
        go.drive, go.beats = drive, beats
        conclude = lambda data, p: JobResult(quick=False, points=(), scalars=(FIGURE,))  # noqa: E731
        made = Method("some", 1, "Some", SomeParams, procedure, conclude)
        return RunFolder(run_on(drive, made, SomeParams(), tmp_path / "library", heartbeat=beats))

    return go


def load(rw: str = "read", seconds: float = 1.0):
    return closed_loop("random", rw, block_bytes=4096, in_flight=1, seconds=seconds)


def two(lab: Lab, p: SomeParams) -> None:
    lab.run(load(), label="first")
    lab.run(load(), label="second")


def state_of_figure(run: RunFolder) -> str | None:
    """That it is paused, or None: what else there is depends on the host that runs the test."""
    assert run.manifest.result is not None
    (scalar,) = run.manifest.result["scalars"]
    return "paused" if "paused" in [each["code"] for each in scalar.get("qualifiers", ())] else None


def test_a_step_that_was_stopped_is_done_again(run_stopped) -> None:
    run = run_stopped(two, {1: 2.0})
    assert [step.attempt for step in run.steps()] == [2, 1]
    assert [(each.ordinal, each.attempt) for each in run.voided()] == [(0, 1)]
    assert not any(step.result.pauses for step in run.steps())
    assert "paused" not in {each.code for each in run.manifest.warnings}
    assert state_of_figure(run) is None
    first, again, _ = run_stopped.drive.runs
    assert first == again, "the repeated attempt is another load"


def test_a_step_that_is_always_stopped_comes_to_an_end_and_is_marked(run_stopped) -> None:
    run = run_stopped(two, dict.fromkeys(range(1, 20), 0.3))
    assert [step.attempt for step in run.steps()] == [1 + runner._AGAIN] * 2
    assert state_of_figure(run) == "paused"
    warned = [each for each in run.manifest.warnings if each.code == "paused"]
    assert warned and all(step.result.pauses[0].length_ns == 300_000_000 for step in run.steps())


def test_a_long_step_is_not_done_again_unasked(run_stopped, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_AGAIN_S", 0.0)
    run = run_stopped(two, {2: 2.0})
    assert [step.attempt for step in run.steps()] == [1, 1] and state_of_figure(run) == "paused"


def test_no_figure_is_of_a_preparation(run_stopped) -> None:
    def filled(lab: Lab, p: SomeParams) -> None:
        lab.fill()
        two(lab, p)

    run = run_stopped(filled, {1: 5.0})
    assert [step.attempt for step in run.steps()] == [1, 1, 1]
    assert state_of_figure(run) is None
    assert [each.ordinal for each in run.manifest.warnings if each.code == "paused"] == [0]


def written(lab: Lab, p: SomeParams) -> None:
    lab.precondition(load("write"), label="writes")
    with lab.on_interruption("re-precondition"):
        lab.run(load("write"), label="measured")


@pytest.mark.parametrize(("seconds", "attempts"), [(0.3, 2), (2.0, 1)])
def test_where_the_state_counts_only_a_short_stop_lets_it_be_done_again(
    run_stopped, seconds: float, attempts: int
) -> None:
    run = run_stopped(written, {2: seconds})
    assert run.steps()[-1].attempt == attempts
    assert state_of_figure(run) == (None if attempts == 2 else "paused")


def test_what_follows_a_purge_cannot_be_repeated(run_stopped) -> None:
    def fresh(lab: Lab, p: SomeParams) -> None:
        with lab.on_interruption("from-purge"):
            lab.run(load("write"), label="measured")

    run = run_stopped(fresh, {1: 0.3})
    assert run.steps()[-1].attempt == 1 and state_of_figure(run) == "paused"


@pytest.mark.parametrize("policy", ["restart", "re-precondition"])
def test_what_follows_a_rest_cannot_be_repeated_without_it(run_stopped, policy: str) -> None:
    def burst(lab: Lab, p: SomeParams) -> None:
        lab.run(load("write"), label="writes")
        lab.idle(0.01)
        with lab.on_interruption(policy):
            lab.run(load("write"), label="burst")

    run = run_stopped(burst, {2: 0.3})
    assert run.steps()[-1].attempt == 1 and state_of_figure(run) == "paused"


@pytest.mark.parametrize(("policy", "state"), [("restart", None), ("re-precondition", "paused")])
def test_a_rest_that_a_stop_made_longer_is_in_what_follows_where_the_state_counts(
    run_stopped, policy: str, state: str | None
) -> None:
    def rested(lab: Lab, p: SomeParams) -> None:
        lab.run(load("write"), label="writes")
        lab.idle(0.01)
        run_stopped.beats.stop(20.0)
        with lab.on_interruption(policy):
            lab.run(load("write"), label="burst")

    run = run_stopped(rested, {})
    assert run.steps()[-1].attempt == 1 and state_of_figure(run) == state


def test_a_stop_within_a_rest_takes_nothing_from_it(run_stopped) -> None:
    def rested(lab: Lab, p: SomeParams) -> None:
        run_stopped.drive.idle = lambda seconds, on_look: (run_stopped.beats.stop(1.0), time.sleep(0.1))
        lab.idle(0.1)
        with lab.on_interruption("re-precondition"):
            lab.run(load("write"), label="burst")

    run = run_stopped(rested, {})
    rest, burst = run.steps()
    assert rest.result.pauses and not burst.result.pauses
    assert state_of_figure(run) is None


def sweep_step(ordinal: int, *pauses: Pause, seconds: float = 100.0, verb: str = "run") -> Step:
    measured = {"iops": 1000.0, "elapsed_s": seconds, "total_s": seconds, "started": {"monotonic_ns": 0}}
    result = StepResult(seconds=seconds, measurement=measured, pauses=pauses)
    return Step(ordinal, 1, verb, f"depth {1 << ordinal}", {}, result)


def at(second: float, seconds: float) -> Pause:
    return Pause(
        start_ns=round(second * 1e9), end_ns=round((second + seconds) * 1e9), length_ns=round(seconds * 1e9)
    )


def test_a_short_pause_is_no_matter_to_steady_state_and_a_long_one_is() -> None:
    assert evidence_of(sweep_step(0)).not_the_drive() == ""
    assert evidence_of(sweep_step(0, at(50, 0.9))).not_the_drive() == ""
    assert evidence_of(sweep_step(0, at(50, 1.1))).not_the_drive()
    assert evidence_of(sweep_step(0, at(20, 0.6), at(70, 0.6))).not_the_drive()


def test_of_a_long_writing_only_the_rounds_that_are_judged_count() -> None:
    assert evidence_of(sweep_step(0, at(10, 30))).not_the_drive(last_s=25) == ""
    assert evidence_of(sweep_step(0, at(80, 0.3))).not_the_drive(last_s=25)


def test_a_pause_at_a_depth_that_the_choice_of_a_sweep_rests_on_is_in_it() -> None:
    points = tuple(
        Point.model_construct(ordinal=each, spread_iops=None, workers=1, depth=1) for each in range(3)
    )
    curve = saturation((1, 2, 4), (96.0, 98.0, 100.0))
    found = depth_sweep._resting(FIGURE, points, curve, None, named_steady=False)
    assert found.steps == (0,) and found.chosen_among == (0, 1, 2)


def test_tables_of_earlier_versions_have_no_flag_and_are_read(tmp_path: Path) -> None:
    before = {name: kind for name, kind in tables.SERIES_COLUMNS.items() if name != "paused"}
    line = {name: np.zeros(2, dtype=tables.dtype(kind)) for name, kind in before.items()}
    line |= {
        "stream": np.array(["main"] * 2, dtype=object),
        "direction": np.array(["read"] * 2, dtype=object),
    }
    with HeldFolder(tmp_path, writing=True) as folder:
        tables.write(folder, tables.SERIES, line, before, "row")
        found = tables.read(folder, tables.SERIES, tables.SERIES_COLUMNS)
    assert found["paused"].dtype == bool and not found["paused"].any() and len(found["paused"]) == 2
