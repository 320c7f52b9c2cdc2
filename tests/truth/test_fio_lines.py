"""The fio job files of a page run: on a device, where the block tracepoints are witness, and on a file.

For each kind of workload, fio ends well, touches nothing outside of the span, and moves what we move: the
same bytes where there is one direction and one size, reads within six standard deviations of the binomial
of the mix, and of the sizes, where these are drawn.
"""

from __future__ import annotations

import math
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from machine.event_log import EventLog
from ssdlab.drives import open_drive
from ssdlab.formats.fio import Target, job_file
from ssdlab.formats.fio.sections import read_sections
from ssdlab.formats.fio.stages import read_stages
from ssdlab.formats.fio.stream import percents
from ssdlab.model.arrival import AsRecorded, Bursts, Closed, Open, Pulses
from ssdlab.model.measurement import Measurement
from ssdlab.model.pattern import Band, Bands, Recording, Segmented, Sequential, Shuffled, Stepped
from ssdlab.model.workload import Mix, Ratio, RecordedOps, Stop, Stream, Workload

MIB = 1 << 20
DEVICE_BYTES = 64 * MIB
LOGICAL_BLOCK_BYTES = 4096
SPAN = (16 * MIB, 48 * MIB)
LETTERS = {"read": "R", "write": "W", "trim": "D"}
SIGMAS = 6


def inside(**fields: object) -> Stream:
    """A stream within the span."""
    return Stream.model_validate({"span": f"{SPAN[0]}..{SPAN[1]}", "stop": Stop(ios=300)} | fields)


EXACT = {
    "one thread": inside(),
    "threads": inside(workers=7, ops="write"),
    "fewer I/Os than threads": inside(workers=8, stop=Stop(ios=5)),
    "a ring": inside(engine="uring", depth=32, ops="write"),
    "a ring in portions": inside(engine="uring", depth=16, batch=4),
    "bytes": inside(ops="write", block="16k", workers=3, stop=Stop(bytes=1_000_001)),
    "an amount beyond the span": inside(ops="write", block="1m", stop=Stop(ios=50)),
    "a sequence beyond its part": inside(block="1m", workers=2, pattern=Sequential(), stop=Stop(ios=50)),
    "a span once": inside(ops="write", block="128k", pattern=Sequential(), stop=Stop(span_once=True)),
    "a span once, in uneven parts": inside(
        ops="write", block="1m", pattern=Sequential(), workers=5, stop=Stop(span_once=True)
    ),
    "a span once, from where it stopped": inside(
        block="1m",
        pattern=Sequential(cursors=(20 * MIB, 40 * MIB)),
        workers=2,
        stop=Stop(span_once=True),
    ),
    "an amount before the time": inside(stop=Stop(ios=300, time_ns="60s")),
    "zipf": inside(pattern="zipf:1.1", workers=2),
    "zipf of 1": inside(pattern="zipf:1"),
    "hot": inside(ops="write", pattern="hot:80/20"),
    "bands": inside(
        pattern=Bands(
            bands=tuple(Band(access_weight=a, span_weight=s) for a, s in ((1, 1), (1, 5), (1, 3), (0, 7)))
        )
    ),
    "segments": inside(
        ops="write", pattern=Segmented(count=8, length_bytes=MIB, stride_bytes=4 * MIB), workers=2
    ),
    "a random map": inside(ops="write", pattern=Shuffled(), workers=2),
    "a random map, and round again": inside(pattern=Shuffled(anew=True), block="1m", stop=Stop(ios=80)),
    "more segments than fio has zones": inside(
        pattern=Segmented(count=2048, length_bytes=4096, stride_bytes=16384)
    ),
    "steps": inside(ops="write", block="12k", pattern=Stepped(step_bytes=4096), span="16785408..16809984"),
    "blocks that do not divide the span": inside(block="24k", span="16785408..17817600"),
    "durable": inside(ops="write", dsync=True, flush_every=7, compressible_pct=50),
    "pinned": inside(cpus="0-1", workers=3),
    "rests": inside(arrival=Closed(think_ns="10us")),
    "trims": inside(ops="trim", block="64k"),
    "trims of a ring": inside(ops="trim", block="64k", engine="uring", depth=4),
    "even arrivals": inside(arrival=Open(rate="40000/3"), workers=3),
    "poisson": inside(arrival=Open(process="poisson", rate=5000), workers=3),
    "act6": inside(arrival=Open(process="act6", rate=5000), workers=4),
    "bursts": inside(ops="write", arrival=Bursts(bytes="128k", every_ns="10ms")),
    "pulses": inside(arrival=Pulses(on_ns="2ms", every_ns="6ms")),
}
"""One direction and one size of block: the bytes are equal."""

