"""What any run must satisfy, whatever the drive did: counts, times, energy and figures against the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from methods.on_simulated import proofs_of, shorter_in
from methods.quick_runs import DRIVE, METHODS, QuickRun
from ssdlab.cli import main
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.outcome import read_result
from ssdlab.model.units import NS_PER_S
from ssdlab.results.remarks import label_of
from ssdlab.results.run_folder import RunFolder, Step

DIRECTIONS = ("read", "write", "trim")
PERCENTILES = ("min", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
TIMES = ("service_ns", "response_ns")


def measured(run: RunFolder) -> Iterator[tuple[Step, dict[str, Any]]]:
    for step in run.steps():
        if step.result.measurement is not None:
            yield step, step.result.measurement


def streams(summary: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each direction of each stream that did something: names, and what is said of it."""
    for stream in summary["streams"]:
        for direction in DIRECTIONS:
            if stream[direction]:
                yield stream["name"], direction, stream[direction]


@pytest.fixture(params=METHODS)
def run(request: pytest.FixtureRequest, quick_run: QuickRun) -> RunFolder:
    return quick_run(request.param)


def test_totals_are_the_sums_of_the_rows(run: RunFolder) -> None:
    for step, summary in measured(run):
        rows = run.rows(step.ordinal, step.attempt)
        for name, direction, told in streams(summary):
            own = (rows["stream"] == name) & (rows["direction"] == direction) & ~rows["ramp"]
            for count in ("ios", "bytes", "failed", "dropped"):
                assert int(rows[count][own].sum()) == told[count], (step.label, name, direction, count)
        for direction in DIRECTIONS:
            of_all = summary[direction] or {"ios": 0, "bytes": 0}
            parts = [told for _, each, told in streams(summary) if each == direction]
            for count in ("ios", "bytes"):
                assert sum(each[count] for each in parts) == of_all[count], (step.label, direction)


def outlasting(told: dict[str, Any], elapsed_s: float) -> float:
    """How many I/Os are counted that ended after the measured time, and are in no rate."""
    return float(told["ios"] - told["iops"] * elapsed_s)


def test_rates_are_counts_over_time(run: RunFolder) -> None:
    """What a closed loop had in flight at its end is counted; of a fixed rate, also what was due by then."""
    for step, summary in measured(run):
        for stream in summary["streams"]:
            for told in filter(None, (stream[direction] for direction in DIRECTIONS)):
                over = outlasting(told, stream["elapsed_s"])
                most = stream["in_flight_max"] if stream["requested_iops"] is None else told["ios"]
                assert -1e-6 <= over <= most + 1e-6, (step.label, stream["name"])
                assert told["mb_s"] * 1e6 * stream["elapsed_s"] <= told["bytes"] * (1 + 1e-9), step.label
        for rate in ("iops", "mb_s"):
            found = [summary[direction][rate] for direction in DIRECTIONS if summary[direction]]
            assert summary[rate] == pytest.approx(sum(found), rel=1e-9), step.label


def test_percentiles_are_in_order(run: RunFolder) -> None:
    for step, summary in measured(run):
        for name, direction, told in streams(summary):
            for kind in TIMES:
                found = [told[kind][each] for each in PERCENTILES if told[kind][each] is not None]
                assert found == sorted(found), (step.label, name, direction, kind)
                if found:
                    assert found[0] <= told[kind]["mean"] <= found[-1]
            for lower, upper in zip(*(told[kind].values() for kind in TIMES), strict=True):
                assert lower is None or lower <= upper, "a response holds the service"


def test_littles_law(run: RunFolder) -> None:
    """What is in flight is what arrives in a second times how long it stays (J. D. C. Little, 1961)."""
    for step, summary in measured(run):
        for stream in summary["streams"]:
            elapsed_s = stream["elapsed_s"]
            found = [stream[each] for each in DIRECTIONS if stream[each] and stream[each]["ios"]]
            if not found or stream["in_flight"] is None:
                continue
            assert stream["in_flight"] <= stream["in_flight_max"] + 1e-6
            if sum(outlasting(each, elapsed_s) for each in found) > stream["in_flight_max"]:
                continue  # a backlog that was worked off afterwards
            stay = sum(each["ios"] * each["service_ns"]["mean"] for each in found) / elapsed_s / NS_PER_S
            longest = max(each["service_ns"]["max"] for each in found)
            edges = stream["in_flight_max"] * longest / elapsed_s / NS_PER_S  # begun before, or not ended
            assert abs(stay - stream["in_flight"]) <= 0.005 * stay + edges, (step.label, stream["name"])


