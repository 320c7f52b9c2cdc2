"""Every method with `--quick` on a drive behind a real NVMe driver.

The quick presets are shortened further: under emulation each thread and each step costs a multiple.
"""

from __future__ import annotations

import json

import pytest

from guest.machine import NVME_SERIAL, Guest
from methods.inside_plan import check_inside
from ssdlab.lab.folders import REGISTRY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DRIVE, CONSENT = "/dev/nvme0n1", f"{NVME_SERIAL}/1"
DISK_BYTES = 64 << 20
LIBRARY = "/run/library"

SWEEP = {"depths": "1,8", "seconds": "200ms", "ramp_seconds": "0"}
STEADY = {"least_seconds": "300ms", "most_seconds": "1s", "round_seconds": "100ms", "precondition_depth": "8"}
ROUNDS = {"seconds": "50ms"}
GRID = {"thread_counts": "1,2", "depths": "1,4", "threads": "2", "seconds": "100ms"}
ACT = {"read_reqs_per_sec": "100", "write_reqs_per_sec": "50", "service_threads": "8"}
SHORTER: dict[str, dict[str, str]] = {
    "qd1": {"seconds": "200ms", "size_seconds": "50ms", "ramp_seconds": "0", "sizes": "512,4k,64k,1m"},
    "peak-random-read": SWEEP,
    "peak-sequential-read": SWEEP,
    "steady-random-write": SWEEP | STEADY,
    "steady-sequential-write": SWEEP | STEADY | {"precondition_depth": "1"},
    "mixed-random": STEADY | {"depths": "8", "seconds": "100ms", "ramp_seconds": "0"},
    "read-under-writes": STEADY
    | {"threads": "8", "seconds": "100ms", "ramp_seconds": "0", "read_shares": "25", "write_shares": "0,50"},
    "low-depths": {"seconds": "200ms", "rest_seconds": "0"},
    "consistency": {"seconds": "2s", "depth": "8"},
    "trim-validation": {"torture_seconds": "500ms", "torture_depth": "8", "sustained_seconds": "200ms"},
    "paced-burst": {"reads": "3", "rate_seconds": "200ms", "most": "64"},
    "rate-limit": {"threads": "8", "first": "100", "most": "800", "seconds": "200ms"},
    "pts-iops": {"seconds": "20ms", "threads": "1", "depth": "4"},
    "pts-throughput": ROUNDS,
    "pts-latency": ROUNDS | {"histogram_seconds": "200ms"},
    "latency-qd32": ROUNDS,
    "pts-composite": GRID,
    "pts-demand-intensity": GRID,
    "act": ACT | {"test_duration_sec": "2", "slice_sec": "1"},
    "act-index": ACT | {"test_duration_sec": "2", "slice_sec": "1"},
    "act-search": ACT
    | {"test_duration_sec": "1", "slice_sec": "1", "load": "1", "coarse": "1", "fine": "1", "most": "2"}
    | {"rest_seconds": "100ms"},
    "act-certify": ACT
    | {"test_duration_sec": "1", "slice_sec": "1", "load": "1", "coarse": "1", "fine": "1", "most": "2"}
    | {"rest_seconds": "100ms", "day_sec": "2"},
    "trace": {"seconds": "1s"},
}
"""Of those that are not named here the quick preset is short enough."""

ONE = """
# As `ssdlab plan` and `ssdlab run` one after the other, but for the tables at the end: a process that loads
# DuckDB takes half a minute here.
import json, sys, time
from pathlib import Path
from ssdlab.cli.plan import plan_as_json
from ssdlab.cli.showing import as_json
from ssdlab.lab.found import find_method
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order, plan_order
from ssdlab.runs.session import RunEnvironment, start
name, drive, consent, library, settings = sys.argv[1:]
method = find_method(name)
params = method.params.build(json.loads(settings), quick=True)
order = Order(method, params, drive, quick=True, destroy=consent)
plan = plan_as_json(order, plan_order(order))
began = time.monotonic()
environment = RunEnvironment(finish=lambda folder, manifest, lock: manifest)
folder = start(order, Path(library), environment=environment)
took_s = time.monotonic() - began
print(json.dumps({"plan": plan, "run": as_json(RunFolder(folder)), "took_s": took_s}))
"""


@pytest.fixture(scope="module")
def small(boot) -> Guest:
    """A guest with small disks: every method fills them."""
    return boot(disk_bytes=DISK_BYTES)


@pytest.mark.parametrize("name", REGISTRY)
def test_quick_on_an_nvme_drive(small: Guest, name: str) -> None:
    settings = SHORTER.get(name, {})
    done = small.python(ONE, name, DRIVE, CONSENT, LIBRARY, json.dumps(settings), limit_s=500)
    assert done.status == 0, done
    told = json.loads(done.out)
    run = told["run"]
    assert run["status"] == "finished"
    assert run["manifest"]["drive"]["kind"] == "block"
    assert run["result"]["quick"] is True
    lower, upper = told["plan"]["seconds"]
    assert lower <= told["took_s"] <= upper
    check_inside(told["plan"], run)
