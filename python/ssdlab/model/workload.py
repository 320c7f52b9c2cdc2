"""The one definition of a workload, for commands, methods, journal and report.

A `Workload` is frozen, serialisable and seeded, and independent of the drive. Names and bounds are those of
fio and SNIA where they exist. Sizes are bytes and times nanoseconds; text with a unit (``"4k"``, ``"90s"``,
``"zipf:1.1"``, ``"0..25%"``) is accepted everywhere and converted to exact numbers at once.
`Workload.resolve` maps the workload onto a drive of a given capacity and returns the JSON for the native
runner, which refuses unknown fields.

A contradiction raises `UsageError` on construction, with what to use instead.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import lcm
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from ssdlab.model import units
from ssdlab.model.arrival import AnyArrival, AsRecorded, Bursts, Closed, Open, Pulses
from ssdlab.model.errors import UsageError, unknown
from ssdlab.model.frozen import Bytes, Frozen, Metavar, Nanoseconds, absent
from ssdlab.model.limits import DURATION_NS
from ssdlab.model.pattern import (
    AnyPattern,
    AnySpan,
    Band,
    Bands,
    Recording,
    Sequential,
    Shuffled,
    Span,
    Stepped,
    Uniform,
    Zipf,
)
from ssdlab.model.units import NS_PER_S, bytes_text

MAX_BLOCK_BYTES = 1 << 30
SECTOR_BYTES = 512


class Block(Frozen):
    """One block size and its share among the I/Os (not among the bytes)."""

    bytes: Bytes = Field(ge=1, le=MAX_BLOCK_BYTES, description="size; for direct I/O a multiple of 512 bytes")
    weight: int = Field(1, ge=1, lt=2**32, description="relative frequency")


def _blocks(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return (Block(bytes=value),)
    if not isinstance(value, str):
        return value
    blocks, parts = [], value.split(",")
    if len(parts) > 1 and not all(":" in part for part in parts):
        raise UsageError(
            f"block sizes {value!r} have no weights; fio reads such a list as sizes of reads and of writes",
            f"give each a weight: {_weighted(parts)}; or give the sizes of writes separately: "
            f"{_apart(parts)}",
            given=value,
        )
    for part in parts:
        size, _, weight = part.partition(":")
        if weight and not (weight.strip().isdecimal() and len(weight) < 12):
            raise UsageError(
                f"weight {weight!r} in block sizes {value!r} is not a whole number",
                "give sizes with weights such as 4k:70,128k:30",
                given=value,
            )
        blocks.append(Block(bytes=units.parse_bytes(size, noun="block size"), weight=int(weight or 1)))
    if len({block.bytes for block in blocks}) < len(blocks):
        raise UsageError(f"block sizes {value!r} repeat a size", "give each size once", given=value)
    return tuple(blocks)


def _weighted(parts: list[str]) -> str:
    """Return sizes, with equal weights for those that have none."""
    equal = 100 // len(parts) or 1
    return ",".join(part if ":" in part else f"{part.strip()}:{equal}" for part in parts)


def _apart(parts: list[str]) -> str:
    return f"--bs {parts[0].strip()} --write-bs {parts[1].strip()}"


Blocks = Annotated[tuple[Block, ...], BeforeValidator(_blocks), Metavar("SIZES")]
"""Block sizes, or text such as ``"4k"`` or ``"4k:70,128k:30"``."""
__all__ = [
    "AsRecorded",
    "Band",
    "Bands",
    "Block",
    "Bursts",
    "Closed",
    "Mix",
    "Open",
    "Pulses",
    "Ratio",
    "RecordedOps",
    "Recording",
    "Sequential",
    "Shuffled",
    "Span",
    "Stepped",
    "Stop",
    "Stream",
    "Uniform",
    "Workload",
    "Zipf",
]

_SIDES = ("sequential", "uniform", "stepped", "zipf", "bands")
"""Kinds of patterns that reads and writes of one stream can have separately."""
MAX_WORKERS = 4096
MAX_DEPTH = 32_768


class Mix(Frozen):
    """Reads and writes, drawn for each I/O."""

    read_pct: int = Field(100, ge=0, le=100, description="share of reads, in percent")


class Ratio(Frozen):
    """Reads and writes in an exact ratio, drawn for each I/O."""

    read_weight: int = Field(ge=1, lt=2**32, description="reads per number of writes")
    write_weight: int = Field(ge=1, lt=2**32, description="writes per number of reads")


class RecordedOps(Frozen):
    """The numbers of operations in a recording; its records hold the operations themselves."""

    reads: int = Field(ge=0, description="reads")
    writes: int = Field(ge=0, description="writes")
    trims: int = Field(ge=0, description="trims")


class Stop(Frozen):
    """When a stream ends: at the first of the set conditions."""

    time_ns: Nanoseconds | None = Field(
        None, gt=0, description="time since the start, including the ramp, in ns"
    )
    bytes: Bytes | None = Field(None, gt=0, description="bytes of the whole stream")
    ios: int | None = Field(None, gt=0, description="I/Os of the whole stream")
    span_once: bool = Field(False, description="after covering the span exactly once (sequential only)")

    @property
    def ever(self) -> bool:
        """Whether the stream ends by itself."""
        return self.span_once or not (self.time_ns is None and self.bytes is None and self.ios is None)


def _ops(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return Mix(read_pct=value)
    if isinstance(value, str) and value != "trim":
        if value not in ("read", "write"):
            raise unknown("operation", value, ("read", "write", "trim"))
        return Mix(read_pct=100 if value == "read" else 0)
    return value


def _kind_of_ops(value: object) -> str:
    """Return which of the four kinds of operations a value is; `Mix` rejects a value that is none of them."""
    if isinstance(value, str):
        return "trim"
    fields = value if isinstance(value, dict) else ()
    if isinstance(value, RecordedOps) or "reads" in fields:
        return "recorded"
    return "ratio" if isinstance(value, Ratio) or "read_weight" in fields else "mix"


AnyOps = Annotated[
    Annotated[Literal["trim"], Tag("trim")]
    | Annotated[Mix, Tag("mix")]
    | Annotated[Ratio, Tag("ratio")]
    | Annotated[RecordedOps, Tag("recorded")],
    Discriminator(_kind_of_ops),
    BeforeValidator(_ops),
]
"""The operations of a stream, or text such as ``"write"``."""


def parse_cpus(value: object) -> object:
    """Parse a kernel-style list of CPUs such as ``0-3,8``; return other values unchanged."""
    if not isinstance(value, str):
        return value
    cpus: list[int] = []
    for part in value.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})(?:-(\d{1,5}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise UsageError(f"CPU list {value!r} is not valid", "give one such as 0-3,8", given=value)
        cpus.extend(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(cpus)


Cpus = Annotated[tuple[int, ...], BeforeValidator(parse_cpus), Metavar("LIST")]
"""CPU numbers, or text such as ``"0-3,8"``."""
Flush = Literal["fdatasync", "fsync"]
"""The call that makes written data durable; `fsync` also writes all of a file's metadata."""


