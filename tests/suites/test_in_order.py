"""Suites on a real drive: one run after another, and what one has written is known to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.lab.kinds import SuiteResult
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suites.suite import Part
from ssdlab.model.errors import DriveError, Interrupted, Refused
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.suites.session import resume_suite, start_suite
from suites.made import Watcher, children, environment, suite, suite_order

READERS = suite(
    Part("peak-random-read", "written", {"fill": "true"}),
    Part("peak-sequential-read", "written", {"fill": "true"}),
    Part("qd1", "written", {"steady": "false"}),
    Part("peak-random-read", "written", {"fill": "true"}, name="reads again"),
)
PEAK = {"depths": "1,2", "seconds": "1", "ramp_seconds": "0"}
QUICK = {**PEAK, "sizes": "4096", "size_seconds": "1"}


@pytest.fixture
def drive() -> FakeDrive:
    """A device: nobody can tell what was written on it."""
    return FakeDrive(known_written=None)


def fills(drive: FakeDrive) -> int:
    return sum(workload.streams[0].name == "fill" for workload in drive.runs)


def test_what_was_filled_once_is_read_by_all_until_something_writes(tmp_path: Path, drive: FakeDrive) -> None:
    watcher = Watcher()
    order = suite_order(READERS, "/dev/fake0", QUICK)
    folder = RunFolder(start_suite(order, tmp_path, watcher, environment(drive)))
    runs = children(folder)
    first = runs["peak-random-read"].manifest
    assert [each.manifest.member.written_by for each in runs.values()] == [
        None,
        first.run_id,
        first.run_id,
        None,  # qd1 has written
    ]
    assert fills(drive) == 2
    (fill,) = [step for step in runs["qd1"].steps() if step.verb == "fill"]
    assert fill.result.facts == {"already_written": True, "written_by": first.run_id}
    assert all(run.manifest.departures == () for run in runs.values())
    parts = list(runs)
    assert watcher.told == [(what, part) for part in parts for what in ("began", "ended")]


def test_a_drive_that_fails_stops_the_suite_and_a_resume_repeats_nothing(
    tmp_path: Path, drive: FakeDrive
) -> None:
    def fail(count: int) -> None:
        if count == 6:
            raise DriveError("the drive is gone", "attach it")

    drive.before_run = fail
    order = suite_order(READERS, "/dev/fake0", QUICK)
    with pytest.raises(DriveError) as stopped:
        start_suite(order, tmp_path, Watcher(), environment(drive))
    folder = Path(stopped.value.facts["folder"])
    assert RunFolder(folder).manifest.status == "failed"
    done = sum(name == "run" for name, _ in drive.done)
    drive.before_run = lambda count: None
    watcher = Watcher()
    resume_suite(folder, watcher, environment(drive))
    assert RunFolder(folder).manifest.status == "finished"
    assert watcher.told[0] == ("found", "peak-random-read")
    # Of what was done before, only the step that failed is done again.
    (alone,) = {tuple(suite_of(tmp_path / "again").values())}
    assert len(drive.runs) == sum(alone) + 1
    assert done == 6
    with pytest.raises(Refused, match="is finished"):
        resume_suite(folder, Watcher(), environment(drive))


def test_a_signal_stops_the_suite_and_it_is_the_suite_that_is_to_be_resumed(
    tmp_path: Path, drive: FakeDrive
) -> None:
    def stop(count: int) -> None:
        if count == 4:
            raise Interrupted("stopped by a signal", "continue with: ssdlab resume the part")

    drive.before_run = stop
    with pytest.raises(Interrupted) as stopped:
        start_suite(suite_order(READERS, "/dev/fake0", QUICK), tmp_path, Watcher(), environment(drive))
    folder = Path(stopped.value.facts["folder"])
    assert stopped.value.advice == f"continue with: ssdlab resume {folder}"
    manifest = RunFolder(folder).manifest
    assert (manifest.status, manifest.failure.kind) == ("interrupted", "interrupted")
    statuses = [RunFolder(tmp_path / child.run_id).manifest.status for child in manifest.children[:2]]
    assert statuses == ["finished", "interrupted"]
    assert not (tmp_path / manifest.children[2].run_id).exists()


def test_a_kept_drive_is_gone_through_in_order_and_in_one_size_only(tmp_path: Path) -> None:
    made = suite(Part("peak-random-read", "written"), Part("whole-drive-fill", "fresh", absolute=True))
    text = f"sim:tiny-test,scale=4,state={tmp_path / 'drive.sim'}"
    folder = RunFolder(start_suite(suite_order(made, text, PEAK), tmp_path / "library", Watcher()))
    result = read_result(folder)
    assert isinstance(result, SuiteResult)
    read, filled = result.outcomes
    assert read.left_out is None
    assert "fixed sizes" in str(filled.left_out)
    assert (tmp_path / "drive.sim").exists()


def suite_of(library: Path) -> dict[str, int]:
    """How many workloads the same suite runs on a drive that does not fail, part by part."""
    drive = FakeDrive(known_written=None)
    folder = RunFolder(
        start_suite(suite_order(READERS, "/dev/fake0", QUICK), library, Watcher(), environment(drive))
    )
    return {
        part: sum(step.result.measurement is not None for step in run.steps())
        for part, run in children(folder).items()
    }


def test_a_part_that_does_not_fit_is_left_out_and_said(tmp_path: Path, drive: FakeDrive) -> None:
    made = suite(Part("peak-random-read", "written", {"fill": "true"}), Part("consistency", "fresh"))
    drive.capacity_bytes = 4096 * 16
    order = suite_order(made, "/dev/fake0", {**PEAK, "consistency.spares": "0,90"})
    folder = RunFolder(start_suite(order, tmp_path, Watcher(), environment(drive)))
    result = read_result(folder)
    assert isinstance(result, SuiteResult)
    left = {each.part: each.left_out for each in result.outcomes if each.left_out}
    assert list(left) == ["consistency"]
    (departure,) = folder.manifest.departures
    assert (departure.code, departure.why) == ("left-out", left["consistency"])


def test_a_span_of_its_own_is_all_that_is_touched(tmp_path: Path, drive: FakeDrive) -> None:
    made = suite(Part("peak-random-read", "written", {"fill": "true"}), span_bytes=64 << 20)
    order = suite_order(made, "/dev/fake0", PEAK)
    folder = RunFolder(start_suite(order, tmp_path, Watcher(), environment(drive)))
    assert folder.manifest.status == "finished"
    assert {workload.streams[0].span.length for workload in drive.runs} == {64 << 20}


def test_the_same_words_and_seed_give_the_same_seeds_whatever_the_order(tmp_path: Path) -> None:
    seeds = []
    for number, parts in enumerate((READERS.parts, READERS.parts[::-1])):
        order = suite_order(suite(*parts), "/dev/fake0", QUICK)
        folder = RunFolder(start_suite(order, tmp_path / str(number), Watcher(), environment(FakeDrive())))
        seeds.append({child.part: child.seed for child in folder.manifest.children})
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0].values())) == len(READERS.parts)
