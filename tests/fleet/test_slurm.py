"""Jobs on a Slurm of the test's own: pinned to serials, meters one at a time, lost nodes, wrong counts."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.fleet.slurm import SLOTS, SLOTS_TOTAL
from ssdlab.results.run_folder import read_manifest

pytestmark = pytest.mark.long

ALL = '[[drives]]\nmodel = "tiny-test"\n'
SHORT = '[[work]]\nrun = "peak-random-read"\nquick = true\n'


def until(holds: Callable[[], Any], within_s: float = 120.0) -> Any:
    """Wait until something holds, and return it."""
    end = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < end, holds
        time.sleep(0.5)
    return found


def wait_for(states: Callable[..., Any], environment: dict[str, str], state: str) -> None:
    """Wait until all jobs are in a state; a job that ends in another is told."""
    end = time.monotonic() + 200
    while True:
        told = states(environment)
        found = {job["state"] for job in told.values()}
        if found == {state}:
            return
        assert not found & ({"failed", "refused"} - {state}), told
        assert time.monotonic() < end, told
        time.sleep(1.0)


def test_each_job_runs_on_the_node_of_its_serial(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    drives = {"n1": ["A1", "A2"], "n2": ["A3"]}
    cluster = make_slurm(drives)
    path = make_plan(ALL + SHORT, **drives)
    done = ssdlab("fleet", "run", str(path), environment=cluster.environment)
    assert done.returncode == 0, done.stderr
    wait_for(states, cluster.environment, "finished")
    told = states(cluster.environment)
    assert {serial: job["host"] for serial, job in told.items()} == {"A1": "n1", "A2": "n1", "A3": "n2"}
    for job in told.values():
        assert read_manifest(library / job["run"]).drive.identity["serial"] == job["serial"]


def test_jobs_that_share_something_are_one_at_a_time(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    drives = {"n1": ["A1", "A2", "A3", "A4"]}
    cluster = make_slurm(drives, licences=("rack_power",))
    path = make_plan(ALL + SHORT + 'shares = ["rack power"]\n', **drives)
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    wait_for(states, cluster.environment, "finished")
    plan = read_plan(path)
    assert {job.shared for job in plan.jobs} == {("rack power",)}
    times = sorted(_session(library, job.run_id) for job in plan.jobs)
    for (_, ended), (began, _) in itertools.pairwise(times):
        assert ended <= began


def _most_at_once(library: Path, path: Path) -> int:
    """How many of a plan's runs overlapped, by their sessions."""
    times = [_session(library, job.run_id) for job in read_plan(path).jobs]
    return max(sum(began <= at < ended for began, ended in times) for at, _ in times)


@pytest.mark.parametrize("pool", [(), (f"{SLOTS}",)], ids=["of each host", "licences"])
def test_a_limit_holds_and_a_node_that_is_down_holds_up_its_own_drives_alone(
    pool: tuple[str, ...],
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    drives = {node: [f"{node.upper()}{number}" for number in range(4)] for node in ("n1", "n2", "n3")}
    more = (f"Licenses={SLOTS}:{SLOTS_TOTAL}",) if pool else ()
    cluster = make_slurm(drives, more=more)
    path = make_plan(ALL + SHORT + "[limits]\nat_once = 3\n", **drives)
    cluster.ask("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=fan")
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    healthy = [serial for node in ("n1", "n3") for serial in drives[node]]
    told = until(
        lambda: (s := states(cluster.environment)) and all(s[e]["state"] == "finished" for e in healthy) and s
    )
    assert {told[serial]["state"] for serial in drives["n2"]} == {"waiting"}
    cluster.ask("scontrol", "update", "NodeName=n2", "State=RESUME")
    wait_for(states, cluster.environment, "finished")
    assert 1 < _most_at_once(library, path) <= 3


def test_a_limit_below_the_number_of_hosts_needs_the_licence(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    drives = {"n1": ["A1", "A2"], "n2": ["B1", "B2"]}
    path = make_plan(ALL + SHORT + "[limits]\nat_once = 1\n", **drives)
    without = make_slurm(drives)
    done = ssdlab("fleet", "run", str(path), environment=without.environment)
    assert done.returncode == 2 and f"Licenses={SLOTS}:{SLOTS_TOTAL}" in done.stderr
    without.stop()
    cluster = make_slurm(drives, more=(f"Licenses={SLOTS}:{SLOTS_TOTAL}",))
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    wait_for(states, cluster.environment, "finished")
    assert _most_at_once(library, path) == 1


def test_what_is_shared_without_a_licence_is_refused(
    make_slurm: Callable[..., Any], make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    cluster = make_slurm({"n1": ["A1"]})
    path = make_plan(ALL + SHORT + 'shares = ["rack power"]\n', n1=["A1"])
    done = ssdlab("fleet", "run", str(path), environment=cluster.environment)
    assert done.returncode == 2
    assert "there is no licence rack_power for rack power" in done.stderr
    assert not list(library.glob("2*"))


def _session(library: Path, run_id: str) -> tuple[str, str]:
    session = read_manifest(library / run_id).sessions[-1]
    return str(session.started), str(session.ended)


@pytest.mark.parametrize(
    ("drives", "options", "words"),
    [
        ({"n1": ["A1"]}, {"counts": {"A1": 2}}, "node n1 has 2 of drive:A1"),
        ({"n1": ["A2"]}, {}, "node n1 has no drive:A1"),
        ({"n9": ["A1"]}, {}, "there is no node n1 for drive A1"),
    ],
)
def test_drives_that_slurm_has_otherwise_are_refused_before_anything_begins(
    drives: dict[str, list[str]],
    options: dict[str, Any],
    words: str,
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    library: Path,
) -> None:
    cluster = make_slurm(drives, **options)
    path = make_plan(ALL + SHORT, n1=["A1"])
    done = ssdlab("fleet", "run", str(path), environment=cluster.environment)
    assert done.returncode == 2
    assert words in done.stderr
    assert not list(library.glob("2*"))


def test_a_drained_node_and_a_held_job_are_named_with_their_reason(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    drives = {"n1": ["A1"], "n2": ["A2"]}
    cluster = make_slurm(drives)
    path = make_plan(ALL + SHORT, **drives)
    cluster.ask("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=fan is loud")
    cluster.ask("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=first")
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    given = json.loads(next(library.glob(".fleet/*/submitted.json")).read_text())["jobs"]
    cluster.ask("scontrol", "hold", given["0002"])
    told = until(lambda: (s := states(cluster.environment))["A2"]["state"] == "held" and s)
    assert told["A1"]["state"] == "waiting"
    assert told["A1"]["reason"] == "node n1 is drained: fan is loud"
    assert "held by" in told["A2"]["reason"]
    assert ssdlab("fleet", "cancel", "last", "--library", str(library), environment=cluster.environment)
    assert {job["state"] for job in states(cluster.environment).values()} == {"cancelled"}


def test_a_refused_job_does_not_drain_its_node(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
) -> None:
    cluster = make_slurm({"n1": ["A1"]})
    path = make_plan(ALL + SHORT, n1=["A1"])
    in_the_way = library / read_plan(path).jobs[0].run_id
    in_the_way.mkdir()
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    wait_for(states, cluster.environment, "refused")
    assert "already exists" in states(cluster.environment)["A1"]["reason"]
    assert cluster.ask("sinfo", "--noheader", "--format=%T").stdout.strip() == "idle"
    in_the_way.rmdir()
    again = ssdlab("fleet", "resume", "last", "--library", str(library), environment=cluster.environment)
    assert again.returncode in {0, 3}, again.stderr
    wait_for(states, cluster.environment, "finished")
