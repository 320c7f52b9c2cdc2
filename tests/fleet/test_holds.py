"""What two plans of one host share: each thing is had by one job at a time, for as long as the job lives."""

from __future__ import annotations

import fcntl
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet.fleet_folder import Attempt, FleetFolder, find_fleet
from ssdlab.fleet.fleet_plan import FleetJob, FleetPlan, read_plan
from ssdlab.fleet.local import NO_CPU, Hold, Local, hold, holder
from ssdlab.fleet.slurm import _options
from ssdlab.model.errors import LabError
from ssdlab.results.lease import host_name
from ssdlab.results.run_folder import MANIFEST, read_manifest

METER = "meter:scpi:10.0.0.9"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def held(*words: str, **options: int) -> Hold:
    taken = hold(words, "job 0001 of plan p", **options)
    assert isinstance(taken, Hold)
    return taken


def test_a_thing_is_had_by_one_and_all_or_nothing_is_taken() -> None:
    first = held("drive:A1", METER)
    assert hold(["drive:A2", METER], "another") == METER
    assert holder(METER) == "job 0001 of plan p"
    assert holder("drive:A2") == "", "what was taken before the thing that is not free is given back"
    first.close()
    assert holder(METER) == ""
    held("drive:A2", METER).close()


def test_a_hold_lasts_as_long_as_the_process_that_it_was_handed_to() -> None:
    with held(METER) as taken:
        words = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        job = subprocess.Popen(words, stdin=subprocess.PIPE, pass_fds=taken.descriptors)
    assert hold([METER], "another") == METER
    job.kill()
    job.communicate()
    held(METER).close()


def test_cpus_are_shared_by_all() -> None:
    with held("drive:A1", cpus=2, of_cpus=3):
        assert hold(["drive:A2"], "another", cpus=2, of_cpus=3) == NO_CPU
        assert holder("drive:A2") == ""
        held("drive:A2", cpus=1, of_cpus=3).close()
    held("drive:A2", cpus=9, of_cpus=3).close()


def made_plan(ssdlab: Callable[..., Any], folder: Path, name: str, serials: tuple[str, ...]) -> Path:
    """Make a plan in a library of its own, whose runs share a chamber."""
    (folder / "selection.toml").write_text(
        f'name = "{name}"\n[[drives]]\nmodel = "tiny-test"\n'
        '[[work]]\nrun = "peak-random-read"\nquick = true\nshares = ["chamber"]\n'
    )
    words = [word for each in serials for word in ("--simulated", f"sim:tiny-test,scale=4,serial={each}")]
    path = folder / f"{name}.json"
    place = ("--library", str(folder / name), "-o", str(path))
    done = ssdlab("fleet", "plan", "selection.toml", *words, *place)
    assert done.returncode == 0, done.stderr
    return path


def begun(path: Path) -> subprocess.Popen[bytes]:
    words = ["fleet", "run", str(path), "--backend", "local"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words], env={**os.environ, "SLURMD_NODENAME": "n1"}, **quiet
    )


@pytest.mark.long
def test_two_plans_side_by_side_never_share_a_thing(ssdlab: Callable[..., Any], tmp_path: Path) -> None:
    paths = [
        made_plan(ssdlab, tmp_path, name, serials)
        for name, serials in (("one", ("A1", "A2", "A3")), ("two", ("B1", "B2", "B3")))
    ]
    processes = [begun(path) for path in paths]
    assert [each.wait(timeout=300) for each in processes] == [0, 0]
    spans = sorted(
        (str(session.started), str(session.ended))
        for path in paths
        for plan in [read_plan(path)]
        for job in plan.jobs
        for session in read_manifest(Path(plan.library) / job.run_id).sessions
    )
    assert len(spans) == 6
    for (_, ended), (next_began, _) in itertools.pairwise(spans):
        assert ended <= next_began


