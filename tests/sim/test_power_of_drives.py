"""What the shipped drives draw: as much as is printed of them, and no load more than a rated maximum."""

from __future__ import annotations

import pytest

from sim.flash_drives import FLASH, NS, fresh, slow_but, write
from ssdlab.cli import main
from ssdlab.drives.ratings import Ratings
from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText
from ssdlab.drives.simulated.profiles import OperationEnergy, check_profile, shipped_ratings
from ssdlab.model.pattern import Sequential, Uniform
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload, fill_workloads
from ssdlab.runs.rating_check import scale_for

pytestmark = pytest.mark.long

MAXIMA = {
    name: max(watts)
    for name, text in shipped_ratings().items()
    if (watts := [each.value for each in Ratings.parse(text).rating if each.is_bound])
}
QUICK = "kingston-dc400-960gb"
NAMES = [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MAXIMA]
UNHEATED = [
    name
    for name in FLASH
    if (profile := check_profile(name)["profile"]).get("power")
    and not (profile.get("thermal") or {}).get("throttle")
]
"""Drives that no heat limits."""
LOADS = [(read_pct, size) for read_pct in (100, 50, 0) for size in (131072, 4096)]
"""Shares of reads and sizes; large I/Os are in order, small ones at random."""


def drive_of(name: str) -> SimulatedDrive:
    text = SimulatedText(name, scale=scale_for(name, 2 << 30))
    drive = SimulatedDrive(text, writing=True, allow_unwritten=True)
    for fill in fill_workloads(drive.capacity_bytes, 1):
        drive.run(fill)
    drive.idle(5.0)
    return drive


