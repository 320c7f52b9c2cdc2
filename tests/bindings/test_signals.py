"""Ctrl-C, SIGTERM and SIGHUP stop a run within a tick, drain it, and give what was measured."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindings.workloads import stream, workload
from machine import blkio
from ssdlab import _core

TICK_S = 0.05

PROGRAM = """
    import json, os, signal, sys, time
    from ssdlab import _core
    from ssdlab.model import errors

    handler = sys.argv[3]
    if handler == "own":
        signal.signal(signal.SIGTERM, lambda *_: print("own handler", file=sys.stderr))

    ticks = []
    def on_tick(snapshot):
        ticks.append(snapshot)
        if len(ticks) == 6:
            print("running", flush=True)

    descriptor = os.open(sys.argv[1], os.O_RDWR)
    target = _core.Target.from_descriptor(descriptor, path=sys.argv[1], write=True)
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


def start(target: Path, log: Path, handler: str = "none", **changes: Any) -> subprocess.Popen[str]:
    """A run in a process of its own, that has begun."""
    arguments = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(target)]
    arguments += [workload(stream(**changes)), handler, str(log)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    return process


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What an interrupted run says, with its complaints."""
    output, complaints = process.communicate(timeout=20)
    assert process.returncode == 0, complaints
    said: dict[str, Any] = json.loads(output)
    return said | {"complaints": complaints}


def interrupt(file: Path, number: signal.Signals, log: Path, **changes: Any) -> dict[str, Any]:
    """Start a run in a process of its own, send it a signal, and give what it says, and how long it took."""
    process = start(file, log, **changes)
    sent_s = time.clock_gettime(time.CLOCK_MONOTONIC)
    process.send_signal(number)
    said = outcome(process)
    return said | {"took_s": said["stopped_s"] - sent_s}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("engine", ["sync", "uring"])
@pytest.mark.long
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


def test_what_is_in_flight_is_drained_however_often_ctrl_c_is_pressed(
    zram: Path, throttled: Callable[..., blkio.Throttle], tmp_path: Path
) -> None:
    """At 20 I/Os a second, 32 in flight take 1.6 s to come home."""
    with throttled(zram, read_iops=20).here():
        process = start(zram, tmp_path / "run.log", engine="uring", depth=32)
    process.send_signal(signal.SIGINT)
    time.sleep(8 * TICK_S)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    summary = outcome(process)["summary"]
    assert summary["workers"]["unfinished_ios"] == 0
    assert summary["read"]["requested"] == summary["read"]["ios"] >= 32
    assert summary["read"]["service_ns"]["max"] > 1_000_000_000


def test_the_log_of_an_interrupted_run_is_whole(written_file: Path, tmp_path: Path) -> None:
    said = interrupt(written_file, signal.SIGINT, tmp_path / "run.log")
    log = _core.read_log(tmp_path / "run.log")
    assert not log.torn
    assert log.measurement.summary() == said["summary"]


def test_a_handler_of_the_program_is_left_alone(written_file: Path, tmp_path: Path) -> None:
    process = start(written_file, tmp_path / "run.log", handler="own")
    process.send_signal(signal.SIGTERM)
    time.sleep(10 * TICK_S)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said = outcome(process)
    assert "own handler" in said["complaints"]
    assert said["summary"]["read"]["ios"] > 0


def test_a_kill_leaves_a_log_that_reads(written_file: Path, tmp_path: Path) -> None:
    process = start(written_file, tmp_path / "run.log")
    process.kill()
    process.communicate()
    log = _core.read_log(tmp_path / "run.log")
    assert log.torn
    assert not log.measurement.complete
    assert log.measurement.rows("main", "read")["ios"].sum() == log.measurement.summary()["read"]["ios"] > 0
