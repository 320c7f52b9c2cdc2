"""What an interruption means: continue, restart, re-precondition; the record keeps what was voided."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.fake_drive import FakeDrive, FakeMeasurement, resume_on, run_on
from ssdlab.lab.found import find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, param
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs.steps import Until
from ssdlab.model.errors import HostError, Interrupted, Refused, UsageError
from ssdlab.results import journal as journal_module
from ssdlab.results.records import BeginRecord, EndRecord, PartRecord, VoidRecord
from ssdlab.results.run_folder import STEPS, RunFolder
from ssdlab.results.schema import JobResult, TableInfo
from ssdlab.results.step_log import LogProgress


class SomeParams(Params):
    """None that matter."""

    seconds: float = param(1.0, "time")


def method_of(procedure, version: int = 1, monkeypatch=None) -> Method:
    def conclude(data, p):
        return JobResult(quick=False, points=())

    made = Method("some", version, "Some", SomeParams, procedure, conclude)
    return made


@pytest.fixture
def run_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a procedure on a fake drive until it is interrupted or ends; later calls resume."""

    def go(procedure, drive: FakeDrive, *, version: int = 1, params: Params | None = None, **options) -> Path:
        made = method_of(procedure, version)
        monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
        library = tmp_path / "library"
        existing = list(library.glob("2*")) if library.exists() else []
        if existing:
            return resume_on(drive, existing[0], **options)
        return run_on(drive, made, params or SomeParams(), library, **options)

    go.folder = lambda: next((tmp_path / "library").glob("2*"))
    return go


def stop_at(run: int):
    def hook(count: int) -> None:
        if count == run:
            raise Interrupted("stopped by a signal", "resume")

    return hook


def read(in_flight: int = 1, seconds: float = 1.0):
    return closed_loop("random", "read", block_bytes=4096, in_flight=in_flight, seconds=seconds)


def three(lab: Lab, p: SomeParams) -> None:
    for depth in (1, 2, 4):
        lab.run(read(depth, p.seconds), label=f"depth {depth}")


def test_restart_voids_the_attempt_and_reads_finished_steps_back(run_some) -> None:
    drive = FakeDrive(before_run=stop_at(2))
    with pytest.raises(Interrupted):
        run_some(three, drive)
    stopped = RunFolder(run_some.folder())
    assert stopped.manifest.status == "interrupted" and len(stopped.steps()) == 1
    assert stopped.manifest.failure.kind == "interrupted"
    first_end = stopped.journal()[2]

    after = FakeDrive()
    run = RunFolder(run_some(three, after))
    assert [workload.streams[0].workers for workload in after.runs] == [2, 4], "a finished step was run again"
    assert run.manifest.status == "finished" and [s.attempt for s in run.steps()] == [1, 2, 1]
    assert isinstance(first_end, EndRecord) and first_end in run.journal()
    assert [(v.ordinal, v.attempt) for v in run.voided()] == [(1, 1)]
    assert "restart" in run.voided()[0].why
    assert [session.status for session in run.manifest.sessions] == ["interrupted", "finished"]


def test_the_repeated_attempt_draws_the_same_io(run_some) -> None:
    drive = FakeDrive(before_run=stop_at(2))
    with pytest.raises(Interrupted):
        run_some(three, drive)
    after = FakeDrive()
    run_some(three, after)
    assert after.runs[0] == drive.runs[1]
    assert len({workload.seed for workload in (*drive.runs, *after.runs)}) == 3, "steps share a seed"


def fill_then_read(lab: Lab, p: SomeParams) -> None:
    lab.fill()
    lab.run(read(), label="read")


