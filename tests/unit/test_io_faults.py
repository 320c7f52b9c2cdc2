"""What is said of steps by the I/O that failed in them, or in what prepared the drive for them."""

from __future__ import annotations

import pytest

from ssdlab.model.telemetry import Mark, StepTelemetry
from ssdlab.results.io_faults import HIDDEN, faulty_state, faulty_states, io_faults, unprepared
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step


def step(ordinal: int, verb: str, failed: int = 0, mark: str = "") -> Step:
    side = {"ios": 100, "failed": failed}
    marks = (Mark(code=mark, at_ns=0, what=mark),) if mark else ()
    told = StepTelemetry(sources=("x",), samples=0, began_ns=0, ended_ns=1, marks=marks)
    result = StepResult(seconds=1.0, measurement={"write": side}, telemetry=told)
    return Step(ordinal, 1, verb, f"{verb} {ordinal}", {}, result)


@pytest.mark.parametrize("code", sorted(HIDDEN))
def test_what_the_kernel_or_the_drive_repaired_is_a_fault(code: str) -> None:
    found = io_faults(step(0, "run", mark=code))
    assert found is not None and found.failed == 0 and code in found.words


@pytest.mark.parametrize("code", ["kernel-log", "throttled", "worn-out", ""])
def test_other_marks_are_none(code: str) -> None:
    assert io_faults(step(0, "run", mark=code)) is None


def test_what_failed_in_an_earlier_attempt_counts() -> None:
    earlier = step(0, "fill")
    earlier.result.facts["failed"] = 2
    found = io_faults(earlier)
    assert found is not None and found.failed == 2


def test_a_failed_fill_proves_nothing_until_the_drive_is_purged() -> None:
    steps = [step(0, "fill", 1), step(1, "run"), step(2, "purge"), step(3, "fill"), step(4, "run")]
    assert faulty_states(steps) == {0: "failed I/O", 1: "state not shown", 2: "state not shown"}
    assert unprepared(steps, 1) and not unprepared(steps, 4)


def test_failed_io_goes_before_a_state_not_shown() -> None:
    states = {1: "state not shown", 2: "failed I/O"}
    assert [faulty_state(states, of) for of in ([0], [1], [1, 2])] == ["", "state not shown", "failed I/O"]