def drawn(drive: SimulatedDrive, read_pct: int, size: int, depth: int) -> tuple[float, float]:
    """Mean W and IOPS of a load, once it goes evenly."""
    ramp = NS // 5
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=size),),
        pattern=Uniform() if size == 4096 else Sequential(),
        engine="uring",
        depth=depth,
        stop=Stop(time_ns=2 * ramp),
    )
    start = drive.native.now_ns + ramp
    found = drive.run(Workload(seed=depth, interval_ns=ramp // 20, ramp_ns=ramp, streams=(stream,)))
    power = drive.power(start, drive.native.now_ns)
    assert power is not None
    return power.mean_w, float(found.iops)


@pytest.mark.parametrize("name", NAMES)
def test_no_load_draws_more_than_the_rated_maximum(name: str) -> None:
    drive = drive_of(name)
    highest = {load: drawn(drive, *load, depth=128)[0] for load in LOADS}
    print(name, MAXIMA[name], highest)
    assert max(highest.values()) <= MAXIMA[name]


@pytest.mark.parametrize("name", ["samsung-983-dct-960gb", "kingston-dc400-960gb"])
def test_reads_draw_the_fixed_power_and_their_energy(name: str) -> None:
    """In virtual time: what is left are attempts that read again (200 in a million) and the rows' ends."""
    energy = OperationEnergy.of(check_profile(name)["profile"])
    assert energy is not None
    watts, iops = drawn(drive_of(name), 100, 4096, depth=16)
    assert watts == pytest.approx(energy.working_w + iops * energy.read_4k_uj / 1e6, rel=0.02)


@pytest.mark.parametrize("name", slow_but(["nvme-tlc-enterprise", "samsung-840-pro-512gb"], UNHEATED))
def test_under_a_limit_work_falls_with_the_power_left_for_it(name: str) -> None:
    """Steady random writes. A 40th of what the limit leaves is there for heavier work behind lighter work."""
    free_iops, free_w, fixed_w = limited(name, None)
    for share in (0.5, 0.8, 0.95):
        limit_w = round(fixed_w + share * (free_w - fixed_w), 3)
        iops, watts, _ = limited(name, limit_w)
        told = (iops / free_iops) / ((limit_w - fixed_w) / (free_w - fixed_w))
        print(f"{name} {limit_w} of {free_w:.3f} W: {told:.3f} of what the limit leaves, {watts:.3f} W")
        assert told == pytest.approx(1.0, abs=0.05)
        assert watts <= limit_w


def limited(name: str, limit_w: float | None) -> tuple[float, float, float]:
    """IOPS, mean W and fixed W of a minute of steady random writes under a limit."""
    drive = fresh(name, scale=scale_for(name, 8 << 30), power=limit_w)
    if drive.native.place_steady():
        write(drive, 32, 9, bytes=drive.capacity_bytes // 2 // 4096 * 4096)
    else:  # the state of a drive with a cache cannot be placed
        write(drive, 32, 9, bytes=8 * drive.capacity_bytes // 4096 * 4096)
    start = drive.native.now_ns
    found = write(drive, 32, 1, time_ns=60 * NS)
    power = drive.power(start, drive.native.now_ns)
    energy = OperationEnergy.of(check_profile(name)["profile"])
    assert power is not None
    assert energy is not None
    return float(found.iops), power.mean_w, energy.working_w


@pytest.mark.parametrize(
    ("name", "read_pct", "depth", "longer"),
    [
        ("nvme-tlc-enterprise", 50, 256, 2.0),
        ("samsung-840-pro-512gb", 70, 32, 2.0),
        ("samsung-983-dct-960gb", 90, 32, 2.5),
    ],
)
def test_reads_do_not_wait_for_all_that_is_planned_of_writes(
    name: str, read_pct: int, depth: int, longer: float
) -> None:
    """A mix with half of the power for its work does half.

    Reads wait no longer than without a limit, but for those that are most of a mix: in a closed loop at half
    of its rate they take twice as long.
    """
    free_iops, free_w, free_p99 = mixed(name, None, read_pct, depth)
    energy = OperationEnergy.of(check_profile(name)["profile"])
    assert energy is not None
    limit_w = round((free_w + energy.working_w) / 2, 3)
    iops, watts, p99 = mixed(name, limit_w, read_pct, depth)
    print(f"{name}: {iops / free_iops:.3f} at {watts:.3f} of {limit_w} W, p99 {p99} of {free_p99} ns")
    assert iops / free_iops == pytest.approx(0.5, rel=0.05)
    assert watts <= limit_w
    assert p99 < longer * free_p99


def mixed(name: str, limit_w: float | None, read_pct: int, depth: int) -> tuple[float, float, float]:
    """IOPS, mean W and the 99th percentile of reads of a steady mix of 4 KiB, behind five seconds of it."""
    drive = fresh(name, scale=scale_for(name, 1 << 30), power=limit_w)
    assert drive.native.place_steady()
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        engine="uring",
        depth=depth,
        stop=Stop(time_ns=15 * NS),
    )
    found = drive.run(Workload(seed=1, ramp_ns=5 * NS, streams=(stream,))).summary()
    assert found.read is not None
    assert found.power is not None
    p99 = found.read.service_ns["p99"]
    assert p99 is not None
    return float(found.iops), found.power.mean_w, float(p99)


@pytest.mark.parametrize("name", ["nvme-tlc-enterprise", "samsung-840-pro-512gb"])
def test_no_time_as_long_as_the_limits_holds_more(name: str) -> None:
    """Light work, heavy work and rests in turns: a second of data centres' drives, ten of others."""
    over_s = check_profile(name)["profile"]["power"].get("limit_ms", {"value": 10_000})["value"] / 1000
    _, free_w, fixed_w = limited(name, None)
    limit_w = round((free_w + fixed_w) / 2, 3)
    drive = fresh(name, scale=scale_for(name, 2 << 30), power=limit_w)
    assert drive.native.place_steady()
    start = drive.native.now_ns
    for turn, ms in enumerate((300, 700, 1_900, 450, 1_300, 5_000)):
        write(drive, 1, 2 * turn, time_ns=ms * NS // 1000)
        write(drive, 64, 2 * turn + 1, time_ns=(2_000 - ms // 3) * NS // 1000)
        if turn % 2:
            drive.idle(over_s / 3)
    step = NS // 20
    starts = range(start, drive.native.now_ns - int(over_s * NS), step)
    highest = max(drive.power(at, at + int(over_s * NS)).mean_w for at in starts)
    print(f"{name}: {highest:.3f} W of {limit_w} over {over_s} s")
    assert 0.9 * limit_w < highest <= limit_w


def test_fixed_power_and_energies_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "show", "samsung-983-dct-960gb"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for words in (
        "fixed power 1.8 W idle, 3.5 W at work",
        "array read 4.92 µJ",
        "program of a word line 174 µJ",
        "erase of a block 410 µJ",
    ):
        assert words in said
    assert main(["sim", "show", "xpoint"]) == 0
    assert "fixed power" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "share", "readers"),
    [("samsung-983-dct-960gb", 0.6, 32), ("intel-p4510-8tb", 0.95, 4)],
)
def test_what_a_limit_leaves_reads_and_writes_does_not_depend_on_what_came_before(
    name: str, share: float, readers: int
) -> None:
    """Readers and 32 writers in closed loops of their own: neither starves, whichever came first."""
    energy = OperationEnergy.of(check_profile(name)["profile"])
    assert energy is not None
    (reads, writes), free_w = beside(name, None, readers, first="write")
    limit_w = round(energy.working_w + share * (free_w - energy.working_w), 3)
    after = {first: beside(name, limit_w, readers, first=first)[0] for first in ("read", "write")}
    print(f"{name} at {limit_w} of {free_w:.3f} W: {after}, without a limit {reads, writes}")
    assert after["read"] == pytest.approx(after["write"], rel=0.05)
    for iops, free_iops in zip(after["write"], (reads, writes), strict=True):
        # Half of what commands leave is more than this, for either.
        assert iops > 0.7 * share * free_iops


def beside(name: str, limit_w: float | None, readers: int, first: str) -> tuple[tuple[float, float], float]:
    """IOPS of readers and of 32 writers beside them, and mean W, two seconds after one of them alone."""
    drive = fresh(name, scale=128, power=limit_w)
    assert drive.native.place_steady()
    for op in ("write", first):
        drive.run(Workload(seed=2, streams=(closed(op, op, 32, 2),)))
    streams = (closed("reads", "read", readers, 4), closed("writes", "write", 32, 4))
    start = drive.native.now_ns + 2 * NS
    found = drive.run(Workload(seed=3, ramp_ns=2 * NS, streams=streams)).summary()
    power = drive.power(start, drive.native.now_ns)
    assert power is not None
    assert found.read is not None
    assert found.write is not None
    return (found.read.iops, found.write.iops), power.mean_w


def closed(name: str, op: str, depth: int, seconds: int) -> Stream:
    return Stream(name=name, ops=op, engine="uring", depth=depth, stop=Stop(time_ns=seconds * NS))


def test_writes_after_reads_have_what_a_limit_leaves_them() -> None:
    """A limit that is never reached changes nothing; under another writes soon are at their rate."""
    for limit_w, slow_rows in ((50.0, 0), (5.5, 3)):
        drive = fresh("samsung-983-dct-960gb", scale=128, power=limit_w)
        assert drive.native.place_steady()
        for op in ("write", "read"):
            drive.run(Workload(seed=4, streams=(closed(op, op, 64, 3),)))
        found = drive.run(
            Workload(seed=5, interval_ns=NS // 4, streams=(closed("writes", "write", 32, 4),))
        ).rows("writes", "write")
        rows = [ios / duration for ios, duration in zip(found["ios"], found["duration_ns"], strict=True)][:-1]
        print(limit_w, [round(row * NS) for row in rows])
        assert min(rows[slow_rows:]) > 0.75 * max(rows[-8:])
