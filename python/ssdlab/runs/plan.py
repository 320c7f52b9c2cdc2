"""What a run will do, found by running its procedure on a lab that only counts.

Each step gets bounds, [lower, upper], of time and of bytes written. A step that stops by time is known to
the second. One that stops by bytes takes as long as the drive needs, so its bounds are those of the fastest
and the slowest drive that anybody would test; while a run goes on, `runner` narrows them by the speed it
sees.

What a step does to the drive is said in words too: every write, discard, erase and setting, for `--dry-run`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from ssdlab.methods.traces.recording import recording_of
from ssdlab.model.arrival import AsRecorded, Bursts, Open, Pulses
from ssdlab.model.pattern import Recording, Sequential
from ssdlab.model.units import NS_PER_S, block_text, capacity_text, duration_text
from ssdlab.model.workload import RecordedOps
from ssdlab.results.journal import step_hash
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step

if TYPE_CHECKING:
    from ssdlab.drives.guard.signatures import Signature
    from ssdlab.methods.steps import Request
    from ssdlab.model.errors import Refused
    from ssdlab.model.workload import Stream, Workload


FASTEST_MB_S = 32_000.0
"""Two PCIe 5.0 x4 links, and more than this machine class copies in memory per stream."""
SLOWEST_SEQUENTIAL_MB_S = 20.0
"""A QLC drive with its cache exhausted still writes faster."""
SLOWEST_RANDOM_IOPS = 50.0
"""A hard disk."""
SHORTEST_LATENCY_S = 1e-6
"""A file in memory."""
STEP_MAX_S = 4.0
"""A step may take so much longer than its workload: threads start, I/O is drained, records reach the disk."""
RECORD_MAX_S = 2.0
"""A step that only reads a setting or writes a record."""
TRIM_MAX_S_PER_TB = 120.0
FLUSH_MAX_S = 60.0
PURGE_MAX_S = 24 * 3600.0
"""A sanitize that overwrites; a crypto erase takes seconds. What is known of neither is said as at most."""
QUICK_PURGE_MAX_S = 60.0
"""Of what is no device: a file has none at all, a simulated drive erases its blocks at once."""
LONGEST_GAP = 40
"""Of random arrivals, in mean gaps: a longer one has a chance of exp(-40)."""
TRACE_AGAIN_MAX = 10.0
"""To read a trace once more may take so many times as long as the plan took: it may have been in memory."""
START_MAX_S = 10.0
"""Opening the drive, reading the environment, writing the tables at the end."""


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound of a figure."""

    lower: float
    upper: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower + other.lower, self.upper + other.upper)


NOTHING = Bounds(0.0, 0.0)


@dataclass(frozen=True)
class PlannedStep:
    """One step to come."""

    ordinal: int
    verb: str
    label: str
    seconds: Bounds
    bytes_written: Bounds
    target_bytes: int | None
    """Where it stops by bytes: how many."""
    hash: str = ""
    """Of verb and arguments, as the journal has it."""
    effects: tuple[str, ...] = ()
    """What reaches the drive, each a phrase: ``writes 128 KiB blocks in order to ...``."""


@dataclass(frozen=True)
class Plan:
    """All steps of a run, with the sums of their bounds."""

    steps: tuple[PlannedStep, ...]
    preparation: Bounds = NOTHING
    """Seconds of laying out a file that does not exist yet."""
    preparation_bytes: int = 0
    objection: Refused | None = None
    """Why the run would be refused as things stand."""
    signatures: tuple[Signature, ...] = ()
    """What is wiped off the drive before its first write, by consent."""
    endurance_bytes: int | None = None
    """Rated endurance of the drive, where it is on record."""

    @property
    def seconds(self) -> Bounds:
        """Seconds from the command to its end."""
        total = self.preparation + Bounds(0.0, START_MAX_S)
        for step in self.steps:
            total = total + step.seconds
        return total

    @property
    def bytes_written(self) -> Bounds:
        """Bytes written to the drive."""
        total = Bounds(self.preparation_bytes, self.preparation_bytes)
        for step in self.steps:
            total = total + step.bytes_written
        return total


class Recorder:
    """The executor that does nothing but count.

    Parameters
    ----------
    known
        Finished steps of the same run: the length of a trace need not be measured again.
    purge_max_s
        How long a purge of the drive may take.
    """

    def __init__(self, known: Iterable[Step] = (), *, purge_max_s: float = PURGE_MAX_S) -> None:
        self._purge_max_s = purge_max_s
        self._known = {step.ordinal: step.result for step in known if step.verb == "trace"}
        self.steps: list[PlannedStep] = []

    def perform(self, request: Request) -> Step:
        """Count a step."""
        planned = planned_step(request, purge_max_s=self._purge_max_s)
        result = StepResult(seconds=planned.seconds.lower)
        if request.verb == "trace":
            began = time.monotonic()
            result = self._known.get(request.ordinal) or result.model_copy(
                update={"facts": {"file": "", **recording_of(request.args)}}
            )
            max_s = STEP_MAX_S + TRACE_AGAIN_MAX * (time.monotonic() - began)
            planned = replace(planned, seconds=Bounds(0.0, max_s))
        self.steps.append(planned)
        return Step(request.ordinal, 0, request.verb, request.label, dict(request.args), result)


