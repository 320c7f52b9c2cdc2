"""Consistency: the stretches on numbers known beforehand, and spare area on a simulated drive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from methods.on_simulated import run
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.drives.spare import Spare
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import RunData, RunFacts
from ssdlab.lab.outcome import read_result
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs.steps import Request
from ssdlab.methods.consistency import procedure as consistency
from ssdlab.methods.consistency.result import ConsistencyEntry, ConsistencyResult, findings, stretch
from ssdlab.results.claim import sentence
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Warned
from ssdlab.runs.plan import Recorder


def test_a_stretch_holds_the_rows_that_end_in_it() -> None:
    ends_s = np.arange(1.0, 11.0)
    found = stretch(ends_s, np.array([9.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0]), 5.0, 10.0)
    assert found is not None
    assert (found.rows, found.floor, found.mean) == (5, 1.0, 3.0)
    assert found.deviation == pytest.approx(np.std([1, 2, 3, 4, 5], ddof=1))
    assert found.evenness == pytest.approx(3.0 / found.deviation)
    assert stretch(ends_s, ends_s, 10.0, 20.0) is None
    level = stretch(ends_s, np.full(10, 7.0), 0.0, 10.0)
    assert level is not None
    assert level.evenness is None


def entry_of(
    iops: list[float], capacities: float, *, hot: bool = False, began_c: float | None = None
) -> ConsistencyEntry:
    """Of a run whose rows of a second have these rates, over a drive that they write over so often."""
    second = 10**9
    ends_ns = np.arange(1, len(iops) + 1) * second
    rows = {
        "start_ns": ends_ns - second,
        "end_ns": ends_ns,
        "ios": np.array(iops),
        "bytes": np.array(iops) * 4096,
        "partial": np.zeros(len(iops), dtype=bool),
    }
    capacity = round(sum(iops) * 4096 / capacities) // 4096 * 4096
    workload = closed_loop("random", "write", block_bytes=4096, in_flight=32, seconds=len(iops))
    summary: Any = {"iops": 1.0, "mb_s": 1.0, "write": {"bytes": round(sum(iops)) * 4096}}
    args = {"workload": workload.model_dump(mode="json")}
    heat = (Warned(code="throttled", what="for heat", advice="cool it"),) if hot else ()
    step = Step(3, 1, "run", "stock", args, StepResult(seconds=1.0, measurement=summary, warnings=heat))
    return ConsistencyEntry.of("stock", step, rows, capacity, 1.0, began_c=began_c)


def test_no_steady_state_is_dated_before_one_span_was_written() -> None:
    even = entry_of([100.0] * 20, 1.5)
    assert even.steady_from_s == pytest.approx(14.0, abs=0.01), "20 s write 1.5 spans"
    assert even.rounds_after == 6
    short = entry_of([100.0] * 20, 1.2)
    assert (short.rounds_after, short.steady_from_s, short.judged) == (3, None, False)
    said = sentence(next(findings(ConsistencyResult.model_construct(entries=(short,)))))
    assert "not assessed: too few rounds" in said


def test_a_throttled_drive_is_not_called_steady() -> None:
    hot = entry_of([100.0] * 20, 2.0, hot=True)
    result = ConsistencyResult.model_construct(entries=(hot,))
    said = sentence(next(findings(result)))
    assert "not assessed: throttled" in said
    assert [each.codes for each in hot.headlines] == [("state-unproven",)]


def test_a_run_that_began_warmer_says_so() -> None:
    cool, warm = entry_of([100.0] * 20, 2.0, began_c=40.0), entry_of([100.0] * 20, 2.0, began_c=55.0)
    (_, _, said, *_) = map(sentence, findings(ConsistencyResult.model_construct(entries=(cool, warm))))
    assert said.startswith("Stock started at 55.0 °C, stock at 40.0 °C")
    assert len([*findings(ConsistencyResult.model_construct(entries=(cool, cool)))]) == 3


def test_efficiency_and_power_bear_the_state_too() -> None:
    one = entry_of([100.0] * 20, 0.5).model_copy(update={"mean_w": 2.0, "asked_pct": 2})
    other = entry_of([100.0] * 20, 2.0).model_copy(update={"mean_w": 2.0, "asked_pct": 25})
    assert {each.name: each.state for entry in (one, other) for each in entry.headlines} == {
        "consistency_spare_2_iops": "state unproven",
        "consistency_spare_2_kiops_per_w": "state unproven",
        "consistency_spare_2_w": "state unproven",
        "consistency_spare_25_iops": "",
        "consistency_spare_25_kiops_per_w": "",
        "consistency_spare_25_w": "",
    }


def test_what_falls_later_was_not_steady_and_little_writing_is_not_judged() -> None:
    assert entry_of([100.0] * 20, 2.0).steady_from_s == 10
    fell = entry_of([100.0] * 20 + [20.0] * 20, 2.0)
    assert fell.steady_from_s == 20, "and not from 0 s on"
    little = entry_of([100.0] * 20, 0.5)
    assert little.steady_from_s is None
    assert not little.judged
    said = [sentence(claim) for claim in findings(ConsistencyResult.model_construct(entries=(little, fell)))]
    assert "not assessed: only 0.500 drive writes" in said[0]
    assert "steady from 20.0 s on" in said[1]
    assert "in all 20.0 s" in said[0], "the length that was measured, and it is all of the run"
    assert "in the last 20.0 s" in said[1], "from where it was steady"
    (ranked,) = little.headlines
    assert ranked.label == "stock, all 20 s"
    assert ranked.unfit("ranking")


@pytest.mark.long
def test_more_spare_area_makes_it_faster_and_both_runs_begin_fresh(tmp_path: Path) -> None:
    folder = run("consistency", tmp_path, seconds="60", round_seconds="2")
    result = read_result(folder)
    assert isinstance(result, ConsistencyResult)
    assert result.purged
    stock, spare = result.entries
    assert (stock.name, spare.name) == ("stock", "25 % spare")
    raw_bytes = check_profile("tiny-test", scale=4)["raw_bytes"]
    assert spare.usable_bytes == pytest.approx(0.75 * raw_bytes, rel=0.001)
    assert spare.spare_of_raw == pytest.approx(0.25, abs=0.001)
    assert not [each for each in folder.manifest.departures if each.code.startswith("spare")]
    last = {
        entry.name: entry.stretches[-1 if entry.steady_from_s is None else -2] for entry in result.entries
    }
    assert last[spare.name].mean > 1.5 * last[stock.name].mean
    assert stock.write_amplification is not None
    assert spare.write_amplification is not None
    assert spare.write_amplification < stock.write_amplification
    for entry in result.entries:
        whole = entry.stretches[0]
        assert whole.rows == 60
        assert whole.floor <= whole.p1 <= whole.mean
    assert [step.verb for step in folder.steps()] == [
        *("conditions", "find"),
        *("purge", "limit", "fill", "run") * 2,
    ]


GIB = 1 << 30


@pytest.mark.parametrize(
    ("raw_bytes", "limits", "codes"),
    [
        (256 * GIB, [240 * GIB, 192 * GIB], []),
        (None, [240 * GIB, 180 * GIB], ["spare-of-user-capacity"]),
        (360 * GIB, [240 * GIB], ["spare-left-out"]),
    ],
)
def test_a_quarter_is_of_raw_flash_or_said_to_be_of_the_capacity(
    raw_bytes: int | None, limits: list[int], codes: list[str]
) -> None:
    """The review's drive: 192 of 256 GiB; nothing is guessed where no record says how much flash there is."""
    done: list[Step] = []

    class Kept(Recorder):
        def perform(self, request: Request) -> Step:
            step = super().perform(request)
            measured = {"iops": 1.0} if step.verb == "run" else None
            done.append(replace(step, result=StepResult(seconds=1.0, measurement=measured)))
            return done[-1]

    lab = Lab(
        Kept(),
        capacity_bytes=240 * GIB,
        logical_block_bytes=512,
        spare_of=lambda: Spare(None, "drive record", raw_bytes=raw_bytes),
    )
    p = consistency.ConsistencyParams()
    consistency.procedure(lab, p)
    assert [step.args["usable_bytes"] for step in done if step.verb == "limit"] == limits
    facts: Any = RunFacts(None, RunData(tuple(done), 240 * GIB, 512), (), None)  # type: ignore[arg-type]
    assert [each.code for each in consistency.remarks(facts, p).departures] == codes
