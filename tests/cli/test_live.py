"""What is shown while a measurement goes on: a bar on a terminal, lines elsewhere, nothing beside JSON."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ssdlab
from ssdlab.cli.measure import PlainWatcher, rates_text

S = 10**9


def row(**changes: Any) -> SimpleNamespace:
    cells = [SimpleNamespace(latency=lambda kind: {"p99_ns": 120_000 if kind == "response" else 1})]
    return SimpleNamespace(**{"iops": 64_321.0, "mb_s": 263.4, "cells": cells, **changes})


def snapshot(**changes: Any) -> Any:
    plain = {"elapsed_ns": 2 * S, "ios": 1000, "bytes": 4_096_000, "failed": 0, "latest": None}
    return SimpleNamespace(**{**plain, **changes})


def test_rates_are_those_of_the_last_row() -> None:
    assert rates_text(snapshot(latest=row())) == "64.3k IOPS  263 MB/s  p99 120 µs"
    assert rates_text(snapshot(latest=row(cells=[]), failed=3)) == "64.3k IOPS  263 MB/s  3 failed"


def test_before_the_first_row_they_are_those_of_all() -> None:
    assert rates_text(snapshot()) == "500 IOPS  2.05 MB/s"


def test_lines_come_at_the_start_of_a_phase_and_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = PlainWatcher()
    watcher.phase("laying out the drive", duration_ns=None, size_bytes=1 << 30)
    watcher.phase("measuring", duration_ns=60 * S, size_bytes=None)
    for seconds in (0, 5, 10, 15, 20):
        watcher.tick(snapshot(elapsed_ns=seconds * S, latest=row()))
    assert capsys.readouterr().err.splitlines() == [
        "measuring for 60.0 s ...",
        "   10 s  64.3k IOPS  263 MB/s  p99 120 µs",
        "   20 s  64.3k IOPS  263 MB/s  p99 120 µs",
    ]


def test_a_phase_that_begins_in_mid_run_makes_up_for_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = PlainWatcher()
    watcher.phase("overwriting as with --precondition full", duration_ns=None, size_bytes=None)
    for seconds in (55, 56, 57, 60):
        watcher.tick(snapshot(elapsed_ns=seconds * S, latest=row()))
    shown = [line.split("s")[0].strip() for line in capsys.readouterr().err.splitlines()]
    assert shown == ["overwriting a", "55", "60"]


def on_a_terminal(words: list[str], cwd: Path, **environment: str) -> tuple[str, str]:
    """Run with a terminal as stderr; return what went to stdout and to the terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65_536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    return out, shown.decode()


def test_a_terminal_gets_a_bar_that_goes_away(scratch: Path) -> None:
    ssdlab.measure(scratch / "scratch.bin", size="8MiB", bytes="4k")
    out, shown = on_a_terminal(["measure", "scratch.bin", "--seconds", "1.5"], scratch)
    assert "measuring" in shown
    assert "IOPS" in shown
    assert shown.rstrip().endswith("\x1b[2K")
    assert "\x1b[" not in out


def test_json_is_never_mixed_with_talk(scratch: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ssdlab",
        "measure",
        "scratch.bin",
        "--size",
        "8MiB",
        "--bytes",
        "1m",
        "--json",
    ]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("{")
    assert done.stdout.endswith("}\n")
