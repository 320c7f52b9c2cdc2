"""Reads under writes on a simulated drive: rates that are held, latencies that rise, what saturates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from methods.on_simulated import run
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.methods.read_under_writes.result import (
    Course,
    ReadUnderWritesResult,
    backlog_grows,
    findings,
    saturation,
)
from ssdlab.methods.read_under_writes.result import cell_table as table_of
from ssdlab.model.summary import NO_SIDE
from ssdlab.model.units import NS_PER_S
from ssdlab.results.claim import sentence
from ssdlab.results.run_folder import RunFolder

BRIEF = {
    **{"round_seconds": "0.5", "least_seconds": "1", "most_seconds": "120", "seconds": "2"},
    **{"ramp_seconds": "0.2", "read_shares": "25,100", "write_shares": "0,50,95"},
}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return run("read-under-writes", tmp_path_factory.mktemp("library"), **BRIEF)


@pytest.fixture(scope="module")
def result(loaded: RunFolder) -> ReadUnderWritesResult:
    found = read_result(loaded)
    assert isinstance(found, ReadUnderWritesResult)
    return found


@pytest.mark.long
def test_the_map_is_taken_from_most_writes_to_none_in_one_state(loaded: RunFolder) -> None:
    measured = [step for step in loaded.steps() if step.result.measurement is not None]
    assert [step.label for step in measured][2:] == [
        *("alone writes", "alone reads"),
        *("reads 25 %, writes 95 %", "reads 100 %, writes 95 %"),
        *("reads 25 %, writes 50 %", "reads 100 %, writes 50 %"),
        *("reads 25 %, writes 0 %", "reads 100 %, writes 0 %"),
    ]
    before = {step.ordinal: step.verb for step in loaded.steps()}
    assert {before[step.ordinal - 1] for step in measured[2:]} == {"back"}


def test_rates_are_shares_of_what_was_measured_and_are_done(result: ReadUnderWritesResult) -> None:
    assert result.steady is not None and result.steady.reached
    for cell in result.cells:
        assert cell.read_rate == round(result.peak.iops * cell.read_pct / 100)
        assert cell.write_rate == round(result.steady_rate.iops * cell.write_pct / 100)
        if cell.held:  # arrivals of a Poisson process spread by their square root
            for rate, done in ((cell.read_rate, cell.read_iops), (cell.write_rate, cell.write_iops)):
                assert abs(done - rate) * 2 <= 5 * (rate * 2) ** 0.5 + 1


def test_reads_take_longer_beside_writes(result: ReadUnderWritesResult) -> None:
    alone, beside = result.cell(25, 0), result.cell(25, 50)
    assert alone is not None and beside is not None and alone.held and beside.held
    for key in ("mean", "p99"):
        assert alone.service_ns[key] < beside.service_ns[key]
        assert beside.service_ns[key] <= beside.response_ns[key]


def test_more_than_the_drive_can_do_is_saturated_and_has_no_latency(result: ReadUnderWritesResult) -> None:
    cell = result.cell(100, 95)
    assert cell is not None and not cell.held and cell.why
    assert not cell.service_ns and not cell.response_ns and not cell.write_response_ns
    row = next(row for row in table_of(result).rows if (row[0].value, row[1].value) == ("100", "95"))
    assert [each.value for each in row[4:9]] == [""] * 5
    assert row[-1].text == f"saturated: {cell.why}"
    assert any("saturated" in sentence(claim) for claim in findings(result))


def test_headlines_are_those_of_the_cell_that_comparisons_use(result: ReadUnderWritesResult) -> None:
    cell, alone = result.cell(25, 50), result.cell(25, 0)
    assert cell is not None and alone is not None
    figures = {each.name: each.value for each in result.scalars}
    assert figures["read_under_writes_mean_ns"] == cell.service_ns["mean"]
    assert figures["read_under_writes_p99_ns"] == cell.service_ns["p99"]
    assert figures["read_under_writes_p99_times"] == pytest.approx(
        cell.service_ns["p99"] / alone.service_ns["p99"]
    )


def test_a_saturated_headline_has_no_value(result: ReadUnderWritesResult) -> None:
    cells = tuple(
        each.model_copy(update={"held": False, "why": "the backlog grew", "service_ns": {}})
        for each in result.cells
    )
    worse = result.model_copy(update={"cells": cells})
    assert [each.value for each in worse.headlines()] == [None, None, None]
    said = [sentence(claim) for claim in findings(worse)]
    assert "Reads at 25 % with writes at 50 % saturate the drive: the backlog grew." in said
    assert any(each.startswith(f"{len(cells)} of {len(cells)} cells are saturated") for each in said)


def test_quick_claims_no_steady_state(tmp_path: Path) -> None:
    """Seconds of writes do not overwrite a drive; what they show may look steady all the same."""
    method = find_method("read-under-writes")
    quick = {name: str(each.quick) for name, each in ((e.name, e) for e in method.info().parameters)}
    brief = {name: quick[name] for name in ("overwrites", "least_seconds", "round_seconds", "seconds")}
    found = read_result(run("read-under-writes", tmp_path, **{**BRIEF, **brief, "most_seconds": "2"}))
    assert isinstance(found, ReadUnderWritesResult)
    assert not found.in_steady_state
    references = next(iter(findings(found)))
    assert "not shown to be steady" in sentence(references)


def test_a_growing_queue_is_told_from_a_long_one() -> None:
    random = np.random.default_rng(1)
    behind = 2e6 * np.arange(120) + random.exponential(5e6, 120)
    assert backlog_grows(list(behind))
    assert not backlog_grows(list(random.exponential(50e6, 120))), "long, and not growing"
    assert not backlog_grows(list(1e3 * np.arange(120))), "microseconds are the host's"
    assert not backlog_grows([1e9, 2e9, 3e9]), "too few rows to tell"
    assert not backlog_grows([1e9, 4e9, 4e9, 9e9]), "a quarter in which it stood still"
    for just, less in (([1e5, 4e5, 7e5, 1e6], 0.99e6), ([1e6, 2e6, 2.5e6, 3e6], 2.99e6)):
        assert backlog_grows(just), "a millisecond at the end, three times what it was at first"
        assert not backlog_grows([*just[:-1], less])


def rows(done_a_second: int, waits_ns: Sequence[float], ramp: int = 2) -> dict[str, np.ndarray]:
    """One-second rows of writes, the first of them ramp, and a part of one at the end."""
    count = len(waits_ns)
    start_ns = NS_PER_S * np.arange(count)
    return {
        "direction": np.array(["write"] * count),
        "ramp": np.arange(count) < ramp,
        "partial": np.arange(count) == count - 1,
        "start_ns": start_ns,
        "end_ns": start_ns + NS_PER_S,
        "ios": np.full(count, done_a_second),
        "service_p50_ns": np.full(count, 1e5),
        "response_p50_ns": 1e5 + np.asarray(waits_ns),
    }


def test_what_is_done_after_its_time_holds_no_rate() -> None:
    """A queue that was long at the beginning need not grow by much, and all that waits is done in the end."""
    side = NO_SIDE.model_copy(update={"ios": 300_000, "requested": 300_000})
    waits_ns = 1e8 * np.arange(2, 9)
    behind = Course.of(rows(54_000, waits_ns), "write", 60_000)
    assert not backlog_grows(behind.waits_ns) and len(behind.waits_ns) == 4
    assert behind.share_done == 0.9
    claim = saturation("write", side, behind, 1)
    assert claim is not None
    assert sentence(claim) == "Only 90.0 % of the writes that arrived were done in time."
    held = Course.of(rows(59_500, waits_ns), "write", 60_000)
    assert held.share_done == 1.0 and saturation("write", side, held, 1) is None
    few = Course.of(rows(90, waits_ns), "write", 100)
    assert few.share_done == 1.0, "of 400 random arrivals 40 may be missing"
    assert Course.of(rows(54_000, waits_ns, ramp=9), "write", 60_000).share_done == 1.0, "no row counts"


def test_a_stable_queue_is_hardly_ever_called_saturated() -> None:
    """Waits of a queue of one server at 90 % load, in rows of 1000 arrivals: false alarms under 2 %."""
    random, wrong = np.random.default_rng(7), 0
    for _ in range(300):
        gaps, services = random.exponential(1.0, 60_000), random.exponential(0.9, 60_000)
        steps = np.concatenate(([0.0], np.cumsum(services[:-1] - gaps[1:])))
        waits = steps - np.minimum.accumulate(steps)
        wrong += backlog_grows(list(1e6 * np.median(waits.reshape(60, 1000), axis=1)))
    assert wrong <= 6
