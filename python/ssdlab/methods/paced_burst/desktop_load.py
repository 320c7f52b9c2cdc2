"""A desktop's load: bursts of small writes within a span, and large reads from the rest of the drive.

It also has the writes alone, at a rate. A sustained rate keeps p99 near that of the unloaded drive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from ssdlab.plugin import (
    NO_SIDE,
    NS_PER_S,
    SPAN_UNIT_BYTES,
    Amount,
    Block,
    Bound,
    Bursts,
    Claim,
    Closed,
    Evidence,
    Mix,
    Sequential,
    Span,
    Stop,
    Stream,
    Uniform,
    UsageError,
    Workload,
    bytes_text,
    capacity_text,
    clause,
    counted,
    evidence_of,
)

from .result import PacedRate, max_p99_ns

if TYPE_CHECKING:
    from ssdlab.plugin import Step


READ_BLOCK_BYTES = 64 * 1024
MAX_BLOCK_BYTES, MAX_EVERY_S = 64 * 1024, 3600
"""Largest block of a write, and longest interval between bursts."""
_ROW_NS = NS_PER_S
FACTOR = 2.0
"""Highest p99 of a sustained rate, as a multiple of the p99 at the lowest rate.

That multiple may be exceeded by the width of a bucket: see `max_p99_ns`.
"""
SEARCH = "rate"


@dataclass(frozen=True)
class Layout:
    """The parts of the load and their sizes, in whole blocks.

    Attributes
    ----------
    span_bytes, block_bytes
        Part of the drive for the writes, from its start on; block size of the writes.
    depth, side_depth
        I/Os in flight of writes alone, and of each direction while reads and writes run together.
    burst_bytes, every_ns
        Size of a burst of writes, and interval between bursts.
    rest
        Part of the drive for the reads.
    read_bytes, reads, read_every_ns
        Size of a large read, number of large reads, and interval between them.
    """

    span_bytes: int
    block_bytes: int
    depth: int
    side_depth: int
    burst_bytes: int
    every_ns: int
    rest: Span
    read_bytes: int
    reads: int
    read_every_ns: int

    @classmethod
    def cut(
        cls,
        usable_bytes: int,
        *,
        span: int,
        block: int,
        burst: int,
        every_seconds: float,
        read: int,
        reads: int,
        read_every_seconds: float,
        depth: int,
        side_depth: int,
    ) -> Self:
        """Lay the load out on a drive; sizes in bytes are rounded down to whole blocks.

        Raises
        ------
        UsageError
            The drive is too small for the writes and reads, or a burst is smaller than a block.
        """
        if burst < block:
            raise UsageError(
                f"bursts of {bytes_text(burst)} are smaller than a block of {bytes_text(block)}",
                "set burst to at least block",
            )
        start = -(-span // SPAN_UNIT_BYTES) * SPAN_UNIT_BYTES
        room = (usable_bytes - start) // READ_BLOCK_BYTES * READ_BLOCK_BYTES
        read_bytes = read // READ_BLOCK_BYTES * READ_BLOCK_BYTES
        if room < reads * read_bytes:
            raise UsageError(
                f"the drive is too small: {capacity_text(span)} for the writes and {reads} reads of "
                f"{capacity_text(read)} do not fit into {capacity_text(usable_bytes)}",
                "use a larger drive (a simulated one at scale 1), or set a smaller span and read",
                needed_bytes=start + reads * read_bytes,
                usable_bytes=usable_bytes,
            )
        return cls(
            span_bytes=span // block * block,
            block_bytes=block,
            depth=depth,
            side_depth=side_depth,
            burst_bytes=burst // block * block,
            every_ns=round(every_seconds * NS_PER_S),
            rest=Span(start=start, length=room),
            read_bytes=read_bytes,
            reads=reads,
            read_every_ns=round(read_every_seconds * NS_PER_S),
        )

    @property
    def time_ns(self) -> int:
        """Duration of a load in ns, including the interval after its last read."""
        return self.reads * self.read_every_ns

    def writes(self, *, paced: bool = True, every_ns: int = 0, time_ns: int = 0) -> Stream:
        """Return the writes within the span, in bursts or without a pause; 0 means the layout's own time."""
        arrival = Bursts(bytes=self.burst_bytes, every_ns=every_ns or self.every_ns) if paced else Closed()
        return Stream(
            name="writes",
            ops=Mix(read_pct=0),
            block=(Block(bytes=self.block_bytes),),
            pattern=Uniform(),
            span=Span(start=0, length=self.span_bytes),
            depth=self.depth,
            engine="uring",
            arrival=arrival,
            stop=Stop(time_ns=time_ns or self.time_ns),
        )

    def both(self, *, paced: bool) -> Workload:
        """Return the writes and the reads together; if `paced`, both in bursts, and with every I/O logged."""
        last = Stop(bytes=self.reads * self.read_bytes) if paced else Stop(time_ns=self.time_ns)
        reads = Stream(
            name="reads",
            block=(Block(bytes=READ_BLOCK_BYTES),),
            pattern=Sequential(),
            span=self.rest,
            depth=self.side_depth,
            engine="uring",
            arrival=Bursts(bytes=self.read_bytes, every_ns=self.read_every_ns) if paced else Closed(),
            stop=last,
            log_ios=paced,
        )
        beside = {"log_ios": paced, "depth": self.side_depth}
        writes = self.writes(paced=paced).model_copy(update=beside)
        row_ns = min(_ROW_NS, max(_ROW_NS // 10, self.time_ns // 60))
        return Workload.of(writes, reads, interval_ns=row_ns)

    def overwrite(self) -> Workload:
        """Return random writes that write as many bytes as the span holds."""
        stop = Stop(bytes=self.span_bytes)
        return Workload.of(self.writes(paced=False).model_copy(update={"stop": stop}))


def rate_workload(layout: Layout, rate: int, seconds: float) -> Workload:
    """Return a workload of writes alone, in bursts spaced so that they average a rate in MB/s."""
    every_ns = layout.burst_bytes * NS_PER_S // (rate * 10**6)
    return Workload.of(layout.writes(every_ns=every_ns, time_ns=round(seconds * NS_PER_S)))


@dataclass(frozen=True)
class Asked:
    """Bursts of writes, as settings of `paced-burst`."""

    block_bytes: int
    burst_bytes: int
    every_s: float

    @classmethod
    def like(cls, burst_bytes: int, every_ns: int, block_bytes: int) -> Self | None:
        """Return the bursts nearest to the given ones that write as many bytes per second.

        A burst is rounded up to whole blocks, and the interval grows by the same factor. Where the interval
        would exceed an hour, bursts are smaller instead; None if one block an hour is still too much.

        >>> Asked.like(5892, 128_600_000, 4096)
        Asked(block_bytes=4096, burst_bytes=8192, every_s=0.178800272)
        """
        if not burst_bytes:
            return None
        block = min(max(512, block_bytes // 512 * 512), MAX_BLOCK_BYTES)
        whole = -(-burst_bytes // block)
        if every_ns * whole * block > burst_bytes * MAX_EVERY_S * NS_PER_S:
            whole = burst_bytes * MAX_EVERY_S * NS_PER_S // (every_ns * block)
        every_ns = round(Fraction(every_ns * whole * block, burst_bytes))
        return cls(block, whole * block, every_ns / NS_PER_S) if whole else None

    @property
    def words(self) -> str:
        """The command-line options that request these bursts."""
        sizes = f"--set block={self.block_bytes} --set burst={self.burst_bytes}"
        return f"{sizes} --set every_seconds={self.every_s:.13g}"


def judge_rates(steps: Iterable[Step], maximum: int, *, unloaded_ns: float | None = None) -> list[PacedRate]:
    """Judge every rate against an unloaded p99; by default, that is the p99 of the first and lowest rate."""
    found: list[PacedRate] = []
    for step in steps:
        unloaded = found[0].p99_ns if found and unloaded_ns is None else unloaded_ns
        found.append(_judge(step, unloaded, maximum))
    return found


def _judge(step: Step, unloaded_ns: float | None, maximum: int) -> PacedRate:
    summary, tried = step.summary, step.tried
    assert tried is not None  # every step of a search has it
    rate = tried.value
    if summary is None:  # a plan has no results: only the maximum fails, for the longest search
        return PacedRate(rate=rate, ordinal=step.ordinal, held=rate < maximum, why="not measured")
    side = summary.write or NO_SIDE
    service = side.service_ns
    # Too few I/Os for a p99: use the maximum, which is an upper bound of it.
    p99_ns = service.get("max") if service.get("p99") is None else service.get("p99")
    disturbed, shown = evidence_of(step).disturbed, Evidence((step.ordinal,))
    failed = disturbed or _failure(side.dropped, p99_ns, unloaded_ns, shown) or _not_kept_up(step)
    return PacedRate(
        rate=rate,
        ordinal=step.ordinal,
        written_bytes=side.bytes,
        p99_ns=p99_ns,
        max_ns=service.get("max"),
        held=failed is None,
        why="" if failed is None else clause(failed),
        disturbed=disturbed is not None or None,
    )


def _not_kept_up(step: Step) -> Claim | None:
    """Return the claim that a rate was not reached, from the step's warning; None if it was.

    A backlog can grow without a dropped I/O, so the number of dropped I/Os is not enough.
    """
    missed = next((each for each in step.result.warnings if each.code == "rate-not-reached"), None)
    if missed is None:
        return None
    return Claim("{missed}", evidence=Evidence((step.ordinal,)), others={"missed": missed.what})


def _failure(dropped: int, p99_ns: float | None, unloaded_ns: float | None, shown: Evidence) -> Claim | None:
    if dropped:
        return Claim(
            "{dropped} could not be done in time",
            evidence=shown,
            others={"dropped": counted(dropped, "write")},
        )
    if unloaded_ns is None or p99_ns is None:
        return None
    max_ns = max_p99_ns(unloaded_ns, FACTOR)
    if p99_ns <= max_ns:
        return None
    return Claim(
        "p99 was {figure}, over {factor} times {unloaded}",
        figure=Amount(p99_ns, "ns"),
        bound=Bound("at most", Amount(max_ns, "ns")),
        evidence=shown,
        others={"factor": f"{FACTOR:g}", "unloaded": Amount(unloaded_ns, "ns")},
    )
