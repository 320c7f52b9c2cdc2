"""Warnings are counted and placed by the steps that they are of, not by their wordings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ssdlab.lab.outcome import warned_of, warnings_of
from ssdlab.results.records import EndRecord, StepResult
from ssdlab.results.remarks import label_in_job, warned_steps
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Warned

HOT, HOTTER = ("throttled itself: 70.1 °C", "throttled itself: 70.2 °C")


def step(ordinal: int, *said: tuple[str, str]) -> Step:
    warned = tuple(Warned(code=code, what=what, ordinal=ordinal) for code, what in said)
    result = StepResult(seconds=1.0, measurement={}, warnings=warned)
    return Step(ordinal, 1, "run", f"depth {ordinal}", {}, result)


def test_steps_that_say_the_same_are_counted_each() -> None:
    steps = [step(n, ("throttled", HOT if n < 11 else HOTTER)) for n in range(12)]
    warned = warnings_of(steps)
    assert [each.ordinal for each in warned] == [None, 11]  # eleven alike are held once
    (found,) = warned_steps(warned, steps)
    assert [each.ordinal for each in found.steps] == list(range(12))
    assert found.where == "in 12 of 12 measured steps"


def test_a_warning_of_some_steps_names_them_and_is_not_of_the_whole_run() -> None:
    few = ("few-samples", "only 962 read I/Os were done")
    steps = [step(0), step(1, few), step(2), step(3, few)]
    (found,) = warned_steps(warnings_of(steps), steps)
    assert found.where == "in 2 of 4 measured steps: step 2, depth 1; step 4, depth 3"
    assert found.worded[0].place == "step 2, depth 1; step 4, depth 3"


def test_a_step_with_two_of_a_kind_counts_once() -> None:
    steps = [step(0), step(1, ("few-samples", "only 9 read"), ("few-samples", "only 8 write"))]
    (found,) = warned_steps(warnings_of(steps), steps)
    assert found.share == "in 1 of 2 measured steps"


def test_what_one_step_says_twice_is_told_with_both_figures_and_of_no_other_place() -> None:
    steps = [step(0), step(1, ("few-samples", "only 9 read"), ("few-samples", "only 8 write"))]
    (found,) = warned_steps(warnings_of(steps), steps)
    assert found.line == "only 9 read; only 8 write (in 1 of 2 measured steps: step 2, depth 1)"
    (whole,) = warned_steps([Warned(code="left", what="one left"), Warned(code="left", what="two left")], [])
    assert whole.line == "one left; two left"


def test_of_many_steps_the_first_are_named() -> None:
    steps = [step(n, *([("late", "late")] if n else [])) for n in range(6)]
    (found,) = warned_steps(warnings_of(steps), steps)
    assert found.where.endswith("step 4, depth 3; and 2 more")


def test_a_step_keeps_its_own_number_only_where_its_job_gave_it_one() -> None:
    labels = (label_in_job(1, "fill"), "step load up to 90 %", "step 2")
    said = Warned(code="late", what="late")
    steps = [
        Step(n, 1, "run", label, {}, StepResult(seconds=1.0, measurement={}, warnings=(said,)))
        for n, label in enumerate(labels, start=1)
    ]
    (found,) = warned_steps([said], [step(0), *steps])
    assert found.worded[0].place == ("step 1 of the job: fill; step 3, step load up to 90 %; step 4, step 2")


def test_what_no_step_said_is_of_the_whole_run() -> None:
    (found,) = warned_steps([Warned(code="settings-left", what="left")], [step(0)])
    assert (found.share, found.where, found.worded[0].place) == ("", "", "whole run")


def test_a_line_gives_the_figures_of_one_step_as_those_of_that_step() -> None:
    own = [step(n, ("late", f"{n} I/Os were late")) for n in (1, 2, 3)]
    (found,) = warned_steps(warnings_of(own), own)
    assert found.line == "1 I/Os were late (at step 2, depth 1; similar in 3 of 3 measured steps)"
    same = [step(n, ("governor", "powersave")) for n in (1, 2)]
    (found,) = warned_steps(warnings_of(same), same)
    assert found.line == "powersave (in 2 of 2 measured steps)"


def test_an_unfinished_run_warns_of_the_steps_that_count() -> None:
    """Its manifest is of its last orderly end: a step was voided since, and done again with other figures."""
    voided, again = step(0, ("depth", "76.3 were in flight")), step(0, ("depth", "64.6 were in flight"))
    left = Warned(code="settings-left", what="left")
    stale = SimpleNamespace(status="interrupted", warnings=(*warnings_of([voided]), left))
    ends = [
        EndRecord(ordinal=0, attempt=number, at="", result=each.result)
        for number, each in enumerate((voided, again), 1)
    ]
    run: Any = SimpleNamespace(manifest=stale, journal=lambda: ends, steps=lambda: [again])
    assert [each.what for each in warned_of(run)] == ["64.6 were in flight", "left"]
    stale.status = "finished"
    assert warned_of(run) == stale.warnings
