"""A trace mapped onto a drive: each I/O is asked as it was or left out, with its reason; times are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from ssdlab import _core
from ssdlab.formats.traces.events import FLUSH, NAMES, READ, TRIM, WRITE, Event
from ssdlab.formats.traces.reading import Source
from ssdlab.lab.traces import mapping
from ssdlab.lab.traces.mapping import TraceMapper, TraceMapping
from ssdlab.lab.verbs.trace import MAGIC, record
from ssdlab.model.errors import UsageError

MIB = 1 << 20


def lay(
    events: list[Event], usable_bytes: int = MIB, block: int = 512, **how: Any
) -> tuple[Any, TraceMapper]:
    mapper = TraceMapper(TraceMapping(**how), usable_bytes, block)
    laid = [mapper.lay(chunk) for chunk in mapping.chunks(events)]
    return np.concatenate(laid), mapper


def read(time_ns: int, offset: int = 0, length: int = 512, op: int = READ) -> Event:
    return Event(time_ns, op, offset, length, "a")


def test_times_begin_at_the_first_io_and_keep_their_distances() -> None:
    laid, mapper = lay([read(10**18 + n * n) for n in range(5)])
    assert laid["due_ns"].tolist() == [0, 1, 4, 9, 16]
    assert mapper.laid.trace_ns == 16 and mapper.laid.gaps_cut == 0


def test_ticks_since_1601_are_not_too_large() -> None:
    first = 128166372003061629 * 100
    laid, _ = lay([read(first), read(first + 700)])
    assert laid["due_ns"].tolist() == [0, 700]


@pytest.mark.parametrize(
    ("speed", "due"), [("2", [0, 500, 1500]), ("0.5", [0, 2000, 6000]), ("3", [0, 333, 1000])]
)
def test_faster_is_exact_to_the_nanosecond(speed: str, due: list[int]) -> None:
    assert lay([read(0), read(1000), read(3000)], speed=speed)[0]["due_ns"].tolist() == due


def test_as_fast_as_possible_has_no_times() -> None:
    assert lay([read(0), read(10**9)], speed="max")[0]["due_ns"].tolist() == [0, 0]


def test_longer_gaps_are_cut_before_the_speed_and_counted() -> None:
    events = [read(0), read(10), read(1010), read(1020), read(9020)]
    laid, mapper = lay(events, gap_most_ns=100, speed="2")
    assert laid["due_ns"].tolist() == [0, 5, 55, 60, 110]
    assert (mapper.laid.gaps_cut, mapper.laid.gaps_cut_ns, mapper.laid.trace_ns) == (2, 900 + 7900, 9020)


def test_only_a_part_of_the_trace() -> None:
    laid, mapper = lay([read(1000 + n) for n in range(10)], length_ns=4)
    assert laid["due_ns"].tolist() == [0, 1, 2, 3] and mapper.complete and mapper.laid.ios == 4


def test_what_lies_beyond_the_end_is_wrapped_and_counted() -> None:
    events = [
        read(0, MIB - 4096, 4096),
        read(0, MIB, 4096),
        read(0, 5 * MIB + 8192, 512),
        read(0, MIB - 512, 1024),
    ]
    laid, mapper = lay(events)
    assert laid["offset"].tolist() == [MIB - 4096, 0, 8192, MIB - 1024]
    assert mapper.laid.wrapped == 3 and mapper.laid.extent_bytes == 5 * MIB + 8192 + 512
    left, mapper = lay(events, beyond="leave-out")
    assert left["offset"].tolist() == [MIB - 4096]
    assert mapper.laid.left_out == {"beyond the drive's end": 3}


def test_what_the_drive_cannot_be_asked_is_left_out_with_its_reason() -> None:
    events = [
        read(0, 0, 4096),
        read(1, 512, 4096),
        read(2, 4096, 512),
        read(3, 0, 0),
        read(4, 0, 0, FLUSH),
        read(5, 0, 2 * MIB),
        read(6, 0, 1 << 31),
        read(7, 8192, 4096, TRIM),
        read(8, 0, 4096, NAMES.index("write zeroes")),
        read(9, 0, 2 * MIB, NAMES.index("zone reset")),
        read(10, 0, 0, NAMES.index("pass-through")),
    ]
    laid, mapper = lay(events, block=4096)
    assert laid["op"].tolist() == [READ, TRIM] and laid["due_ns"].tolist() == [0, 7]
    assert mapper.laid.left_out == {
        "not in whole logical blocks of the drive, 4 KiB": 2,
        "of length 0": 1,
        "flushes, which move no data": 1,
        "longer than the drive": 1,
        "longer than 1 GiB": 1,
        "write zeroes": 1,
        "zone reset": 1,
        "pass-through": 1,
    }
    assert lay([read(0), read(1, MIB - 4096, 8192, NAMES.index("zone reset"))])[1].laid.extent_bytes == 512


def test_reads_alone_can_be_asked_for() -> None:
    laid, mapper = lay([read(0), read(5, op=WRITE), read(9)], only="reads")
    assert laid["due_ns"].tolist() == [0, 9] and mapper.laid.left_out == {"not a read": 1}


def test_a_replay_of_years_is_refused() -> None:
    with pytest.raises(UsageError, match="would last") as raised:
        lay([read(0), read(10**17)])
    assert "unit of its times" in raised.value.advice
    with pytest.raises(UsageError, match="centuries"):
        lay([read(0), read(10**20)])


@pytest.mark.parametrize("speed", ["fast", "0", "-1", "inf", "nan", "2000000"])
def test_what_is_no_speed_is_told(speed: str) -> None:
    with pytest.raises(UsageError, match="speed"):
        TraceMapping(speed=speed)


ios = some.tuples(
    some.integers(0, 10**10),
    some.sampled_from([READ, WRITE, TRIM, FLUSH]),
    some.integers(0, 2**43),
    some.integers(0, 2**21),
)


@given(
    every=some.lists(ios, min_size=1, max_size=60),
    usable=some.integers(1, 2**30),
    block=some.sampled_from([512, 4096]),
    most=some.integers(0, 10**9),
    speed=some.sampled_from(["1", "0.7", "10", "max"]),
)
def test_whatever_the_trace_all_is_accounted_for_and_inside(
    every: list[tuple[int, int, int, int]], usable: int, block: int, most: int, speed: str
) -> None:
    events = [Event(time, op, offset, length, "a") for time, op, offset, length in sorted(every)]
    laid, mapper = lay(events, usable, block, gap_most_ns=most, speed=speed)
    assert len(laid) + sum(mapper.laid.left_out.values()) == len(events) == mapper.laid.ios
    assert (laid["offset"] + laid["length"] <= usable).all()
    assert (laid["offset"] % block == 0).all() and (laid["length"] % block == 0).all()
    assert (np.diff(laid["due_ns"].astype(np.int64)) >= 0).all()


def recorded(trace: Path, **how: Any) -> dict[str, Any]:
    return record(
        Source(file=str(trace)),
        TraceMapping(**how),
        usable_bytes=64 * MIB,
        logical_block_bytes=512,
        file=trace.with_suffix(".records"),
    )


def test_the_file_of_records_is_what_the_native_runner_reads(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("1,R,8192,4096,0\n1,W,0,16384,5\n1,R,1048576,8192,25\n")
    facts = recorded(trace)
    file = trace.with_suffix(".records")
    assert file.read_bytes()[: len(MAGIC)] == MAGIC and file.stat().st_size == 16 + 3 * 24
    assert facts["recording"] == _core.check_recording(file)
    assert facts["recording"] | {"digest": ""} == {
        "digest": "",
        "reads": 2,
        "writes": 1,
        "trims": 0,
        "read_bytes": 12288,
        "write_bytes": 16384,
        "trim_bytes": 0,
        "duration_ns": 25_000,
        "end": 1048576 + 8192,
        "longest_bytes": 16384,
        "unit_bytes": 4096,
    }
    assert recorded(trace)["recording"] == facts["recording"], "the same trace, the same digest"


def test_times_that_go_back_stop_or_are_sorted(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("1,R,0,512,7\n1,R,512,512,3\n1,W,1024,512,3\n1,R,1536,512,9\n")
    with pytest.raises(UsageError, match="go back 1 times, first in line 2"):
        recorded(trace)
    facts = recorded(trace, order="sort")
    raw = np.frombuffer(trace.with_suffix(".records").read_bytes()[16:], dtype=mapping._FIELDS)
    assert raw["offset"].tolist() == [512, 1024, 0, 1536] and raw["due_ns"].tolist() == [0, 0, 4000, 6000]
    assert facts["source"]["backwards"] == 1


def test_a_trace_of_which_nothing_is_left_says_why(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("1,W,0,512,7\n1,W,512,512,9\n")
    with pytest.raises(UsageError, match=r"none of the 2 I/Os .* 2 are not a read"):
        recorded(trace, only="reads")
