"""The write methods on a simulated drive, whose steady state follows from its flash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from methods.on_simulated import findings_of, run
from ssdlab import _core
from ssdlab.drives.simulated.drive import profile_text
from ssdlab.lab.outcome import read_result
from ssdlab.methods.mixed_random.result import MixedResult
from ssdlab.methods.qd1.result import Qd1Result
from ssdlab.methods.sweeps.result import PeakResult
from ssdlab.results.run_folder import RunFolder

BRIEF = {"round_seconds": "0.5", "least_seconds": "1", "most_seconds": "120", "depths": "1,8", "seconds": "4"}


def die_bound_iops(write_amplification: float) -> float:
    """4 KiB random writes a second that the dies can do: programs, erases, and reads of what is moved.

    Of a victim whose units are valid with probability v, a page of u units is read if any of them is, so a
    moved unit costs (1 - (1 - v)^u) / (u v) reads.
    """
    flash: dict[str, Any] = _core.check_profile(profile_text("tiny-test"))["profile"]["flash"]
    figure = {name: each["value"] for name, each in flash.items() if isinstance(each, dict)}
    dies = figure["channels"] * figure["dies_per_channel"]
    page_bytes = figure["planes"] * figure["page_kib"] * 1024
    word_line_bytes = page_bytes * figure["bits_per_cell"]
    block_bytes = page_bytes * figure["pages_per_block"]
    reads_us = figure["read_us"]
    read_s = sum(reads_us) / len(reads_us) / 1e6
    program_s, erase_s = figure["program_us"] / 1e6, figure["erase_ms"] / 1e3
    written_s = 4096 * (program_s / word_line_bytes + erase_s / block_bytes)
    valid, units = 1 - 1 / write_amplification, page_bytes // 4096
    reads_per_move = (1 - (1 - valid) ** units) / (units * valid)
    return dies / (write_amplification * written_s + (write_amplification - 1) * read_s * reads_per_move)


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run("steady-random-write", tmp_path_factory.mktemp("library"), **BRIEF)


def test_steady_state_is_proven_before_the_sweep(steady: RunFolder) -> None:
    result = read_result(steady)
    assert isinstance(result, PeakResult)
    proof = result.steady
    assert proof is not None
    assert proof.reached
    assert proof.capacities >= 2
    assert proof.seconds < 120, "it ends when it is steady, not at the bound"
    assert proof.first == len(proof.rounds_mb_s) - 5
    assert result.scalars and not any("state-unproven" in each.codes for each in result.scalars)
    assert [step.label for step in steady.steps()][-3:] == ["to steady state", "depth 1", "depth 8"]


def test_the_steady_rate_is_what_the_flash_can_do(steady: RunFolder) -> None:
    step = next(step for step in steady.steps() if step.label == "depth 8")
    summary: Any = step.result.measurement
    bound = die_bound_iops(summary["drive"]["write_amplification"])
    assert summary["iops"] == pytest.approx(bound, rel=0.05)


@pytest.mark.long
def test_a_time_bound_ends_what_is_never_steady_and_the_result_says_so(tmp_path: Path) -> None:
    brief = {**BRIEF, "most_seconds": "2"}
    result = read_result(run("steady-random-write", tmp_path, **brief))
    assert isinstance(result, PeakResult)
    assert result.steady is not None
    assert not result.steady.judged
    assert not result.steady.reached
    assert any("not assessed" in each for each in findings_of(result))
    assert {each.codes[0] for each in result.scalars} == {"state-unproven"}
    longer = read_result(run("steady-random-write", tmp_path, **{**brief, "most_seconds": "40"}))
    assert isinstance(longer, PeakResult)
    assert longer.steady is not None
    assert longer.steady.judged
    assert not longer.steady.reached, "two capacities are asked for, and were not written"
    assert any("NOT in steady state" in each for each in findings_of(longer))
    assert {each.codes[0] for each in longer.scalars} == {"state-unproven"}


def test_sequential_writes_are_prepared_sequentially(tmp_path: Path) -> None:
    folder = run("steady-sequential-write", tmp_path, **BRIEF)
    patterns = [
        step.args["workload"]["streams"][0]["pattern"]["kind"]  # type: ignore[index]
        for step in folder.steps()
        if step.result.measurement is not None
    ]
    assert set(patterns) == {"sequential"}
    assert isinstance(read_result(folder), PeakResult)
    assert read_result(folder).steady is not None
    assert read_result(folder).steady.reached


@pytest.mark.long
def test_mixes_go_from_reads_to_writes_and_give_no_latency(tmp_path: Path) -> None:
    settings = {name: value for name, value in BRIEF.items() if name != "depths"}
    result = read_result(run("mixed-random", tmp_path, **{**settings, "seconds": "2", "ramp_seconds": "0"}))
    assert isinstance(result, MixedResult)
    for depth in (32, 128):
        line = [point for point in result.points if point.depth == depth]
        assert [point.read_pct for point in line] == list(range(100, -1, -10))
        assert line[0].mb_s > 3 * line[-1].mb_s
        for point in line:
            assert point.read_mb_s + point.write_mb_s == pytest.approx(point.mb_s)
            assert point.read_mb_s / point.mb_s == pytest.approx(point.read_pct / 100, abs=0.01)
    assert [scalar.name for scalar in result.scalars] == [
        "mixed_random_qd32_mb_s",
        "mixed_random_qd128_mb_s",
    ]
    assert "latency" in result.latency_withheld
    assert not any("ns" in name for name in result.points[0].model_fields_set)


@pytest.mark.long
def test_writes_of_one_io_are_taken_in_steady_state(tmp_path: Path) -> None:
    settings = {name: value for name, value in BRIEF.items() if name != "depths"}
    brief = {**settings, "seconds": "2", "size_seconds": "0.2", "ramp_seconds": "0", "sizes": "4k"}
    steady = run("qd1", tmp_path, **brief)
    fresh = read_result(run("qd1", tmp_path, **brief, steady="false"))
    result = read_result(steady)
    assert isinstance(result, Qd1Result)
    assert isinstance(fresh, Qd1Result)
    assert [proof.reached for proof in result.steady] == [True, True]
    assert not any("state-unproven" in each.codes for each in result.scalars)
    assert fresh.steady == ()
    for each in fresh.scalars:
        assert ("state-unproven" in each.codes) is ("write" in each.name), each.name
    labels = [step.label for step in steady.steps() if step.result.measurement is not None]
    written = labels[labels.index("sequential to steady state") :]
    assert written == [
        "sequential to steady state",
        "sequential write",
        "sequential write 4 KiB",
        "random to steady state",
        "random write",
        "random write 4 KiB",
    ]
    random_writes = {name: found.corners[1].iops for name, found in (("steady", result), ("fresh", fresh))}
    assert random_writes["steady"] < 0.7 * random_writes["fresh"]
