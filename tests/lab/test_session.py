"""A run from the command to its end: signals, failing drives, a full library, concluding again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import need_root
from lab.fake_drive import FakeDrive, resume_on, run_on
from methods.on_simulated import shorter_in
from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.lab.method import RunData
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import DriveError, HostError, Interrupted, Refused
from ssdlab.results import evidence, finishing
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders, write_manifest
from ssdlab.runs import session
from ssdlab.runs.order import Order
from ssdlab.runs.session import resume, start
from ssdlab.runs.stopping import StopFlag

PEAK = find_method("peak-random-read")


def only_run(library: Path) -> Path:
    (folder,) = run_folders(library)
    return folder


def test_a_finished_run_tells_everything(tmp_path: Path) -> None:
    run = RunFolder(
        run_on(FakeDrive(known_written=None), PEAK, PEAK.params.build(quick=True), tmp_path, quick=True)
    )
    manifest = run.manifest
    assert manifest.status == "finished" and manifest.quick and manifest.seed == 7
    assert manifest.params["seconds"] == 1.5 and manifest.engine == "sync"
    assert manifest.method.prose.startswith("The highest 4 KiB random read rate")
    assert {info.name for info in manifest.method.parameters} == set(manifest.params)
    assert manifest.drive.id == "FAKE-1" and manifest.tool["version"]
    assert manifest.environment["kernel"]["release"]
    assert [departure.code for departure in manifest.departures] == ["written-unknown"]
    assert shorter_in(run) == ["quick: time 1.5 s instead of 60 s, ramp time 0.2 s instead of 2 s"]
    (session,) = manifest.sessions
    assert session.started <= session.ended and session.boot_id


def test_a_fill_or_a_proof_leaves_nothing_assumed(tmp_path: Path) -> None:
    params = PEAK.params.build({"fill": "true", "depths": "1"})
    for name, drive in (("filled", FakeDrive(known_written=None)), ("proven", FakeDrive(known_written=True))):
        run = RunFolder(run_on(drive, PEAK, params, tmp_path / name))
        assert run.manifest.departures == ()


def test_an_old_run_is_concluded_again_to_the_same_result(tmp_path: Path) -> None:
    for name, settings in (
        ("peak-random-read", {}),
        ("peak-sequential-read", {}),
        ("qd1", {"steady": "false"}),  # a fake drive has no rows that could prove a steady state
    ):
        method = find_method(name)
        run = RunFolder(run_on(FakeDrive(), method, method.params.build(settings), tmp_path))
        params = method.params.model_validate(run.manifest.params)
        drive = run.manifest.drive
        data = RunData(
            tuple(run.steps()), drive.capacity_bytes, drive.logical_block_bytes, run.manifest.quick
        )
        assert evidence.qualified(method.conclude(data, params), data.steps) == read_result(run)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_run_between_two_looks(tmp_path: Path, number: signal.Signals) -> None:
    drive = FakeDrive(before_run=lambda count: os.kill(os.getpid(), number) if count == 3 else None)
    with pytest.raises(Interrupted) as raised:
        run_on(drive, PEAK, PEAK.params(), tmp_path)
    assert raised.value.exit_status == 130
    folder = only_run(tmp_path)
    assert raised.value.facts["run"] == folder.name and f"resume {folder}" in raised.value.advice
    run = RunFolder(folder)
    assert run.manifest.status == "interrupted" and len(run.steps()) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    after = FakeDrive()
    resume_on(after, folder)
    assert [w.streams[0].workers for w in after.runs] == [4, 8, 16, 32, 64, 128, 256, 512]


def test_a_signal_ends_an_idle_step(tmp_path: Path) -> None:
    from ssdlab.lab.job import read_job

    job = find_method("job")
    begun = threading.Event()

    def signalled() -> None:
        begun.wait()
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=signalled, daemon=True).start()
    drive = FakeDrive(before_run=lambda _: begun.set())
    steps = '[[step]]\ndo = "run"\nrw = "randread"\nseconds = 1\n[[step]]\ndo = "idle"\nseconds = 300'
    began = time.monotonic()
    with pytest.raises(Interrupted):
        run_on(drive, job, read_job(steps, "x"), tmp_path)
    assert time.monotonic() - began < 250


@pytest.fixture
def late_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal after the last look at the flag: while a run's result is drawn up."""

    def drawn_up(*args: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return evidence.qualified(*args)

    monkeypatch.setattr(session, "qualified", drawn_up)


@pytest.mark.usefixtures("late_signal")
def test_a_signal_after_the_last_step_is_not_lost(tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match="the result and all rows are kept"):
        run_on(FakeDrive(), PEAK, PEAK.params(), tmp_path)
    assert RunFolder(only_run(tmp_path)).manifest.status == "finished"


@pytest.mark.usefixtures("late_signal")
def test_a_signal_after_the_last_step_of_a_run_ends_its_suite(scratch: Path) -> None:
    words = ["--size", "8MiB", "--set", "depths=1", "--set", "seconds=50ms", "--repeat", "3"]
    library = scratch / "runs"
    words = ["peak-random-read", str(scratch / "f.bin"), *words, "--library", str(library)]
    assert main(["run", *words]) == 130
    methods = [RunFolder(folder).manifest for folder in run_folders(library)]
    assert sorted(each.status for each in methods) == ["finished", "interrupted"]  # a run, and the suite


def test_a_signal_that_nobody_looked_at_is_handed_on() -> None:
    with StopFlag() as flag:
        os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        flag.hand_on()
    with StopFlag() as seen:
        os.kill(os.getpid(), signal.SIGINT)
        assert seen()
    seen.hand_on()


def test_the_second_signal_is_the_systems() -> None:
    with StopFlag() as flag:
        os.kill(os.getpid(), signal.SIGTERM)
        assert flag() and flag.raised == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with StopFlag() as again:
        assert not again()


def test_signals_that_come_together_are_one() -> None:
    with StopFlag() as flag:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            os.kill(os.getpid(), number)
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert flag() and flag.raised == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def test_in_another_thread_no_signal_is_taken(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=run_on, args=(FakeDrive(), PEAK, PEAK.params(), tmp_path))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    assert RunFolder(only_run(tmp_path)).manifest.status == "finished"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DriveError("the drive is gone", "plug it in", errno=19), "failed"),
        (HostError("no memory", "get some"), "interrupted"),
        (RuntimeError("a bug"), "failed"),
    ],
)
def test_what_fails_in_mid_run_is_kept_and_can_be_resumed(
    tmp_path: Path, error: Exception, status: str
) -> None:
    def fails(count: int) -> None:
        if count == 2:
            raise error

    with pytest.raises(type(error)) as raised:
        run_on(FakeDrive(before_run=fails), PEAK, PEAK.params(), tmp_path)
    folder = only_run(tmp_path)
    manifest = RunFolder(folder).manifest
    assert manifest.status == status and manifest.failure.what in str(raised.value)
    assert len(RunFolder(folder).steps()) == 2
    finished = RunFolder(resume_on(FakeDrive(), folder))
    assert finished.manifest.status == "finished" and finished.manifest.failure is None