DRAWN = {
    "a mix": inside(ops=70, workers=4, stop=Stop(ios=1000)),
    "a mix of a ring": inside(ops=30, engine="uring", depth=8, stop=Stop(ios=1000)),
    "a ratio": inside(ops=Ratio(read_weight=2, write_weight=1), stop=Stop(ios=1000)),
    "a sequential mix": inside(ops=50, block="64k", pattern=Sequential(), stop=Stop(ios=1000)),
    "sizes": inside(ops="write", block="4k:70,16k:20,64k:10", workers=2, stop=Stop(ios=1000)),
    "sizes of a third each": inside(block="4k:1,8k:1,16k:1", stop=Stop(ios=1000)),
    "sizes until so many bytes": inside(block="4k:70,64k:30", stop=Stop(bytes="8m")),
    "a mix of sizes over zipf": inside(ops=70, block="4k:70,16k:30", pattern="zipf:0.9", stop=Stop(ios=999)),
    "random reads and writes in order": inside(
        ops=70, write_block="64k", write_pattern="sequential", stop=Stop(ios=1000)
    ),
    "reads in order and random writes": inside(
        ops=50,
        pattern=Sequential(),
        block="16k",
        write_block="4k:70,16k:30",
        write_pattern="uniform",
        stop=Stop(ios=999),
    ),
    "a mix at a rate": inside(ops=70, arrival=Open(rate=20000), stop=Stop(ios=1000)),
    "a mix, poisson": inside(ops=70, arrival=Open(process="poisson", rate=20000), stop=Stop(ios=1000)),
}
"""What is drawn for each I/O differs, within bounds."""

TIMED = {
    "a tenth of a second": (inside(stop=Stop(time_ns="100ms")), 0),
    "behind a ramp": (inside(stop=Stop(time_ns="150ms"), ops="write", workers=2), 50_000_000),
    "round and round": (
        inside(stop=Stop(time_ns="200ms"), block="1m", pattern=Sequential(), workers=3, ops="write"),
        0,
    ),
    "a slow poisson": (
        inside(stop=Stop(time_ns="200ms"), workers=32, arrival=Open(process="poisson", rate=10)),
        0,
    ),
}
"""What ends by time."""


@dataclass(frozen=True)
class Moved:
    """What reached a device: I/Os and bytes by direction, and the first and last byte."""

    ios: dict[str, int]
    bytes: dict[str, int]
    first: int
    end: int

    @classmethod
    def of(cls, events: EventLog) -> Moved:
        """Those of an event log; flushes carry no data."""
        ios, moved = dict.fromkeys(LETTERS, 0), dict.fromkeys(LETTERS, 0)
        data = {key: count for key, count in events.requests.items() if key[2]}
        for (flags, _, length), count in data.items():
            kind = next(kind for kind, letter in LETTERS.items() if letter in flags)
            ios[kind] += count
            moved[kind] += count * length
        return cls(
            ios,
            moved,
            min((offset for _, offset, _ in data), default=SPAN[0]),
            max((offset + length for _, offset, length in data), default=SPAN[0]),
        )


class Bench:
    """A device, and fio and the engine on it."""

    def __init__(self, device: Path, fio: str, event_log: Callable[..., EventLog], folder: Path) -> None:
        self.device, self.fio, self.event_log, self.folder = device, fio, event_log, folder

    def by_fio(self, workload: Workload) -> Moved:
        """Run the printed job file."""
        return self.by_file(jobs_of(workload, self.device))

    def by_file(self, text: str) -> Moved:
        """Run a job file."""
        with self.event_log(self.device, of=("fio", "iou-")) as events:
            run_jobs(self.fio, text, self.folder)
        return Moved.of(events)

    def by_us(self, workload: Workload) -> Measurement:
        """Run the engine."""
        with open_drive(self.device, writing=True, destroy=self.device.name) as drive:
            return drive.run(workload)


def jobs_of(
    workload: Workload, path: Path, *, block_device: bool = True, capacity: int = DEVICE_BYTES
) -> str:
    """The job file of one step."""
    return job_file([("step", workload)], Target(str(path), block_device, capacity, LOGICAL_BLOCK_BYTES))


