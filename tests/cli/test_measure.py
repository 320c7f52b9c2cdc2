"""`ssdlab measure` on a real file: what it prints, keeps, and does when it is stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from lab.test_stopped import wait_until_busy
from ssdlab import _core
from ssdlab.cli import main
from ssdlab.model.errors import Interrupted, Refused
from ssdlab.model.measurement import read_ios

SIZE = ["--size", "8MiB"]


@pytest.fixture
def file(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    return scratch / "scratch.bin"


def measured(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["measure", *words, "--json"]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


def test_the_command_and_python_mean_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--rw", "randrw", "--read-pct", "70", "--bs", "4k:70,8k:30", "--bytes", "1m", "--seed", "9"]
    told = measured(capsys, str(file), *SIZE, *words)
    made = ssdlab.measure(file, rw="randrw", read_pct=70, bs="4k:70,8k:30", bytes="1m", seed=9)
    ours = made.as_dict()
    assert list(ours) == list(told)
    assert ours["workload"] == told["workload"]
    # The same seed gives the same I/Os, whoever asks.
    for direction in ("read", "write"):
        assert ours[direction]["ios"] == told[direction]["ios"] > 0
        assert ours[direction]["bytes"] == told[direction]["bytes"]


def test_a_file_gets_other_draws_each_time_and_the_same_by_the_seed_shown(file: Path, scratch: Path) -> None:
    def drawn(**options: Any) -> tuple[int, list[int]]:
        log = scratch / "ios.log"
        log.unlink(missing_ok=True)
        told = ssdlab.measure(file, size="8MiB", rw="randwrite", bytes="64k", log_ios=log, **options)
        assert told.as_dict()["seed"] == told.as_dict()["workload"]["seed"]
        return told.as_dict()["seed"], list(read_ios(log)["offset"])

    first, second = drawn(), drawn()
    assert first[0] != second[0] and first[1] != second[1]
    assert drawn(seed=first[0]) == first


@pytest.mark.usefixtures("wide")
def test_what_a_reader_sees(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", str(file), *SIZE, "--threads", "2", "--bytes", "16m"]) == 0
    shown = capsys.readouterr().out
    assert f"{file}  file" in shown
    assert re.search(r"^random read, 4 KiB, 2 threads \(sync\), closed loop, seed \d+$", shown, re.MULTILINE)
    assert "4096 I/Os" in shown
    assert "latency" in shown
    assert "response" not in shown
    assert "in flight" in shown
    assert "warning: the target is a file" in shown
    assert "\x1b[" not in shown


def test_an_open_loop_shows_both_clocks(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--rate", "500", "--seconds", "0.2", "--engine", "uring", "--depth", "4", "--arrival", "poisson"]
    assert main(["measure", str(file), *SIZE, *words]) == 0
    shown = capsys.readouterr().out
    assert "1 thread x depth 4 (uring), poisson arrivals at 500 IOPS" in shown
    assert "service" in shown
    assert "response" in shown


@pytest.mark.parametrize("rw", ["read", "write", "rw", "randread", "randwrite", "randrw", "trim", "randtrim"])
@pytest.mark.long
def test_every_direction(file: Path, capsys: pytest.CaptureFixture[str], rw: str) -> None:
    summary = measured(capsys, str(file), *SIZE, "--rw", rw, "--bytes", "512k")
    done = {name: summary[name]["ios"] for name in ("read", "write", "trim") if summary[name]}
    assert sum(done.values()) == 128
    expected = {"rw": {"read", "write"}}.get(rw.removeprefix("rand"), {rw.removeprefix("rand")})
    assert set(done) == expected


def test_the_ramp_is_recorded_and_not_counted(file: Path) -> None:
    made = ssdlab.measure(file, size="8MiB", rate=1000, seconds=0.4, ramp=0.2, interval="100ms")
    rows = made.rows()
    assert rows["ramp"].tolist()[:4] == [True, True, False, False]
    assert made.summary()["read"]["ios"] == int(rows["ios"][~rows["ramp"]].sum()) < int(rows["ios"].sum())
    # Time and rate are those of what counts: the ramp comes before the seconds that were asked for.
    assert made.summary().counted_s == pytest.approx(made.summary()["total_s"] - 0.2, abs=1e-6)
    assert made.elapsed_s >= 0.39


def test_intervals_in_json_add_up_to_the_totals(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # One arrival every 100 ms: every other interval of 50 ms has none, and is there all the same.
    words = ["--rw", "randrw", "--rate", "10", "--seconds", "0.8", "--interval", "50ms"]
    summary = measured(capsys, str(file), *SIZE, *words)
    intervals = summary["intervals"]
    assert [row["start_s"] for row in intervals] == pytest.approx([0.05 * n for n in range(len(intervals))])
    for name in ("read", "write"):
        for count in ("ios", "bytes", "failed", "dropped", "late"):
            assert sum(row[name][count] for row in intervals) == summary[name][count]
    idle = [row for row in intervals if row["iops"] == 0]
    assert len(idle) >= 7
    assert {row["read"]["service_ns"]["p50"] for row in idle} == {None}
    busy = [row["read"]["response_ns"]["max"] for row in intervals if row["read"]["ios"]]
    assert max(busy) == summary["read"]["response_ns"]["max"]


def test_single_ios_and_their_refusal_to_overwrite(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = file.parent / "ios.log"
    words = [str(file), *SIZE, "--bytes", "256k", "--log-ios", str(log)]
    summary = measured(capsys, *words)
    assert len(read_ios(log)["offset"]) == summary["read"]["ios"] == 64
    kept = log.read_bytes()
    assert main(["measure", *words]) == 2
    assert log.read_bytes() == kept


def test_saving_makes_a_run_of_it(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = file.parent / "ios.log"
    summary = measured(capsys, str(file), *SIZE, "--bytes", "256k", "--save", "--log-ios", str(log))
    run = Path(summary["run"])
    assert run.parent == file.parent / "data" / "ssdlab" / "runs"
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "finished"
    assert manifest["method"]["name"] == "measure"
    assert manifest["result"]["measurement"]["read"]["ios"] == 64
    assert manifest["params"]["log_ios"] == str(log)
    assert len(read_ios(log)["offset"]) == 64
    assert [path.name for path in run.parent.iterdir() if path.name.startswith(".measure-")] == []
    assert main(["show", str(run)]) == 0


def test_a_fill_writes_all_of_a_file_given_up(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    foreign = file.parent / "foreign.bin"
    foreign.write_bytes(bytes(1 << 20))
    words = [str(foreign), "--precondition", "fill", "--destroy", "foreign.bin", "--bytes", "4k"]
    measured(capsys, *words)
    blocks = [foreign.read_bytes()[start : start + 4096] for start in range(0, 1 << 20, 4096)]
    assert not any(block == bytes(4096) for block in blocks)


def test_unwritten_reads_are_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sparse = file.parent / "sparse.bin"
    with sparse.open("wb") as made:
        made.truncate(1 << 20)
    assert main(["measure", str(sparse), "--bytes", "64k"]) == 2
    assert "reads would not reach the drive" in capsys.readouterr().err
    summary = measured(capsys, str(sparse), "--bytes", "64k", "--allow-unwritten")
    assert "unwritten-allowed" in [warning["code"] for warning in summary["warnings"]]


def start(*words: str, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ssdlab", "measure", *words]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.long
def test_a_signal_ends_it_with_what_was_measured(file: Path, number: signal.Signals) -> None:
    ssdlab.measure(file, bytes="4k", size="8MiB")
    process = start(str(file), "--seconds", "60", "--rate", "1000", cwd=file.parent)
    assert process.stderr is not None
    assert "measuring" in process.stderr.readline()
    time.sleep(0.5)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "response" in out
    assert err.splitlines()[-2].startswith("ssdlab: ")


def test_json_of_a_signal_holds_the_measurement(file: Path) -> None:
    ssdlab.measure(file, bytes="4k", size="8MiB")
    log = file.parent / "ios.log"
    process = start(str(file), "--seconds", "60", "--json", "--log-ios", str(log), cwd=file.parent)
    while not log.exists():  # it is made when the run begins
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    error = json.loads(out)
    assert error["error"] == "interrupted"
    assert error["measurement"]["read"]["ios"] > 0
    assert error["advice"] == f"the figures until then are shown; it is not saved; {log} holds its I/Os"
    assert log.stat().st_size > 4096
    assert error["measurement"]["schema"] == "ssdlab.measurement/1"


@pytest.mark.parametrize("words", [(), ("--save",)])
@pytest.mark.long
def test_a_stopped_measurement_says_that_it_is_not_saved(file: Path, words: tuple[str, ...]) -> None:
    ssdlab.measure(file, bytes="4k", size="8MiB")
    library = file.parent / "library"
    saving = (*words, "--library", str(library)) if words else ()
    process = start(str(file), "--seconds", "60", *saving, cwd=file.parent)
    wait_until_busy(process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "it is not saved" in err
    assert "kept" not in err.replace("--save keeps whole measurements", "")
    assert not library.exists() or not [each for each in library.iterdir() if each.name[0] != "."]


def test_a_signal_before_the_run_says_that_nothing_was_measured(scratch: Path) -> None:
    disk = scratch / "large.bin"
    process = start(str(disk), "--size", "8GiB", "--seconds", "1", "--json", cwd=scratch)
    while not disk.exists() or disk.stat().st_blocks == 0:  # the layout has begun
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    disk.unlink()
    assert process.returncode == 130
    # It may come in the layout's I/O or between two of its steps.
    assert "ssdlab: stopped by a signal" in err
    error = json.loads(out)
    assert error["error"] == "interrupted"
    assert "measurement" not in error


@pytest.mark.parametrize("option", [{"size": "8MiB"}, {"precondition": "fill", "destroy": "given-up.bin"}])
def test_a_stopped_preparation_is_not_the_measurement(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, option: dict[str, str]
) -> None:
    disk = scratch / "given-up.bin"
    if "size" not in option:
        disk.write_bytes(os.urandom(1 << 20))

    native = _core.run

    def run(*args: Any, **keywords: Any) -> object:
        done = native(*args, **keywords)
        error = Interrupted("stopped", "again")
        error.measurement = done  # type: ignore[assignment]
        raise error

    monkeypatch.setattr(_core, "run", run)
    with pytest.raises(Interrupted, match="nothing was measured") as raised:
        ssdlab.measure(disk, bytes="4k", **option)
    assert raised.value.measurement is None


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.long
def test_a_full_disk_under_the_output_is_told(file: Path, form: list[str]) -> None:
    command = [sys.executable, "-m", "ssdlab", "measure", str(file), *SIZE, "--bytes", "4k", *form]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 3
    assert "the output could not be written: No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "internal error" not in ended.stderr


def test_output_may_be_closed(file: Path) -> None:
    command = f"{sys.executable} -m ssdlab measure {file} {' '.join(SIZE)} --bytes 4k >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0


def test_python_gets_the_measurement_of_an_interrupted_run(file: Path) -> None:
    ssdlab.measure(file, bytes="4k", size="8MiB")
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    try:
        with pytest.raises(Interrupted) as raised:
            ssdlab.measure(file, seconds=30)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert raised.value.measurement is not None
    assert raised.value.measurement.summary()["read"]["ios"] > 0
    assert raised.value.measurement.warnings


def test_python_is_refused_what_the_command_is_refused(file: Path) -> None:
    foreign = file.parent / "foreign.bin"
    foreign.write_bytes(b"x" * 8192)
    with pytest.raises(Refused, match="was not made by ssdlab"):
        ssdlab.measure(foreign, rw="randwrite", bytes="4k")
    assert foreign.read_bytes() == b"x" * 8192


@pytest.mark.machine
def test_a_full_disk_under_the_log_leaves_nothing_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True)
    try:
        assert main(["measure", "sim:tiny-test", "--seconds", "1", "--log-ios", str(folder / "ios.log")]) == 3
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    what, advice = capsys.readouterr().err.splitlines()[-2:]
    assert what.endswith("cannot grow: its file system is full")
    assert advice.strip() == "Free space where the log is kept, then measure again"
