"""What the truth tests share: the command as a user runs it, and what it printed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machine import blkio
from machine.command import measure_command
from machine.event_log import EventLog
from machine.tracing import TRACEFS, mount_tracefs

EventLogs = Callable[[Path], EventLog]
Measure = Callable[..., dict[str, Any]]


@pytest.fixture
def event_log() -> EventLogs:
    """``with event_log(device) as events``: each request to the device, in ``events.requests``."""
    try:
        mount_tracefs()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no tracefs in this kernel, or no right to mount it")
    if not (TRACEFS / "events/block/block_bio_queue").exists():
        pytest.skip("this kernel has no block tracepoints")
    return EventLog


@pytest.fixture
def measure(command: str) -> Measure:
    """``measure(device, "--rw", "randread", throttle=...)`` gives what `measure --json` printed."""

    def run(device: Path, *options: str | int, throttle: blkio.Throttle | None = None) -> dict[str, Any]:
        arguments = measure_command(command, device, options)
        if throttle is None:
            done = subprocess.run(arguments, text=True, capture_output=True, check=False)
        else:
            done = throttle.run(arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    return run
