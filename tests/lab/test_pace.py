"""What is known of a drive's speed before a run, and what a plan makes of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.fake_drive import FakeDrive, run_on
from ssdlab.analysis.pace import ANY_DRIVE, Filling, Known, Load, Pace
from ssdlab.cli import main
from ssdlab.cli.plan_lines import lines_of
from ssdlab.host.identity import link_bytes_s
from ssdlab.lab.found import find_method
from ssdlab.lab.verbs.drive_state import Purge
from ssdlab.lab.verbs.steps import Request
from ssdlab.model.errors import Interrupted
from ssdlab.model.summary import Summary, Workers
from ssdlab.runs import probe as probing
from ssdlab.runs import time_left
from ssdlab.runs.order import Order, plan_order
from ssdlab.runs.pace import pace_of
from ssdlab.runs.plan import Plan
from ssdlab.runs.tracking import Tracker

SATA = "sim:kingston-dc500m-3.84tb"
LOADS = st.builds(
    Load, st.booleans(), st.booleans(), st.sampled_from([512, 4096, 131072, 1 << 20]), st.integers(1, 1024)
)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def planned(name: str, text: str, library: Path | None = None, **settings: str) -> Plan:
    method = find_method(name)
    return plan_order(Order(method, method.params.build(settings), text, destroy=text), library)


@given(LOADS, st.lists(st.tuples(LOADS, st.floats(1e5, 1e10), st.booleans()), max_size=6), st.floats(0, 1))
def test_bounds_are_in_order_and_nothing_moves_more_than_the_link(
    load: Load, known: list[tuple[Load, float, bool]], read_share: float
) -> None:
    pace = Pace(550e6, tuple(Known(each, rate, settled=settled) for each, rate, settled in known))
    speed = pace.of(load)
    assert 0 < speed.low <= speed.high <= 550e6 and 0 < speed.settled <= speed.high
    mix = pace.of_mix(read_share, load)
    assert 0 < mix.low <= mix.high <= 2 * 550e6


def test_the_nearest_loads_speak_and_span_what_they_differ_in() -> None:
    small, large = (
        Load(writes=True, random=True, block_bytes=block, in_flight=32) for block in (4096, 1 << 20)
    )
    fresh, settled = Known(small, 400e6, 1, 1), Known(small, 100e6, 1, 1, settled=True)
    pace = Pace(550e6, (fresh, settled, Known(large, 500e6, 1, 1)))
    speed = pace.of(small)
    assert (speed.low, speed.high, speed.settled) == (100e6, 400e6, 100e6)
    assert pace.of(large).low == 500e6
    twice = pace.of(replace(small, block_bytes=8192))
    assert (twice.low, twice.high, twice.settled) == (100e6, 500e6, 200e6)  # no more than larger ones


def test_depth_adds_no_more_than_it_did_between_two_that_were_measured() -> None:
    """A saturated drive was said to write 4 times as much with 4 times as many in flight."""
    shallow, deep = (Load(writes=True, random=True, block_bytes=65536, in_flight=each) for each in (32, 256))
    pace = Pace(10e9, (Known(shallow, 400e6, 1, 1), Known(deep, 410e6, 1, 1)))
    assert pace.of(replace(deep, in_flight=1024)).high == pytest.approx(410e6 + 10e6 * 768 / 224)
    assert pace.of(replace(deep, block_bytes=8192, in_flight=1024)).high < 450e6  # no more than larger ones
    saturated = Pace(
        10e9, (Known(shallow, 400e6, 1, 1, settled=True), Known(deep, 390e6, 1, 1, settled=True))
    )
    assert saturated.of(replace(deep, in_flight=1024)).settled == 390e6


def test_random_writes_move_no_more_than_as_many_bytes_in_order() -> None:
    """Of 4 KiB that were measured, 1 MiB were planned 256 times as fast, on a drive of 20 MB/s."""
    small = Load(writes=True, random=True, block_bytes=4096, in_flight=128)
    in_order = Load(writes=True, random=False, block_bytes=131072, in_flight=32)
    pace = Pace(10e9, (Known(small, 9e6, 1, 1), Known(replace(in_order, in_flight=1), 20e6, 1, 1)))
    assert pace.of(replace(small, block_bytes=1 << 20)).high == pytest.approx(256 * 9e6)
    pace = pace.with_known(Known(in_order, 20e6, 1, 1))
    assert pace.of(replace(small, block_bytes=1 << 20)).high == 20e6
    faster = pace.with_known(Known(replace(small, in_flight=256), 25e6, 1, 1))
    assert faster.of(replace(small, in_flight=256)).high == 25e6  # what was seen stands


def test_a_large_random_read_takes_no_longer_than_a_small_one_and_the_rest_in_order() -> None:
    small = Load(writes=False, random=True, block_bytes=4096, in_flight=1)
    in_order = replace(small, random=False, block_bytes=131072)
    pace = Pace(10e9, (Known(small, 40e6, 1, 1), Known(in_order, 500e6, 1, 1)))
    assert pace.of(in_order).low == 500e6
    expected_s = 4096 / 40e6 + (131072 - 4096) / 500e6
    assert pace.of(replace(in_order, random=True)).low == pytest.approx(131072 / expected_s)
    writes = Pace(10e9, tuple(replace(each, load=replace(each.load, writes=True)) for each in pace.known))
    assert writes.of(replace(in_order, writes=True, random=True)).low == 40e6


def test_a_direction_of_a_mix_moves_no_more_than_alone() -> None:
    read, write = (Load(writes=each, random=True, block_bytes=4096, in_flight=32) for each in (False, True))
    pace = Pace(10e9, (Known(read, 4e9, 1, 1), Known(write, 100e6, 1, 1)))
    assert 0.35 * pace.of_mix(0.65, write).high == pytest.approx(100e6)


def test_a_plan_of_a_simulated_drive_says_what_its_profile_gives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It was known by its link alone, and its endurance was said to be missing from the records."""
    drive = "sim:nvme-tlc-enterprise,scale=128"
    plan = planned("pts-demand-intensity", drive)
    assert plan.planning.pace.sources == ("link, 3500 MB/s", "profile, at most 2150 MB/s of writes")
    steps = {step.label: step for step in plan.steps}
    (stream,) = steps["MinIOPS, pre-write"].request.workload.streams  # type: ignore[union-attr]
    one = steps["MinIOPS, pre-write"]
    # One thread, one I/O: no more than a block for each way of a command, and what the buffer takes in.
    assert one.bytes_written.upper <= one.seconds.upper * stream.block[0].bytes / 14e-6 + (32 << 20)
    assert main(["plan", "whole-drive-fill", drive]) == 0
    assert "endurance   not counted (simulated drive)" in capsys.readouterr().out