def planned_step(request: Request, *, purge_max_s: float = PURGE_MAX_S) -> PlannedStep:
    """Work out the bounds of one step."""
    seconds, written, target = Bounds(0.0, RECORD_MAX_S), NOTHING, None
    if request.workload is not None:
        seconds, written, target = _workload(request, request.workload)
    elif request.verb == "idle":
        idle = float(str(request.args["seconds"]))
        lower = 0.0 if request.args.get("certain") is False else idle
        seconds = Bounds(lower, idle + STEP_MAX_S)
    elif request.verb == "trim":
        seconds = Bounds(0.0, STEP_MAX_S + int(str(request.args["length"])) / 1e12 * TRIM_MAX_S_PER_TB)
    elif request.verb == "flush":
        seconds = Bounds(0.0, FLUSH_MAX_S)
    elif request.verb == "purge":
        seconds = Bounds(0.0, purge_max_s)
    digest = step_hash(request.verb, request.args)
    return PlannedStep(
        request.ordinal, request.verb, request.label, seconds, written, target, digest, effects_of(request)
    )


def layout_bounds(size_bytes: int) -> Bounds:
    """Seconds that really writing a new file of that size can take."""
    return Bounds(size_bytes / FASTEST_MB_S / 1e6, size_bytes / SLOWEST_SEQUENTIAL_MB_S / 1e6 + STEP_MAX_S)


def _workload(request: Request, workload: Workload) -> tuple[Bounds, Bounds, int | None]:
    seconds = Bounds(0.0, 0.0)
    written = NOTHING
    targets: list[int] = []
    for stream in workload.streams:
        time, target = _stream_seconds(stream)
        seconds = Bounds(max(seconds.lower, time.lower), max(seconds.upper, time.upper))
        written = written + _stream_writes(stream, time, target)
        targets += [] if target is None else [target]
    if request.until is not None:
        # What ends it early may not do so before a time of its own.
        not_before_s = int(str(request.until.args.get("least_ns", 0))) / NS_PER_S
        seconds, written = Bounds(min(seconds.lower, not_before_s), seconds.upper), Bounds(0.0, written.upper)
    if request.args.get("unless_written") or request.args.get("certain") is False:
        seconds, written = Bounds(0.0, seconds.upper), Bounds(0.0, written.upper)
    return seconds + Bounds(0.0, STEP_MAX_S), written, sum(targets) if targets else None


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


def effects_of(request: Request) -> tuple[str, ...]:
    """Return what reaches the drive in a step; empty where nothing does."""
    if request.workload is not None:
        return tuple(_stream(stream) for stream in request.workload.streams)
    args = request.args
    match request.verb:
        case "trim":
            start, length = int(str(args["start"])), int(str(args["length"]))
            return (f"discards bytes {start} to {start + length} (BLKDISCARD; punches holes into a file)",)
        case "flush":
            return ("flushes the drive's cache (fsync)",)
        case "purge":
            how = args.get("method") or "the strongest method that it supports"
            return (f"erases the whole drive: {how}",)
        case "conditions":
            return _settings(args["required"])
        case "variant":
            return (*_settings(args["required"]), *_spare(args["usable"]))
        case "health":
            return ("reads the drive's health log",)
    return ()


def _settings(wanted: object) -> tuple[str, ...]:
    if not isinstance(wanted, dict) or not wanted:
        return ("reads the drive's settings",)
    return tuple(f"sets {name.replace('_', ' ')} to {value}" for name, value in wanted.items())


def _spare(usable: object) -> tuple[str, ...]:
    if not isinstance(usable, dict) or not usable["free"]:
        return ()
    return (f"discards everything from byte {usable['length']} on, which is not used",)


def _stream(stream: Stream) -> str:
    if isinstance(stream.ops, RecordedOps):
        counts = stream.ops.model_dump().items()
        counted = ", ".join(f"{count} {name}" for name, count in counts if count)
        longest = block_text(max(block.bytes for block in stream.block))
        return f"replays {counted} of up to {longest} in {_where(stream)}"
    blocks = "/".join(block_text(block.bytes) for block in stream.block)
    order = "in order" if isinstance(stream.pattern, Sequential) else "at random"
    if stream.trims:
        doing = "discards"
    elif not stream.reads:
        doing = "writes"
    else:
        doing = "reads and writes" if stream.writes else "reads"
    return f"{doing} {blocks} {order} in {_where(stream)}, {_until(stream)}"


def _where(stream: Stream) -> str:
    start, length = stream.span.start, stream.span.length
    if not isinstance(start, int) or not isinstance(length, int):
        return f"{start} to {'the end' if length is None else f'{length} further'}"
    return f"bytes {start} to {start + length}"


def _until(stream: Stream) -> str:
    stop = stream.stop
    ends = [
        f"for {duration_text(stop.time_ns)}" if stop.time_ns is not None else "",
        f"{capacity_text(stop.bytes)} ({stop.bytes} bytes)" if stop.bytes is not None else "",
        f"{stop.ios} I/Os" if stop.ios is not None else "",
        "once over" if stop.span_once else "",
    ]
    return " or ".join(end for end in ends if end) or "until its condition holds"
