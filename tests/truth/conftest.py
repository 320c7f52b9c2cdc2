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

Measure = Callable[..., dict[str, Any]]


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