def test_a_link_carries_what_its_generation_and_lanes_say(tmp_path: Path) -> None:
    disk = tmp_path / "0000:01:00.0" / "nvme" / "nvme0" / "nvme0n1"
    disk.mkdir(parents=True)
    for folder, speed, width in ((tmp_path / "0000:01:00.0", "16.0 GT/s PCIe", "4"),):
        (folder / "current_link_speed").write_text(speed)
        (folder / "current_link_width").write_text(width)
    assert link_bytes_s(disk, "pcie") == pytest.approx(7.877e9, rel=1e-3)
    assert link_bytes_s(disk, "sata") == 600e6
    assert link_bytes_s(disk, "loop") is None


def test_a_plan_of_a_known_drive_is_one_to_plan_by() -> None:
    """It said 5 to 132 h and up to 2.31 PB, of any drive."""
    plan = planned("pts-iops", SATA)
    least, most = plan.seconds.lower, plan.seconds.upper
    assert 5 * 3600 < least < most < 40 * 3600
    assert plan.bytes_written.upper <= 560e6 * most < 80e12
    assert plan.planning.pace.sources == ("link, 560 MB/s", "profile, at most 560 MB/s of writes", "ratings")
    lines = lines_of(plan.steps)
    assert len(lines) == 3 + 25, "a line for a round"
    assert sum(line.steps for line in lines) == sum(step.verb != "stretch" for step in plan.steps)
    assert [line.label for line in lines[3:5]] == ["round 1", "round 2"]


