"""Ctrl-C, SIGTERM and SIGHUP stop a run within a tick, drain it, and give what was measured."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from bindings.workloads import stream, workload

TICK_S = 0.05

PROGRAM = """
    import json, signal, sys, time
    from ssdlab import _core, errors

    handler = sys.argv[3]
    if handler == "own":
        signal.signal(signal.SIGTERM, lambda *_: print("own handler", file=sys.stderr))

    ticks = []
    def on_tick(snapshot):
        ticks.append(snapshot)
        if len(ticks) == 6:
            print("running", flush=True)

    target = _core.Target(sys.argv[1], write=True)
    try:
        _core.run(target, sys.argv[2], on_tick=on_tick, log_path=sys.argv[4])
    except errors.Interrupted as error:
        stopped_s = time.clock_gettime(time.CLOCK_MONOTONIC)
        print(json.dumps({
            "stopped_s": stopped_s,
            "cause": type(error.__cause__).__name__,
            "exit_status": error.exit_status,
            "facts": error.facts,
            "summary": error.measurement.summary(),
            "sigterm_is_default": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
        }))
"""


def interrupt(file: Path, number: signal.Signals, log: Path, **changes: Any) -> dict[str, Any]:
    """Start a run in a process of its own, send it a signal, and give what it says, and how long it took."""
    arguments = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(file)]
    arguments += [workload(stream(**changes)), "none", str(log)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    sent_s = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    said: dict[str, Any] = json.loads(output)
    return said | {"took_s": said["stopped_s"] - sent_s}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("engine", ["sync", "uring"])
def test_a_signal_gives_what_was_measured(
    written_file: Path, tmp_path: Path, number: signal.Signals, engine: str
) -> None:
    shape = {"workers": 4} if engine == "sync" else {"depth": 16}
    said = interrupt(written_file, number, tmp_path / "run.log", engine=engine, **shape)
    summary = said["summary"]
    assert said["cause"] == "KeyboardInterrupt"
    assert said["exit_status"] == 130
    assert summary["complete"]
    assert summary["read"]["ios"] > 0
    assert summary["read"]["requested"] == summary["read"]["ios"]
    assert summary["workers"]["unfinished_ios"] == 0
    assert summary["elapsed_s"] >= 0.2
    assert said["sigterm_is_default"]
    # One tick to see it, one for the driver to come round, and the I/O in flight; a loaded machine gets more.
    assert said["took_s"] < 20 * TICK_S


def test_the_log_of_an_interrupted_run_is_whole(written_file: Path, tmp_path: Path) -> None:
    from ssdlab import _core

    said = interrupt(written_file, signal.SIGINT, tmp_path / "run.log")
    log = _core.read_log(tmp_path / "run.log")
    assert not log.torn
    assert log.measurement.summary() == said["summary"]


def test_a_handler_of_the_program_is_left_alone(written_file: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(written_file)]
    arguments += [workload(), "own", str(tmp_path / "run.log")]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGTERM)
    time.sleep(10 * TICK_S)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=20)
    assert "own handler" in complaints
    assert json.loads(output)["summary"]["read"]["ios"] > 0


def test_a_kill_leaves_a_log_that_reads(written_file: Path, tmp_path: Path) -> None:
    from ssdlab import _core

    arguments = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(written_file)]
    arguments += [workload(), "none", str(tmp_path / "run.log")]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.kill()
    process.wait()
    log = _core.read_log(tmp_path / "run.log")
    assert log.torn
    assert not log.measurement.complete
    assert log.measurement.rows("main", "read")["ios"].sum() == log.measurement.summary()["read"]["ios"] > 0
