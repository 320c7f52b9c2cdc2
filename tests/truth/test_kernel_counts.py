"""The kernel's tracepoints beside the Measurement: the same I/Os, one by one, with no difference."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from machine import tracing
from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.measurement import Measurement
from ssdlab.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20
SECTOR_BYTES = 512
KEYS_MAX = 20_000
ATTEMPTS = 3
"""While any other program on a CPU handles a BPF map, the kernel skips the events of tracers there. So a
tracer may miss an I/O on a machine where others trace, and look again; it never sees one that was not."""

SPAN = (64 * MIB, 192 * MIB)
LETTERS = {"read": "R", "write": "W", "trim": "D"}

Bpf = Callable[..., AbstractContextManager[tracing.Trace]]
Seen = Counter[tuple[str, int, int]]

WORKLOADS = {
    "random reads": Stream(ops="read", stop=Stop(ios=5000)),
    "random writes": Stream(ops="write", stop=Stop(ios=5000)),
    "sequential reads": Stream(ops="read", pattern="sequential", block="64k", workers=4, stop=Stop(ios=2000)),
    "span once": Stream(ops="write", pattern="sequential", block="64k", workers=3, stop=Stop(span_once=True)),
    "mixed": Stream(ops=Mix(read_pct=70), block="4k:70,16k:20,64k:10", workers=4, stop=Stop(ios=6000)),
    "zipf": Stream(ops="read", pattern="zipf:1.1", workers=2, stop=Stop(ios=5000)),
    "hot": Stream(ops=Mix(read_pct=50), pattern="hot:80/20", workers=2, stop=Stop(ios=5000)),
    "trims": Stream(ops="trim", block="64k", stop=Stop(ios=1000)),
    "open loop": Stream(ops="read", arrival={"kind": "open", "rate": "5000"}, stop=Stop(time_ns="1s")),
}


@pytest.mark.parametrize("engine", ["sync", "uring"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_not_one_io_more_or_less(zram: Path, bpf: Bpf, tmp_path: Path, name: str, engine: str) -> None:
    Path(f"/sys/block/{zram.name}/queue/iostats").write_text("1")
    stream = on_engine(WORKLOADS[name], engine)
    for attempt in range(ATTEMPTS):
        log = tmp_path / f"ios-{attempt}.log"
        with open_drive(zram, writing=True, destroy=zram.name) as drive:
            before = drive.counters()
            with bpf(program(zram), keys_max=KEYS_MAX) as trace:
                measured = drive.run(Workload.of(stream), log_path=log)
            after = drive.counters()
        done = logged(log)
        assert totals(done) == claimed(measured)
        assert before is not None
        assert after is not None
        assert after.reads - before.reads == totals(done)["read"][0]
        assert after.writes - before.writes == totals(done)["write"][0]
        assert all(SPAN[0] <= offset and offset + length <= SPAN[1] for _, offset, length in done)
        seen = requests(trace)
        if seen == done:
            return
        assert not seen - done, "the kernel saw I/Os that were not claimed"
    pytest.fail(f"{(done - seen).total()} I/Os were claimed and not seen")


def on_engine(stream: Stream, engine: str) -> Stream:
    """The stream on an engine, within the span, each I/O logged."""
    fields = {"engine": engine, "depth": 8 if engine == "uring" else 1, "log_ios": True}
    return Stream.model_validate({**stream.model_dump(), **fields, "span": f"{SPAN[0]}..{SPAN[1]}"})


def program(device: Path) -> str:
    """Counts each request by direction, first sector and sectors."""
    number = device.stat().st_rdev
    dev = (os.major(number) << 20) + os.minor(number)
    return (
        f"tracepoint:block:block_bio_queue /args->dev == {dev}/"
        " { @seen[args->rwbs, args->sector, args->nr_sector] = count(); }"
    )


def requests(trace: tracing.Trace) -> Seen:
    """What reached the device: (letter, offset, length) and how often."""
    seen: Seen = Counter()
    for key, count in trace.maps.get("@seen", {}).items():
        flags, sector, sectors = key.split(",")
        letter = next((letter for letter in LETTERS.values() if letter in flags), flags)
        seen[letter, int(sector) * SECTOR_BYTES, int(sectors) * SECTOR_BYTES] += count
    return seen


def logged(log: Path) -> Seen:
    """What the log of single I/Os holds, in the same terms."""
    columns = _core.read_log(log).ios()
    letters = list(LETTERS.values())
    triples = zip(columns["direction"], columns["offset"], columns["length"], strict=True)
    return Counter(
        (letters[int(direction)], int(offset), int(length)) for direction, offset, length in triples
    )


def totals(seen: Seen) -> dict[str, tuple[int, int]]:
    """I/Os and bytes by direction."""
    found = {name: (0, 0) for name in LETTERS}
    for name, letter in LETTERS.items():
        mine = [(length, count) for (other, _, length), count in seen.items() if other == letter]
        found[name] = (sum(count for _, count in mine), sum(length * count for length, count in mine))
    return found


def claimed(measured: Measurement) -> dict[str, tuple[int, int]]:
    """The same of the Measurement's summary."""
    summary = measured.summary()
    return {
        name: (summary[name]["ios"], summary[name]["bytes"]) if summary[name] else (0, 0) for name in LETTERS
    }