@pytest.mark.parametrize(
    ("name", "tries"),
    [
        ("act-search", ["load 150x ... load 297x", "295x again ... ", "145x ... "]),
        ("act-certify", ["load 150x ... load 297x", "295x again ... ", "145x ... "]),
        ("rate-limit", ["2000 IOPS offered ... "]),
        ("paced-burst", ["10 MB/s paced ... ", ", beyond the cache"]),
        ("low-depths", []),
        ("whole-drive-fill", []),
    ],
)
def test_the_tries_of_a_search_are_a_line_of_a_plan(name: str, tries: list[str]) -> None:
    plan = planned(name, "sim:samsung-950-pro-512gb")
    lines = lines_of(plan.steps)
    assert sum(line.steps for line in lines) == len(plan.steps)
    several = [line for line in lines if line.steps > 1]
    assert len(several) == len(tries)
    for line, label in zip(several, tries, strict=True):
        assert label in line.label and line.seconds.lower == 0
    assert sum(line.bytes_written.upper for line in lines) == pytest.approx(
        sum(step.bytes_written.upper for step in plan.steps)
    )


def test_bytes_are_never_more_than_the_link_moves_in_the_time() -> None:
    for name in ("pts-write-saturation", "steady-random-write", "consistency", "pts-demand-intensity"):
        plan = planned(name, SATA)
        for step in plan.steps:
            assert step.bytes_written.upper <= max(step.bytes_written.lower, 560e6 * step.seconds.upper), name


