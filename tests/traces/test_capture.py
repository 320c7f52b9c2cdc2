"""What was recorded is what was issued: offsets, lengths, operations, their order and their times."""

from __future__ import annotations

import json
import mmap
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import need_root
from machine import tracing
from ssdlab.cli import main
from ssdlab.drives import open_drive
from ssdlab.formats.traces import blkparse
from ssdlab.formats.traces.capture import Captured, Traced, _new, _Writer, capture, traced_device
from ssdlab.formats.traces.events import FLUSH, READ, TRIM, WRITE
from ssdlab.formats.traces.reading import Source, Tally, events
from ssdlab.host import tracefs
from ssdlab.host.sysfs import HostFiles
from ssdlab.host.tracefs import Queued
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.model.workload import Block, Closed, Mix, Stop, Stream, Uniform, Workload
from ssdlab.runs.doctor import gather

MIB = 1 << 20
PAGE = 4096


@pytest.fixture
def traced() -> None:
    """The kernel's tracing files; skipped where they are not to be had."""
    need_root()
    try:
        tracing.mount_tracefs()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no tracefs here")


class Recording:
    """Records a device as long as the ``with`` block lasts."""

    def __init__(self, device: Path, output: Path) -> None:
        self._device, self.output = device, output
        self._over = threading.Event()
        self._ready = threading.Event()
        self.captured: Captured | None = None

    def _run(self) -> None:
        def look(captured: Captured) -> None:
            del captured
            self._ready.set()

        self.captured = capture(str(self._device), self.output, stopped=self._over.is_set, on_look=look)

    def __enter__(self) -> Recording:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(20)


def recorded(path: Path) -> list[tuple[int, int, int, int]]:
    return [each[:4] for each in events(Source(file=str(path)), Tally())]


def test_a_recorded_workload_is_what_was_issued(traced: None, zram: Path, tmp_path: Path) -> None:
    """Held against the I/Os that the engine itself logged, one by one."""
    from ssdlab.model.measurement import read_ios

    stream = Stream(
        ops=Mix(read_pct=60),
        block=(Block(bytes=4096, weight=3), Block(bytes=65536)),
        pattern=Uniform(),
        arrival=Closed(think_ns=200_000),
        stop=Stop(ios=400),
        log_ios=True,
    )
    log = tmp_path / "log"
    with (
        open_drive(str(zram), destroy=_consent(zram), writing=True, allow_unwritten=True) as drive,
        Recording(zram, tmp_path / "trace") as recording,
    ):
        drive.run(Workload.of(stream, seed=5), log_path=log)
        drive.trim(MIB, 2 * MIB)
    assert recording.captured is not None and recording.captured.lost == 0
    issued = read_ios(log)
    order = issued["submit_ns"].argsort()
    names = {0: READ, 1: WRITE, 2: TRIM}
    expected = [
        (names[int(issued["direction"][at])], int(issued["offset"][at]), int(issued["length"][at]))
        for at in order
    ]
    found = recorded(tmp_path / "trace")
    trims = [each for each in found if each[1] == TRIM]
    assert trims[0][2] == MIB and sum(each[3] for each in trims) == 2 * MIB
    # Around a trim ssdlab looks what the blocks return.
    moved, around = found[: len(expected)], found[len(expected) :]
    assert all(each[2] >= MIB and each[2] + each[3] <= 3 * MIB for each in around)
    assert [each[1:] for each in moved] == expected
    assert [each[0] for each in found] == sorted(each[0] for each in found)
    # The distances are those at which it submitted; the kernel stamps each a little later.
    spans = [int(issued["submit_ns"][order[-1]] - issued["submit_ns"][order[0]]), moved[-1][0] - moved[0][0]]
    assert spans[1] == pytest.approx(spans[0], abs=5_000_000)


def _consent(device: Path) -> str:
    from ssdlab.drives import look

    identity = look(str(device)).identity
    assert identity is not None
    return identity.consent_id


