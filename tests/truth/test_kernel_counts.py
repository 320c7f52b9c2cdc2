"""The kernel's tracepoints beside the Measurement: the same I/Os, one by one, with no difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from machine.event_log import EventLog
from ssdlab import _core
from ssdlab.drives import open_drive
from ssdlab.model.measurement import Measurement
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20
SPAN = (64 * MIB, 192 * MIB)
LETTERS = {"read": "R", "write": "W", "trim": "D"}

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
def test_not_one_io_more_or_less(
    zram: Path, event_log: Callable[[Path], EventLog], tmp_path: Path, name: str, engine: str
) -> None:
    """Four accounts: the events, the kernel's counters, our log of single I/Os, the totals."""
    Path(f"/sys/block/{zram.name}/queue/iostats").write_text("1")
    log = tmp_path / "ios.log"
    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        before = drive.counters()
        with event_log(zram) as events:
            measured = drive.run(Workload.of(on_engine(WORKLOADS[name], engine)), log_path=log)
        after = drive.counters()
    seen = by_letter(events)
    assert seen == logged(log)
    assert totals(seen) == claimed(measured)
    assert before is not None
    assert after is not None
    assert after.reads - before.reads == totals(seen)["read"][0]
    assert after.writes - before.writes == totals(seen)["write"][0]
    assert all(SPAN[0] <= offset and offset + length <= SPAN[1] for _, offset, length in seen)


def on_engine(stream: Stream, engine: str) -> Stream:
    """The stream on an engine, within the span, each I/O logged."""
    fields = {"engine": engine, "depth": 8 if engine == "uring" else 1, "log_ios": True}
    return Stream.model_validate({**stream.model_dump(), **fields, "span": f"{SPAN[0]}..{SPAN[1]}"})


def by_letter(events: EventLog) -> Seen:
    """What reached the device, by the letter of its direction instead of all its flags."""
    seen: Seen = Counter()
    for (flags, offset, length), count in events.requests.items():
        letter = next((letter for letter in LETTERS.values() if letter in flags), flags)
        seen[letter, offset, length] += count
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
