"""Plans that one can plan by: runs fall inside them, at most three times below what they say.

On simulated drives the time is the drive's; of a real one it is ours. A probe, or an earlier run, says how
fast the drive is.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab.plans import Looks, against
from machine import blkio
from ssdlab.drives import look
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.results.metered import meter_of
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order, plan_on, plan_order
from ssdlab.runs.pace import pace_of
from ssdlab.runs.probe import probe
from ssdlab.runs.session import start

pytestmark = pytest.mark.long

AT_MOST = 3.0
"""The upper bound of a plan, to what the run takes."""
DRIVES = (
    "sim:sata-tlc-enterprise,scale=128",
    "sim:nvme-tlc-enterprise,scale=128",
    "sim:nvme-tlc-client,scale=128",
    "sim:nvme-qlc-client,scale=256",
    "sim:dramless-client,scale=128",
    "sim:xpoint,scale=512",
)
METHODS: dict[str, dict[str, str]] = {
    "whole-drive-fill": {},
    "peak-random-read": {},
    "peak-sequential-read": {},
    "steady-random-write": {},
    "steady-sequential-write": {},
    "mixed-random": {},
    "low-depths": {},
    "consistency": {"seconds": "60", "spares": "0"},
    "pts-throughput": {"seconds": "2"},
    "pts-latency": {"seconds": "1", "histogram_seconds": "5"},
    "pts-demand-intensity": {"seconds": "1", "pre_write_seconds": "2", "settle_seconds": "2"},
}


def held(library: Path, name: str, text: str, settings: dict[str, str]) -> tuple[str, list[bool]]:
    """Run a method as planned; return what does not hold, and whether each look at the time left did."""
    method = find_method(name)
    params = method.params.build(settings, quick=True)
    order = Order(method, params, text, destroy=text, quick=True, seed=5)
    identity = look(text, destroy=text).identity
    assert identity is not None
    pace = probe(text, pace_of(identity))
    plan = plan_on(method, params, identity, pace=pace)
    looks = Looks()
    run = RunFolder(start(order, library, [looks]))
    found = [
        f"{name} on {text}: {what} took {each.actual:.4g}, said {each.lower:.4g} to {each.upper:.4g}, "
        f"{each.share:.2f} times"
        for what, each in zip(("time", "writes"), against(plan, run), strict=True)
        if not each.inside or (each.actual and each.share > AT_MOST)
    ]
    return "; ".join(found), looks.held()


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("name", ["whole-drive-fill", "pts-throughput"])
def test_a_run_on_a_simulated_drive_falls_inside_its_plan(tmp_path: Path, name: str) -> None:
    wrong, looks = held(tmp_path / "runs", name, "sim:tiny-test,scale=4", METHODS[name])
    assert not wrong
    assert looks


@pytest.mark.slow
@pytest.mark.parametrize("text", DRIVES)
def test_eleven_methods_on_each_profile_fall_inside_their_plans(tmp_path: Path, text: str) -> None:
    """The range of the time left holds in 9 of 10 looks at all runs of a drive."""
    wrong: list[str] = []
    looks: list[bool] = []
    for name, settings in METHODS.items():
        said, seen = held(tmp_path / name, name, text, settings)
        wrong += [said] if said else []
        looks += seen
        print(f"{name} on {text}: {sum(seen)} of {len(seen)} looks; {said or 'held'}", flush=True)
    if sum(looks) < 0.9 * len(looks):
        wrong.append(f"{text}: {sum(looks)} of {len(looks)} looks held")
    assert not wrong, "\n".join(wrong)


FILLED = (
    "sim:tiny-test,scale=4",
    "sim:samsung-883-dct-960gb,scale=128",
    "sim:intel-600p-512gb,scale=128",
    "sim:nvme-tlc-client,scale=128",
    "sim:nvme-qlc-client,scale=256",
    "sim:xpoint,scale=512",
)


@pytest.mark.parametrize("text", FILLED)
def test_a_fill_is_planned_by_the_parts_of_its_drive(tmp_path: Path, text: str) -> None:
    """Without a probe and without an earlier run: the floor of any drive was up to 90 times too low."""
    method = find_method("whole-drive-fill")
    order = Order(method, method.params.build({}, quick=False), text, destroy=text, seed=5)
    plan = plan_order(order, tmp_path)
    times, writes = against(plan, RunFolder(start(order, tmp_path)))
    said = f"{times.lower:.4g} to {times.upper:.4g} s"
    print(f"{text}: {times.actual:.4g} s, said {said}, {times.share:.2f} times")
    assert times.inside and times.share <= AT_MOST
    assert writes.inside


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # One write at a time crosses the link, and is programmed behind the buffer.
        ("steady-sequential-write", "sim:kingston-dc500r-3.84tb,scale=128"),
        # Its time at rest is known to the second; what it takes to wake is not.
        ("idle-power", "sim:samsung-950-pro-512gb,scale=64"),
        # Its span is written once by several threads: as slowly as a fill, and not as any drive.
        ("act", "sim:memblaze-pblaze5-c900-4tb,scale=128"),
    ],
)
def test_what_outsiders_saw_leave_its_plan_falls_inside(tmp_path: Path, name: str, text: str) -> None:
    method = find_method(name)
    order = Order(method, method.params.build({}, quick=True), text, destroy=text, quick=True, seed=7)
    plan = plan_order(order, tmp_path)
    folder = RunFolder(start(order, tmp_path))
    times, writes = against(plan, folder)
    meter = meter_of(folder.manifest)
    assert meter is not None and meter.metered_s is not None  # from the drive's clock, from end to end
    actual_s = meter.metered_s
    print(f"{name} on {text}: {actual_s:.4g} s, said {times.lower:.4g} to {times.upper:.4g} s")
    assert times.lower <= actual_s <= times.upper <= AT_MOST * actual_s and writes.inside


@pytest.mark.parametrize(
    ("text", "lasts"), [("sim:xpoint,scale=512", True), ("sim:tiny-test,scale=4", False)]
)
def test_a_medium_written_in_place_is_steady_as_soon_as_it_is_asked(
    tmp_path: Path, text: str, lasts: bool
) -> None:
    """Nobody knows when flash that is collected will be; a plan has the longest for it."""
    rules = {"least_seconds": "20", "most_seconds": "2000", "round_seconds": "2", "precondition_depth": "8"}
    method = find_method("qd1")
    params = method.params.build({**rules, "sizes": "4k", "seconds": "2", "size_seconds": "1"}, quick=False)
    order = Order(method, params, text, destroy=text, seed=3)
    plan = plan_order(order, tmp_path)
    longest = [step.drive_seconds.upper for step in plan.steps if "to steady state" in step.label]
    assert len(longest) == 2
    assert all((each < 100) is lasts for each in longest)
    if lasts:
        times, writes = against(plan, RunFolder(start(order, tmp_path)))
        print(f"{text}: {times.actual:.4g} s, said {times.lower:.4g} to {times.upper:.4g} s")
        assert times.inside and times.share <= AT_MOST
        assert writes.inside


BEFORE = """
[[step]]
do = "run"
label = "before"
rw = "randwrite"
bs = "{block}"
engine = "uring"
depth = 32
seconds = {seconds}

