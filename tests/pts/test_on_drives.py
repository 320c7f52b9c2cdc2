"""The tests as a simulated drive and a file see them: the order of what was done, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive, run_on
from methods.on_simulated import run
from ssdlab.cli import main
from ssdlab.cli.ordering import print_run
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts.iops import BLOCKS, MIXES
from ssdlab.methods.pts.result import PtsResult
from ssdlab.report.source import read_run
from ssdlab.results import compaction
from ssdlab.results.remarks import departure_text, gathered_departures
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long

QUICK = ("--quick", "--set", "seconds=0.01")


def test_what_a_simulated_drive_was_given_is_in_the_written_order(tmp_path: Path) -> None:
    """By the rows that the drive's own log kept of each step: block, share of reads, and nothing between."""
    folder = run("pts-iops", tmp_path, seconds="0.02", most_rounds="5", overwrites="1", rule="1.1").path
    found = read_run(folder)
    steps = [step for step in found.steps if step.result.measurement is not None]
    assert steps[0].verb == "precondition"
    assert len(steps) == 1 + 5 * 56
    for at, step in enumerate(steps[1:]):
        rows = found.rows(step.ordinal)
        ios, moved = int(rows["ios"].sum()), int(rows["bytes"].sum())
        read_pct, block_bytes = MIXES[at % 56 // 8], BLOCKS[at % 8]
        assert moved == ios * block_bytes, step.label
        reads = int(rows["ios"][rows["direction"] == "read"].sum())
        assert reads / ios == pytest.approx(read_pct / 100, abs=4 * (0.25 / ios) ** 0.5), step.label
    # Nothing else reaches the drive between them: where a round ends is a mark in the journal.
    assert {step.verb for step in found.steps[steps[0].ordinal :]} == {"precondition", "stretch", "run"}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", [pytest.param("pts-iops", marks=pytest.mark.slow), "pts-latency"])
def test_quick_on_a_file_lists_every_departure(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scratch, library = tmp_path / "scratch.bin", tmp_path / "library"
    more = ("--set", "histogram_seconds=0.05") if name == "pts-latency" else ()
    words = ["run", name, str(scratch), "--size", "64MiB", *QUICK, *more, "--library", str(library)]
    assert main(words) == 0
    (folder,) = (each for each in library.iterdir() if (each / "manifest.json").exists())
    capsys.readouterr()
    assert main(["show", str(folder), "--all"]) == 0
    printed = capsys.readouterr().out
    found = RunFolder(folder)
    expected = {"file", "not-purged", "condition-write_cache"}
    expected |= {"parameter-seconds", "parameter-most_rounds", "parameter-overwrites"}
    expected |= {"parameter-histogram_seconds"} if name == "pts-latency" else set()
    departures = found.manifest.departures
    assert {each.code for each in departures} >= expected
    # What a host's queue in front of the file may add; nothing else can be.
    assert {each.code for each in departures} <= expected | {"condition-scheduler"}
    told = gathered_departures(found.manifest)
    assert all(departure_text(each) in printed.replace("\n", " ") for each in told)
    assert all(any(each.what in one.what for one in told) for each in departures)
    result = read_result(found)
    assert isinstance(result, PtsResult) and not result.purged


def test_steady_state_can_be_required(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drive that halves and doubles its rate from round to round is never steady; one that does not is."""
    method = find_method("pts-throughput")
    params = method.params.build(quick=True)
    monkeypatch.setattr(compaction, "check_logs", lambda run: None)  # a fake drive writes none
    speed = [1000.0]
    swinging = FakeDrive(curve=lambda *_: speed[0])
    swinging.before_run = lambda count: speed.__setitem__(0, 1000.0 * (1 + count // 2 % 2))
    for drive, steady in ((swinging, False), (FakeDrive(), True)):
        folder = run_on(drive, method, params, tmp_path)
        result = read_result(RunFolder(folder))
        assert isinstance(result, PtsResult) and result.steady is steady
        assert print_run(folder, json=False) == 0
        capsys.readouterr()
        assert print_run(folder, json=False, require_steady=True) == (0 if steady else 1)
        told = capsys.readouterr().err
        assert told.count("--require-steady demands it: pts-throughput, ") == (0 if steady else 2)