def half_done(path: Path) -> LogProgress:
    return LogProgress(bytes=384 << 20, ios=(384 << 20) // 131_072, ns=10**9, written=384 << 20)


def test_continue_goes_on_at_the_cursor(run_some) -> None:
    drive = FakeDrive(before_run=stop_at(1))
    with pytest.raises(Interrupted):
        run_some(fill_then_read, drive)
    after = FakeDrive()
    run = RunFolder(run_some(fill_then_read, after, progress_of=half_done))
    rest = after.runs[0].streams[0]
    assert rest.pattern.cursors == (384 << 20,)
    assert rest.stop.bytes == (1024 - 384) << 20
    (part,) = [record for record in run.journal() if isinstance(record, PartRecord)]
    assert part.done["bytes"] == 384 << 20
    fill = run.steps()[0]
    assert fill.result.segments == (1, 2) and fill.result.facts["bytes"] == 1 << 30
    assert fill.measured.written_bytes == 640 << 20
    rows = FakeMeasurement(after.runs[0], after.curve(rest.in_flight, 128 << 10, True)).rows()
    assert fill.written_bytes == (384 << 20) + int(rows["bytes"].sum())
    assert run.voided() == []


def test_continue_over_several_passes_wraps_the_cursor(run_some) -> None:
    def two_passes(lab: Lab, p: SomeParams) -> None:
        lab.fill(passes=2)

    with pytest.raises(Interrupted):
        run_some(two_passes, FakeDrive(before_run=stop_at(1)))
    done = LogProgress(bytes=1536 << 20, ios=1, ns=1)
    after = FakeDrive()
    run_some(two_passes, after, progress_of=lambda path: done)
    assert after.runs[0].streams[0].pattern.cursors == (512 << 20,)
    assert after.runs[0].streams[0].stop.bytes == 512 << 20


def test_continue_after_everything_was_done_runs_nothing(run_some) -> None:
    with pytest.raises(Interrupted):
        run_some(fill_then_read, FakeDrive(before_run=stop_at(1)))
    after = FakeDrive()
    done = LogProgress(bytes=1 << 30, ios=8192, ns=5, written=1 << 30)
    run = RunFolder(run_some(fill_then_read, after, progress_of=lambda path: done))
    assert len(after.runs) == 1 and after.runs[0].reads
    assert run.steps()[0].result.facts["bytes"] == run.steps()[0].written_bytes == 1 << 30


def test_continue_becomes_restart_after_a_reboot(run_some, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "boot_id", lambda: "first boot")
    with pytest.raises(Interrupted):
        run_some(fill_then_read, FakeDrive(before_run=stop_at(1)))
    with pytest.raises(Interrupted):
        run_some(fill_then_read, FakeDrive(before_run=stop_at(1)), progress_of=half_done)
    monkeypatch.setattr(journal_module, "boot_id", lambda: "second boot")
    after = FakeDrive()
    run = RunFolder(run_some(fill_then_read, after, progress_of=half_done))
    assert after.runs[0].streams[0].stop.bytes == 1 << 30, "what a reboot may have lost was counted"
    assert [(v.ordinal, v.attempt) for v in run.voided()] == [(0, 1), (0, 2)]


def test_continue_with_an_unreadable_log_restarts(run_some) -> None:
    with pytest.raises(Interrupted):
        run_some(fill_then_read, FakeDrive(before_run=stop_at(1)))
    after = FakeDrive()
    run = RunFolder(run_some(fill_then_read, after, progress_of=lambda path: None))
    assert after.runs[0].streams[0].stop.bytes == 1 << 30
    assert len(run.voided()) == 1


def steady_sweep(lab: Lab, p: SomeParams) -> None:
    lab.fill()
    write = closed_loop("random", "write", block_bytes=4096, in_flight=4, seconds=5.0)
    lab.precondition(write)
    with lab.on_interruption("re-precondition"):
        lab.sweep("depth", (1, 2, 4), lambda depth: read(depth))


def kinds(drive: FakeDrive) -> list[tuple[str, int]]:
    return [("write" if w.changes_data else "read", w.streams[0].in_flight) for w in drive.runs]


def test_re_precondition_redoes_the_preparation_and_keeps_what_was_measured(run_some) -> None:
    drive = FakeDrive(before_run=stop_at(4))
    with pytest.raises(Interrupted):
        run_some(steady_sweep, drive)
    assert kinds(drive) == [("write", 1), ("write", 4), ("read", 1), ("read", 2)]
    measured_before = RunFolder(run_some.folder()).steps()[2]

    after = FakeDrive()
    run = RunFolder(run_some(steady_sweep, after))
    assert kinds(after) == [("write", 4), ("read", 2), ("read", 4)], (
        "fill or depth 1 was repeated, or nothing prepared"
    )
    assert run.steps()[2] == measured_before
    voided = [(v.ordinal, v.attempt) for v in run.voided()]
    assert voided == [(3, 1), (1, 1)] and "idled" in run.voided()[1].why
    assert [s.attempt for s in run.steps()] == [1, 2, 1, 2, 1]


def test_re_precondition_also_when_the_kill_came_between_two_steps(run_some) -> None:
    drive = FakeDrive(before_run=stop_at(4))
    with pytest.raises(Interrupted):
        run_some(steady_sweep, drive)
    folder = run_some.folder()
    lines = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    (folder / "journal.jsonl").write_text("".join(lines[:-1]))  # as if killed before the begin record
    after = FakeDrive()
    run_some(steady_sweep, after)
    assert kinds(after) == [("write", 4), ("read", 2), ("read", 4)]


def test_interrupted_again_while_preparing_again(run_some) -> None:
    with pytest.raises(Interrupted):
        run_some(steady_sweep, FakeDrive(before_run=stop_at(4)))
    second = FakeDrive(before_run=stop_at(1))
    with pytest.raises(Interrupted):
        run_some(steady_sweep, second)
    assert kinds(second) == [("write", 4)]
    third = FakeDrive()
    run = RunFolder(run_some(steady_sweep, third))
    assert kinds(third) == [("write", 4), ("read", 2), ("read", 4)]
    ends = [record.ordinal for record in run.journal() if isinstance(record, EndRecord)]
    assert sorted(ends) == [0, 1, 1, 2, 3, 4], "only the preparation may have been finished twice"


def test_a_trim_after_the_preparation_is_part_of_it(run_some) -> None:
    """A trim that stayed done while the writes before it are done again would leave the wrong state."""

    def trimmed(lab: Lab, p: SomeParams) -> None:
        with lab.on_interruption("re-precondition"):
            lab.precondition(closed_loop("random", "write", block_bytes=4096, in_flight=4, seconds=5.0))
            lab.trim()
            lab.run(read(), label="first")
            lab.run(read(2), label="second")

    with pytest.raises(Interrupted):
        run_some(trimmed, FakeDrive(before_run=stop_at(3)))
    after = FakeDrive()
    run = RunFolder(run_some(trimmed, after))
    assert kinds(after) == [("write", 4), ("read", 2)]
    assert [s.attempt for s in run.steps()] == [2, 2, 1, 2], "both are done again, what was measured stays"
    assert [(v.ordinal, v.attempt) for v in run.voided()] == [(3, 1), (1, 1), (0, 1)]


def test_from_purge_does_again_all_since_the_drive_was_fresh(run_some) -> None:
    """A middle load of three is cut short: the purge and the first load are worth nothing any more."""

    def three_loads(lab: Lab, p: SomeParams) -> None:
        lab.run(read(), label="before the purge")
        lab.purge(if_able=True)
        with lab.on_interruption("from-purge"):
            for depth in (2, 4, 8):
                lab.run(read(depth), label=f"depth {depth}")

    with pytest.raises(Interrupted):
        run_some(three_loads, FakeDrive(before_run=stop_at(3)))
    after = FakeDrive()
    run = RunFolder(run_some(three_loads, after))
    assert kinds(after) == [("read", 2), ("read", 4), ("read", 8)]
    assert [(v.ordinal, v.attempt) for v in run.voided()] == [(3, 1), (2, 1), (1, 1)]
    assert [s.attempt for s in run.steps()] == [1, 2, 2, 2, 1]


def test_without_a_preparation_re_precondition_is_restart(run_some) -> None:
    def bare(lab: Lab, p: SomeParams) -> None:
        with lab.on_interruption("re-precondition"):
            three(lab, p)

    with pytest.raises(Interrupted):
        run_some(bare, FakeDrive(before_run=stop_at(2)))
    after = FakeDrive()
    run_some(bare, after)
    assert kinds(after) == [("read", 2), ("read", 4)]


def test_other_method_code_is_refused_and_changes_nothing(run_some) -> None:
    with pytest.raises(Interrupted):
        run_some(three, FakeDrive(before_run=stop_at(2)))
    before = RunFolder(run_some.folder()).manifest

    def other(lab: Lab, p: SomeParams) -> None:
        lab.run(read(8, p.seconds), label="depth 8")

    drive = FakeDrive()
    with pytest.raises(Refused) as raised:
        run_some(other, drive)
    assert raised.value.exit_status == 2 and raised.value.facts["ordinal"] == 0
    assert drive.done == []
    assert RunFolder(run_some.folder()).manifest.status == before.status
    run_some(three, FakeDrive())  # the right code still goes on


def test_another_version_of_the_method_is_refused(run_some) -> None:
    with pytest.raises(Interrupted):
        run_some(three, FakeDrive(before_run=stop_at(2)))
    with pytest.raises(Refused, match="version 1"):
        run_some(three, FakeDrive(), version=2)


@pytest.mark.parametrize(
    "change", [{"consent_id": "FAKE-2"}, {"capacity_bytes": 2 << 30}, {"logical_block_bytes": 4096}]
)
def test_another_drive_is_refused(run_some, change: dict) -> None:
    with pytest.raises(Interrupted):
        run_some(three, FakeDrive(before_run=stop_at(2)))
    drive = FakeDrive(identity_changes=change)
    with pytest.raises(Refused) as raised:
        run_some(three, drive)
    assert raised.value.facts["fact"] == {"consent_id": "id"}.get(*change, next(iter(change)))
    assert drive.done == []


def test_a_finished_run_is_not_resumed(run_some, tmp_path: Path) -> None:
    folder = run_some(three, FakeDrive())
    manifest = RunFolder(folder).manifest
    from ssdlab.results.store import write_manifest

    table = TableInfo(name="series.parquet", rows=1, sha256="")
    write_manifest(folder, manifest.model_copy(update={"tables": (table,)}))
    shutil.rmtree(folder / STEPS)
    with pytest.raises(Refused, match="finished"):
        run_some(three, FakeDrive())


def test_a_broken_log_is_an_error_and_no_finished_step(run_some) -> None:
    """The engine and the simulator raise what became of the rows; a measurement that comes back has them."""
    drive = FakeDrive()
    good = drive.run

    def with_broken_log(*args, **kwargs):
        good(*args, **kwargs)
        raise HostError("the rows are not kept", "free some space and resume", errno=errno.ENOSPC)

    drive.run = with_broken_log
    with pytest.raises(HostError) as raised:
        run_some(three, drive)
    assert raised.value.exit_status == 3
    assert RunFolder(run_some.folder()).steps() == []
    assert RunFolder(run_some.folder()).manifest.status == "interrupted"


def test_until_is_part_of_the_step(run_some) -> None:
    def ended_early(limit: int):
        def procedure(lab: Lab, p: SomeParams) -> None:
            until = Until("rows", {"limit": limit}, lambda rows: len(rows) >= limit)
            lab.run(read(), label="read", until=until)
            lab.run(read(2), label="more")

        return procedure

    with pytest.raises(Interrupted):
        run_some(ended_early(3), FakeDrive(before_run=stop_at(2)))
    begun = next(r for r in RunFolder(run_some.folder()).journal() if isinstance(r, BeginRecord))
    assert begun.args["until"] == {"name": "rows", "limit": 3}
    with pytest.raises(Refused):
        run_some(ended_early(4), FakeDrive())


def test_continue_is_refused_where_it_could_not_be_kept() -> None:
    lab = Lab(
        SimpleNamespace(perform=lambda request: request), capacity_bytes=1 << 30, logical_block_bytes=512
    )
    many = closed_loop("sequential", "write", block_bytes=4096, in_flight=4, seconds=1.0)
    with pytest.raises(UsageError, match="4 workers"):
        lab.run(many, label="x", policy="continue")
    one = closed_loop("sequential", "write", block_bytes=4096, in_flight=1, seconds=1.0)
    two = replace_streams(one)
    with pytest.raises(UsageError, match="several streams"):
        lab.run(two, label="x", policy="continue")
    assert lab.run(one, label="x", policy="continue").ordinal == 0, "a refused step took an ordinal"


def replace_streams(workload):
    stream = workload.streams[0]
    return workload.model_copy(update={"streams": (stream, stream.model_copy(update={"name": "b"}))})


@pytest.mark.long
def test_every_listed_method_is_resumed_from_each_of_its_steps(tmp_path: Path) -> None:
    method = find_method("qd1")
    params = method.params.build({"sizes": "4k,8k", "steady": "false"})
    whole = FakeDrive()
    run_on(whole, method, params, tmp_path / "whole")
    for cut in range(1, len(whole.runs) + 1):
        library = tmp_path / f"cut-{cut}"
        first, second = FakeDrive(before_run=stop_at(cut)), FakeDrive()
        with pytest.raises(Interrupted):
            run_on(first, method, params, library)
        folder = resume_on(second, next(library.glob("2*")))
        assert first.runs[: cut - 1] + second.runs == whole.runs
        assert RunFolder(folder).manifest.result is not None


def test_voided_attempts_are_all_recorded(run_some) -> None:
    for _ in range(3):
        with pytest.raises(Interrupted):
            run_some(three, FakeDrive(before_run=stop_at(1)))
    run = RunFolder(run_some(three, FakeDrive()))
    assert [(v.ordinal, v.attempt) for v in run.voided()] == [(0, 1), (0, 2), (0, 3)]
    assert [r.attempt for r in run.journal() if isinstance(r, VoidRecord)] == [1, 2, 3]
    assert replace(run.steps()[0], attempt=0).attempt == 0 and run.steps()[0].attempt == 4