def flush_words(call: Flush, every: int) -> str:
    """Return when writes are flushed, and how.

    >>> flush_words("fdatasync", 1), flush_words("fsync", 8)
    ('fdatasync after every write', 'fsync after every 8 writes')
    """
    return f"{call} after every {'write' if every == 1 else units.counted(every, 'write')}"


def _as_ever(flush: Flush) -> bool:
    """Return whether to omit the call from a stored record: older records lack it and mean fdatasync."""
    return flush == "fdatasync"


class Stream(Frozen):
    """One kind of I/O (fio: a job): `workers` threads with `depth` I/Os in flight each."""

    name: str = Field("main", min_length=1, description="name in results, unique within the workload")
    ops: AnyOps = Field(Mix(), description="read, write or trim, or the share of reads in percent")
    block: Blocks = Field(
        (Block(bytes=4096),),
        min_length=1,
        max_length=64,
        description="block size (4k), or sizes with weights (4k:70,128k:30)",
    )
    pattern: AnyPattern = Field(
        Uniform(),
        description="sequential, uniform, zipf:1.1, or hot:80/20 (80 % of the I/Os to 20 % of the span)",
    )
    write_block: Blocks | None = Field(
        None, min_length=1, max_length=64, exclude_if=absent, description="block sizes of writes; null: block"
    )
    write_pattern: AnyPattern | None = Field(
        None, exclude_if=absent, description="pattern of writes; null: as pattern"
    )
    span: AnySpan = Field(Span(), description="part of the drive to use")
    workers: int = Field(1, ge=1, le=MAX_WORKERS, description="threads")
    depth: int = Field(1, ge=1, le=MAX_DEPTH, description="I/Os in flight per worker")
    engine: Literal["sync", "uring"] = Field(
        "sync", description="how I/Os are issued: sync (blocking calls) or uring (io_uring)"
    )
    batch: int | None = Field(None, ge=1, description="I/Os per submission; null: submit what is ready")
    polled: bool = Field(False, description="poll for completions instead of taking interrupts")
    arrival: AnyArrival = Field(
        Closed(),
        description="when I/Os are due: closed loop, closed loop with pauses, open loop at a rate, or bursts",
    )
    compressible_pct: int = Field(
        0, ge=0, le=100, description="compressible share of the written data, in percent"
    )
    direct: bool = Field(True, description="bypass the page cache (O_DIRECT)")
    dsync: bool = Field(False, description="every write is durable on completion (O_DSYNC)")
    flush_every: int | None = Field(None, ge=1, description="flush after this many writes of a worker")
    flush: Flush = Field(
        "fdatasync", exclude_if=_as_ever, description="which call a flush is: fdatasync or fsync"
    )
    cpus: Cpus = Field((), description="CPUs the workers are pinned to, in turn (0-3,8); empty: not pinned")
    stop: Stop = Field(Stop(), description="when the stream ends")
    log_ios: bool = Field(False, description="log every single I/O")

    @property
    def in_flight(self) -> int:
        """Requested I/Os in flight (the maximum in an open loop)."""
        return self.workers * self.depth

    @property
    def reads(self) -> bool:
        """Whether some I/O reads."""
        if isinstance(self.ops, RecordedOps):
            return self.ops.reads > 0
        return isinstance(self.ops, Ratio) or (isinstance(self.ops, Mix) and self.ops.read_pct > 0)

    @property
    def writes(self) -> bool:
        """Whether some I/O writes data."""
        if isinstance(self.ops, RecordedOps):
            return self.ops.writes > 0
        return isinstance(self.ops, Ratio) or (isinstance(self.ops, Mix) and self.ops.read_pct < 100)

    @property
    def trims(self) -> bool:
        """Whether some I/O is a trim."""
        return self.ops.trims > 0 if isinstance(self.ops, RecordedOps) else self.ops == "trim"

    @property
    def requested_iops(self) -> Fraction | None:
        """Arrivals a second of an open loop or of bursts; None for a closed loop or a recording."""
        match self.arrival:
            case Open(rate=rate):
                return rate
            case Bursts(bytes=size, every_ns=every):
                return Fraction(size, self.block[0].bytes) * units.NS_PER_S / every
        return None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All block sizes: of reads, and of writes if different."""
        return (*self.block, *(self.write_block or ()))

    @property
    def patterns(self) -> tuple[AnyPattern, ...]:
        """The pattern of all I/Os, or of reads and of writes if different."""
        return (self.pattern,) if self.write_pattern is None else (self.pattern, self.write_pattern)

    @property
    def largest_block_bytes(self) -> int:
        return max(block.bytes for block in self.blocks)

    @property
    def unit_bytes(self) -> int:
        """Unit of a span in percent: the least common multiple of the smallest blocks of reads and writes."""
        sides = (self.block, self.write_block or self.block)
        return lcm(*(min(block.bytes for block in side) for side in sides))

    def span_bytes(self, capacity_bytes: int, logical_block_bytes: int) -> tuple[int, int]:
        """Return start and length in bytes of the span on a drive of that capacity."""
        unit = self.unit_bytes
        if self.direct:
            return self.span.resolve(capacity_bytes, unit, logical_block_bytes)
        # Through the page cache any offset is possible: use the whole blocks within the span.
        start, length = self.span.resolve(capacity_bytes, 1, 1)
        first = -(-start // unit) * unit
        return first, max(0, start + length - first) // unit * unit

    def places(self, capacity_bytes: int, logical_block_bytes: int) -> tuple[tuple[int, int], ...]:
        """Return start and length in bytes of the parts of the span that get I/O."""
        start, length = self.span_bytes(capacity_bytes, logical_block_bytes)
        if self.pattern.kind == "segments":
            return self.pattern.places_from(start)
        if not isinstance(self.pattern, Bands) or self.write_pattern is not None:
            return ((start, length),)
        unit = min(block.bytes for block in self.block)
        used = self.pattern.used(length // unit)
        return tuple((start + first * unit, count * unit) for first, count in used)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_engine()
        self._check_cache()
        self._check_direction()
        self._check_apart()
        self._check_recorded()
        if self.stop.span_once and not isinstance(self.pattern, Sequential):
            raise UsageError(
                "only a sequential pattern covers the span once", "stop by time or bytes instead"
            )
        if isinstance(self.pattern, Shuffled) and len(self.block) > 1:
            raise UsageError("a shuffled order needs one block size", "give one block size, or uniform")
        if isinstance(self.arrival, Bursts) and len(self.block) > 1:
            raise UsageError("bursts need one block size", "give one block size, or another arrival")
        if isinstance(self.arrival, Bursts) and self.arrival.bytes % self.block[0].bytes:
            raise UsageError(
                f"a burst of {self.arrival.bytes} is not a multiple of {self.block[0].bytes}, the block",
                "use a multiple of the block",
            )
        if isinstance(self.arrival, Open) and self.workers % (self.arrival.queues or 1):
            raise UsageError(
                f"{self.workers} workers do not divide evenly among {self.arrival.queues} queues",
                "use a multiple of the number of queues",
            )
        return self

    def _check_engine(self) -> None:
        if self.engine == "sync" and self.depth > 1:
            raise UsageError(
                f"engine sync has one I/O in flight per thread, not {self.depth}",
                f"use --threads {self.workers * self.depth} --depth 1, or --engine uring",
                engine="sync",
                depth=self.depth,
            )
        if self.engine == "sync" and self.batch is not None:
            raise UsageError(
                "engine sync submits I/Os one by one and has no batch", "use --engine uring, or no --batch"
            )
        if self.engine == "sync" and self.polled:
            raise UsageError("engine sync has no polled completions", "use --engine uring with --poll")
        if self.polled and (self.trims or self.flush_every is not None):
            raise UsageError(
                "a polled ring takes reads and writes only, no trims and no flushes", "leave out --poll"
            )
        if self.batch is not None and self.batch > self.depth:
            raise UsageError(
                f"a batch of {self.batch} never fills at depth {self.depth}",
                f"use --depth {self.batch} or more",
            )

    def _check_cache(self) -> None:
        if self.direct:
            for block in self.blocks:
                if block.bytes % SECTOR_BYTES:
                    raise UsageError(
                        f"block of {bytes_text(block.bytes)} is not a multiple of {SECTOR_BYTES} B",
                        "use multiples of 512 bytes (4k is 4096 and 4kB is 4000), or write with --buffered",
                        block_bytes=block.bytes,
                    )
        elif self.trims:
            raise UsageError("trims cannot go through the page cache", "leave out --buffered")
        elif self.polled:
            raise UsageError("the page cache cannot be polled", "leave out --buffered or --poll")

    def _check_apart(self) -> None:
        if self.write_block is None and self.write_pattern is None:
            return
        if not (self.reads and self.writes):
            raise UsageError(
                "only a mix of reads and writes can give writes their own sizes or patterns",
                "use --rw randrw or rw, or leave out --write-bs and --write-pattern",
            )
        if self.stop.span_once or (self.write_block is not None and isinstance(self.arrival, Bursts)):
            raise UsageError(
                "writes with their own sizes or patterns stop by time or bytes, without bursts",
                "stop by time or bytes, and use no bursts",
            )
        for pattern in (self.pattern, self.write_pattern):
            if pattern is not None and pattern.kind not in _SIDES:
                raise UsageError(
                    f"the pattern {pattern.kind} cannot be split between reads and writes",
                    "use sequential, uniform, zipf:1.1 or hot:80/20",
                )
            if isinstance(pattern, Sequential) and pattern.cursors is not None:
                raise UsageError(
                    "writes with their own pattern start at the start of the span",
                    "leave out the cursors",
                )

    def _check_recorded(self) -> None:
        recorded = isinstance(self.pattern, Recording)
        timed = isinstance(self.arrival, AsRecorded)
        if recorded != isinstance(self.ops, RecordedOps) or (timed and not recorded):
            raise UsageError(
                "a recording's operations, offsets and times go together",
                "use the pattern Recording with RecordedOps, and AsRecorded only with them",
            )
        if recorded and not timed and (not isinstance(self.arrival, Closed) or self.workers > 1):
            raise UsageError(
                "a recording without its times needs a closed loop of one worker",
                "use Closed with workers=1 and a depth, or AsRecorded",
            )

    def _check_direction(self) -> None:
        if self.writes:
            return
        if self.dsync:
            raise UsageError("dsync needs writes, and there are none", "leave out --dsync, or write")
        if self.flush_every is not None:
            raise UsageError("flushes need writes, and there are none", f"leave out --{self.flush}, or write")
        if self.compressible_pct:
            raise UsageError(
                "--compressible needs writes, and there are none", "leave out --compressible, or write"
            )

    def _resolved(self, capacity_bytes: int, logical_block_bytes: int) -> dict[str, Any]:
        for block in self.blocks:
            if self.direct and block.bytes % logical_block_bytes:
                raise UsageError(
                    f"block of {block.bytes} is not a multiple of the logical block, {logical_block_bytes}",
                    f"use multiples of {units.block_text(logical_block_bytes)}",
                    block_bytes=block.bytes,
                    logical_block_bytes=logical_block_bytes,
                )
        for pattern in self.patterns:
            if isinstance(pattern, Stepped) and pattern.step_bytes % logical_block_bytes:
                raise UsageError(
                    f"a step of {pattern.step_bytes} is not a multiple of the logical block, "
                    f"{logical_block_bytes}",
                    f"use multiples of {units.block_text(logical_block_bytes)}",
                    step_bytes=pattern.step_bytes,
                    logical_block_bytes=logical_block_bytes,
                )
        start, length = self.span_bytes(capacity_bytes, logical_block_bytes)
        largest = self.largest_block_bytes
        if length < largest:
            raise UsageError(
                # A span in percent is rounded down to whole blocks: a length of 0 would not help.
                f"the span{f' of {units.bytes_text(length)}' if length else ''} is too small for a block of "
                f"{units.bytes_text(largest)}",
                "use a larger span, a larger drive or smaller blocks",
                span_bytes=length,
                block_bytes=largest,
            )
        fields = self.model_dump(mode="json", exclude={"ops", "pattern", "write_pattern", "span", "arrival"})
        if self.write_pattern is not None:
            fields["write_pattern"] = self.write_pattern.native()
        return fields | {
            "ops": self._native_ops(),
            "pattern": self.pattern.native(),
            "span": {"start": start, "length": length},
            "arrival": self.arrival.native(),
        }

    def _native_ops(self) -> object:
        if isinstance(self.ops, RecordedOps):
            return {"recorded": self.ops.model_dump()}
        if isinstance(self.ops, Ratio):
            return {"ratio": {"reads": self.ops.read_weight, "writes": self.ops.write_weight}}
        return self.ops if isinstance(self.ops, str) else {"mix": {"read_pct": self.ops.read_pct}}


class Workload(Frozen):
    """One or more streams that run at the same time, with one seed and one clock."""

    seed: int = Field(1, ge=0, lt=2**64, description="random seed: the same seed gives the same I/Os")
    interval_ns: Nanoseconds = Field(
        units.NS_PER_S, ge=1_000_000, le=DURATION_NS, description="length of an interval, in ns"
    )
    ramp_ns: Nanoseconds = Field(
        0, ge=0, le=DURATION_NS, description="time at the start that is not counted, in ns"
    )
    streams: tuple[Stream, ...] = Field(
        min_length=1, max_length=256, description="streams that run at the same time"
    )

    @classmethod
    def of(cls, *streams: Stream, **fields: Any) -> Self:  # noqa: ANN401 - the model checks them
        """Return a workload of these streams."""
        return cls(streams=streams, **fields)

    @property
    def reads(self) -> bool:
        """Whether some stream reads."""
        return any(stream.reads for stream in self.streams)

    @property
    def trims(self) -> bool:
        """Whether some stream trims."""
        return any(stream.trims for stream in self.streams)

    @property
    def changes_data(self) -> bool:
        """Whether some stream writes or trims."""
        return any(stream.writes or stream.trims for stream in self.streams)

    def resolve(self, capacity_bytes: int, logical_block_bytes: int) -> str:
        """Return the JSON for the native runner, for a drive of that capacity and logical block.

        Raises
        ------
        UsageError
            The drive cannot address a block or the span, or the span ends beyond the drive.
        """
        streams = [stream._resolved(capacity_bytes, logical_block_bytes) for stream in self.streams]
        return json.dumps({**self.model_dump(mode="json", exclude={"streams"}), "streams": streams})

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [stream.name for stream in self.streams]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"two streams are called {twice!r}", "give each stream its own name")
        for stream in self.streams:
            if stream.stop.time_ns is not None and stream.stop.time_ns <= self.ramp_ns:
                raise UsageError(
                    f"the ramp of {units.duration_text(self.ramp_ns)} is not shorter than the "
                    f"{units.duration_text(stream.stop.time_ns)} of stream {stream.name!r}",
                    "measure for longer than the ramp",
                )
        return self


_ROWS_WANTED = 20
_SHORTEST_ROW_NS = 100_000_000


def row_ns(time_ns: int) -> int:
    """Return the length of an interval for a measurement of `time_ns`: short enough to see variation."""
    return min(NS_PER_S, max(_SHORTEST_ROW_NS, time_ns // _ROWS_WANTED))


FILL_BLOCK_BYTES = 128 * 1024
"""SNIA's block size for sequential preconditioning."""


