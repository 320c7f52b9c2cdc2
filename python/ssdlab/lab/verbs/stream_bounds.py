"""Bounds of a workload's time, and of the bytes that it writes.

A stop by time is exact, except for the I/Os then in flight. A stop by bytes takes as long as the drive needs:
the bounds come from what is known about the drive (`analysis.pace`), or cover any drive. The bytes are at
most those that the link can carry in the time, plus those in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ssdlab.analysis.pace import ANY_DRIVE, SLOWEST_RANDOM_IOPS, Load, Pace, Speed
from ssdlab.lab.verbs.verb import NOTHING, STEP_MAX_S, Bounds
from ssdlab.model.arrival import AsRecorded, Bursts, Open, Pulses
from ssdlab.model.pattern import Recording, Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Mix, Ratio

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream, Workload

SIMULATED_IO_S = (0.05e-6, 2e-6)
SIMULATED_PAGE_S = (0.01e-6, 0.6e-6)
SIMULATED_PAGE_BYTES = 4096
"""Bounds of the CPU seconds per I/O and per 4 KiB page.

0.1 to 0.7 us and 0.02 to 0.15 us were measured; a busy host takes longer.
"""
UNEVEN_TIMES, UNEVEN_MAX_S = 3.0, 1.0
LONGEST_IO_S = 0.01
"""I/Os in flight at the end may wait for erases on a few dies, and so take up to a second more."""
DRAIN_MAX_S = 1.0
"""Waiting I/Os that were due before the stop are issued for this long after it (the engine's drain limit)."""
LONGEST_GAP = 40
"""Longest gap of random arrivals, in mean gaps: a longer one has probability exp(-40)."""


@dataclass(frozen=True)
class WorkloadBounds:
    """Bounds of a workload's time and writes.

    Attributes
    ----------
    settled_bytes
        Upper bound of the bytes written on a long-written drive.
    target_bytes
        Bytes at which it stops, if any.
    simulating
        CPU seconds to simulate it.
    """

    seconds: Bounds
    bytes_written: Bounds
    settled_bytes: float
    target_bytes: int | None
    simulating: Bounds


def layout_bounds(size_bytes: int) -> Bounds:
    """Return bounds in seconds for writing a new file of a size."""
    speed = ANY_DRIVE.of(Load(True, False, 1 << 20, 1))
    return Bounds(size_bytes / speed.high, size_bytes / speed.low + STEP_MAX_S)


def workload_bounds(workload: Workload, pace: Pace = ANY_DRIVE) -> WorkloadBounds:
    seconds = Bounds(0.0, 0.0)
    written = NOTHING
    settled = 0.0
    targets: list[int] = []
    simulating = NOTHING
    for stream in workload.streams:
        speed = speed_of(stream, pace)
        time, target = _stream_seconds(stream, speed)
        seconds = Bounds(max(seconds.lower, time.lower), max(seconds.upper, time.upper))
        for_stream, long_written = _stream_writes(stream, time, target, speed)
        written, settled = written + for_stream, settled + long_written
        simulating = simulating + _simulating(stream, time, target, speed)
        targets += [] if target is None else [target]
    return WorkloadBounds(seconds, written, settled, sum(targets) if targets else None, simulating)


def simulating_bounds(moved_bytes: Bounds, block_bytes: float) -> Bounds:
    """Return bounds of the CPU time to simulate some bytes, which depends on I/Os and pages."""
    lower, upper = (
        bytes_ * (SIMULATED_IO_S[end] / block_bytes + SIMULATED_PAGE_S[end] / SIMULATED_PAGE_BYTES)
        for end, bytes_ in enumerate((moved_bytes.lower, moved_bytes.upper))
    )
    return Bounds(lower, upper)


def _simulating(stream: Stream, seconds: Bounds, target: int | None, speed: Speed) -> Bounds:
    if target is None:
        issued = speed.high * _issuing_s(stream, seconds) + _ending_bytes(stream)
        moved = Bounds(speed.low * seconds.lower, issued)
    else:
        moved = Bounds(float(target) if stream.stop.time_ns is None else 0.0, float(target))
    if stream.requested_iops is not None:
        rate = float(stream.requested_iops) * stream.largest_block_bytes
        moved = Bounds(0.0, min(moved.upper, rate * seconds.upper))
    return simulating_bounds(moved, min(block.bytes for block in stream.blocks))


def speed_of(stream: Stream, pace: Pace) -> Speed:
    """Return the drive's speed for a stream, with both directions together."""
    load = load_of(stream)
    speed = pace.of_mix(_read_share(stream), load)
    target = _target(stream)
    if target is None:
        return speed
    # A stream that its time ends first moves less than its target.
    within = target if stream.stop.time_ns is None else speed.high * stream.stop.time_ns / NS_PER_S
    return pace.of_target(speed, min(target, within), load)


def _target(stream: Stream) -> int | None:
    """Return the bytes after which a stream ends; None if it has no such end, or its span is unknown."""
    stop = stream.stop
    if stop.bytes is not None:
        return stop.bytes
    if stop.ios is not None:
        return stop.ios * stream.largest_block_bytes
    return stream.span.length if stop.span_once and isinstance(stream.span.length, int) else None


def load_of(stream: Stream) -> Load:
    sizes = (stream.writes and stream.write_block) or stream.block
    mean_bytes = sum(block.weight * block.bytes for block in sizes) / sum(block.weight for block in sizes)
    random = not all(isinstance(pattern, Sequential) for pattern in stream.patterns)
    return Load(stream.writes, random, mean_bytes, stream.in_flight)


def _read_share(stream: Stream) -> float:
    """Return the share of a stream's bytes that are reads; half for a recording with both directions."""
    if isinstance(stream.ops, Mix):
        return stream.ops.read_pct / 100
    if isinstance(stream.ops, Ratio):
        return stream.ops.read_weight / (stream.ops.read_weight + stream.ops.write_weight)
    return 0.5 if stream.reads and stream.writes else float(stream.reads)


def _recorded_seconds(stream: Stream, recording: Recording, speed: Speed) -> Bounds:
    """Return bounds of a replay's seconds: the recorded time and backlog, or the time the drive needs."""
    ios = stream.stop.ios or 0
    slowest = max(ios / SLOWEST_RANDOM_IOPS, recording.moved_bytes / speed.low)
    if not isinstance(stream.arrival, AsRecorded):
        return Bounds(recording.moved_bytes / speed.high, slowest)
    recorded = recording.duration_ns / NS_PER_S
    behind = min(stream.arrival.backlog_ns / NS_PER_S, slowest)
    return Bounds(recorded, recorded + behind)


def _stream_seconds(stream: Stream, speed: Speed) -> tuple[Bounds, int | None]:
    if isinstance(stream.pattern, Recording):
        # The pace of a replay at recorded times does not show how long it will last.
        timed = isinstance(stream.arrival, AsRecorded)
        return _recorded_seconds(stream, stream.pattern, speed), None if timed else stream.pattern.moved_bytes
    stop, target = stream.stop, _target(stream)
    lower, upper = float("inf"), float("inf")
    if stop.time_ns is not None:
        lower = upper = stop.time_ns / NS_PER_S
        if isinstance(stream.arrival, Bursts):  # it ends with the last burst due before the stop
            lower = max(0.0, lower - stream.arrival.every_ns / NS_PER_S)
        if isinstance(stream.arrival, Open):  # it ends with the last arrival before the stop
            gaps = 1 if stream.arrival.process == "even" else LONGEST_GAP
            lower = max(0.0, lower - float(gaps / stream.arrival.rate))
        ending_s = _ending_bytes(stream) / speed.low
        upper += ending_s + min(UNEVEN_TIMES * ending_s, UNEVEN_MAX_S) + LONGEST_IO_S
    if target is not None:
        fastest = max(0.0, target - speed.ahead_bytes) if stream.writes else target
        lower, upper = min(lower, fastest / speed.high), min(upper, target / speed.low)
    return Bounds(0.0 if lower == float("inf") else lower, upper), target


def _ending_bytes(stream: Stream) -> float:
    """Return the maximum bytes in flight when a stream's time ends; they are completed and counted."""
    return float(stream.in_flight * stream.largest_block_bytes)


def _issuing_s(stream: Stream, seconds: Bounds) -> float:
    """Return the longest time, in seconds, in which a stream issues I/Os."""
    stop_ns = stream.stop.time_ns
    return seconds.upper if stop_ns is None else min(seconds.upper, stop_ns / NS_PER_S)


def _stream_writes(stream: Stream, seconds: Bounds, target: int | None, speed: Speed) -> tuple[Bounds, float]:
    """Return bounds of the bytes a stream writes, and the upper bound on a long-written drive."""
    if not stream.writes:
        return NOTHING, 0.0
    if isinstance(stream.pattern, Recording):
        # Dropped I/Os are not written.
        return Bounds(0.0, float(stream.pattern.written_bytes)), float(stream.pattern.written_bytes)
    largest = stream.largest_block_bytes
    busy_s = issuing_s = _issuing_s(stream, seconds)
    if isinstance(stream.arrival, Open | Bursts):
        busy_s += DRAIN_MAX_S
    pulses = 1
    if isinstance(stream.arrival, Pulses):
        pulses = ceil(busy_s * NS_PER_S / stream.arrival.every_ns)
        busy_s = pulses * stream.arrival.on_ns / NS_PER_S
    share = 1.0 - _read_share(stream)
    # The share of writes in a random mix varies. Bytes in flight at the end count, and so does a buffer that
    # was emptied during a rest.
    ending = pulses * (_ending_bytes(stream) + speed.ahead_bytes)
    share = share if share in (0.0, 1.0) else min(1.0, 1.1 * share)
    most = float("inf")
    if isinstance(stream.arrival, Bursts):
        most = ceil(issuing_s * NS_PER_S / stream.arrival.every_ns) * float(stream.arrival.bytes)
    elif stream.requested_iops is not None:
        most = float(stream.requested_iops * ceil(issuing_s) + 1) * largest
    if target is not None:
        most = min(most, float(target))
    ceiling, settled = (min(most, rate * share * busy_s + ending) for rate in (speed.high, speed.settled))
    if target is None:
        return Bounds(0.0, ceiling), settled
    whole = stream.stop.time_ns is None and not stream.reads
    return Bounds(float(target) if whole else 0.0, max(float(target) if whole else 0.0, ceiling)), settled
