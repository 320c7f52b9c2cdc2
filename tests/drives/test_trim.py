"""Trims: whether they reached the device, and what a trimmed block returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from machine import tracing
from ssdlab.drives import open_drive
from ssdlab.drives.trim.medium import places
from ssdlab.drives.trim.trimming import DiscardWitness, Seen, seen_in
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import DriveError, Refused, UsageError

MIB = 1 << 20


def fill(device: Path, start: int, length: int) -> None:
    descriptor = os.open(device, os.O_WRONLY)
    try:
        for at in range(start, start + length, MIB):
            os.pwrite(descriptor, os.urandom(MIB), at)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@pytest.fixture
def traced() -> None:
    tracing.mount_tracefs()


def test_a_trim_of_a_device_without_queues_is_proven(
    zram: Path, traced: None, block_trace: Callable[[Path], tracing.BlockTrace]
) -> None:
    fill(zram, 0, 16 * MIB)
    with open_drive(zram, writing=True, destroy=zram.name) as drive, block_trace(zram) as witness:
        record = drive.trim(4 * MIB, 8 * MIB)
    assert (record.reached_device, record.evidence) == (True, "tracepoint")
    assert (record.discarded_bytes, witness.bytes("D")) == (8 * MIB, 8 * MIB)
    assert (record.reads, record.blank_before) == ("zeroes", 0)
    assert record.samples is not None
    assert record.samples.zero == 64
    with zram.open("rb") as device:
        content = device.read(16 * MIB)
    assert content[4 * MIB : 12 * MIB] == bytes(8 * MIB)
    assert content[4 * MIB - 4096 : 4 * MIB] != bytes(4096)
    assert content[12 * MIB : 12 * MIB + 4096] != bytes(4096)


def test_a_trim_of_a_device_with_queues_is_proven(loop: Callable[..., Path], traced: None) -> None:
    device = loop()
    fill(device, 0, 16 * MIB)
    with open_drive(device, writing=True, destroy=device.name) as drive:
        record = drive.trim(0, drive.capacity_bytes)
    assert (record.reached_device, record.evidence, record.discarded_bytes) == (True, "tracepoint", 64 * MIB)
    # Three quarters of it were blank before, and tell nothing.
    assert record.samples is not None
    assert (record.reads, record.samples.zero + record.blank_before) == ("zeroes", 64)
    assert 0 < record.blank_before < 64


@pytest.mark.machine
@pytest.mark.parametrize(("device", "source"), [("loop", "counters"), ("zram", None)])
def test_without_tracepoints_the_kernels_counters_tell(
    device: str, source: str | None, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The counters of zram stay at 0 whatever it discards, so that they show nothing."""
    made = request.getfixturevalue(device)
    path = made() if callable(made) else made
    node = HostFiles().node_named(path.name)
    assert node is not None
    with (
        open_drive(path, writing=True, destroy=path.name) as drive,
        DiscardWitness(HostFiles(tmp_path), node) as witness,
    ):
        drive.trim(0, MIB)
        assert witness.seen() == (Seen(source, 1, MIB) if source else Seen(None))


def test_nothing_of_the_trace_is_left_behind(zram: Path, traced: None) -> None:
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        drive.trim(0, MIB)
    assert not list((tracing.TRACEFS / "instances").glob(f"*{zram.name}*"))