def test_drive_time_and_real_time_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "consistency", "sim:tiny-test,scale=4"]) == 0
    printed = capsys.readouterr().out
    assert "drive time" in printed and "real time" in printed
    assert main(["plan", "consistency", "sim:tiny-test,scale=4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["seconds"][0] > 4000 > found["real_seconds"][0]
    assert found["known_by"] == ["link, 3500 MB/s"] or found["known_by"]


def test_a_purge_of_a_simulated_drive_is_no_matter_of_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_left.os, "getloadavg", lambda: (0.0, 0.0, 0.0))

    class Seen:
        upper = 0.0

        def began(self, progress: object) -> None:
            self.upper = float(progress.remaining_most_s)  # type: ignore[attr-defined]

    plan = planned("pts-throughput", "sim:tiny-test,scale=4")
    seen = Seen()
    tracker = Tracker(plan, [seen])  # type: ignore[list-item]
    (step,) = [step for step in plan.steps if step.label == "purge, 1 MiB"]
    tracker.began(Request(step.ordinal, step.label, Purge(if_able=True), "restart"))
    assert 0 < seen.upper < 3600


def test_an_earlier_run_of_the_drive_says_how_fast_it_is(tmp_path: Path) -> None:
    drive = FakeDrive(curve=lambda *_: 1000.0)
    method = find_method("pts-throughput")
    run_on(drive, method, method.params.build(quick=True), tmp_path)
    found = pace_of(drive.identity, tmp_path)
    assert found.sources == ("earlier runs of this drive",)
    in_order = Load(writes=True, random=False, block_bytes=1 << 20, in_flight=32)
    speed = found.of(in_order)
    assert speed.low < 1000.0 * (1 << 20) < speed.high < 3 * speed.low * 1.6
    other = FakeDrive(identity_changes={"consent_id": "FAKE-2"})
    assert pace_of(other.identity, tmp_path).known == ()
    assert ANY_DRIVE.of(in_order).high > 10 * speed.high


@pytest.mark.long
def test_a_probe_without_consent_reads_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is as it was to the byte; a plan of reads then knows them."""
    made = tmp_path / "scratch.bin"
    assert (
        main(["run", "whole-drive-fill", str(made), "--size", "8MiB", "--library", str(tmp_path / "runs")])
        == 0
    )
    before = hashlib.sha256(made.read_bytes()).digest(), made.stat().st_mtime_ns
    capsys.readouterr()
    words = ["plan", "peak-random-read", str(made), "--quick", "--probe", "--json"]
    assert main([*words, "--library", str(tmp_path / "none")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["known_by"] == ["a probe of reads"]
    assert (hashlib.sha256(made.read_bytes()).digest(), made.stat().st_mtime_ns) == before


def test_a_probe_of_a_simulated_drive_leaves_it_alone(tmp_path: Path) -> None:
    """What is measured is a copy: the file that keeps the drive is neither made nor changed."""
    state = tmp_path / "drive.state"
    text = f"sim:tiny-test,scale=4,state={state}"
    method = find_method("whole-drive-fill")
    order = Order(method, method.params.build({}), text, destroy="sim:tiny-test,scale=4")
    assert plan_order(order, probing=True).planning.pace.sources[-1] == "a probe"
    assert not state.exists()


@pytest.mark.parametrize("drive", ["sim:tiny-test,scale=4", "a real one"])
def test_a_probe_that_finds_nothing_takes_nothing_away(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, drive: str
) -> None:
    """Its time is over before it has measured anything."""
    monkeypatch.setattr(probing, "PROBE_MAX_S", 0.0)
    monkeypatch.setattr(probing, "_fills", lambda found, capacity_bytes: True)
    text = drive if drive.startswith("sim:") else str(scratch / "s.img")
    known = replace(ANY_DRIVE, filling=Filling(1 << 32, 1e8, 2e8, 1 << 17), discard_bytes_s=1e9)
    found = probing.probe(text, known, size_bytes=1 << 20, destroy="s.img")
    assert (found.filling, found.discard_bytes_s) == (known.filling, known.discard_bytes_s)
    assert found.known == known.known


def test_a_probe_that_is_stopped_says_that_nothing_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine says of a measurement, that it is kept, holds for none of a probe."""

    def stopped(*args: object, **more: object) -> None:
        raise Interrupted("stopped by a signal; I/O in flight was drained", "what was measured is kept")

    monkeypatch.setattr(probing._Probe, "known", stopped)
    words = ["plan", "peak-random-read", "sim:tiny-test,scale=4", "--probe", "--json"]
    assert main(words) == 130
    shown = json.loads(capsys.readouterr().out)
    assert shown["what"] == "the probe was stopped by a signal"
    assert "not kept" in shown["advice"] and "measurement" not in shown


def test_the_least_demand_is_planned_as_the_least() -> None:
    """MinIOPS is always that of one thread and one I/O; the other points are not known before."""
    steps = {step.label: step for step in planned("pts-demand-intensity", SATA).steps}
    least, most = (steps[f"{name}, histogram"].bytes_written.upper for name in ("MinIOPS", "MaxIOPS"))
    assert 0 < least <= most
    asked = steps["MinIOPS, histogram"].request
    assert asked is not None and asked.workload is not None
    (stream,) = asked.workload.streams
    assert stream.in_flight == 1


@pytest.mark.parametrize(("waited_s", "times"), [(0.0, 1.0), (0.25, 4 / 3), (0.5, 2.0), (0.99, 10.0)])
def test_what_waited_for_a_cpu_bounds_the_drive_by_so_much_less(waited_s: float, times: float) -> None:
    workers = Workers(run_queue_wait_ns=round(waited_s * 1e9))
    summary = Summary.model_construct(elapsed_s=1.0, workers=workers)
    assert probing.unhindered(summary) == pytest.approx(times)
