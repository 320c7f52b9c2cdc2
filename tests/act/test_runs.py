"""ACT at one load on simulated drives: what it finds is what the drive is known to do another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import run
from ssdlab.lab.job import finished_steps
from ssdlab.lab.outcome import read_result
from ssdlab.methods.act.findings import findings
from ssdlab.methods.act.result import ActResult
from ssdlab.results.claim import sentence
from ssdlab.results.run_folder import RunFolder

FLAT = "sim:xpoint,scale=64"
"""A medium that is written in place: its limit does not depend on what was written before."""
SLOW = "sim:tiny-test,scale=4"


def result_of(folder: RunFolder) -> ActResult:
    result = read_result(folder)
    assert isinstance(result, ActResult)
    return result


def done(folder: RunFolder, label: str = "test") -> dict[str, int]:
    summary: Any = next(step for step in folder.steps() if step.label == label).result.measurement
    return {
        each["name"]: sum(each[side]["ios"] for side in ("read", "write") if each[side])
        for each in summary["streams"]
    }


@pytest.mark.long
def test_a_test_within_the_limits_passes_by_both_rules_and_asks_for_what_act_derives(tmp_path: Path) -> None:
    folder = run("act", tmp_path, FLAT, test_duration_sec="4", slice_sec="2", prepare="no", load="10")
    result = result_of(folder)
    assert result.held and result.completed and result.load == 10 and not result.undone
    assert [each.number for each in result.slices] == [1, 2]
    assert all(each.ios["6.x"] == pytest.approx(20_000 * 2, rel=0.01) for each in result.slices)
    assert all(set(each.given) == set(result.asked) and not each.short for each in result.slices)
    assert result.asked["service"] == 20_000
    assert result.derived["large-block-writes-per-sec"] == "235.29"
    assert done(folder)["service"] == 80_000
    assert done(folder)["large-block-writes"] == pytest.approx(235.29 * 4, abs=1)
    assert result.certified is None
    assert result.trial


@pytest.mark.long
def test_a_drive_that_is_too_slow_fails_with_the_limit_and_the_slice(tmp_path: Path) -> None:
    settings = {"test_duration_sec": "4", "slice_sec": "2", "load": "60", "record_bytes": "131072"}
    slow = result_of(run("act", tmp_path, SLOW, prepare="no", **settings))
    assert not slow.held and all(each.why for each in slow.verdicts)
    assert not any(held for each in slow.slices for held in each.passed.values())


def test_a_test_shorter_than_acts_lag_runs_to_its_end_however_late_it_is(tmp_path: Path) -> None:
    """ACT stops at 10 s behind; what a test of 3 s leaves undone is no reason, and fails by its rate."""
    settings = {"test_duration_sec": "3", "slice_sec": "3", "load": "60", "record_bytes": "131072"}
    result = result_of(run("act", tmp_path, SLOW, prepare="no", **settings))
    assert result.completed and not result.stopped and result.ran_s == 3.0
    assert result.undone > 0, "more was due than a second after the end was enough for"
    assert result.delivery is not None and result.delivery.delivered is False
    assert "of what was due" in result.delivery.why
    assert "of what was due" not in " ".join(each.why for each in result.verdicts), "no rule of ACT's says so"


def test_a_load_that_is_not_delivered_passes_acts_rules_and_fails_ours(tmp_path: Path) -> None:
    """More large writes than one thread does: no read is slow, and writes stay undone."""
    rates = {"read_reqs_per_sec": "50", "write_reqs_per_sec": "1500000"}
    settings = {"test_duration_sec": "3", "slice_sec": "3", **rates}
    result = result_of(run("act", tmp_path, FLAT, prepare="no", no_defrag_reads="yes", **settings))
    assert result.completed and all(each.passed for each in result.verdicts)
    assert result.passed is None, "of 3 s there is no verdict, whatever they held"
    assert result.delivery is not None and result.delivery.delivered is False
    assert result.held is False


@pytest.mark.long
def test_a_certification_ends_with_its_first_day_if_that_fails(tmp_path: Path) -> None:
    settings = {"test_duration_sec": "2", "slice_sec": "2", "load": "60", "record_bytes": "131072"}
    folder = run("act", tmp_path, SLOW, prepare="no", certify="yes", **settings)
    assert [step.label for step in folder.steps()][-2:] == ["test", "verdict of the first day"]
    result = result_of(folder)
    assert result.certified is False and result.stress_completed is None
    assert min(result.slices[0].given.values()) < 0.9


@pytest.mark.long
def test_a_test_ends_when_a_thread_is_too_late(tmp_path: Path) -> None:
    settings = {"slice_sec": "5", "prepare": "no", "load": "300", "read_reqs_per_sec": "30"}
    late = result_of(run("act", tmp_path, SLOW, test_duration_sec="40", max_lag_sec="3", **settings))
    assert not late.completed and late.ran_s < 25 and late.slices
    assert "more than 3 s (max-lag-sec) behind" in late.stopped and "max-lag-sec" in late.verdicts[0].why
    assert not late.judged and late.passed is None, "slices of 5 s are not ACT's"
    day = settings | {"slice_sec": "3600", "test_duration_sec": "7200"}
    ended = result_of(run("act", tmp_path, SLOW, max_lag_sec="3", **day))
    assert ended.judged and ended.passed is False, "ACT ends such a test itself, which is a verdict"
    told = [sentence(each) for each in findings(ended)][:2]
    assert all("FAILED by the rule" in each and "not judged" not in each for each in told)
    never = result_of(run("act", tmp_path, SLOW, test_duration_sec="6", max_lag_sec="0", **settings))
    assert never.completed and never.undone > 0


def test_a_test_of_2019_ends_when_its_queues_are_too_long(tmp_path: Path) -> None:
    settings = {"slice_sec": "5", "prepare": "no", "load": "10", "read_reqs_per_sec": "100000"}
    long = result_of(run("act", tmp_path, SLOW, test_duration_sec="5", arrivals="act2019", **settings))
    assert not long.completed and "more than 100,000 I/Os queued" in long.stopped


def test_preparation_is_zeroes_and_then_salt_over_the_whole_drive(tmp_path: Path) -> None:
    folder = run("act", tmp_path, SLOW, test_duration_sec="1", slice_sec="1")
    steps: list[Any] = [step for step in folder.steps() if step.verb == "precondition"]
    assert [step.label for step in steps] == ["zero", "salt"]
    shapes = [step.args["workload"]["streams"][0] for step in steps]
    assert [shape["compressible_pct"] for shape in shapes] == [100, 0]
    for step, shape in zip(steps, shapes, strict=True):
        assert shape["workers"] == 8 and shape["block"][0]["bytes"] == 131_072
        assert step.result.measurement["write"]["bytes"] == shape["span"]["length"]
        capacity = folder.manifest.drive.capacity_bytes
        assert capacity - shape["span"]["length"] < 1 << 20


@pytest.mark.long
def test_a_certificate_needs_the_stress_test_to_reach_its_end(tmp_path: Path) -> None:
    settings = {
        "test_duration_sec": "6",
        "slice_sec": "6",
        "prepare": "no",
        "certify": "yes",
        "max_lag_sec": "1",
    }
    held = result_of(run("act", tmp_path, FLAT, load="5", **settings))
    assert held.stress_completed and held.held and not held.certified, "6 s certify nothing"
    over = result_of(run("act", tmp_path, SLOW, load="40", **settings))
    assert all(each.passed for each in over.verdicts), "40x holds"
    assert over.stress_completed is False and over.held is False, "80x does not run to its end"
    assert "max-lag-sec" in over.stress_stopped


def test_less_than_a_slice_is_held_against_nothing(tmp_path: Path) -> None:
    """No share reached a limit, and none could have: neither kept nor failed."""
    result = result_of(run("act", tmp_path, FLAT, test_duration_sec="2", slice_sec="4", prepare="no"))
    assert not result.slices and not result.held
    assert [each.passed for each in result.verdicts] == [None, None]
    told = [sentence(each) for each in findings(result)][:2]
    assert all("was not compared with the limits" in each for each in told)
    assert all("the test is shorter than one slice" in each for each in told)


def test_writes_alone_give_no_verdict(tmp_path: Path) -> None:
    settings = {"test_duration_sec": "2", "slice_sec": "2", "prepare": "no", "read_reqs_per_sec": "0"}
    result = result_of(run("act", tmp_path, FLAT, **settings))
    assert not result.held and "no reads" in result.verdicts[0].why and result.load == 0


def test_small_writes_of_commit_to_device_share_the_service_threads(tmp_path: Path) -> None:
    settings = {"test_duration_sec": "4", "slice_sec": "2", "prepare": "no", "load": "10"}
    folder = run("act", tmp_path, FLAT, commit_to_device="yes", **settings)
    result = result_of(folder)
    assert result.held and result.asked["service"] == 30_000
    assert done(folder)["service"] == 120_000
    reads = sum(each.ios["2019"] for each in result.slices)
    assert reads == pytest.approx(80_000, rel=0.01), "the table counts the reads"
    points = finished_steps(folder).points  # what is shown of a run that was stopped
    assert {each.direction for each in points} >= {"read", "write"}


def test_the_index_test_counts_all_reads_by_6_and_the_lookups_by_2019(tmp_path: Path) -> None:
    folder = run("act-index", tmp_path, FLAT, test_duration_sec="4", slice_sec="2", prepare="no", load="2")
    result = result_of(folder)
    assert result.program == "act_index" and result.held and result.load == 2
    assert done(folder) == {"service": 24_000, "cache": 32_000}
    assert result.slices[0].rates["6.x"] == pytest.approx(6000 + 4000, rel=0.05)
    assert result.slices[0].rates["2019"] == pytest.approx(6000, rel=0.01)
    # A bundle is due all at once, so that most of its I/Os are late from due; lookups are not.
    assert result.slices[0].response["1"] < 0.05
    assert result.derived == {
        "service-thread-reads-per-sec": "6000",
        "cache-thread-reads-and-writes-per-sec": "4000",
    }


def test_cache_threads_that_fall_behind_end_the_index_test(tmp_path: Path) -> None:
    settings = {"test_duration_sec": "60", "slice_sec": "5", "load": "40", "max_lag_sec": "2"}
    settings["read_reqs_per_sec"] = "1"
    result = result_of(run("act-index", tmp_path, SLOW, prepare="no", **settings))
    assert not result.completed and "max-lag-sec" in result.stopped and result.ran_s < 30