def fill_stream(
    block_bytes: int, stop: Stop, *, name: str = "fill", span: Span | None = None, depth: int = 1
) -> Stream:
    """Return the stream of a fill: sequential, incompressible writes, by io_uring above depth 1."""
    stream = Stream(
        name=name,
        ops=Mix(read_pct=0),
        block=(Block(bytes=block_bytes),),
        pattern=Sequential(),
        depth=depth,
        engine="sync" if depth == 1 else "uring",
        stop=stop,
    )
    # Without a span here, the lab sets its own, which respects a limit of the usable part.
    return stream if span is None else stream.model_copy(update={"span": span})


def fill_workloads(capacity_bytes: int, seed: int) -> tuple[Workload, ...]:
    """Return workloads for one sequential pass of incompressible writes over every byte of a drive.

    The remainder after the last whole block is written last. In parallel it would be written early, and all
    later blocks would be misaligned to flash pages.
    """
    whole = capacity_bytes // FILL_BLOCK_BYTES * FILL_BLOCK_BYTES
    rest = capacity_bytes - whole
    # The greatest power of two that divides the rest is a multiple of the logical block, like the rest.
    parts = [("fill", 0, whole, FILL_BLOCK_BYTES), ("rest", whole, rest, rest & -rest)]
    streams = (
        fill_stream(block_bytes, Stop(span_once=True), name=name, span=Span(start=start, length=length))
        for name, start, length, block_bytes in parts
        if length
    )
    return tuple(Workload(seed=seed, streams=(stream,)) for stream in streams)
