"""What a step shows beside its figures, and what of that stands with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ssdlab.lab.kinds import PointsResult
from ssdlab.model.host_load import HostLoad
from ssdlab.model.telemetry import Mark, StepTelemetry
from ssdlab.results.evidence import HIDDEN, evidence_of, qualified, unprepared
from ssdlab.results.metric import Metric
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Warned


def step(ordinal: int, verb: str, failed: int = 0, mark: str = "", busy: float | None = None) -> Step:
    side = {"ios": 100, "failed": failed}
    marks = (Mark(code=mark, at_ns=0, what=mark),) if mark else ()
    told = StepTelemetry(sources=("x",), samples=0, began_ns=0, ended_ns=1, marks=marks)
    host = HostLoad(cores=2, threads=8, cpu_busy_share=busy, run_queue_delay_share=0.0)
    result = StepResult(seconds=1.0, measurement={"write": side}, telemetry=told, host=host)
    return Step(ordinal, 1, verb, f"{verb} {ordinal}", {}, result)


def codes(steps: list[Step], *of: int, among: tuple[int, ...] = ()) -> tuple[str, ...]:
    """What stands with a figure of these steps."""
    figure = Metric.more("x_iops", "x", 1.0, "IOPS", steps=of, chosen_among=among)
    return qualified(PointsResult(quick=False, points=(), scalars=(figure,)), steps).scalars[0].codes


@pytest.mark.parametrize("code", sorted(HIDDEN))
def test_what_the_kernel_or_the_drive_repaired_is_a_fault(code: str) -> None:
    found = evidence_of(step(0, "run", mark=code)).faults
    assert found is not None and found.failed == 0 and code in found.words


@pytest.mark.parametrize("code", ["kernel-log", "throttled", "worn-out", ""])
def test_other_marks_are_none(code: str) -> None:
    assert evidence_of(step(0, "run", mark=code)).faults is None


def test_what_failed_in_an_earlier_attempt_counts() -> None:
    earlier = step(0, "fill")
    earlier.result.facts["failed"] = 2
    found = evidence_of(earlier).faults
    assert found is not None and found.failed == 2


def test_a_failed_fill_proves_nothing_until_the_drive_is_purged() -> None:
    steps = [step(0, "fill", 1), step(1, "run"), step(2, "purge"), step(3, "fill"), step(4, "run")]
    assert [codes(steps, at) for at in (0, 1, 4)] == [("failed-io",), ("state-unproven",), ()]
    assert codes(steps, 1, 4) == ("state-unproven",)
    assert unprepared(steps, 1) and not unprepared(steps, 4)


def test_all_that_is_the_matter_is_kept_the_gravest_first() -> None:
    steps = [step(0, "fill", 1), step(1, "run", busy=0.99), step(2, "run", 1)]
    assert codes(steps, 1, 2) == ("failed-io", "state-unproven", "host-limited")


def test_what_a_choice_was_made_among_counts_as_what_the_figure_is_of() -> None:
    cool = step(3, "run")
    warned = {"warnings": (Warned(code="throttled", what="hot"),)}
    hot = replace(cool, result=cool.result.model_copy(update=warned))
    steps = [step(0, "run", busy=0.99), step(1, "run"), step(2, "run", 1), hot]
    assert codes(steps, 1) == ()
    assert codes(steps, 1, among=(0, 1)) == ("host-limited",)
    assert codes(steps, 1, among=(1, 2)) == ("failed-io",)
    assert codes(steps, 1, among=(3,)) == ("throttled",)


def test_preparation_is_of_no_figure_that_names_no_steps_and_the_busiest_step_says_why() -> None:
    steps = [
        step(0, "fill", busy=1.0),
        step(1, "run", busy=0.1),
        step(2, "run", busy=0.95),
        step(3, "run", busy=0.99),
    ]
    figure = Metric.more("x_iops", "x", 1.0, "IOPS")
    (found,) = qualified(PointsResult(quick=False, points=(), scalars=(figure,)), steps).scalars
    (hosted,) = found.qualifiers
    assert (hosted.code, hosted.steps) == ("host-limited", (2, 3)) and "99.0 %" in hosted.why
