"""Following a plan: when all is done, a table with problems first, and who is told of the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli.fleet import prometheus_lines, watch_lines
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import FleetPlan, read_plan
from ssdlab.fleet.status import JobStatus
from ssdlab.fleet.watching import all_done_s

pytestmark = pytest.mark.long

SELECTION = """
[[drives]]
model = "tiny-test"
[[work]]
run = "peak-random-read"
quick = true
set = { depths = "1", seconds = "50ms" }
"""


@pytest.fixture
def plan(make_plan: Callable[..., Path]) -> FleetPlan:
    return read_plan(make_plan(SELECTION, n1=["A1", "A2", "A3"], n2=["B1"]))


def timed(plan: FleetPlan, *seconds: float, at_once: int | None, holds: tuple[str, ...] = ()) -> FleetPlan:
    jobs = tuple(
        job.model_copy(update={"seconds": (each, 2 * each), "drive_seconds": None, "holds": holds})
        for job, each in zip(plan.jobs, seconds, strict=True)
    )
    return plan.model_copy(update={"jobs": jobs, "at_once": at_once})


@pytest.mark.parametrize(
    ("at_once", "holds", "lower"),
    [(None, (), 40.0), (4, (), 40.0), (1, (), 100.0), (2, (), 60.0), (None, ("host:n1",), 100.0)],
)
def test_all_is_done_when_the_last_job_ends(
    plan: FleetPlan, at_once: int | None, holds: tuple[str, ...], lower: float
) -> None:
    made = timed(plan, 10.0, 20.0, 30.0, 40.0, at_once=at_once, holds=holds)
    assert all_done_s(made, "slurm") == (lower, 2 * lower)


def test_the_local_back_end_runs_a_job_for_each_cpu(plan: FleetPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    made = timed(plan, 10.0, 20.0, 30.0, 40.0, at_once=None)
    assert [all_done_s(made, name)[0] for name in ("local", "slurm")] == [60.0, 40.0]


def test_what_has_ended_takes_no_more_time(plan: FleetPlan) -> None:
    made = timed(plan, 10.0, 20.0, 30.0, 40.0, at_once=1)
    found = [JobStatus(job, "waiting", job.host, 0) for job in made.jobs]
    found[3] = replace(found[3], state="finished")
    found[2] = replace(found[2], state="failed")
    assert all_done_s(made, "slurm", found) == (30.0, 60.0)


def test_the_table_has_problems_first(plan: FleetPlan) -> None:
    states = ("finished", "waiting", "running", "failed")
    found = [
        JobStatus(job, state, job.host, 1, f"why {state}")
        for job, state in zip(plan.jobs, states, strict=True)
    ]
    _, *rows = watch_lines(found)
    assert [row.split()[0] for row in rows] == ["B1", "A3", "A2"], "what is finished is not shown"
    assert rows[0].endswith("why failed")
    many = [replace(found[1], job=plan.jobs[0])] * 30
    assert watch_lines(many)[-1] == "and 10 more jobs"


def test_prometheus_reads_the_state(plan: FleetPlan) -> None:
    found = [JobStatus(job, "waiting", job.host, 2) for job in plan.jobs]
    lines = prometheus_lines(FleetFolder.make(plan), found)
    name = f'plan="{plan.plan_id}"'
    assert f'ssdlab_fleet_jobs{{{name},state="waiting"}} 4' in lines
    assert f'ssdlab_fleet_jobs{{{name},state="failed"}} 0' in lines
    assert lines[-1] == f"ssdlab_fleet_attempts{{{name}}} 8"


class Receiver(BaseHTTPRequestHandler):
    received: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(500 if self.path == "/bad" else 204)
        self.end_headers()

    def log_message(self, *words: object) -> None:
        del words


def test_the_end_is_told(
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    library: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = ("--library", str(library))
    path = make_plan(SELECTION, n1=["A1", "A2", "A3"])
    assert ssdlab("fleet", "run", str(path), "--backend", "local").returncode == 0
    told = tmp_path / "told.json"
    done = ssdlab("fleet", "watch", "last", *place, "--notify", f"sh -c 'cat > {told}'")
    assert done.returncode == 0, done.stderr
    assert json.loads(told.read_text())["counts"] == {"finished": 3}
    received: list[dict[str, Any]] = []
    monkeypatch.setattr(Receiver, "received", received, raising=False)
    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert ssdlab("fleet", "watch", "last", *place, "--notify", f"{url}/good").returncode == 0
        assert ssdlab("fleet", "watch", "last", *place, "--notify", f"{url}/bad").returncode == 3
        server.shutdown()
    assert [each["counts"] for each in received] == [{"finished": 3}] * 2
    for receiver, status in (("false", 3), ("/none/such", 2), ("", 2), ("'open", 2)):
        assert ssdlab("fleet", "watch", "last", *place, "--notify", receiver).returncode == status, receiver


def test_who_stops_watching_is_told_that_the_jobs_go_on(
    plan: FleetPlan, library: Path, tmp_path: Path
) -> None:
    folder = FleetFolder.make(plan)
    folder.note_submitted("local", {job.name: "" for job in plan.jobs})
    command = [sys.executable, "-m", "ssdlab", "fleet", "watch", "last", "--library", str(library)]
    lock = folder.path / "local.lock"
    held = subprocess.Popen(["flock", str(lock), "sleep", "60"])
    try:
        time.sleep(0.5)
        watching = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        assert watching.stderr is not None
        assert "4 waiting" in watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate(timeout=30)
        assert watching.returncode == 130
        assert "the jobs go on" in said
    finally:
        held.kill()
        held.wait()
