"""The plan: the same procedure, only counted; nothing is touched, and the run falls inside what it said."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.analysis.pace import FASTEST_BYTES_S
from ssdlab.lab.found import all_methods, find_method
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method
from ssdlab.lab.parts.workloads import closed_loop, open_loop
from ssdlab.lab.verbs.drive_state import Purge
from ssdlab.lab.verbs.steps import Request, Until
from ssdlab.lab.verbs.verb import Bounds
from ssdlab.lab.verbs.workload import Fill, Run
from ssdlab.model.errors import LabError
from ssdlab.model.pattern import Span
from ssdlab.model.workload import Stop, Stream, Workload
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order, plan_on, plan_order
from ssdlab.runs.plan import Recorder, planned_step
from ssdlab.runs.session import RunEnvironment, start


def planned(workload: Workload, **args):
    return planned_step(Request(0, "x", Run.of(workload, **args), "restart"))


def test_a_step_by_time_takes_its_time() -> None:
    step = planned(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=60, ramp_seconds=2))
    assert step.seconds.lower == 62 and 62 < step.seconds.upper <= 70
    assert step.bytes_written == Bounds(0, 0) and step.target_bytes is None


def test_a_step_by_bytes_is_bounded_by_any_drive() -> None:
    stream = Stream(
        ops="write",
        pattern="sequential",
        block=131072,
        stop=Stop(bytes=10**12),
        span=Span(start=0, length=1 << 40),
    )
    step = planned(Workload.of(stream))
    assert step.bytes_written == Bounds(1e12, 1e12) and step.target_bytes == 10**12
    assert step.seconds.lower < 1e12 / 15e9, "a PCIe 5.0 drive is faster than the least"
    assert step.seconds.upper > 1e12 / 60e6, "a QLC drive is slower than the most"


def test_random_arrivals_may_end_before_the_time_is_over() -> None:
    step = planned(open_loop(100, block_bytes=4096, threads=4, rate=100, seconds=10))
    assert 9.5 < step.seconds.lower < 10


def test_a_purge_is_long_only_on_a_device(tmp_path: Path) -> None:
    method = find_method("whole-drive-fill")
    order = Order(method, method.params(), str(tmp_path / "new.img"), size_bytes=1 << 20)
    (purge,) = (step for step in plan_order(order).steps if step.verb == "purge")
    assert purge.seconds.upper <= 60
    assert planned_step(Request(0, "purge", Purge(), "restart")).seconds.upper >= 3600


def test_writes_by_time_are_bounded_by_depth() -> None:
    one = planned(closed_loop("random", "write", block_bytes=4096, in_flight=1, seconds=10))
    many = planned(closed_loop("random", "write", block_bytes=4096, in_flight=512, seconds=10))
    assert one.bytes_written.lower == 0 and 0 < one.bytes_written.upper < many.bytes_written.upper


def test_what_is_in_flight_at_the_end_is_waited_for_in_the_drives_time() -> None:
    step = planned(closed_loop("random", "write", block_bytes=4096, in_flight=500, seconds=1))
    assert step.drive_seconds == Bounds(1, pytest.approx(12, rel=0.01)), "500 writes at 50 IOPS, and unevenly"
    assert step.bytes_written.upper == FASTEST_BYTES_S + 500 * 4096, "none begins after its time"


def test_a_condition_or_a_skip_may_end_at_once() -> None:
    workload = closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=60)
    skipped = Fill.of(workload, passes=1, unless_written=True)
    assert planned_step(Request(0, "x", skipped, "restart")).seconds.lower == 0
    assert planned(workload, certain=False).seconds.lower == 0
    ended = Until("early", {"least_ns": 7 * 10**9}, lambda rows: False)
    assert planned(workload, until=ended).seconds.lower == 7


def test_streams_of_one_step_run_at_the_same_time() -> None:
    one = Stream(name="a", stop=Stop(time_ns=10 * 10**9))
    two = Stream(name="b", stop=Stop(time_ns=20 * 10**9))
    assert planned(Workload.of(one, two)).seconds.lower == 20


SEARCHES = {"rate-limit", "paced-burst", "act-search", "act-certify", "idle-power"}
"""They may end before their plan, and their later steps depend on what the earlier ones found."""
LEAVES_OUT = {
    "trim-validation",
    "steady-random-write",
    "steady-sequential-write",
    "mixed-random",
    "low-depths",
}
"""They leave out steps that turn out not to be needed."""


def which_point_is_open(label: str) -> str:
    """Return a label to compare: which points are taken again depends on where throughput fell."""
    return "again" if label.endswith(" again") else label


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.name)
@pytest.mark.long
def test_a_plan_has_the_steps_of_the_run(method: Method, tmp_path: Path) -> None:
    text = "sim:tiny-test,scale=4"
    shorter = {"seconds": "0.05"} if method.name.startswith("pts-") else {}
    order = Order(method, method.params.build(shorter, quick=True), text, destroy=text)
    plan = plan_order(order)
    # Its steps are in the journal, so it needs no tables.
    environment = RunEnvironment(finish=lambda folder, manifest, lock: manifest)
    run = RunFolder(start(order, tmp_path, environment=environment))
    asked = [(s.ordinal, s.verb, s.label) for s in plan.steps]
    done = [(s.ordinal, s.verb, s.label) for s in run.steps()]
    if method.name in SEARCHES:
        assert len(done) <= len(asked) and done[:2] == asked[:2]
    elif method.name in LEAVES_OUT:
        rest = iter([(verb, which_point_is_open(label)) for _, verb, label in asked])
        assert all((verb, which_point_is_open(label)) in rest for _, verb, label in done)
        labels = {label for _, _, label in asked}
        assert {label.removesuffix(" again") for _, _, label in done} <= labels
    else:
        assert done == asked


def test_planning_a_drive_touches_nothing_of_it() -> None:
    for method in all_methods():
        drive = FakeDrive()
        plan_on(method, method.params.build(quick=True), drive)
        assert drive.done == []


def test_the_default_sweep_is_ten_minutes_and_a_quick_one_is_half_of_one() -> None:
    method = find_method("peak-random-read")
    full = plan_on(method, method.params.build(), FakeDrive())
    assert 600 <= full.seconds.lower <= 640
    quick = plan_on(method, method.params.build(quick=True), FakeDrive())
    assert quick.seconds.lower <= 30


def test_planning_touches_nothing(tmp_path: Path) -> None:
    method = find_method("qd1")
    order = Order(method, method.params(), str(tmp_path / "new.img"), size_bytes=1 << 30)
    plan = plan_order(order)
    assert list(tmp_path.iterdir()) == []
    assert plan.preparation_bytes == 1 << 30 and plan.preparation.upper > plan.preparation.lower > 0
    assert plan.bytes_written.lower >= 1 << 30


def test_a_plan_says_what_speaks_against_the_run(tmp_path: Path) -> None:
    method = find_method("qd1")
    with pytest.raises(LabError, match="does not exist") as raised:
        plan_order(Order(method, method.params(), str(tmp_path / "none.img")))
    assert raised.value.exit_status == 2
    foreign = tmp_path / "foreign.img"
    foreign.write_bytes(bytes(1 << 20))
    plan = plan_order(Order(method, method.params(), str(foreign)))
    assert plan.objection is not None and plan.objection.facts["reason"] and plan.steps
    ours = plan_order(Order(method, method.params(), str(tmp_path / "new.img"), size_bytes=1 << 20))
    assert ours.objection is None
    assert foreign.read_bytes() == bytes(1 << 20)


STEADY = {"overwrites": "0", "least_seconds": "100ms", "most_seconds": "300ms", "round_seconds": "50ms"}


@pytest.mark.parametrize("name", ["peak-random-read", "qd1"])
@pytest.mark.long
def test_the_run_falls_inside_what_the_plan_said(scratch: Path, name: str) -> None:
    method = find_method(name)
    settings = {"seconds": "200ms", "ramp_seconds": "20ms"}
    settings |= (
        {"depths": "1,8,32"} if name != "qd1" else {"size_seconds": "50ms", "sizes": "4k,64k", **STEADY}
    )
    order = Order(method, method.params.build(settings), str(scratch / "s.img"), size_bytes=32 << 20)
    plan = plan_order(order)
    began = time.monotonic()
    folder = start(order, scratch / "library")
    took = time.monotonic() - began
    assert plan.seconds.lower <= took <= plan.seconds.upper
    steps = RunFolder(folder).steps()
    assert len(steps) == len(plan.steps)
    written = order.size_bytes
    for step, said in zip(steps, plan.steps, strict=True):
        assert said.seconds.lower * 0.999 <= step.result.seconds <= said.seconds.upper, step.label
        side = (step.result.measurement or {}).get("write") or {"bytes": 0}
        written += side["bytes"]
        assert said.bytes_written.lower <= side["bytes"] <= said.bytes_written.upper
    assert plan.bytes_written.lower <= written <= plan.bytes_written.upper


def test_a_procedure_sees_no_difference() -> None:
    recorder = Recorder()
    lab = Lab(recorder, capacity_bytes=1 << 30, logical_block_bytes=4096)
    assert lab.note("x").result.measurement is None
    assert [step.label for step in recorder.steps] == ["note"]
