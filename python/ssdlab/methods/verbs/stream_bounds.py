"""What a workload will take: bounds of its time and of the bytes that it writes.

What stops by time is known to the second. What stops by bytes takes as long as the drive needs, so its bounds
are those of the fastest and the slowest drive that anybody would test.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ssdlab.methods.verbs.bounds import NOTHING, STEP_MAX_S, Bounds
from ssdlab.model.arrival import AsRecorded, Bursts, Open, Pulses
from ssdlab.model.pattern import Recording, Sequential
from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream, Workload

FASTEST_MB_S = 32_000.0
"""Two PCIe 5.0 x4 links, and more than this machine class copies in memory per stream."""
SLOWEST_SEQUENTIAL_MB_S = 20.0
"""A QLC drive with its cache exhausted still writes faster."""
SLOWEST_RANDOM_IOPS = 50.0
"""A hard disk."""
SHORTEST_LATENCY_S = 1e-6
"""A file in memory."""
LONGEST_GAP = 40
"""Of random arrivals, in mean gaps: a longer one has a chance of exp(-40)."""


def layout_bounds(size_bytes: int) -> Bounds:
    """Seconds that really writing a new file of that size can take."""
    return Bounds(size_bytes / FASTEST_MB_S / 1e6, size_bytes / SLOWEST_SEQUENTIAL_MB_S / 1e6 + STEP_MAX_S)


def workload_bounds(workload: Workload) -> tuple[Bounds, Bounds, int | None]:
    """Return seconds, bytes written, and the bytes that it stops at, if it does."""
    seconds = Bounds(0.0, 0.0)
    written = NOTHING
    targets: list[int] = []
    for stream in workload.streams:
        time, target = _stream_seconds(stream)
        seconds = Bounds(max(seconds.lower, time.lower), max(seconds.upper, time.upper))
        written = written + _stream_writes(stream, time, target)
        targets += [] if target is None else [target]
    return seconds, written, sum(targets) if targets else None


def _recorded_seconds(stream: Stream, recording: Recording) -> Bounds:
    """Bounds of a replay: its own time and the backlog, or what the drive needs for so many I/Os."""
    ios = stream.stop.ios or 0
    slowest = max(ios / SLOWEST_RANDOM_IOPS, recording.moved_bytes / SLOWEST_SEQUENTIAL_MB_S / 1e6)
    if not isinstance(stream.arrival, AsRecorded):
        return Bounds(recording.moved_bytes / FASTEST_MB_S / 1e6, slowest)
    recorded = recording.duration_ns / NS_PER_S
    behind = min(stream.arrival.backlog_ns / NS_PER_S, slowest)
    return Bounds(recorded, recorded + behind)


def _stream_seconds(stream: Stream) -> tuple[Bounds, int | None]:
    if isinstance(stream.pattern, Recording):
        # The pace of a replay at its own times says nothing of how long it will go on.
        timed = isinstance(stream.arrival, AsRecorded)
        return _recorded_seconds(stream, stream.pattern), None if timed else stream.pattern.moved_bytes
    stop = stream.stop
    largest = max(block.bytes for block in stream.block)
    target = stop.bytes if stop.bytes is not None else None if stop.ios is None else stop.ios * largest
    if target is None and stop.span_once and isinstance(stream.span.length, int):
        target = stream.span.length
    lower, upper = float("inf"), float("inf")
    if stop.time_ns is not None:
        lower = upper = stop.time_ns / NS_PER_S
        if isinstance(stream.arrival, Bursts):  # it ends with the last burst that is due before
            lower = max(0.0, lower - stream.arrival.every_ns / NS_PER_S)
        if isinstance(stream.arrival, Open):  # it ends with the last I/O that arrives before
            gaps = 1 if stream.arrival.process == "even" else LONGEST_GAP
            lower = max(0.0, lower - float(gaps / stream.arrival.rate))
    if target is not None:
        slowest = SLOWEST_SEQUENTIAL_MB_S * 1e6
        if not isinstance(stream.pattern, Sequential):
            slowest = min(slowest, SLOWEST_RANDOM_IOPS * largest)
        lower, upper = min(lower, target / FASTEST_MB_S / 1e6), min(upper, target / slowest)
    return Bounds(0.0 if lower == float("inf") else lower, upper), target


def _stream_writes(stream: Stream, seconds: Bounds, target: int | None) -> Bounds:
    if not stream.writes:
        return NOTHING
    if isinstance(stream.pattern, Recording):
        # What is dropped is not written.
        return Bounds(0.0, float(stream.pattern.written_bytes))
    largest = max(block.bytes for block in stream.block)
    busy_s = seconds.upper
    if isinstance(stream.arrival, Pulses):
        busy_s = ceil(busy_s * NS_PER_S / stream.arrival.every_ns) * stream.arrival.on_ns / NS_PER_S
    ceiling = min(FASTEST_MB_S * 1e6, stream.in_flight * largest / SHORTEST_LATENCY_S) * busy_s
    if isinstance(stream.arrival, Bursts):
        ceiling = min(
            ceiling, ceil(seconds.upper * NS_PER_S / stream.arrival.every_ns) * stream.arrival.bytes
        )
    elif stream.requested_iops is not None:
        ceiling = min(ceiling, float(stream.requested_iops * ceil(seconds.upper) + 1) * largest)
    if target is None:
        return Bounds(0.0, ceiling)
    whole = stream.stop.time_ns is None and not stream.reads
    return Bounds(float(target) if whole else 0.0, min(float(target), ceiling))
