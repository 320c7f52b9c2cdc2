"""A drive that rested is another one: no window of steady state holds rounds of both sides of a cut.

The drive of these tests is let go and held again; what a real kill does is `test_killed`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import findings_of
from methods.on_simulated import run as run_simulated
from pts.interruptions import cost_of, mixed_rounds, rounds_of, voided_labels
from pts.resting import BRIEF, StopAt, interrupted_run
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.findings import rounds_since_cut
from ssdlab.methods.pts.result import DemandResult
from ssdlab.report import page, source
from ssdlab.report.sections.provenance import what_was_done
from ssdlab.results.run_folder import RunFolder

DEMAND = {"thread_counts": "1,2", "depths": "1,2", "seconds": "0.02", "cycle": "1", "most_samples": "5"}
DEMAND |= {"pre_write_seconds": "0.02", "settle_seconds": "0.02", "histogram_seconds": "0.05"}
SETTINGS = {
    "pts-iops": BRIEF,
    "pts-throughput": BRIEF,
    "pts-latency": {**BRIEF, "histogram_seconds": "0.05"},
    "pts-demand-intensity": DEMAND,
}
CELLS = {"pts-iops": 56, "pts-throughput": 2, "pts-latency": 9, "pts-demand-intensity": 1 + 4}


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run_of_cell(name: str, number: int, cell: int) -> int:
    """Return which run of the drive a cell of a round is: what prepares the rounds comes first."""
    return 1 + (number - 1) * CELLS[name] + cell


def stopped_in(library: Path, name: str, *runs: int, **settings: str) -> Path:
    return interrupted_run(library, name, StopAt(*runs), **{**SETTINGS[name], **settings})


@pytest.mark.parametrize("number", range(2, 9))
@pytest.mark.long
def test_cut_in_a_round_the_window_begins_anew(tmp_path: Path, number: int) -> None:
    """Ten rounds in any case; the second cell of one of them is stopped."""
    name = "pts-throughput"
    stop = run_of_cell(name, number, 2)
    folder = stopped_in(tmp_path, name, stop, fixed_rounds="true", most_rounds="10")
    assert mixed_rounds(folder) == []
    first = rounds_of(folder)[0]
    assert first.cuts == (number,) and first.first >= number and first.rounds == number - 1 + 10
    voided = " ".join(voided_labels(folder))
    assert f"round {number}, " in voided
    assert not any(f"round {other}, " in voided for other in range(1, 11) if other != number)


@pytest.mark.parametrize(
    "name", [each if each != "pts-iops" else pytest.param(each, marks=pytest.mark.slow) for each in SETTINGS]
)
@pytest.mark.long
def test_a_resume_costs_the_preparation_and_the_rounds_to_the_first_window(tmp_path: Path, name: str) -> None:
    """Stopped in round 4 of 5: the session after it needs five rounds at the least, and does no more.

    Five rounds are the most here, so that the number does not depend on how steady such short cells are.
    """
    stop = run_of_cell(name, 4, 2)
    folder = stopped_in(tmp_path, name, stop, fixed_rounds="true", most_rounds="5")
    (first, *others) = rounds_of(folder)
    assert (first.cuts, first.rounds, first.first, first.last) == ((4,), 8, 4, 8)
    assert mixed_rounds(folder) == []
    after = {"pts-latency": 1}.get(name, 5 * 2 * len(others))
    cells, prepared = cost_of(folder, 2)
    if name == "pts-demand-intensity":
        result = read_result(RunFolder(folder))
        assert isinstance(result, DemandResult)
        after = 2 * sum(point.missing is None for point in result.points)
    assert cells == 5 * CELLS[name] + after
    assert prepared <= 2 + 2 * len(others), "a purge and a preconditioning of each group"


def test_each_interruption_cuts(tmp_path: Path) -> None:
    """In round 3; then in the round after it; then in the fifth since, which would have ended the test."""
    after_second = run_of_cell("pts-throughput", 3, 1) + 1 + 2 + 1
    stops = (run_of_cell("pts-throughput", 3, 1), after_second, after_second + 1 + 10)
    folder = stopped_in(tmp_path, "pts-throughput", *stops, fixed_rounds="true", most_rounds="5")
    first = rounds_of(folder)[0]
    assert (first.cuts, first.rounds, first.first) == ((3, 4, 8), 12, 8)
    assert mixed_rounds(folder) == []


@pytest.mark.long
def test_a_histogram_cut_off_needs_a_steady_state_of_its_own(tmp_path: Path) -> None:
    """Writing the drive over is no steady state: the rounds go on until there is one again."""
    stop = run_of_cell("pts-latency", 6, 1)
    folder = stopped_in(tmp_path, "pts-latency", stop, fixed_rounds="true", most_rounds="5")
    (found,) = rounds_of(folder)
    assert (found.cuts, found.rounds, found.first) == ((6,), 10, 6)
    assert mixed_rounds(folder) == []
    assert voided_labels(folder) >= {"WIPC", "histogram, 0/100 4 KiB"}


def test_a_point_of_demand_is_measured_with_the_writes_before_it(tmp_path: Path) -> None:
    name = "pts-demand-intensity"
    in_histogram = run_of_cell(name, 6, 1) + 3  # MaxIOPS: writes, histogram; MidIOPS: writes, histogram
    folder = stopped_in(tmp_path, name, in_histogram, fixed_rounds="true", most_rounds="5")
    labels = voided_labels(folder)
    assert {"PC", "MidIOPS, pre-write", "MidIOPS, histogram"} <= labels
    assert not any(label.startswith(("round", "MaxIOPS,")) for label in labels)
    result = read_result(RunFolder(folder))
    assert isinstance(result, DemandResult) and result.rounds.cuts == ()
    assert any("MidIOPS and MinIOPS measured after an interruption" in each for each in findings_of(result))


def test_a_return_of_idle_recovery_follows_its_own_bursts(tmp_path: Path) -> None:
    brief = {"seconds": "0.05", "cycle": "1", "burst_seconds": "0.05", "bursts": "2", "return_seconds": "0.1"}
    folder = interrupted_run(tmp_path, "pts-host-idle-recovery", StopAt(1 + 2 + 2), **brief)
    labels = voided_labels(folder)
    again = {label for label in labels if label.startswith(("bursts", "after rests", "WDPC"))}
    assert again == {"bursts, 0.100 s apart", "after rests of 0.100 s", "WDPC"}


@pytest.mark.long
def test_the_page_and_the_table_mark_the_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stop = run_of_cell("pts-throughput", 4, 2)
    folder = stopped_in(tmp_path, "pts-throughput", stop, fixed_rounds="true", most_rounds="5")
    run = RunFolder(folder)
    assert main(["show", str(folder), "--all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "cut before round 4" in shown and "only rounds from 4 on are judged" in shown
    result = read_result(run)
    assert any("nterrupted, cut before round 4" in each for each in findings_of(result))
    text = page.render([source.read_run(folder)])
    assert "rounds 4 to 8 of 8, cut before round 4" in text and "4, first after a cut" in text
    assert rounds_since_cut(rounds_of(folder)[0]) == "5 rounds since the cut before round 4"


def test_the_page_tells_steps_in_the_order_in_which_they_were_done(tmp_path: Path) -> None:
    """The preparation that counts is the second, and came after the rounds in front of the cut."""
    stop = run_of_cell("pts-throughput", 4, 2)
    folder = RunFolder(stopped_in(tmp_path, "pts-throughput", stop, fixed_rounds="true", most_rounds="5"))
    lines = what_was_done(folder.steps(), folder.manifest.drive.capacity_bytes)
    again = next(at for at, line in enumerate(lines) if "“WIPC, 1 MiB”, repeated after an interr" in line)
    early, late = (next(at for at, line in enumerate(lines) if f"round {n}, " in line) for n in (1, 5))
    assert early < again < late
    assert not any("mib" in line for line in lines) and any("“WIPC, 1 MiB”" in line for line in lines)
    assert not any("before round 1" in line for line in lines), "where rounds begin nothing is done"


def test_a_simulated_drive_is_cut_nowhere(tmp_path: Path) -> None:
    """Its state is kept with the run: it goes on to the bit, so there are no two sides."""
    settings = {"seconds": "0.02", "overwrites": "1", "most_rounds": "5"}
    whole = run_simulated("pts-throughput", tmp_path / "whole", **settings).path
    assert all(group.cuts == () and group.rounds == 5 for group in rounds_of(whole))
