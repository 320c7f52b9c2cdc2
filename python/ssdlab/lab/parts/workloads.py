"""Workloads that review methods share, and warnings about sizes on a scaled-down drive."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeVar

from ssdlab.lab.method import Remarks, RunData, RunFacts
from ssdlab.model.arrival import Bursts, Open
from ssdlab.model.pattern import Sequential, Span, Uniform
from ssdlab.model.units import NS_PER_S
from ssdlab.model.warnings import judge_scale
from ssdlab.model.workload import Block, Mix, Stop, Stream, Workload
from ssdlab.model.workload import row_ns as timed_row_ns
from ssdlab.results.schema import Warned

if TYPE_CHECKING:
    from collections.abc import Callable

ReadOrWrite = Literal["read", "write"]
Order = Literal["random", "sequential"]
Engine = Literal["sync", "uring"]
_ANY_DRIVE_S = 32 * 10**9
"""Bytes a second that no drive exceeds: two PCIe 5.0 x4 links."""


def closed_loop(
    order: Order,
    direction: ReadOrWrite,
    *,
    block_bytes: int,
    in_flight: int,
    seconds: float,
    ramp_seconds: float = 0.0,
    engine: Engine = "sync",
    span: Span | None = None,
    max_bytes: int | None = None,
) -> Workload:
    """Return a workload that keeps a number of I/Os in flight for a time.

    Parameters
    ----------
    in_flight
        Queue depth. Engine ``sync`` has that many threads with one synchronous I/O each; sequential worker i
        of n starts at i/n of the span. Engine ``uring`` has one worker of that depth.
    seconds
        Measured time, after a ramp of `ramp_seconds` that is not counted.
    span
        The part of the drive to use; None: the whole part in use.
    max_bytes
        Bytes after which the workload ends early, rounded down to whole blocks.
    """
    threads = in_flight if engine == "sync" else 1
    stream = Stream(
        ops=Mix(read_pct=100 if direction == "read" else 0),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform() if order == "random" else Sequential(),
        workers=threads,
        depth=in_flight // threads,
        engine=engine,
    )
    workload = _timed(stream, seconds, ramp_seconds)
    (timed,) = workload.streams
    changes: dict[str, object] = {} if span is None else {"span": span}
    if max_bytes is not None:
        blocks = max(1, max_bytes // block_bytes)
        changes["stop"] = timed.stop.model_copy(update={"bytes": blocks * block_bytes})
    return workload.model_copy(update={"streams": (timed.model_copy(update=changes),)})


def mixed(
    read_pct: int, *, block_bytes: int, threads: int, seconds: float, ramp_seconds: float = 0.0
) -> Workload:
    """Return random I/O with a percentage of reads, by threads with one synchronous I/O each."""
    stream = Stream(
        ops=Mix(read_pct=read_pct), block=(Block(bytes=block_bytes),), pattern=Uniform(), workers=threads
    )
    return _timed(stream, seconds, ramp_seconds)


def open_loop(
    read_pct: int, *, block_bytes: int, threads: int, rate: int, seconds: float, ramp_seconds: float = 0.0
) -> Workload:
    """Return random I/O with Poisson arrivals, at a total of `rate` I/Os per second."""
    stream = Stream(
        ops=Mix(read_pct=read_pct),
        block=(Block(bytes=block_bytes),),
        pattern=Uniform(),
        workers=threads,
        arrival=Open(process="poisson", rate=Fraction(rate)),
    )
    return _timed(stream, seconds, ramp_seconds)


def beside(
    reads: int | None,
    writes: int | None,
    *,
    block_bytes: int,
    threads: int,
    seconds: float,
    ramp_seconds: float = 0.0,
) -> Workload:
    """Return random reads and random writes, each an open loop with Poisson arrivals.

    Parameters
    ----------
    reads, writes
        Arrivals per second; 0: no such stream. None: not known yet, as in a plan, which then assumes a bound
        that no drive exceeds.
    threads
        Threads per stream, with one synchronous I/O each.
    """
    sides = (("reads", 100, reads), ("writes", 0, writes))
    streams = [
        Stream(
            name=name,
            ops=Mix(read_pct=read_pct),
            block=(Block(bytes=block_bytes),),
            pattern=Uniform(),
            workers=threads,
            arrival=_arrival(rate, block_bytes),
        )
        for name, read_pct, rate in sides
        if rate != 0
    ]
    timed = [_timed(stream, seconds, ramp_seconds) for stream in streams]
    return timed[0].model_copy(update={"streams": tuple(each.streams[0] for each in timed)})


def _arrival(rate: int | None, block_bytes: int) -> Open | Bursts:
    """Return Poisson arrivals; for an unknown rate, bursts at the highest rate of any drive, as a bound."""
    if rate is None:
        return Bursts(bytes=_ANY_DRIVE_S // block_bytes * block_bytes, every_ns=NS_PER_S)
    return Open(process="poisson", rate=Fraction(rate))


def _timed(stream: Stream, seconds: float, ramp_seconds: float) -> Workload:
    """Return a workload that runs a stream for a time after a ramp, in rows that show variation."""
    time_ns = round(seconds * NS_PER_S)
    interval_ns = timed_row_ns(time_ns)
    # Only whole rows can be left out, so the ramp is rounded up to whole rows.
    ramp_ns = -(-round(ramp_seconds * NS_PER_S) // interval_ns) * interval_ns
    timed = stream.model_copy(update={"stop": Stop(time_ns=ramp_ns + time_ns)})
    return Workload.of(timed, ramp_ns=ramp_ns, interval_ns=interval_ns)


ParamsT = TypeVar("ParamsT")


def scale_of(data: RunData) -> int:
    """Return the scale of the measured drive; 1 for a real drive, or if nothing was measured."""
    measured = (step.summary for step in data.steps if step.summary is not None)
    scales = (summary.drive.scale for summary in measured if summary.drive is not None)
    return next((round(scale) for scale in scales if scale is not None), 1)


def size_warnings(facts: RunFacts, what: str) -> tuple[Warned, ...]:
    """Return the warning for a scaled-down drive that a size is meant for a full-size one."""
    warned = judge_scale(what, scale_of(facts.data))
    return tuple(Warned(code=each.code, what=each.what, advice=each.advice) for each in warned)


def remarks_of_size(
    what: str, beside: Callable[[RunFacts, ParamsT], Remarks] | None = None
) -> Callable[[RunFacts, ParamsT], Remarks]:
    """Return a method's `remarks` function that warns of a size that does not scale with the drive.

    `what` names the size. `beside` is the method's own `remarks` function, if any.
    """

    def remarks(facts: RunFacts, params: ParamsT) -> Remarks:
        found = Remarks() if beside is None else beside(facts, params)
        return replace(found, warnings=(*found.warnings, *size_warnings(facts, what)))

    return remarks


# Sequential writes from the first block of a drive to its last, and their speed over the position.

BLOCK_BYTES = 128 * 1024
"""Block size of `write_over`: 128 KiB."""
_ROW_NS, _SHORTEST_ROW_NS = 50_000_000, 1_000_000
_FAST_BYTES_S, _MIN_ROWS = 8e9, 400
"""Even a drive of this speed, in bytes per second, has this many rows."""


def row_ns(length: int) -> int:
    """Return the interval row length, in ns, for writing `length` bytes once; shorter on a small drive."""
    shorter_ns = length / _FAST_BYTES_S * NS_PER_S / _MIN_ROWS
    return round(min(_ROW_NS, max(_SHORTEST_ROW_NS, shorter_ns)))


def write_over(
    stop: Stop, *, depth: int, engine: Literal["sync", "uring"], interval_ns: int = _ROW_NS
) -> Workload:
    """Return 128 KiB sequential writes from the first block, in rows short enough for a curve."""
    stream = Stream(
        ops=Mix(read_pct=0),
        block=(Block(bytes=BLOCK_BYTES),),
        pattern=Sequential(),
        depth=depth,
        engine=engine,
        stop=stop,
    )
    return Workload.of(stream, interval_ns=interval_ns)


def once(length: int) -> Stop:
    """Return a stop after the last whole 128 KiB block of a span of `length` bytes."""
    return Stop(bytes=length // BLOCK_BYTES * BLOCK_BYTES)
