"""Many pinned jobs on ten emulated nodes: how fast they are submitted, and that each runs once."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet.test_slurm import ALL, SHORT
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.library.index import Index
from ssdlab.results.run_folder import read_manifest

pytestmark = [pytest.mark.machine, pytest.mark.slow, pytest.mark.timeout(5000)]
NODES, AT_ONCE = 10, 8
LARGE = 250
SUBMITTED_WITHIN_S = 60.0
OWN_SHARE = 0.03
"""Of the runs' CPU time, with `LARGE` jobs: to start a command costs as much for 20."""


def _overlapping(spans: list[tuple[str, str]]) -> int:
    """How many runs went on at once at most; times are ISO 8601."""
    edges = sorted([(began, 1) for began, _ in spans] + [(ended, -1) for _, ended in spans])
    most = now = 0
    for _, change in edges:
        now += change
        most = max(most, now)
    return most


@pytest.mark.parametrize("count", [20, LARGE])
def test_many_jobs_are_each_done_once_on_their_drive(
    count: int,
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., dict[str, dict[str, Any]]],
    library: Path,
) -> None:
    serials = [f"D{number:03}" for number in range(count)]
    drives = {f"n{node}": serials[node::NODES] for node in range(NODES)}
    cluster = make_slurm(drives, cpus=count)
    path = make_plan(ALL + SHORT + f"[limits]\nat_once = {AT_ONCE}\n", **drives)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    assert ssdlab("fleet", "run", str(path), environment=cluster.environment).returncode == 0
    submitted_s = time.monotonic() - begun
    watching = [sys.executable, "-m", "ssdlab", "fleet", "watch", "last", "--library", str(library)]
    subprocess.run(watching, env=cluster.environment, stdout=subprocess.DEVNULL, timeout=4500, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own_cpu_s = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    attempts = FleetFolder(next(library.glob(".fleet/2*"))).attempts()
    runs_cpu_s = sum(each.cpu_s or 0.0 for tries in attempts.values() for each in tries)
    plan, spans = read_plan(path), []
    for job in plan.jobs:
        manifest = read_manifest(library / job.run_id)
        assert manifest.drive.identity["serial"] == job.serial
        spans += [(str(each.started), str(each.ended)) for each in manifest.sessions]
    assert len(spans) == count
    assert _overlapping(spans) <= AT_ONCE
    told = states(cluster.environment)
    assert all(told[job.serial]["host"] == job.host for job in plan.jobs)
    with Index(library) as index:
        folders = [folder for (folder,) in index.ask("SELECT folder FROM runs")]
    assert sorted(folders) == sorted(job.run_id for job in plan.jobs)
    print(
        f"{count} jobs submitted in {submitted_s:.1f} s; {own_cpu_s:.1f} s of CPU for that and for watching, "
        f"{runs_cpu_s:.0f} s of the runs: {own_cpu_s / runs_cpu_s:.2%}"
    )
    assert submitted_s <= SUBMITTED_WITHIN_S
    assert runs_cpu_s > 0
    assert count < LARGE or own_cpu_s <= OWN_SHARE * runs_cpu_s
