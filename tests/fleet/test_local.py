"""The back end of one host: jobs beside each other, what they may not share, Ctrl-C, kill and resume."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.drives.opening import Look
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import FleetPlan, read_plan
from ssdlab.fleet.host_checks import check_drive, check_shared, check_version
from ssdlab.host.identity import Identity
from ssdlab.model.errors import Refused
from ssdlab.results.run_folder import RunFolder, read_manifest

pytestmark = pytest.mark.long

ALL = '[[drives]]\nmodel = "tiny-test"\n'
WORK = '[[work]]\nrun = "peak-random-read"\nquick = true\n'
SHORT = WORK + 'set = { depths = "1", seconds = "50ms" }\n'
LONG = """
[[work]]
run = "steady-random-write"
set = { overwrites = 0, least_seconds = "300s", round_seconds = "30s", seconds = "600s" }
"""
"""Far more steps than a test waits for, and none that takes the simulator more than seconds."""
NODE = {"SLURMD_NODENAME": "n1"}


def test_every_drive_has_its_run_in_the_library(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    path = make_plan(ALL + SHORT, n1=["A1", "A2", "A3"])
    done = ssdlab("fleet", "run", str(path), "--backend", "local", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counts"] == {"finished": 3}
    for job in told["jobs"]:
        manifest = RunFolder(library / job["run"]).manifest
        assert manifest.status == "finished"
        assert manifest.drive.identity["serial"] == job["serial"]
    again = ssdlab("fleet", "run", str(path), "--backend", "local")
    assert again.returncode == 2
    assert "was started before" in again.stderr
    resumed = ssdlab("fleet", "resume", "last", "--library", str(library))
    assert resumed.returncode == 0
    assert "is left to start" in resumed.stderr


def _run_times(library: Path, plan: FleetPlan) -> list[tuple[str, str]]:
    """When each run began and ended, by the sessions of its manifest."""
    sessions = [read_manifest(library / job.run_id).sessions[-1] for job in plan.jobs]
    return sorted((str(each.started), str(each.ended)) for each in sessions)


def test_jobs_that_need_one_meter_never_overlap(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path, tmp_path: Path
) -> None:
    work = WORK + '[limits]\none_at_a_time = ["host"]\nat_once = 4\n'
    path = make_plan(ALL + work, n1=["A1", "A2", "A3", "A4"])
    assert ssdlab("fleet", "run", str(path), "--backend", "local").returncode == 0
    times = _run_times(library, read_plan(path))
    assert len(times) == 4
    for (_, ended), (began, _) in itertools.pairwise(times):
        assert ended <= began


@pytest.fixture
def at_work(
    make_plan: Callable[..., Path], library: Path, tmp_path: Path
) -> Callable[..., tuple[subprocess.Popen[bytes], FleetPlan]]:
    """Begin a long plan and wait until so many of its runs have finished a step."""

    def begin(count: int, serials: list[str]) -> tuple[subprocess.Popen[bytes], FleetPlan]:
        path = make_plan(ALL + LONG + f"[limits]\nat_once = {count}\n", n1=serials)
        words = ["fleet", "run", str(path), "--backend", "local", "--destroy-all", str(len(serials))]
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", *words],
            cwd=tmp_path,
            env={**os.environ, **NODE},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        plan = read_plan(path)
        until = time.monotonic() + 120
        while sum(_steps(library, job.run_id) > 0 for job in plan.jobs) < count:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        return process, plan

    return begin


def _steps(library: Path, run_id: str) -> int:
    journal = library / run_id / "journal.jsonl"
    return journal.read_text().count('"t":"end"') if journal.is_file() else 0


def test_ctrl_c_ends_the_jobs_and_they_can_be_resumed(
    at_work: Callable[..., Any], states: Callable[..., Any], ssdlab: Callable[..., Any], library: Path
) -> None:
    process, _ = at_work(2, ["A1", "A2", "A3"])
    assert [states()[serial]["state"] for serial in ("A1", "A2", "A3")] == ["running", "running", "waiting"]
    second = ssdlab("fleet", "resume", "last", "--library", str(library))
    assert "3 jobs: 2 running, 1 waiting" in second.stdout, "what another command works on is left to it"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    told = states()
    assert [told[serial]["state"] for serial in ("A1", "A2", "A3")] == [
        "interrupted",
        "interrupted",
        "not begun",
    ]
    assert ssdlab("fleet", "cancel", "last", "--library", str(library)).returncode == 0
    assert {job["state"] for job in states().values()} == {"cancelled"}


def test_a_kill_leaves_the_jobs_at_work_and_nothing_is_done_twice(
    at_work: Callable[..., Any], states: Callable[..., Any], ssdlab: Callable[..., Any], library: Path
) -> None:
    process, plan = at_work(1, ["A1"])
    process.kill()
    process.wait()
    assert states()["A1"]["state"] == "running"
    (job,) = plan.jobs
    pid = json.loads(next((library / ".fleet").glob("*/attempts/0001-1.json")).read_text())["pid"]
    second = ssdlab("resume", str(library / job.run_id))
    assert second.returncode == 2
    assert "is being run by another process" in second.stderr
    done = _steps(library, job.run_id)
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while states()["A1"]["state"] != "interrupted":
        assert time.monotonic() < until
    again = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", "fleet", "resume", "last", "--library", str(library)],
        env={**os.environ, **NODE},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 120
        while _steps(library, job.run_id) <= done:
            assert time.monotonic() < until
            assert again.poll() is None
            time.sleep(0.2)
    finally:
        again.send_signal(signal.SIGINT)
        again.wait(timeout=60)
    begun = [line for line in _journal(library, job.run_id) if line["t"] == "begin"]
    ended = [line["ordinal"] for line in _journal(library, job.run_id) if line["t"] == "end"]
    assert len(ended) == len(set(ended)), "a finished step was done twice"
    assert max(line["ordinal"] for line in begun) >= done


def _journal(library: Path, run_id: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (library / run_id / "journal.jsonl").read_text().splitlines()]


def test_a_host_refuses_a_plan_for_others(make_plan: Callable[..., Path], ssdlab: Callable[..., Any]) -> None:
    path = make_plan(ALL + SHORT, n1=["A1"], n2=["A2"])
    done = ssdlab("fleet", "run", str(path), "--backend", "local")
    assert done.returncode == 2
    assert "the plan has jobs for n2, but this host is n1" in done.stderr


def _real(serial: str, path: str) -> Look:
    return Look(Identity(path, Path(path).name, "block", serial, 10**9, 512, serial=serial), True, None, None)


def test_a_drive_in_another_slot_or_missing_is_refused(make_plan: Callable[..., Path]) -> None:
    job = read_plan(make_plan(ALL + SHORT, n1=["A1"])).jobs[0]
    job = job.model_copy(update={"drive": "/dev/none0", "slot": "/dev/none0", "consent_id": "A1"})
    real = _real
    assert check_drive(job, lambda: [real("A1", "/dev/none0"), real("A2", "/dev/none1")]) == "/dev/none0"
    with pytest.raises(Refused, match=r"A1 has moved, and A2 is in its slot"):
        check_drive(job, lambda: [real("A2", "/dev/none0"), real("A1", "/dev/none1")])
    with pytest.raises(Refused, match=r"A1 is not attached to .*; in its slot is A2"):
        check_drive(job, lambda: [real("A2", "/dev/none0")])


def test_another_version_or_library_is_refused(make_plan: Callable[..., Path], library: Path) -> None:
    plan = read_plan(make_plan(ALL + SHORT, n1=["A1"]))
    with pytest.raises(Refused, match=r"made by ssdlab 9.9, but .* runs"):
        check_version(plan.model_copy(update={"version": "9.9"}))
    FleetFolder.make(plan)
    check_shared(plan, 0)
    (library / ".fleet" / "token").write_text("another")
    with pytest.raises(Refused, match="belongs to another library"):
        check_shared(plan, 0)
    (library / ".fleet" / "token").unlink()
    with pytest.raises(Refused, match="is not there"):
        check_shared(plan, 0)
