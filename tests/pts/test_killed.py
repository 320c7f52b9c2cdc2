"""Tests of rounds on a throttled loop device, killed in a round and resumed: the campaign, and a small one.

The device rests while the run is down, as a drive does. What must hold is read from the journal.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from machine import blkio
from pts.interruptions import cost_of, mixed_rounds, rounds_of

SIZE_BYTES = 16 << 20
ROUNDS = 10
CELL = {"threads": "1", "depth": "4", "fixed_rounds": "true", "most_rounds": str(ROUNDS), "seconds": "0.05"}
DEMAND = {"thread_counts": "1,2", "depths": "1,2", "cycle": "1", "most_samples": "5"}
DEMAND |= {"pre_write_seconds": "0.05", "settle_seconds": "0.05", "histogram_seconds": "0.1"}
SETTINGS = {
    "pts-iops": {**CELL, "overwrites": "0.5"},
    "pts-throughput": {**CELL, "overwrites": "0.5"},
    "pts-latency": {**CELL, "overwrites": "0.5", "histogram_seconds": "0.2"},
    "pts-demand-intensity": {**CELL, **DEMAND},
}
CELLS = {"pts-iops": 56, "pts-throughput": 2, "pts-latency": 9, "pts-demand-intensity": 1 + 4}
WAIT_S = 300.0
"""Until the round to be killed is there: ten times what 500 cells take here under load."""


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    backing = tmp_path / "backing.img"
    backing.write_bytes(os.urandom(SIZE_BYTES))
    command = ["losetup", "--find", "--show", "--direct-io=on", str(backing)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield Path(device)
    subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture
def slow_loop(loop: Path, throttled: Callable[..., blkio.Throttle]) -> tuple[Path, blkio.Throttle]:
    limits = {"read_bps": 300_000_000, "write_bps": 150_000_000, "read_iops": 8000, "write_iops": 4000}
    return loop, throttled(loop, **limits)


def begun_cells(library: Path) -> list[str]:
    """Return the labels of the steps that the only run of a library has begun."""
    for journal in library.glob("*/journal.jsonl"):
        lines = journal.read_bytes().splitlines()
        records = [json.loads(line) for line in lines if line.endswith(b"}")]
        return [record["label"] for record in records if record["t"] == "begin"]
    return []


def killed_and_resumed(
    library: Path, name: str, number: int, slow: tuple[Path, blkio.Throttle], environment: dict[str, str]
) -> Path:
    """Run a method, kill it in the second cell of a round or later, and resume it; return the run folder."""
    device, throttle = slow
    command = [sys.executable, "-m", "ssdlab"]
    settings = [word for each in SETTINGS[name].items() for word in ("--set", "=".join(each))]
    order = [*command, "run", name, str(device), "--destroy", device.name, "--library", str(library)]
    with throttle.here():
        started = subprocess.Popen(
            [*order, *settings], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    ends = time.monotonic() + WAIT_S
    while sum(f"round {number}, " in label for label in begun_cells(library)) < 2:
        assert started.poll() is None, started.communicate()[1].decode()
        assert time.monotonic() < ends
        time.sleep(0.01)
    started.send_signal(signal.SIGKILL)
    started.communicate()
    (folder,) = library.glob("2*")
    resumed = throttle.run([*command, "resume", str(folder)], env=environment)
    assert resumed.returncode == 0, resumed.stderr
    return folder


def check(folder: Path, name: str, number: int) -> None:
    """No window and no round of both sides; and what the resume has cost."""
    assert mixed_rounds(folder) == []
    (first, *others) = rounds_of(folder)
    assert first.cuts in ((number,), (number + 1,)), "the kill may fall behind the last cell of its round"
    cut = first.cuts[0]
    assert first.first >= cut and first.rounds == cut - 1 + ROUNDS
    assert all(group.cuts == () for group in others)
    cells, prepared = cost_of(folder, 2)
    after = {"pts-latency": 1, "pts-demand-intensity": 6}.get(name, ROUNDS * 2 * len(others))
    assert cells <= ROUNDS * CELLS[name] + after
    assert prepared <= 2 + 2 * len(others)


@pytest.mark.parametrize("number", [4])
def test_a_kill_in_a_round_cuts_there(
    tmp_path: Path, slow_loop: tuple[Path, blkio.Throttle], number: int
) -> None:
    folder = killed_and_resumed(tmp_path / "runs", "pts-throughput", number, slow_loop, own(tmp_path))
    check(folder, "pts-throughput", number)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2, 9))
@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_killed_in_each_round_no_window_holds_both_sides(
    tmp_path: Path, slow_loop: tuple[Path, blkio.Throttle], name: str, number: int
) -> None:
    folder = killed_and_resumed(tmp_path / "runs", name, number, slow_loop, own(tmp_path))
    check(folder, name, number)


def own(folder: Path) -> dict[str, str]:
    """The environment of the command, with state of its own."""
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