def test_what_was_recorded_is_replayed(
    traced: None, zram: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Recording(zram, tmp_path / "trace"):
        descriptor = os.open(zram, os.O_RDWR | os.O_DIRECT)
        memory = mmap.mmap(-1, PAGE)
        for number in range(20):
            os.pwritev(descriptor, [memory], number * PAGE)
            time.sleep(0.002)
        os.close(descriptor)
    settings = ["--set", f"file={tmp_path / 'trace'}", "--library", str(tmp_path / "library"), "--json"]
    destroy = ["--destroy", "sim:tiny-test,scale=4"]
    assert main(["run", "trace", "sim:tiny-test,scale=4", *destroy, *settings]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert (result["done"]["ios"], result["done"]["write_bytes"]) == (20, 20 * PAGE)
    assert result["source"]["format"] == "blkparse" and result["recording"]["duration_ns"] > 19 * 2_000_000


@pytest.mark.parametrize("flags", ["NS", "N", "WZS", "FF", "FWS", "ZR", "ZRA", "DE", "WSMU", "RAM"])
@pytest.mark.parametrize("command", ["a\nb", "x\u00e9\ufffd", "5 + 3]", "\x1b[2J"])
def test_whatever_the_kernel_says_is_written_so_that_it_is_read(
    tmp_path: Path, flags: str, command: str
) -> None:
    """Flags of this kernel and of later ones; names that a program gave itself; a flush at no place."""
    output = tmp_path / "trace"
    with _new(output, Captured(str(output), "sda")) as out:
        writer = _Writer(out, Traced((8 << 20,), "8,0", 2048), 0)
        writer.write([Queued(5, 0, 9, 8 << 20, 4096, 8, flags, command)], None)
        writer.write([Queued(7, 0, 9, 8 << 20, 0, 0, "FWS", command)], None)
    tally = Tally()
    first, second = events(Source(file=str(output)), tally)
    assert (first.time_ns, first.offset, first.length) == (5, 2048 * 512, 4096)
    assert (second.time_ns, second.op, tally.bad_lines, tally.lines) == (7, FLUSH, 0, 2)


def test_lost_events_are_counted(traced: None, zram: Path) -> None:
    """A buffer of a few pages, and nobody who reads it while the drive is asked."""
    number = zram.stat().st_rdev
    device = os.major(number) << 20 | os.minor(number)
    reads = 3000
    memory = mmap.mmap(-1, PAGE)
    with tracefs.Tracing((device,), buffer_kib=8) as kernel:
        descriptor = os.open(zram, os.O_RDONLY | os.O_DIRECT)
        for number in range(reads):
            os.preadv(descriptor, [memory], number % 256 * PAGE)
        os.close(descriptor)
        kernel.stop()
        found = list(kernel.read())
        lost = kernel.lost()
    assert 0 < len(found) < reads and len(found) + lost == reads
    assert {(each.device, each.sectors, each.flags[0]) for each in found} == {(device, 8, "R")}


def test_a_loss_is_noted_in_the_file_and_told_by_whoever_reads_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    lines = [
        blkparse.line_of("252,0", 0, 1, 5, 7, "R", 0, 8, "x"),
        blkparse.lost_line("252,0", 9, 123),
    ]
    trace.write_text("\n".join(lines) + "\n")
    tally = Tally()
    assert len(list(events(Source(file=str(trace)), tally))) == 1
    assert (tally.lost, tally.bad_lines) == (123, 0)


def test_the_command_stops_at_a_signal_and_leaves_no_instance(
    traced: None, zram: Path, tmp_path: Path
) -> None:
    output = tmp_path / "trace"
    command = [sys.executable, "-m", "ssdlab", "trace", "record", str(zram), "-o", str(output), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not output.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.terminate()
    told, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert json.loads(told)["lost"] == 0
    assert not list((tracing.TRACEFS / "instances").glob("ssdlab-*"))


def test_bad_input(traced: None, zram: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("8,0 1 1 0.0 1 Q R 0 + 8 [x]")
    with pytest.raises(Refused, match="would be overwritten"):
        capture(str(zram), there, seconds=1)
    with pytest.raises(UsageError, match="not a block device"):
        capture(str(there), tmp_path / "new", seconds=1)
    with pytest.raises(UsageError, match="no folder"):
        capture(str(zram), tmp_path / "nowhere" / "new", seconds=1)


def test_after_a_kill_the_next_command_removes_what_was_left_on(
    traced: None, zram: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, folder = tmp_path / "trace", tracing.TRACEFS / "instances"
    command = [sys.executable, "-m", "ssdlab", "trace", "record", str(zram), "-o", str(output)]
    for follow in ("record", "doctor"):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while not output.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        (left,) = folder.glob(f"ssdlab-{process.pid}-*-record")
        assert (left / "events/block/block_bio_queue/enable").read_text().strip() == "1"
        if follow == "record":
            # The file that the kill left is empty, and stands in nobody's way.
            assert capture(str(zram), output, seconds=0.2).lost == 0
            output.unlink()
        else:
            assert left.name in gather().traces
        assert not left.exists()


def test_a_process_number_that_came_again_is_another_process(traced: None) -> None:
    instances = tracing.TRACEFS / "instances"
    mine = instances / tracefs.instance_name("record")
    other = instances / f"ssdlab-{os.getpid()}-1-record"
    for folder in (mine, other):
        folder.mkdir()
    try:
        assert tracefs.remove_dead() == (other.name,)
        assert mine.exists() and not other.exists()
    finally:
        mine.rmdir()


def test_a_recording_that_fails_leaves_no_file(
    traced: None, zram: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracefs, "PLACES", (tmp_path,))
    with pytest.raises(HostError, match="tracing files"):
        capture(str(zram), tmp_path / "new", seconds=1)
    assert not (tmp_path / "new").exists()
    monkeypatch.undo()

    def fail(captured: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(HostError, match="the file system is full"):
        capture(str(zram), tmp_path / "new", seconds=1, on_look=fail)
    assert not (tmp_path / "new").exists() and not list(tracing.TRACEFS.glob("instances/ssdlab-*"))


def test_without_tracing_files_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tracefs, "PLACES", (tmp_path,))
    with pytest.raises(HostError, match="tracing files") as raised, tracefs.Tracing((1,)):
        pass
    assert "mount -t tracefs" in raised.value.advice


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[HostFiles]:
    """A disk 8:0 of two partitions, as sysfs has it."""
    disk = tmp_path / "sys/devices/sda"
    numbers = tmp_path / "sys/dev/block"
    numbers.mkdir(parents=True)
    names = tmp_path / "sys/class/block"
    names.mkdir(parents=True)
    for folder, number in ((disk, "8:0"), (disk / "sda1", "8:1"), (disk / "sda2", "8:2")):
        folder.mkdir(parents=True)
        (folder / "dev").write_text(number)
        (numbers / number).symlink_to(folder)
        (names / folder.name).symlink_to(folder)
        if folder != disk:
            (folder / "partition").write_text(number[-1])
            (folder / "start").write_text("2048")
    yield HostFiles(tmp_path)


def test_a_disk_comes_with_its_partitions_and_a_partition_from_its_own_start(copied: HostFiles) -> None:
    disk = traced_device("/dev/sda", copied)
    assert disk.numbers == (8 << 20, 8 << 20 | 1, 8 << 20 | 2)
    assert (disk.label, disk.start_sector) == ("8,0", 0)
    part = traced_device("/dev/sda2", copied)
    assert part.numbers == (8 << 20 | 2,)
    assert (part.label, part.start_sector) == ("8,2", 2048)


def test_pages_of_the_ring_buffer() -> None:
    """Each kind of entry that the kernel writes: short and long data, padding, stretched and whole times."""

    def entry(kind: int, delta: int, *words: int) -> bytes:
        return struct.pack(f"={1 + len(words)}I", delta << 5 | kind, *words)

    body = b"".join(
        (
            entry(2, 10, 0xA, 0xB),
            entry(30, 5, 1),
            entry(1, 7, 0xC),
            entry(0, 1, 12, 0xD, 0xE),
            entry(29, 3, 8, 0),
            entry(31, 9, 0),
            entry(1, 1, 0xF),
            entry(29, 0),
        )
    )
    high = 1 << 60
    page = struct.pack("=QQ", high + 1000, len(body) | 1 << 31) + body
    found = [(at, struct.unpack(f"={len(data) // 4}I", data)) for at, data in tracefs.events_of(page)]
    stretched = high + 1010 + (1 << 27) + 5 + 7
    assert found == [
        (high + 1010, (0xA, 0xB)),
        (stretched, (0xC,)),
        (stretched + 1, (0xD, 0xE)),
        (high + 9 + 1, (0xF,)),
    ]


def test_a_place_for_tracing_is_one_that_this_user_sees(tmp_path: Path) -> None:
    first, second = places = (tmp_path / "first", tmp_path / "second")
    (second / "instances").mkdir(parents=True)
    assert tracefs.place_with("instances", places) == second
    assert tracefs.place_with("events/block", places) is None
    assert tracefs.place_with("instances", (first,)) is None