@pytest.mark.long
def test_a_job_that_waits_for_another_plan_says_for_what(ssdlab: Callable[..., Any], tmp_path: Path) -> None:
    path = made_plan(ssdlab, tmp_path, "one", ("A1",))
    taken = hold(["shared:chamber"], "job 0007 of plan 2026-two")
    assert isinstance(taken, Hold)
    process = begun(path)
    told, until = "", time.monotonic() + 60
    while "waits for shared:chamber, used by job 0007 of plan 2026-two" not in told:
        assert time.monotonic() < until, told
        told = ssdlab("fleet", "status", "last", "--library", str(tmp_path / "one")).stdout
    (job,) = read_plan(path).jobs
    assert not (tmp_path / "one" / job.run_id / MANIFEST).exists()
    taken.close()
    assert process.wait(timeout=120) == 0


def job_of(number: str, **fields: Any) -> FleetJob:
    given = {
        "name": number, "serial": f"A{number}", "model": "m", "host": host_name(), "drive": "sim:tiny-test",
        "slot": "s", "consent_id": f"A{number}", "run_id": f"20260101-0000-qd1-aa{number}",
        "task": {"run": "qd1"}, "cpus": 1, "seconds": (1.0, 2.0), "bytes_written": (0.0, 0.0), **fields,
    }  # fmt: skip
    return FleetJob.model_validate(given)


def folder_of(library: Path, plan_id: str, *jobs: FleetJob, stamp: str = "20260101-000000") -> FleetFolder:
    library.mkdir(exist_ok=True)
    fields = {
        "plan_id": f"{stamp}-{plan_id}",
        "created": "now",
        "version": "1",
        "library": str(library),
    }
    more = {"library_token": "0" * 32, "at_once": 1, "jobs": jobs}
    return FleetFolder.make(FleetPlan.model_validate({**fields, **more}))


def test_a_plan_is_looked_up_in_the_library_before_where_the_command_stands(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = [folder_of(library, name, job_of("0001")) for name in ("a", "b")]
    to_come = folder_of(library, "c", job_of("0001"), stamp="29990101-000000")
    monkeypatch.chdir(tmp_path)
    for name in ("last", plans[0].path.name):
        Path(name).write_text("no plan")
    assert find_fleet("last", library).path == plans[1].path, "not one of a clock that was wrong"
    assert find_fleet(plans[0].path.name, library).path == plans[0].path
    assert find_fleet("2999", library).path == to_come.path
    with pytest.raises(LabError):
        find_fleet("./last", library)


def test_jobs_that_are_resumed_wait_though_they_were_begun_before(library: Path) -> None:
    """`fleet watch` ended between two of them, and `status` called them interrupted."""
    folder = folder_of(library, "p", job_of("0001"), job_of("0002"), job_of("0003"))
    for name in ("0001", "0002", "0003"):
        old = {"job": name, "number": 1, "host": host_name(), "pid": 1, "began": 5.0, "exit_status": 130}
        folder.write_attempt(Attempt.model_validate({**old, "ended": 6.0}))
    assert Local().queued(folder) == {}
    folder.note_submitted("local", {"0001": "", "0002": ""})  # 0003 is not given again
    with (folder.path / "local.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert {name: each.state for name, each in Local().queued(folder).items()} == {
            "0001": "waiting",
            "0002": "waiting",
        }
        new = {"job": "0001", "number": 2, "host": host_name(), "pid": 1, "began": time.time() + 1}
        folder.write_attempt(Attempt.model_validate({**new, "ended": time.time() + 2, "exit_status": 3}))
        assert list(Local().queued(folder)) == ["0002"]


@pytest.mark.parametrize(
    ("holds", "other"),
    [
        (("drive:A", "link:n1/0000:01"), ("drive:B", "link:n1/0000:01")),
        (("drive:A", "link:n1/0000:01", "host:n1"), ("drive:B", "link:n1/0000:02", "host:n1")),
    ],
    ids=["of one link", "of one host, whatever the link"],
)
def test_slurm_lets_jobs_of_two_plans_follow_one_another(
    holds: tuple[str, ...], other: tuple[str, ...], library: Path
) -> None:
    """`singleton` holds among the jobs of one name: sbatch(1)."""
    names = []
    for plan_id, each in (("p", holds), ("q", other)):
        folder = folder_of(library, plan_id, job_of("0001", holds=each))
        options = _options(folder, folder.plan.jobs[0], None, 0)
        assert "--dependency=singleton" in options
        names += [option for option in options if option.startswith("--job-name=")]
    assert names[0] == names[1]
