"""The options of measure: what they mean as a workload, and what contradicts itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from ssdlab.model.errors import LabError
from ssdlab.model.options import MeasureOptions
from ssdlab.model.workload import (
    Closed,
    Mix,
    Open,
    Sequential,
    Span,
    Stop,
    Stream,
    Uniform,
    Zipf,
    fill_workloads,
)


def stream(**options: Any) -> Stream:
    return MeasureOptions(**options).workload().streams[0]


def test_defaults() -> None:
    made = stream()
    assert made.ops == Mix(read_pct=100)
    assert made.pattern == Uniform()
    assert made.arrival == Closed()
    assert made.stop == Stop(time_ns=10 * 10**9)
    assert (made.workers, made.depth, made.engine) == (1, 1, "sync")


@pytest.mark.parametrize(
    ("rw", "ops", "sequential"),
    [
        ("read", Mix(read_pct=100), True),
        ("write", Mix(read_pct=0), True),
        ("randread", Mix(read_pct=100), False),
        ("randwrite", Mix(read_pct=0), False),
        ("rw", Mix(read_pct=50), True),
        ("randrw", Mix(read_pct=50), False),
        ("trim", "trim", True),
        ("randtrim", "trim", False),
    ],
)
def test_directions_are_fios(rw: str, ops: object, sequential: bool) -> None:
    made = stream(rw=rw)
    assert made.ops == ops
    assert isinstance(made.pattern, Sequential) is sequential


def test_options_as_a_command_line_gives_them() -> None:
    options = MeasureOptions(
        rw="randrw",
        read_pct="70",
        bs="4k:70,128k:30",
        threads="32",
        depth="4",
        engine="uring",
        batch="2",
        pattern="zipf:1.1",
        arrival="poisson",
        rate="60k",
        backlog="2s",
        seconds="90s",
        bytes="1GiB",
        ramp="5s",
        span="0..25%",
        interval="100ms",
        seed="7",
        compressible="50%",
        dsync=True,
        cpus="0-3",
    )
    workload = options.workload()
    made = workload.streams[0]
    assert (workload.seed, workload.interval_ns, workload.ramp_ns) == (7, 10**8, 5 * 10**9)
    assert made.ops == Mix(read_pct=70)
    assert (made.workers, made.depth, made.batch, made.compressible_pct) == (32, 4, 2, 50)
    assert made.pattern == Zipf(theta_milli=1100)
    assert made.arrival == Open(process="poisson", rate=Fraction(60_000), backlog_ns=2 * 10**9)
    assert made.span == Span(start=0, length="25%")
    # The ramp comes before the time that was asked for.
    assert made.stop == Stop(time_ns=95 * 10**9, bytes=1 << 30)
    assert made.dsync
    assert made.cpus == (0, 1, 2, 3)


def test_options_can_be_stored_and_read_again() -> None:
    options = MeasureOptions(rw="randwrite", seconds="1.5s", ramp=2, rate="23.53", span="25%", bs="4k:1,8k:3")
    stored = options.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert stored["seconds"] == "1500ms"
    assert MeasureOptions(**stored) == options


def test_a_rate_alone_means_even_arrivals_and_bytes_alone_no_time() -> None:
    assert stream(rate=2000).arrival == Open(process="even", rate=2000)
    assert stream(bytes="1m").stop == Stop(bytes=1 << 20)
    assert stream(seconds=2).stop == Stop(time_ns=2 * 10**9)


@pytest.mark.parametrize(
    ("threads", "arrival", "queues"), [(8, "act2019", 2), (1, "act2019", 1), (6, "act2019:3", 3)]
)
def test_queues_of_act2019(threads: int, arrival: str, queues: int) -> None:
    made = stream(threads=threads, arrival=arrival, rate=100).arrival
    assert isinstance(made, Open)
    assert made.queues == queues


@pytest.mark.parametrize(
    ("options", "what", "advice"),
    [
        ({"arrival": "closed", "rate": 5}, "a closed loop has no rate", "--arrival even"),
        ({"arrival": "even"}, "arrival even needs a rate", "give --rate"),
        ({"arrival": "evn", "rate": 5}, "no arrival 'evn'", "did you mean even?"),
        ({"arrival": "even:3", "rate": 5}, "even:3 is not valid", "act2019:4"),
        ({"arrival": "act2019:x", "rate": 5}, "act2019:x is not valid", "act2019:4"),
        ({"rate": 5, "think": "1ms"}, "has no think time", "leave out --think"),
        ({"backlog": "1s"}, "a closed loop has no backlog", "--rate"),
        ({"rw": "randread", "read_pct": 50}, "does not apply to randread", "randrw"),
        ({"rw": "read", "pattern": "zipf:1.1"}, "cannot have the pattern zipf:1.1", "--rw randread"),
        ({"rw": "randread", "pattern": "sequential"}, "is random, not sequential", "--rw read"),
        ({"cpus": "0", "numa": 0}, "both --cpus and --numa", "one of them"),
        ({"precondition": "steady"}, "does not bring the drive to steady state", "--precondition fill"),
        ({"precondition": "stedy"}, "no precondition 'stedy'", "did you mean steady?"),
        ({"rw": "randwrite", "allow_unwritten": True}, "reads nothing", "leave out --allow-unwritten"),
        (
            {"precondition": "fill", "allow_unwritten": True},
            "after a fill no block is unwritten",
            "leave out",
        ),
        ({"library": "/tmp/x"}, "--library needs --save", "add --save"),
        ({"depth": 8}, "one I/O in flight per thread", "--threads 8"),
        ({"threads": "many"}, "threads is 'many'", "threads"),
        ({"threads": 0}, "threads is 0", "threads"),
        ({"thread": 4}, "no option of measure 'thread'", "did you mean threads?"),
        ({"rw": "randred"}, "no rw 'randred'", "did you mean randread?"),
        ({"seconds": "5x"}, "unit of time 'x'", "known: ns"),
        ({"seconds": 0}, "seconds is 0", "duration"),
        ({"compressible": "12.5%"}, "not a whole percentage", "50%"),
        ({"dsync": True}, "dsync needs writes", "leave out --dsync"),
        ({"seconds": 5, "ramp": "1ns", "interval": "1us"}, "interval", "interval"),
    ],
)
def test_what_contradicts_itself_is_refused(options: dict[str, Any], what: str, advice: str) -> None:
    with pytest.raises(LabError) as raised:
        MeasureOptions(**options)
    assert what in raised.value.what
    assert advice in raised.value.advice
    assert raised.value.exit_status == 2


@pytest.mark.parametrize(
    ("options", "writing"),
    [
        ({"rw": "randread"}, False),
        ({"rw": "read"}, False),
        ({"rw": "randrw", "read_pct": 100}, False),
        ({"rw": "randrw"}, True),
        ({"rw": "trim"}, True),
        ({"rw": "read", "precondition": "fill"}, True),
    ],
)
def test_what_writes_to_the_drive(options: dict[str, Any], writing: bool) -> None:
    assert MeasureOptions(**options).writing is writing


@pytest.mark.parametrize("capacity", [1 << 30, (1 << 30) + 4096, 131_072, 4096, 1_000_204_886_016, 512 * 255])
def test_a_fill_covers_every_byte_once_and_in_order(capacity: int) -> None:
    end = 0
    for workload in fill_workloads(capacity, 1):
        (stream,) = workload.streams
        start, length = stream.span.resolve(capacity, stream.block[0].bytes, 512)
        assert start == end
        end = start + length
    assert end == capacity