def test_a_run_that_goes_on_cannot_be_resumed(tmp_path: Path) -> None:
    def interferes(count: int) -> None:
        if count == 1:
            with pytest.raises(Refused, match="another process"):
                resume_on(FakeDrive(), only_run(tmp_path))

    run_on(FakeDrive(before_run=interferes), PEAK, PEAK.params(), tmp_path)


def test_refused_before_anything_is_touched(scratch: Path) -> None:
    foreign = scratch / "foreign.img"
    foreign.write_bytes(os.urandom(1 << 20))
    before = foreign.read_bytes()
    qd1 = find_method("qd1")
    with pytest.raises(Refused):
        start(Order(qd1, qd1.params.build(quick=True), str(foreign)), scratch / "library")
    assert run_folders(scratch / "library") == [] and foreign.read_bytes() == before


def test_the_file_of_an_interrupted_run_is_not_made_anew(scratch: Path) -> None:
    order = Order(
        PEAK, PEAK.params.build({"seconds": "5s", "depths": "1"}), str(scratch / "s.img"), size_bytes=4 << 20
    )
    threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(Interrupted):
        start(order, scratch / "library")
    (scratch / "s.img").unlink()
    with pytest.raises(Refused, match="is missing"):
        resume(only_run(scratch / "library"))
    assert not (scratch / "s.img").exists()