[[step]]
do = "fill"
"""


@pytest.mark.parametrize(
    ("text", "block", "seconds"),
    [
        ("sim:tiny-test,scale=4", "4k", 60),  # written over many times: every superblock is half valid
        ("sim:intel-600p-512gb,scale=128", "4k", 60),
        ("sim:nvme-tlc-client,scale=128", "128k", 120),  # and so hot that it limits itself
    ],
)
def test_a_fill_after_work_is_planned_for_the_state_that_it_meets(
    tmp_path: Path, text: str, block: str, seconds: int
) -> None:
    method = find_method("job")
    params = read_job(BEFORE.format(block=block, seconds=seconds), "before.toml")
    order = Order(method, params, text, destroy=text, seed=5)
    plan = plan_order(order, tmp_path)
    run = RunFolder(start(order, tmp_path))
    (fill,) = (step for step in run.steps() if step.verb == "fill")
    planned = plan.steps[fill.ordinal].drive_seconds
    print(f"{text}: {fill.measured.elapsed_s:.4g} s, said {planned}")
    assert planned.lower <= fill.measured.elapsed_s <= planned.upper
    fresh = plan_order(
        replace(order, params=read_job('[[step]]\ndo = "fill"\n', "fill.toml")), tmp_path / "new"
    )
    assert planned.upper > fresh.steps[-1].drive_seconds.upper


# --- a real device, of a known speed ---


SIZES = {"whole-drive-fill": 512 << 20}
"""Of the device in bytes, where 128 MiB take less than the seconds that a plan allows any host: 18 or so."""


@pytest.fixture
def loop(tmp_path: Path, name: str) -> Iterator[Path]:
    backing = tmp_path / "backing.img"
    backing.write_bytes(os.urandom(SIZES.get(name, 128 << 20)))
    command = ["losetup", "--find", "--show", "--direct-io=on", str(backing)]
    device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    yield Path(device)
    subprocess.run(["losetup", "--detach", device], check=True)


ON_LOOP = {
    "whole-drive-fill": {},
    "pts-throughput": {"seconds": "2", "overwrites": "2", "depth": "4"},
    "consistency": {"seconds": "20", "spares": "0", "depth": "4"},
    "mixed-random": {"seconds": "2"},
    "peak-random-read": {},
    "peak-sequential-read": {},
    "low-depths": {},
    "steady-random-write": {"seconds": "2"},
    "pts-iops": {"seconds": "1", "overwrites": "1"},
    "pts-latency": {"seconds": "1", "histogram_seconds": "5"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_LOOP)
def test_a_run_on_a_throttled_loop_device_falls_inside_its_plan(
    tmp_path: Path, loop: Path, throttled: Callable[..., blkio.Throttle], name: str
) -> None:
    """20 MB/s of writes, 40 MB/s of reads, 2000 and 4000 I/Os a second: the plan is not told."""
    throttle = throttled(loop, write_bps=20_000_000, read_bps=40_000_000, write_iops=2000, read_iops=4000)
    method = find_method(name)
    params = method.params.build(ON_LOOP[name], quick=True)
    order = Order(method, params, str(loop), destroy=loop.name, quick=True, seed=5)
    with throttle.here():
        plan = plan_order(order, probing=True)
        looks = Looks()
        run = RunFolder(start(order, tmp_path / "runs", [looks]))
        again = plan_order(replace(order, seed=6), tmp_path / "runs")
    took = looks.over - looks.begun
    times, writes = against(plan, run)
    given_s = times.given + plan.seconds.upper - plan.drive_seconds.upper
    print(
        f"{name}: {took:.1f} s of {plan.seconds}, {given_s / took:.2f} times; writes {writes.share:.2f} times"
    )
    print(f"{sum(looks.held())} of {len(looks.held())} looks")
    assert plan.seconds.lower <= took <= plan.seconds.upper
    assert given_s <= AT_MOST * took
    assert writes.inside and writes.share <= AT_MOST
    assert sum(looks.held()) >= 0.9 * len(looks.held())
    # The run that was made is an earlier run of the drive now.
    assert "earlier runs of this drive" in again.planning.pace.sources
    _, known = against(again, run)
    assert known.inside and known.share <= AT_MOST
