"""Points of a fork on several processors: the same to the bit as one after the other, and as resumable."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from methods.on_simulated import SMALL, run
from ssdlab.lab.kinds import PointsResult
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, RunData
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.errors import Interrupted
from ssdlab.results.run_folder import RunFolder, step_logs
from ssdlab.runs import side_by_side
from ssdlab.runs.order import Order
from ssdlab.runs.provenance import written_by_run
from ssdlab.runs.session import resume, start
from ssdlab.runs.side_by_side import SideBySide

BRIEF = {
    **{"round_seconds": "0.5", "least_seconds": "0.5", "most_seconds": "2", "seconds": "0.5"},
    **{"ramp_seconds": "0", "read_shares": "25,75", "write_shares": "0,50"},
}
OF_THE_DRIVE = ("iops", "mb_s", "elapsed_s", "total_s", "read", "write", "in_flight", "drive", "power")


def kept(folder: RunFolder) -> list[Any]:
    """What the journal and the logs have of each step, without the host's own time."""
    records = [json.loads(line) for line in (folder.path / "journal.jsonl").read_text().splitlines()]
    found: list[Any] = []
    for record in records:
        result = record.get("result") or {}
        measured = result.get("measurement") or {}
        measured = {key: measured.get(key) for key in OF_THE_DRIVE}
        found.append(
            [record["t"], record.get("ordinal"), record.get("attempt"), record.get("drive_state"), measured]
        )
    return found


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Any:
    def processors(count: int) -> None:
        monkeypatch.setattr(side_by_side, "processors", lambda: count)

    return processors


@pytest.mark.long
def test_points_side_by_side_are_those_of_one_after_the_other(on: Any, tmp_path: Path) -> None:
    runs = []
    for count in (1, 3):
        on(count)
        runs.append(run("read-under-writes", tmp_path / str(count), seed=5, **BRIEF))
    one, other = (kept(folder) for folder in runs)
    assert one == other
    assert sum(1 for record in one if record[3]) > 10, "states are compared"
    for name in ("series.parquet", "hist.parquet"):
        places = [str(folder.path / name) for folder in runs]
        query = f"SELECT count(*) FROM (SELECT * FROM '{places[0]}' EXCEPT ALL SELECT * FROM '{places[1]}')"
        assert duckdb.sql(query).fetchall() == [(0,)]


class NoParams(Params):
    """None."""


def sweeping(stop_in: list[int]) -> Method:
    """A method of six points on a fork, which a test stops before one of them."""

    def procedure(lab: Lab, p: NoParams) -> None:
        lab.fill()

        def workload(depth: int) -> Any:
            if stop_in and depth == stop_in[0] and stop_in[1]:
                stop_in[1] -= 1
                if not stop_in[1]:
                    raise Interrupted("stopped by a test", "resume")
            return closed_loop("random", "write", block_bytes=4096, in_flight=depth, seconds=0.2)

        lab.sweep("depth", (1, 2, 4, 8, 16, 32), workload, forked=True)
        lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=4, seconds=0.1), label="after")

    def conclude(data: RunData, p: NoParams) -> PointsResult:
        return PointsResult(quick=False, points=())

    return Method("sweeping", 1, "Sweeping", NoParams, procedure, conclude, writes=lambda p: True)


def test_what_was_worked_out_ahead_and_not_taken_is_thrown_away(on: Any, tmp_path: Path) -> None:
    on(2)
    method = sweeping([8, 3])  # asked for by the plan, and in the rehearsal
    with pytest.raises(Interrupted):
        start(Order(method, NoParams(), SMALL, destroy=SMALL, seed=3), tmp_path)
    (folder,) = tmp_path.glob("2*")
    run_folder = RunFolder(folder)
    done = [step.label for step in run_folder.steps() if step.verb == "run"]
    assert done == ["depth 1", "depth 2", "depth 4"]
    assert not list((folder / "steps").glob("ahead-*"))


