"""The workload: text with units, contradictions, and where it lies on a drive."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ssdlab.model.errors import UsageError
from ssdlab.model.workload import (
    Band,
    Bands,
    Block,
    Bursts,
    Closed,
    Mix,
    Open,
    Pulses,
    Sequential,
    Span,
    Stop,
    Stream,
    Uniform,
    Workload,
    Zipf,
)

GIB = 1 << 30


def stream_on(capacity_bytes: int, logical_block_bytes: int = 512, **fields: Any) -> dict[str, Any]:
    text = Workload.of(Stream(**fields)).resolve(capacity_bytes, logical_block_bytes)
    stream: dict[str, Any] = json.loads(text)["streams"][0]
    return stream


def test_text_becomes_exact_numbers() -> None:
    stream = Stream(
        ops=70,
        block="4k:70,128k:30",
        pattern="zipf:1.1",
        span="10GiB..20GiB",
        cpus="0-2,5",
        arrival=Open(rate="400/17", backlog_ns="2s"),
        stop=Stop(time_ns="1m30s", bytes="1GB"),
    )
    assert stream.ops == Mix(read_pct=70)
    assert stream.block == (Block(bytes=4096, weight=70), Block(bytes=131_072, weight=30))
    assert stream.pattern == Zipf(theta_milli=1100)
    assert stream.span == Span(start=10 * GIB, length=10 * GIB)
    assert stream.cpus == (0, 1, 2, 5)
    assert stream.arrival == Open(rate=Fraction(400, 17), backlog_ns=2 * 10**9)
    assert stream.stop == Stop(time_ns=90 * 10**9, bytes=10**9)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("uniform", Uniform()),
        ("sequential", Sequential()),
        ("zipf:0.9", Zipf(theta_milli=900)),
        (
            "hot:80/20",
            Bands(bands=(Band(access_weight=80, span_weight=20), Band(access_weight=20, span_weight=80))),
        ),
    ],
)
def test_patterns_as_text(text: str, pattern: object) -> None:
    assert Stream(pattern=text).pattern == pattern


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("0..25%", Span(start=0, length="25%")),
        ("25%", Span(start=0, length="25%")),
        ("25%..75%", Span(start="25%", length="50%")),
        ("1GiB", Span(start=0, length=GIB)),
        ("1GiB..3GiB", Span(start=GIB, length=2 * GIB)),
    ],
)
def test_spans_as_text(text: str, span: Span) -> None:
    assert Stream(span=text).span == span


def test_a_workload_survives_json() -> None:
    workload = Workload.of(
        Stream(name="a", ops="trim", pattern="sequential", span="12.5%..50%", stop=Stop(ios=5)),
        Stream(name="b", ops=30, arrival=Bursts(bytes="1m", every_ns="10ms"), pattern="hot:90/10"),
        Stream(name="d", arrival=Pulses(on_ns="5s", every_ns="30s")),
        Stream(name="c", arrival=Open(process="act2019", queues=2, rate="23.53"), workers=4),
        seed=2**64 - 1,
        interval_ns="100ms",
    )
    assert Workload.model_validate_json(workload.model_dump_json()) == workload
    assert Workload.model_validate(workload.model_dump(mode="json")) == workload


def test_what_older_records_lack_is_stored_only_where_it_says_something() -> None:
    plain, own = Stream(ops=50), Stream(ops=50, flush="fsync", flush_every=1, write_block="8k")
    names = {"flush", "write_block", "write_pattern"}
    assert not names & plain.model_dump(mode="json").keys()
    assert names & own.model_dump(mode="json").keys() == {"flush", "write_block"}
    assert Stream.model_validate_json(own.model_dump_json()) == own


@pytest.mark.parametrize("span", ["100%", "1..30000", "12.5%..50%"])
def test_buffered_blocks_are_the_whole_ones_within_the_span(span: str) -> None:
    stream = Stream(ops="write", block=2300, direct=False, span=span)
    capacity, (low, high) = (
        1 << 20,
        {"1..30000": (1, 30_000), "100%": (0, 1 << 20)}.get(span, (1 << 17, 1 << 19)),
    )
    start, length = stream.span_bytes(capacity, 512)
    assert start % 2300 == length % 2300 == 0
    assert low <= start < low + 2300 and high - 2300 < start + length <= high


def test_models_are_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        Stream().depth = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "what", "advice"),
    [
        ({"depth": 8}, "one I/O in flight per thread, not 8", "--threads 8 --depth 1, or --engine uring"),
        ({"batch": 4}, "one by one", "--engine uring"),
        ({"polled": True}, "no polled completions", "--engine uring"),
        ({"engine": "uring", "depth": 4, "batch": 8}, "never fills at depth 4", "--depth 8"),
        ({"dsync": True}, "dsync needs writes", "leave out --dsync"),
        ({"flush_every": 4, "flush": "fsync"}, "flushes need writes", "leave out --fsync"),
        ({"engine": "uring", "polled": True, "ops": "write", "flush_every": 1}, "no flushes", "--poll"),
        ({"engine": "uring", "polled": True, "direct": False}, "cannot be polled", "--poll"),
        ({"ops": "trim", "direct": False}, "cannot go through the page cache", "--buffered"),
        ({"write_block": "8k"}, "only a mix of reads and writes", "--rw randrw"),
        ({"ops": 50, "write_pattern": "sequential", "stop": Stop(span_once=True)}, "", "by time or bytes"),
        ({"compressible_pct": 50}, "--compressible needs writes", "leave out --compressible"),
        ({"pattern": {"kind": "shuffled"}, "block": "4k:1,8k:1"}, "one block size", "one block size"),
        ({"stop": Stop(span_once=True)}, "only a sequential pattern", "stop by time"),
        (
            {"block": "4k:1,8k:1", "arrival": Bursts(bytes="8k", every_ns="1s")},
            "one block size",
            "one block size",
        ),
        (
            {"arrival": {"kind": "pulses", "on_ns": "5s", "every_ns": 5}},
            "leave no idle time",
            "or use Closed",
        ),
        ({"arrival": Bursts(bytes=4097, every_ns="1s")}, "not a multiple of 4096", "multiple of the block"),
        (
            {"workers": 3, "arrival": Open(process="act2019", queues=2, rate=1)},
            "3 workers do not divide evenly among 2 queues",
            "multiple of the number of queues",
        ),
        ({"block": "1000"}, "not a multiple of 512", "4k is 4096"),
        ({"block": "4k:1,4k:1"}, "repeat a size", "once"),
        ({"block": "4k:x"}, "weight 'x'", "4k:70,128k:30"),
        ({"block": "2GiB"}, "above 1 GiB", "multiple of 512"),
        ({"span": "30%..20%"}, "is empty", "0..25%"),
        ({"span": "1GiB..50%"}, "mixes bytes and percent", "both"),
        ({"pattern": "zipf"}, "pattern 'zipf' is not known", "zipf:1.1"),
        ({"pattern": "hot:80"}, "pattern 'hot:80' is not known", "hot:80/20"),
        ({"pattern": {"kind": "zpf"}}, "does not match any of the expected tags", "pattern"),
        ({"cpus": "3-1"}, "CPU list '3-1'", "0-3,8"),
        ({"ops": "raed"}, "no operation 'raed'", "did you mean read?"),
        ({"engine": "urin"}, "no engine 'urin'", "did you mean uring?"),
        ({"dept": 4}, "no field of a stream 'dept'", "did you mean depth?"),
        ({"workers": 0}, "workers is 0", "threads"),
        ({"name": ""}, "name is ''", "name in results"),
        ({"arrival": "open"}, "has no rate", "Open("),
        ({"arrival": {"kind": "open", "process": "even"}}, "open needs rate", "give rate"),
        (
            {"arrival": {"kind": "open", "process": "act6", "queues": 2, "rate": 5}},
            "act6 has no queues",
            "act2019",
        ),
        (
            {"arrival": {"kind": "open", "process": "act2019", "rate": 5}},
            "needs its number of queues",
            "act2019:4",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(fields: dict[str, Any], what: str, advice: str) -> None:
    with pytest.raises(UsageError) as raised:
        Stream(**fields)
    assert what in raised.value.what
    assert advice in raised.value.advice
    assert "\n" not in raised.value.what + raised.value.advice


def test_streams_have_names_of_their_own_and_a_ramp_leaves_something() -> None:
    with pytest.raises(UsageError, match="two streams are called 'main'"):
        Workload.of(Stream(), Stream())
    with pytest.raises(UsageError, match="the ramp of 5s is not shorter than the 5s"):
        Workload.of(Stream(stop=Stop(time_ns="5s")), ramp_ns="5s")
    with pytest.raises(UsageError, match="workload needs streams"):
        Workload()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("capacity", "logical", "fields", "what"),
    [
        (GIB, 4096, {"block": "512"}, "not a multiple of the logical block, 4096"),
        (GIB, 512, {"span": "0..2GiB"}, "the span ends at 2 GiB, but the drive has 1 GiB"),
        (GIB, 4096, {"span": "512..1MiB"}, "span start 512 is not a multiple"),
        (4096, 512, {"block": "8k"}, "too small for a block of 8 KiB"),
        (GIB, 512, {"block": "1m", "span": "0.01%"}, "too small for a block of 1 MiB"),
    ],
)
def test_what_a_drive_cannot_address_is_refused(
    capacity: int, logical: int, fields: dict[str, Any], what: str
) -> None:
    with pytest.raises(UsageError) as raised:
        stream_on(capacity, logical, **fields)
    assert what in raised.value.what


@given(
    capacity=some.integers(1 << 20, 1 << 45).map(lambda n: n // 512 * 512),
    start=some.integers(0, 90),
    length=some.integers(1, 10),
    block=some.sampled_from([512, 4096, 131_072]),
)
def test_percentages_lie_inside_the_drive_on_whole_blocks(
    capacity: int, start: int, length: int, block: int
) -> None:
    span = Span(start=f"{start}%", length=f"{length}%")
    first, size = span.resolve(capacity, block, 512)
    assert first % block == size % block == 0
    assert first <= capacity * start // 100 < first + block
    assert size <= capacity * length // 100 < size + block
    assert first + size <= capacity


def test_a_whole_drive_is_all_its_whole_blocks() -> None:
    assert stream_on(10 * 4096 + 512, block="4k")["span"] == {"start": 0, "length": 10 * 4096}


def test_the_native_form() -> None:
    stream = stream_on(
        GIB, ops="trim", pattern="hot:80/20", arrival=Open(process="act2019", queues=1, rate="23.53")
    )
    assert stream["ops"] == "trim"
    assert stream["pattern"]["bands"][0] == {"access_weight": 80, "span_weight": 20}
    assert stream["arrival"] == {
        "open": {
            "process": {"act2019": {"queues": 1}},
            "rate": {"num": 2353, "den": 100},
            "backlog_ns": 10 * 10**9,
        }
    }


def test_what_a_stream_asks_for() -> None:
    stream = Stream(ops=70, workers=4, depth=8, engine="uring", block="4k")
    assert (stream.reads, stream.writes, stream.trims, stream.in_flight) == (True, True, False, 32)
    assert stream.requested_iops is None
    assert Stream(arrival=Open(rate="2000")).requested_iops == 2000
    assert Stream(arrival=Bursts(bytes="64k", every_ns="100ms")).requested_iops == 160
    assert Workload.of(Stream(ops="read")).changes_data is False
    assert Workload.of(Stream(name="a"), Stream(name="b", ops="trim")).changes_data is True
    assert Stream(arrival="closed").arrival == Closed()