def test_another_file_in_the_place_of_the_runs_own_is_refused(scratch: Path) -> None:
    file = scratch / "s.img"
    order = Order(PEAK, PEAK.params.build({"seconds": "5s", "depths": "1"}), str(file), size_bytes=4 << 20)
    threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGTERM)).start()
    with pytest.raises(Interrupted):
        start(order, scratch / "library")
    own = file.rename(scratch / "own.img")
    shutil.copyfile(own, file)
    with pytest.raises(Refused, match="it was replaced") as raised:
        resume(only_run(scratch / "library"))
    assert raised.value.facts["fact"] in ("inode", "birth_ns")
    # The same name and inode, made at another time.
    file.unlink()
    own.rename(file)
    manifest = RunFolder(only_run(scratch / "library")).manifest
    drive = manifest.drive
    later = {**drive.identity, "birth_ns": cast("int", drive.identity["birth_ns"]) + 1}
    changed = manifest.model_copy(update={"drive": drive.model_copy(update={"identity": later})})
    write_manifest(only_run(scratch / "library"), changed)
    with pytest.raises(Refused) as raised:
        resume(only_run(scratch / "library"))
    assert raised.value.facts["fact"] == "birth_ns"


@pytest.fixture
def small_library(scratch: Path) -> Iterator[Path]:
    """A library on a file system of 640 KiB."""
    need_root()
    folder = scratch / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_file_system_under_the_library(scratch: Path, small_library: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "ssdlab",
        "run",
        "peak-random-read",
        str(scratch / "s.img"),
        "--size",
        "4MiB",
    ]
    words += ["--set", "depths=1,2,4,8", "--set", "seconds=700ms", "--set", "ramp_seconds=0"]
    words += ["--library", str(small_library)]
    ballast = small_library / "ballast"
    ballast.write_bytes(bytes(348 << 10))
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    error = [line for line in done.stderr.splitlines() if line.startswith("ssdlab:")]
    assert len(error) == 1 and "full" in error[0] and "resume" in done.stderr, done.stderr
    folder = only_run(small_library)
    before = RunFolder(folder).journal()
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_library)], check=True)
    again = [sys.executable, "-m", "ssdlab", "resume", folder.name, "--library", str(small_library)]
    done = subprocess.run(again, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = RunFolder(folder)
    assert run.manifest.status == "finished" and run.journal()[: len(before)] == before


def test_a_library_full_at_the_first_write_keeps_no_empty_run(scratch: Path, small_library: Path) -> None:
    params = PEAK.params.build({"depths": "1", "seconds": "50ms", "ramp_seconds": "0"})
    order = Order(PEAK, params, str(scratch / "s.img"), size_bytes=4 << 20)
    ballast = small_library / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    with pytest.raises(HostError, match="full") as raised:
        start(order, small_library)
    assert "start again" in raised.value.advice
    assert list(small_library.iterdir()) == [ballast]
    ballast.unlink()
    assert RunFolder(start(order, small_library)).manifest.status == "finished"


@pytest.mark.usefixtures("as_a_program")
def test_a_full_library_at_the_very_end_keeps_the_result(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = PEAK.params.build({"depths": "1", "seconds": "50ms", "ramp_seconds": "0"})
    order = Order(PEAK, params, str(scratch / "s.img"), size_bytes=4 << 20)
    full = "raise OSError(28, 'No space left on device')"
    monkeypatch.setattr(finishing, "own_module", lambda *_: [sys.executable, "-c", full])
    with pytest.raises(HostError, match="tables"):
        start(order, scratch / "library")
    folder = only_run(scratch / "library")
    run = RunFolder(folder)
    assert run.manifest.status == "finished" and read_result(run) is not None and run.manifest.tables == ()
    monkeypatch.undo()
    resume(folder)
    assert len(RunFolder(folder).manifest.tables) == 2


@pytest.mark.long
def test_a_drive_of_odd_size_is_reviewed_like_any_other(scratch: Path) -> None:
    for name, settings in (
        ("peak-sequential-read", {"depths": "1,8"}),
        ("qd1", {"size_seconds": "20ms", "sizes": "4k,64k,1m", "steady": "false"}),
    ):
        method = find_method(name)
        params = method.params.build({"seconds": "60ms", "ramp_seconds": "0", **settings})
        order = Order(method, params, str(scratch / "odd.img"), size_bytes=(9 << 20) + 4096)
        assert RunFolder(start(order, scratch / "library")).manifest.status == "finished"