@pytest.fixture
def killed(tmp_path: Path) -> RunFolder:
    """A run that was killed while it worked points out, with what it leaves of those that nobody took."""
    words = [sys.executable, "-m", "ssdlab", "run", "read-under-writes", SMALL, "--seed", "5"]
    words += [word for name, value in BRIEF.items() for word in ("--set", f"{name}={value}")]
    running = subprocess.Popen([*words, "--library", str(tmp_path)], stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 100
        while not list(tmp_path.glob("2*/steps/ahead-*")):
            assert running.poll() is None and time.monotonic() < until, running.communicate()[1]
            time.sleep(0.001)
    finally:
        running.kill()
        running.communicate()
    (folder,) = tmp_path.glob("2*")
    if not (left := list((folder / "steps").glob("ahead-*"))):  # taken between the look and the kill
        left = [folder / "steps" / "ahead-0999.log"]
        left[0].write_bytes(b"")
    return RunFolder(folder)


@pytest.mark.long
def test_killed_while_points_are_worked_out(killed: RunFolder, tmp_path: Path) -> None:
    """What lies there of points that nobody took is no log of a step, and is gone when the run goes on."""
    found = written_by_run(killed.path)
    assert all(name[:4].isdigit() for name in step_logs(killed.path))
    resume(killed.path)
    assert RunFolder(killed.path).manifest.status == "finished" and not (killed.path / "steps").exists()
    whole = run("read-under-writes", tmp_path / "whole", seed=5, **BRIEF)
    assert written_by_run(whole.path) == written_by_run(killed.path) > found
    ended = [record for record in kept(killed) if record[0] == "end"]
    assert [record[3] for record in ended] == [record[3] for record in kept(whole) if record[0] == "end"]


def test_memory_is_given_to_few_points_at_a_time(
    on: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ssdlab.drives.simulated.state import KeepableState

    on(2)
    copies, most = [0], [0]
    copy, adopt = KeepableState.copy, KeepableState.adopt

    def counted(self: Any, mark: object) -> Any:
        copies[0] += 1
        most[0] = max(most[0], copies[0])
        return copy(self, mark)

    def given(self: Any, other: Any) -> None:
        copies[0] -= 1
        adopt(self, other)

    monkeypatch.setattr(KeepableState, "copy", counted)
    monkeypatch.setattr(KeepableState, "adopt", given)
    start(Order(sweeping([]), NoParams(), SMALL, destroy=SMALL, seed=3), tmp_path)
    assert copies[0] == 0 and 1 <= most[0] <= 3


class Points:
    """A drive, the state that copies are made from, and the folder of its steps: a point is done at once."""

    def __init__(self) -> None:
        self.state = self
        self.begun: list[str] = []
        self.taken = 0
        self.ahead = 0

    def mark(self) -> None: ...

    def copy(self, mark: None) -> Points:
        return self

    def run(self, workload: str, *, log_path: Path, on_tick: Any) -> str:
        self.begun.append(workload)
        self.ahead = max(self.ahead, len(self.begun) - self.taken)
        return workload

    def adopt(self, other: Points) -> None:
        self.taken += 1

    def names(self) -> list[str]:
        return []

    def new_path(self, name: str) -> Path:
        return Path(name)

    def rename(self, *of_a_log: object) -> None: ...

    def remove(self, name: str) -> None: ...


@pytest.mark.parametrize("count", [2, 3])
def test_whoever_is_first_at_work_all_points_are_taken_in_order(on: Any, count: int) -> None:
    """A later point whose thread was faster had the room of one that was waited for: the run stood still."""
    on(count)
    between = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            points: Any = Points()
            ahead = SideBySide(points, points, look=lambda: None, placed=lambda workload: workload)
            requests: Any = [
                SimpleNamespace(ordinal=n, verb="run", args={}, workload=f"point {n:02d}") for n in range(20)
            ]
            ahead.expect(requests)
            found = [ahead.measured(each.ordinal, each.workload, "log") for each in requests]
            ahead.forget()
            assert found == sorted(points.begun) == [each.workload for each in requests]
            assert points.ahead <= count + 1  # it is told a moment after it was taken
    finally:
        sys.setswitchinterval(between)


def test_points_that_are_passed_over_hold_up_no_others(on: Any) -> None:
    on(2)
    points: Any = Points()
    ahead = SideBySide(points, points, look=lambda: None, placed=lambda workload: workload)
    requests: Any = [SimpleNamespace(ordinal=n, verb="run", args={}, workload=f"point {n}") for n in range(6)]
    ahead.expect(requests)
    asked_for = ((0, 0), (1, 5), (4, 4), (5, 5))  # the second as another one than was expected
    found: list[Any] = [ahead.measured(n, requests[work].workload, "log") for n, work in asked_for]
    assert found == ["point 0", None, "point 4", "point 5"]
    ahead.forget()