def test_what_a_dead_process_left_is_removed(zram: Path, traced: None) -> None:
    left = tracing.TRACEFS / "instances" / "ssdlab-999999999-zram0"
    left.mkdir()
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        drive.trim(0, MIB)
    assert not left.exists()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("kworker-1 [000] d.h1. 1.2: block_rq_complete: 259,0 DS () 0 + 2048 none,0,0 [0]", (1, MIB)),
        ("<idle>-0 [001] d.h1. 1.2: block_rq_complete: 8,0 D () 64 + 8 [0]", (1, 4096)),
        ("dd-7 [000] d..1. 1.2: block_rq_complete: 8,0 D () 64 + 8 none,0,0 [-121]", None),
        ("dd-7 [000] d..1. 1.2: block_rq_complete: 8,0 WS () 64 + 8 none,0,0 [0]", None),
        ("blkdiscard-7 [000] ..... 1.2: block_bio_queue: 253,0 DS 0 + 16 [blkdiscard]", (1, 8192)),
        ("# tracer: nop", None),
    ],
)
def test_lines_of_the_trace(line: str, found: tuple[int, int] | None) -> None:
    """As Linux 6.1 and 6.18 print them; what failed did not reach the device."""
    assert seen_in([line]) == (None if found is None else Seen("tracepoint", *found))


def test_requests_count_and_not_the_bios_that_they_are_made_of() -> None:
    lines = [
        "x [000] ..... 1.2: block_bio_queue: 8,0 D 0 + 16 [x]",
        "x [000] d.h1. 1.3: block_rq_complete: 8,0 D () 0 + 8 [0]",
        "x [000] d.h1. 1.3: block_rq_complete: 8,0 D () 8 + 8 [0]",
    ]
    assert seen_in(lines) == Seen("tracepoint", 2, 8192)


def test_a_file_returns_zeroes_and_its_disk_may_hear_nothing(scratch: Path) -> None:
    with open_drive(scratch / "s.img", size=8 * MIB, writing=True) as drive:
        record = drive.trim(MIB, 2 * MIB)
        assert drive.written(0, MIB)
        assert not drive.written(MIB, 2 * MIB)
    assert record.reads == "zeroes"
    if record.reached_device:
        assert record.discarded_bytes is not None
        assert record.discarded_bytes >= 2 * MIB - 2 * MIB // 8


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ((0, 0), "not a range"),
        ((0, 2 << 30), "not a range"),
        ((-4096, 4096), "not a range"),
        ((512, 4096), "whole logical"),
    ],
)
def test_a_range_that_is_no_part_of_the_drive(zram: Path, span: tuple[int, int], words: str) -> None:
    with (
        open_drive(zram, writing=True, destroy=zram.name) as drive,
        pytest.raises(UsageError, match=words),
    ):
        drive.trim(*span)


def test_a_drive_opened_for_reading_is_not_trimmed(zram: Path) -> None:
    with open_drive(zram) as drive, pytest.raises(Refused, match="opened for reading"):
        drive.trim(0, MIB)


def test_a_device_that_takes_no_discard(zram: Path) -> None:
    Path(f"/sys/block/{zram.name}/queue/discard_max_bytes").write_text("0")
    with open_drive(zram, writing=True, destroy=zram.name) as drive, pytest.raises(DriveError) as caught:
        drive.trim(0, MIB)
    assert (caught.value.facts["reason"], caught.value.what) == (
        "no-trim",
        f"{zram} does not support discards",
    )


@pytest.mark.parametrize(("option", "reads"), [("", "zeroes"), (",trim=ignored", "unchanged")])
def test_a_simulated_drive_tells_the_same(option: str, reads: str) -> None:
    with open_drive(f"sim:tiny-test{option}", writing=True) as drive:
        record = drive.trim(0, MIB)
        again = drive.trim(0, MIB)
    assert (record.reached_device, record.evidence, record.reads) == (True, "simulated", reads)
    assert again.reads == (None if reads == "zeroes" else reads)


def test_samples_are_spread_over_the_whole_range() -> None:
    found = places(1 << 30, 1 << 40, 4096, seed=3)
    assert len(set(found)) == 64
    assert (found[0], found[-1]) == (1 << 30, (1 << 30) + (1 << 40) - 4096)
    steps = [second - first for first, second in pairwise(found)]
    assert max(steps) <= 2 * (1 << 40) // 60
    assert all(at % 4096 == 0 for at in found)
    assert places(0, 1 << 40, 4096, seed=3) != places(0, 1 << 40, 4096, seed=4)
    assert places(0, 8192, 4096, seed=3) == (0, 4096)