def test_rows_follow_each_other(run: RunFolder) -> None:
    for step, _ in measured(run):
        rows = run.rows(step.ordinal, step.attempt)
        for name, direction in set(zip(rows["stream"], rows["direction"], strict=True)):
            own = (rows["stream"] == name) & (rows["direction"] == direction)
            starts, ends = rows["start_ns"][own], rows["end_ns"][own]
            assert np.all(starts < ends) and np.all(starts[1:] == ends[:-1]), (step.label, name)
            assert not np.any(np.diff(rows["ramp"][own].astype(int)) > 0), "a ramp comes first"


def test_energy_is_power_times_time(run: RunFolder) -> None:
    for step, summary in measured(run):
        power = summary["power"]
        assert power["energy_j"] == pytest.approx(power["mean_w"] * summary["elapsed_s"], rel=1e-6), (
            step.label
        )


def test_figures_rest_on_steps_that_were_measured(run: RunFolder) -> None:
    result: Any = read_result(run)
    ordinals = {step.ordinal for step in run.steps()}
    assert result.scalars
    for figure in result.scalars:
        assert figure.steps and {*figure.steps, *figure.chosen_among} <= ordinals, figure.name
    for proof in proofs_of(result):
        assert proof.ordinal in ordinals


OF_A_STEP = {"IOPS": "iops", "MB/s": "mb_s"}
NOT_OF_A_MEAN = {
    *("consistency", "trim-validation", "rate-limit", "paced-burst", "trace"),
    *("pts-write-saturation", "pts-host-idle-recovery", "pts-cross-stimulus-recovery"),
}
"""Methods whose rates are of a part of a step, or what was asked for."""


def test_a_rate_of_one_step_is_what_that_step_did(run: RunFolder) -> None:
    if run.manifest.method.name in NOT_OF_A_MEAN:
        return
    result: Any = read_result(run)
    summaries = {step.ordinal: summary for step, summary in measured(run)}
    for figure in result.scalars:
        steps = figure.steps
        if len(steps) == 1 and figure.unit in OF_A_STEP and figure.value is not None:
            rate, summary = OF_A_STEP[figure.unit], summaries[steps[0]]
            of_parts = [summary[each][rate] for each in DIRECTIONS if summary[each]]
            assert figure.value in [pytest.approx(each) for each in (summary[rate], *of_parts)], figure.name


def test_the_journal_counts_each_step_once(run: RunFolder) -> None:
    ordinals = [step.ordinal for step in run.steps()]
    assert ordinals == list(range(len(ordinals)))
    assert run.manifest.status == "finished"


def test_show_says_what_the_run_stored(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run.path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["result"] == shown["manifest"]["result"] == run.manifest.result
    having: dict[str, list[str]] = {}
    for each in read_result(run).scalars:
        for code in each.codes:
            having.setdefault(code, []).append(each.name)
    assert {code: each["figures"] for code, each in shown["qualifiers"].items()} == having


def test_every_kind_of_result_is_among_them(quick_run: QuickRun) -> None:
    kinds = {(quick_run(name).manifest.result or {})["kind"] for name in METHODS}
    assert set(KINDS) - kinds == {"suite", "job", "measure", "imported"}


def test_what_a_quick_run_has_shorter_is_told_in_one(run: RunFolder) -> None:
    """A departure has the name of a parameter, what is gathered its label."""
    told = shorter_in(run)
    lengths = [each for each in run.manifest.method.parameters if each.unit == "s" and each.quick is not None]
    shorter = [each.name for each in lengths if float(str(each.quick)) < float(str(each.default))]
    assert len(told) == (1 if shorter else 0)
    for each in shorter:
        assert f"{label_of(each)} " in told[0] or f"{each.replace('_', ' ')}: " in told[0], each


@pytest.mark.parametrize("name", ["peak-random-read", "rate-limit", "paced-burst"])
def test_a_seed_gives_the_same_run(
    name: str, quick_run: QuickRun, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", name, DRIVE, "--quick", "--seed", "7", "--destroy", DRIVE]
    assert main([*words, "--library", str(tmp_path), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    (folder,) = tmp_path.glob("2*")
    first, second = quick_run(name), RunFolder(folder)
    for step, same in zip(first.steps(), second.steps(), strict=True):
        assert step.args == same.args
        mine, theirs = first.rows(step.ordinal, step.attempt), second.rows(same.ordinal, same.attempt)
        assert all(np.array_equal(mine[key], theirs[key]) for key in ("ios", "bytes", "service_max_ns"))
    values = [
        [each["value"] for each in told["scalars"]] for told in (first.manifest.result, again["result"])
    ]
    assert values[0] == values[1]