def run_jobs(fio: str, text: str, folder: Path) -> None:
    """Run a job file, which lies elsewhere: nothing may be made in the folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".fio") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [fio, "--output-format=json", file.name],
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, f"{text}\n{done.stderr}{done.stdout[:2000]}"
    assert not done.stderr, f"{text}\n{done.stderr}"


@pytest.fixture
def bench(
    make_zram: Callable[..., Path], fio: str, event_log: Callable[..., EventLog], tmp_path: Path
) -> Bench:
    return Bench(make_zram(DEVICE_BYTES), fio, event_log, tmp_path)


def one(name: str) -> list[int]:
    """A seed that fio does not take as it is, another for each kind."""
    return [random.Random(name).randrange(2**63, 2**64)]


def many(name: str) -> list[int]:
    draw = random.Random(name)
    return [draw.randrange(2**64) for _ in range(100)]


def check_exact(bench: Bench, stream: Stream, seeds: Sequence[int]) -> None:
    ours = bench.by_us(Workload.of(stream)).summary()
    for seed in seeds:
        moved = bench.by_fio(Workload.of(stream, seed=seed))
        check_place(moved)
        for kind in LETTERS:
            assert moved.bytes[kind] == (ours[kind]["bytes"] if ours[kind] else 0), (kind, seed)


def check_drawn(bench: Bench, stream: Stream, seeds: Sequence[int]) -> None:
    for seed in seeds:
        moved = bench.by_fio(Workload.of(stream, seed=seed))
        check_place(moved)
        ios, total = sum(moved.ios.values()), sum(moved.bytes.values())
        if stream.stop.ios is not None:
            assert ios == stream.stop.ios, seed
        else:
            assert stream.stop.bytes is not None
            largest = stream.largest_block_bytes
            assert stream.stop.bytes <= total < stream.stop.bytes + stream.workers * largest, seed
        assert within(moved.ios["read"], ios, reads_of(stream)), (moved.ios, seed)
        for kind, sizes in {"read": stream.block, "write": stream.write_block or stream.block}.items():
            shares, _ = percents([block.weight for block in sizes])
            mean, square = (
                sum(share * block.bytes**power for share, block in zip(shares, sizes, strict=True)) / 100
                for power in (1, 2)
            )
            count, moved_bytes = moved.ios[kind], moved.bytes[kind]
            beside = SIGMAS * math.sqrt(count * (square - mean**2)) + 1
            assert abs(moved_bytes - count * mean) <= beside, (kind, moved_bytes, seed)


def check_timed(bench: Bench, stream: Stream, ramp_ns: int, seeds: Sequence[int]) -> None:
    for seed in seeds:
        check_place(bench.by_fio(Workload.of(stream, seed=seed, ramp_ns=ramp_ns)))


def check_place(moved: Moved) -> None:
    assert SPAN[0] <= moved.first, moved
    assert moved.end <= SPAN[1], moved


def reads_of(stream: Stream) -> float:
    match stream.ops:
        case Mix(read_pct=share):
            return share / 100
        case Ratio(read_weight=reads, write_weight=writes):
            return round(100 * reads / (reads + writes)) / 100
    return 0


def within(count: int, of: int, share: float) -> bool:
    """Whether the count is one of a binomial."""
    return abs(count - of * share) <= SIGMAS * math.sqrt(of * share * (1 - share)) + 1e-9


def check_file(fio: str, folder: Path, kinds: Sequence[tuple[Stream, int]], seeds: Sequence[int]) -> None:
    """Run streams on a file: its size stays, and so does what lies before and behind the span."""
    file = folder / "a drive: one of two"
    untouched = b"\xa5" * DEVICE_BYTES
    file.write_bytes(untouched)
    for stream, ramp_ns in kinds:
        for seed in seeds:
            workload = Workload.of(stream, seed=seed, ramp_ns=ramp_ns)
            run_jobs(fio, jobs_of(workload, file, block_device=False), folder)
            found = file.read_bytes()
            assert len(found) == DEVICE_BYTES, (stream, seed)
            assert found[: SPAN[0]] == untouched[: SPAN[0]], (stream, seed)
            assert found[SPAN[1] :] == untouched[SPAN[1] :], (stream, seed)
    assert [path.name for path in folder.iterdir()] == [file.name]


def on_file() -> list[tuple[Stream, int]]:
    """The kinds for a file, with their ramps: fio trims none."""
    plain = [stream for stream in (*EXACT.values(), *DRAWN.values()) if not stream.trims]
    return [(inside(direct=False, ops="write"), 0), *((stream, 0) for stream in plain), *TIMED.values()]


@pytest.mark.parametrize("name", EXACT)
def test_the_same_bytes(bench: Bench, name: str) -> None:
    check_exact(bench, EXACT[name], one(name))


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_within_its_bounds(bench: Bench, name: str) -> None:
    check_drawn(bench, DRAWN[name], one(name))


@pytest.mark.parametrize("name", TIMED)
def test_what_ends_by_time_stays_in_the_span(bench: Bench, name: str) -> None:
    check_timed(bench, *TIMED[name], one(name))


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**63, 2**64 - 1])
def test_seeds_at_the_edge(bench: Bench, seed: int) -> None:
    check_exact(bench, EXACT["one thread"], [seed])


def test_no_file_grows(fio: str, scratch: Path) -> None:
    """Of all kinds that write: several threads once wrote past the span."""
    writers = [(stream, ramp_ns) for stream, ramp_ns in on_file() if stream.writes]
    check_file(fio, scratch, writers, [2**64 - 1])


def test_streams_beside_each_other(bench: Bench) -> None:
    streams = [
        inside(name="reader", engine="uring", depth=8),
        inside(name="writer", ops="write", block="64k", pattern="sequential", workers=3),
    ]
    workload = Workload.of(*streams, seed=2**64 - 1)
    moved, ours = bench.by_fio(workload), bench.by_us(workload).summary()
    check_place(moved)
    assert (moved.bytes["read"], moved.bytes["write"]) == (ours["read"]["bytes"], ours["write"]["bytes"])


def test_a_recording_goes_to_the_drive(bench: Bench) -> None:
    ios = [("write", SPAN[0], 4096), ("read", 40 * MIB, 65536), ("write", 47 * MIB, MIB)]
    logged = "".join(f"/dev/other {kind} {offset} {length}\n" for kind, offset, length in ios)
    (bench.folder / "TRACE.iolog").write_text(
        f"fio version 2 iolog\n/dev/other add\n/dev/other open\n{logged}/dev/other close\n"
    )
    stream = Stream(
        ops=RecordedOps(reads=1, writes=2, trims=0),
        pattern=Recording(file="x", digest="", duration_ns=0, moved_bytes=0, written_bytes=0),
        arrival=AsRecorded(),
        workers=4,
    )
    moved = bench.by_fio(Workload.of(stream))
    check_place(moved)
    assert moved.bytes == {"read": 65536, "write": 4096 + MIB, "trim": 0}


def test_what_is_no_device_yet_is_not_made(fio: str, tmp_path: Path) -> None:
    """The line of a simulated drive stands for one that is served: run as it is, it makes no file."""
    text = job_file([("step", Workload.of(inside(ops="write")))], Target(None, False, DEVICE_BYTES, 512))
    done = subprocess.run([fio, "-"], input=text.encode(), capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode != 0
    assert list(tmp_path.iterdir()) == []
    assert "sim serve" in text


CORPUS = Path(__file__).parents[1] / "lab" / "fio_jobs.txt"
OF_THE_FIELD = (
    "postgres WAL",
    "unaligned pattern generator",
    "scans of a column store",
    "an OSD, steps",
    "large volumes without repetition",
    "256 KiB reads and writes, one after the other",
    "submission in batches",
    "discards",
    "the desktop benchmark with four tests",
    "sizes of a purist",
    "an erase of part",
    "pinned",
)
FIELD_BYTES = 512 * MIB


@pytest.mark.parametrize("name", OF_THE_FIELD)
def test_a_job_file_moves_what_fio_moves_for_it(
    name: str,
    make_zram: Callable[..., Path],
    fio: str,
    event_log: Callable[..., EventLog],
    tmp_path: Path,
) -> None:
    """Of the corpus of job files: the same bytes in each direction, and the same first and last byte."""
    bench = Bench(make_zram(FIELD_BYTES), fio, event_log, tmp_path)
    entry = CORPUS.read_text().partition(f"=== {name}: runs")[2].partition("\n")[2].partition("\n\n")[0]
    text = re.sub(r"filename=.*", f"filename={bench.device}", entry) + "\n"
    moved = bench.by_file(text)
    target = Target(str(bench.device), True, FIELD_BYTES, LOGICAL_BLOCK_BYTES)
    stages, _ = read_stages(read_sections(text, "x.fio", tmp_path), target)
    with event_log(bench.device, of=("ssdlab-", "iou-")) as events:
        ours = [bench.by_us(stage.workload).summary() for stage in stages]
    for kind in LETTERS:
        assert moved.bytes[kind] == sum(each[kind]["bytes"] for each in ours if each[kind]), kind
    mine = Moved.of(events)
    assert (moved.bytes, moved.first, moved.end) == (mine.bytes, mine.first, mine.end)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EXACT, *DRAWN, *TIMED])
def test_each_kind_with_100_seeds(bench: Bench, name: str) -> None:
    if name in EXACT:
        check_exact(bench, EXACT[name], many(name))
    elif name in DRAWN:
        check_drawn(bench, DRAWN[name], many(name))
    else:
        check_timed(bench, *TIMED[name], many(name))


@pytest.mark.slow
def test_no_file_grows_with_any_seed(fio: str, scratch: Path) -> None:
    check_file(fio, scratch, on_file(), many("on a file")[:10])
