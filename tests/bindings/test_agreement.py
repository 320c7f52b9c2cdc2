"""Python's one definition of a workload and Rust's reading of it name the same fields, variants, bounds."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ssdlab import _core
from ssdlab.model import arrival, errors
from ssdlab.model.pattern import OnePass, Segmented, Shuffled
from ssdlab.model.workload import (
    AsRecorded,
    Band,
    Bands,
    Block,
    Bursts,
    Closed,
    Mix,
    Open,
    Pulses,
    Ratio,
    RecordedOps,
    Recording,
    Sequential,
    Span,
    Stepped,
    Stop,
    Stream,
    Uniform,
    Workload,
    Zipf,
)

CAPACITY_BYTES = 1 << 40
LOGICAL_BLOCK_BYTES = 512

# One of each variant, so that the keys of all of them occur.
PATTERNS = [
    Sequential(cursors=(0,)),
    Uniform(),
    Zipf(theta_milli=1100),
    Bands(bands=(Band(access_weight=80, span_weight=20),)),
    Stepped(step_bytes=512),
]
# Their sizes go with the span and the block: apart from the patterns that any option goes with.
SEGMENTED = Segmented(count=2, length_bytes=1 << 20, stride_bytes=1 << 21)
ONE_PASS = OnePass(raw_bytes=CAPACITY_BYTES + (CAPACITY_BYTES >> 3), behind_bytes=0)
ARRIVALS = [
    Closed(think_ns=5),
    *(Open(process=name, rate=7) for name in ("even", "poisson", "act6")),
    Open(process="act2019", queues=1, rate=7),
    Bursts(bytes=1 << 20, every_ns=10**9),
    Pulses(on_ns=10**9, every_ns=5 * 10**9),
]

RECORDED = {
    "pattern": Recording(file="/x", digest="", duration_ns=0, moved_bytes=0, written_bytes=0),
    "ops": RecordedOps(reads=1, writes=0, trims=0),
    "arrival": AsRecorded(),
}
"""What belongs together in the replay of a recording."""


def resolved(**fields: Any) -> dict[str, Any]:
    """The JSON of a stream with these fields, as Rust is sent it."""
    text = Workload.of(Stream(**fields)).resolve(CAPACITY_BYTES, LOGICAL_BLOCK_BYTES)
    _core.check_workload(text)
    whole: dict[str, Any] = json.loads(text)
    return whole


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return _core.workload_schema()


def test_structs_have_the_same_fields(schema: dict[str, Any]) -> None:
    # With those fields too that are left out where they say nothing.
    own = {"ops": 50, "flush_every": 1, "flush": "fsync", "write_block": "8k", "write_pattern": Uniform()}
    whole = resolved(arrival=Open(rate=7), pattern=PATTERNS[3], **own)
    stream = whole["streams"][0]
    python = {
        "Workload": whole,
        "Stream": stream,
        "BlockWeight": stream["block"][0],
        "Span": stream["span"],
        "Stop": stream["stop"],
        "Rate": stream["arrival"]["open"]["rate"],
        "Band": stream["pattern"]["bands"][0],
    }
    assert {name: set(fields) for name, fields in schema["structs"].items()} == {
        name: set(fields) for name, fields in python.items()
    }


def variants(values: list[object]) -> dict[str, set[str]]:
    """Names of enum variants as JSON has them, and the fields of each."""
    found: dict[str, set[str]] = {}
    for value in values:
        if isinstance(value, str):
            found[value] = set()
        else:
            assert isinstance(value, dict)
            ((name, content),) = value.items()
            found[name] = set(content) if isinstance(content, dict) else set()
    return found


def test_enums_have_the_same_variants_and_fields(schema: dict[str, Any]) -> None:
    def stream(**fields: Any) -> dict[str, Any]:
        whole: dict[str, Any] = resolved(**fields)
        return whole["streams"][0]

    opens = [stream(arrival=one)["arrival"] for one in ARRIVALS]
    replayed = stream(**RECORDED)
    whole_drive = stream(pattern=ONE_PASS, ops=Mix(read_pct=0))
    engines = get_args(Stream.model_fields["engine"].annotation)
    python = {
        "Pattern": [
            *(stream(pattern=one)["pattern"] for one in (*PATTERNS, SEGMENTED, Shuffled())),
            whole_drive["pattern"],
            replayed["pattern"],
        ],
        "Arrival": [*opens, replayed["arrival"]],
        "Process": [one["open"]["process"] for one in opens if "open" in one],
        "Ops": [
            *(
                stream(ops=one)["ops"]
                for one in (Mix(read_pct=30), Ratio(read_weight=2, write_weight=1), "trim")
            ),
            replayed["ops"],
        ],
        "Engine": [stream(engine=one)["engine"] for one in engines],
        "Flush": list(get_args(Stream.model_fields["flush"].annotation)),
    }
    rust = {
        name: {variant: set(fields) for variant, fields in variants_of.items()}
        for name, variants_of in schema["enums"].items()
    }
    assert rust == {name: variants(values) for name, values in python.items()}
    assert set(get_args(arrival.Process)) == set(rust["Process"])


@some.composite
def streams(draw: some.DrawFn) -> Stream:
    """Any stream that Python accepts, with bounds at both ends drawn often."""
    engine = draw(some.sampled_from(["sync", "uring"]))
    weight = some.sampled_from([1, 2**32 - 1])
    mixes = some.builds(Mix, read_pct=some.integers(0, 100))
    ratios = some.builds(Ratio, read_weight=weight, write_weight=weight)
    ops = draw(some.one_of(some.just("trim"), mixes, ratios))
    writes = isinstance(ops, Ratio) or (isinstance(ops, Mix) and ops.read_pct < 100)
    pattern = draw(
        some.sampled_from([Sequential(), *PATTERNS[1:], *(Zipf(theta_milli=n) for n in (1, 10_000))])
    )
    paced = draw(some.sampled_from([Closed(), *ARRIVALS]))
    direct = ops == "trim" or draw(some.booleans())
    # Rust alone knows that sizes of a sequential stream are multiples of the smallest: take powers of two.
    sizes = some.integers(9 if direct else 0, 21).map(lambda n: 1 << n)
    count = 1 if isinstance(paced, Bursts) else draw(some.integers(1, 3))
    blocks = draw(some.lists(sizes, min_size=count, max_size=count, unique=True))
    weights = some.integers(1, 2**16)
    if isinstance(paced, Bursts):
        paced = Bursts(bytes=blocks[0] * draw(some.integers(1, 2**10)), every_ns=paced.every_ns)
    if isinstance(paced, Open):
        rate = Fraction(draw(some.integers(1, 10**7)), draw(some.integers(1, 1000)))
        paced = paced.model_copy(update={"rate": rate})
    mixed = isinstance(ops, Ratio) or (isinstance(ops, Mix) and 0 < ops.read_pct < 100)
    apart: dict[str, Any] = {}
    if mixed and pattern.kind in ("sequential", "uniform", "zipf", "bands") and draw(some.booleans()):
        apart["write_pattern"] = draw(some.none() | some.sampled_from(PATTERNS[1:4]))
        if not isinstance(paced, Bursts):
            apart["write_block"] = draw(some.none() | some.lists(sizes, min_size=1, max_size=3, unique=True))
    for name, found in apart.items():
        if name == "write_block" and found is not None:
            apart[name] = tuple(Block(bytes=size) for size in found)
    own = any(found is not None for found in apart.values())
    if own and isinstance(pattern, Sequential):
        pattern = Sequential()
    limit = some.none() | some.integers(1, 2**40)
    stop = {"time_ns": draw(limit), "bytes": draw(limit), "ios": draw(limit)}
    return Stream(
        ops=ops,
        block=tuple(Block(bytes=size, weight=draw(weights)) for size in blocks),
        pattern=pattern,
        span=Span(),
        workers=draw(some.sampled_from([1, 2, 3, 512, 4096])),
        depth=1 if engine == "sync" else draw(some.sampled_from([1, 2, 1024])),
        engine=engine,
        arrival=paced,
        compressible_pct=draw(some.sampled_from([0, 50, 100])) if writes else 0,
        dsync=writes and draw(some.booleans()),
        direct=direct,
        flush_every=draw(some.none() | some.integers(1, 2**32)) if writes else None,
        flush=draw(some.sampled_from(["fdatasync", "fsync"])),
        stop=Stop(
            span_once=isinstance(pattern, Sequential) and count == 1 and not own and draw(some.booleans()),
            **stop,
        ),
        **apart,
        log_ios=draw(some.booleans()),
    )


@settings(max_examples=300, deadline=None)
@given(stream=streams(), seed=some.integers(0, 2**64 - 1))
def test_what_python_accepts_rust_accepts(stream: Stream, seed: int) -> None:
    text = Workload.of(stream, seed=seed).resolve(CAPACITY_BYTES, LOGICAL_BLOCK_BYTES)
    _core.check_workload(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workers", 0),
        ("workers", 4097),
        ("depth", 0),
        ("depth", 32_769),
        ("compressible_pct", 101),
        ("batch", 0),
        ("flush_every", 0),
    ],
)
def test_bounds_are_refused_on_both_sides(field: str, value: int) -> None:
    base = {"engine": "uring", "ops": Mix(read_pct=0), "depth": 4}
    with pytest.raises(errors.UsageError):
        Stream(**(base | {field: value}))
    whole = resolved(**base)
    whole["streams"][0][field] = value
    with pytest.raises(errors.UsageError):
        _core.check_workload(json.dumps(whole))


@pytest.mark.parametrize(
    "change",
    [
        {"arrival": Open(rate=7)},
        {"ops": Mix()},
        {"pattern": Uniform()},
        {"pattern": Uniform(), "ops": Mix()},
        {"arrival": Closed(), "workers": 2},
    ],
)
def test_what_belongs_to_a_recording_is_refused_apart(change: dict[str, Any]) -> None:
    with pytest.raises(errors.UsageError):
        Stream(**(RECORDED | change))
    whole = resolved(**RECORDED)
    native = {name: part.native() for name in ("arrival", "pattern") if (part := change.get(name))}
    native |= {"ops": {"mix": {"read_pct": 100}}} if "ops" in change else {}
    whole["streams"][0] |= native | {"workers": change.get("workers", 1)}
    with pytest.raises(errors.UsageError):
        _core.check_workload(json.dumps(whole))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.kind)
@pytest.mark.parametrize("paced", ARRIVALS[:3], ids=["closed", "even", "poisson"])
def test_same_seed_same_digest(pattern: Any, paced: Any) -> None:
    stream = Stream(pattern=pattern, arrival=paced, ops=Mix(read_pct=30))

    def digest(seed: int) -> str:
        text = Workload.of(stream, seed=seed).resolve(CAPACITY_BYTES, LOGICAL_BLOCK_BYTES)
        return _core.digest(text, 2000)

    assert digest(7) == digest(7)
    # A sequential stream still draws its operations, so another seed gives another sequence.
    assert digest(7) != digest(8)
