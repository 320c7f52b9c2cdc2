"""Decides which warnings apply to a measurement. They are saved with its result.

`judge` is a pure function of summary, workload and facts about the host. An unknown fact raises no warning,
except `write-cache-unknown`. The thresholds are below with their reasons; the texts are in `warning_texts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from ssdlab.model.errors import errno_text, nearest
from ssdlab.model.summary import NO_DRIVE, NO_WORKERS
from ssdlab.model.units import (
    NS_PER_S,
    block_text,
    count_text,
    counted,
    counted_were,
    latency_text,
    share_text,
    significant,
    span_text,
)
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.model.workload import Bursts, Closed, Pulses, Stream, Workload

if TYPE_CHECKING:
    from ssdlab.model.host_load import HostContext
    from ssdlab.model.summary import Pause, Summary
    from ssdlab.model.telemetry import Mark, StepTelemetry

RATE_REACHED = 0.995
"""Minimum share of the requested rate: Aerospike ACT's users require 99.5 % in each slice."""

DEPTH_REACHED = 0.95
"""Minimum share of the requested I/Os in flight on average; the start and end of a run lower the mean."""

DEPTH_HELD = 0.5
"""Minimum share at the device if less than one I/O is in flight on average, known only from times."""

CPU_BUSY = 0.9
"""Share of all CPUs' time beyond which threads queue for a CPU: at 90 % load an M/M/1 queue is nine deep."""

QUEUE_DELAY_OF_P99 = 0.1
"""Mean wait for a CPU, as a share of p99, from which the host is visible in the tail."""

LATE_SHARE = 0.001
"""Share of I/Os submitted over 1 ms late from which the host affects p99.9."""

P99_SAMPLES = 1000
"""Samples needed for p99, with ten beyond it."""

MIN_FILLS = 2.0
"""Drive writes before a steady window is accepted, as in SNIA's preconditioning."""


@dataclass(frozen=True, slots=True)
class Warning:
    """One warning, with its facts filled in."""

    code: str
    what: str
    advice: str
    facts: dict[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, code: str, words: Mapping[str, str] | None = None, /, **facts: object) -> Self:
        """Return the catalogue's warning `code` with its facts; `words` replace some of them."""
        if code not in CATALOGUE:
            raise KeyError(f"there is no warning {code!r}; {nearest(code, CATALOGUE)!r} exists")
        entry = CATALOGUE[code]
        words_and_facts = {**facts, **(words or {})}
        return cls(
            code, entry.what.format(**words_and_facts), entry.advice.format(**words_and_facts), dict(facts)
        )

    @property
    def cause(self) -> str:
        """Why it matters."""
        return CATALOGUE[self.code].cause if self.code in CATALOGUE else ""

    def in_step(self, *, simulated: bool) -> str:
        """Return the advice for a step of a run, without options of `ssdlab measure`.

        The host's CPUs do not affect a simulated drive.
        """
        entry = CATALOGUE.get(self.code)
        if entry is None:
            return self.advice
        return (entry.simulated if simulated else "") or entry.in_step or self.advice

    def as_dict(self) -> dict[str, Any]:
        return {"code": self.code, "what": self.what, "advice": self.advice, "facts": self.facts}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        return cls(stored["code"], stored["what"], stored.get("advice", ""), dict(stored.get("facts", {})))


def judge(summary: Summary, workload: Workload, around: HostContext) -> list[Warning]:
    """Return the warnings about a measurement."""
    found: list[Warning] = []
    for rule in _RULES:
        found.extend(rule(summary, workload, around))
    return found


def judge_fills(what: str, fills: float) -> list[Warning]:
    """Warn if `what` is steady although only `fills` user capacities were written since the purge."""
    if fills >= MIN_FILLS - 0.01:  # spans are rounded down to whole blocks and MiB
        return []
    return [Warning.of("steady-before-full", {"fills": significant(fills)}, what=what, fills=fills)]


def judge_pauses(pauses: Sequence[Pause], zero_ns: int) -> list[Warning]:
    """Warn of pauses; `zero_ns` is the start of the measurement on CLOCK_MONOTONIC."""
    if not pauses:
        return []
    length_ns, after_ns = sum(each.length_ns for each in pauses), pauses[0].start_ns - zero_ns
    words = {
        "times": "once" if len(pauses) == 1 else counted(len(pauses), "time"),
        "length": span_text(length_ns / NS_PER_S),
        "when": f"{span_text(after_ns / NS_PER_S)} after the start" if after_ns > 0 else "before the start",
    }
    return [Warning.of("paused", words, length_ns=length_ns, after_ns=after_ns, count=len(pauses))]


def judge_scale(what: str, scale: int) -> list[Warning]:
    """Warn if the drive is simulated at 1/`scale` of its size; `what` says what this affects."""
    return [Warning.of("scaled-drive", {}, what=what, scale=scale)] if scale > 1 else []


Rule = Callable[["Summary", Workload, "HostContext"], Iterator[Warning]]


def _judge_host(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    threads = sum(stream.workers for stream in workload.streams)
    busy, cores = around.cpu_busy_share, around.cores
    if busy is not None and cores is not None and busy >= CPU_BUSY and threads >= cores:
        own = _own_share(summary, cores)
        if own is not None and own < busy / 2:
            words = {"busy": share_text(busy), "own": share_text(own)}
            yield Warning.of("host-shared", words, busy=busy, own=own)
        else:
            words = {"busy": share_text(busy)}
            yield Warning.of("host-limited", words, busy=busy, threads=threads, cores=cores)
    done = summary.ios
    waited_ns = (summary.workers or NO_WORKERS).run_queue_wait_ns
    tails = [side.response_ns["p99"] for side in summary.sides.values()]
    p99_ns = max((tail for tail in tails if tail is not None), default=None)
    if waited_ns and done and p99_ns and waited_ns / done >= QUEUE_DELAY_OF_P99 * p99_ns:
        words = {"delay": latency_text(waited_ns / done), "p99": latency_text(p99_ns)}
        yield Warning.of("run-queue-delay", words, delay_ns=waited_ns / done, p99_ns=p99_ns)
    if around.governors and set(around.governors) != {"performance"}:
        other = next(name for name in around.governors if name != "performance")
        yield Warning.of("governor", governor=other)
    if around.build_profile is not None and around.build_profile != "release":
        yield Warning.of("debug-build", profile=around.build_profile)


def _judge_pace(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    rates = [stream.requested_iops for stream in workload.streams]
    requested = float(sum((rate for rate in rates if rate is not None), Fraction()))
    if requested and None not in rates and summary.iops < _min_iops(requested, summary, workload):
        words = {"achieved": significant(summary.iops, 5), "requested": significant(requested, 5)}
        words["share"] = share_text(summary.iops / requested)
        yield Warning.of("rate-not-reached", words, achieved=summary.iops, requested=requested)
    sides = summary.sides.values()
    late, done = sum(side.late for side in sides), summary.ios
    # The I/Os of a burst are due at once, so all but the first are late by intent.
    bursts = any(isinstance(stream.arrival, Bursts) for stream in workload.streams)
    if done and late / done >= LATE_SHARE and not bursts:
        yield Warning.of("late", {"count": counted_were(done, "I/O")}, late=late, done=done)
    if (dropped := sum(side.dropped for side in sides)) and _are_of_the_end(summary, workload):
        yield Warning.of("undone", {"count": counted_were(dropped, "I/O")}, dropped=dropped)
    elif dropped:
        waiting = _waiting_at_end(summary, workload) if None not in rates else 0
        words = {"count": counted_were(dropped, "I/O"), "waiting": ""}
        if waiting:
            words["waiting"] = f", and about {count_text(waiting)} more were due at the end"
        yield Warning.of("dropped", words, dropped=dropped, waiting=waiting)
    asked, reached = _asked_depth(workload), summary.in_flight
    if asked is None or reached is None:
        return
    if reached * _drained(summary, workload) < DEPTH_REACHED * asked:
        if asked > 1:
            yield _depth("depth-not-reached", reached, asked)
        else:
            yield Warning.of("host-between", {"share": share_text(reached)}, reached=reached)
    elif around.device_in_flight is not None:
        due = reached - _in_host(summary)
        if around.device_in_flight < (DEPTH_REACHED if due >= 1 else DEPTH_HELD) * due:
            words = {"reached": significant(around.device_in_flight), "due": significant(due)}
            yield Warning.of("device-depth", words, reached=around.device_in_flight, due=due, asked=asked)


def _own_share(summary: Summary, cores: int) -> float | None:
    """Return the share of all CPUs' time that the workers themselves used; None if not known."""
    workers = summary.workers
    own_ns = 0 if workers is None else workers.user_cpu_ns + workers.system_cpu_ns
    return own_ns / (summary.elapsed_s * NS_PER_S * cores) if own_ns and summary.elapsed_s else None


def _drained(summary: Summary, workload: Workload) -> float:
    """Return the measured time divided by the time in which I/O was issued; 1 without a stop by time.

    The measured time is longer if no I/O completed before the stop. This drain must not count as missing
    depth.
    """
    times = [stream.stop.time_ns for stream in workload.streams]
    issued_ns = max((each for each in times if each is not None), default=None)
    if issued_ns is None or None in times or not summary.elapsed_s:
        return 1.0
    return max(1.0, summary.elapsed_s * NS_PER_S / max(issued_ns - (workload.ramp_ns or 0), 1))


def _in_host(summary: Summary) -> float:
    """Return how many of the I/Os in flight were in the host on average.

    By Little's law: the rate of I/Os times their CPU time and wait for a CPU.
    """
    done = summary.ios
    if not done or not summary.elapsed_s:
        return 0.0
    per_io_ns = (None if summary.cpu is None else summary.cpu.per_io_ns) or 0.0
    waited_ns = (summary.workers or NO_WORKERS).run_queue_wait_ns or 0
    return float(summary.iops * (per_io_ns + waited_ns / done) / 1e9)


def _min_iops(requested: float, summary: Summary, workload: Workload) -> float:
    """Return the rate that must be reached; random arrivals vary by the square root of their number."""
    due = max(requested * summary.elapsed_s, 1.0)
    drawn = any(getattr(stream.arrival, "process", None) == "poisson" for stream in workload.streams)
    slack = max(1 - RATE_REACHED, 4 / math.sqrt(due) if drawn else 1 / due)
    return requested * (1 - slack)


def _are_of_the_end(summary: Summary, workload: Workload) -> bool:
    """Return whether I/Os were dropped at the end only: none waited for the whole backlog time."""
    backlogs_ns = [getattr(stream.arrival, "backlog_ns", math.inf) for stream in workload.streams]
    longest_ns = [side.response_ns.get("max") for side in summary.sides.values()]
    return all(each is not None and each < min(backlogs_ns) for each in longest_ns)


def _waiting_at_end(summary: Summary, workload: Workload) -> int:
    """Return how many I/Os of open loops were due but neither done nor dropped; 0 if it may be chance.

    A measurement that is ended early leaves its backlog behind.
    """
    stops = [stream.stop for stream in workload.streams]
    if any(stop.bytes or stop.ios for stop in stops):
        return 0
    issued_s = [
        summary.elapsed_s,
        *((stop.time_ns - workload.ramp_ns) / NS_PER_S for stop in stops if stop.time_ns),
    ]
    due = float(sum(stream.requested_iops or 0 for stream in workload.streams)) * min(issued_s)
    left = due - sum(side.requested for side in summary.sides.values())
    in_flight = sum(stream.in_flight for stream in workload.streams)
    return round(left) if left > in_flight + 4 * math.sqrt(due) else 0


def _depth(code: str, reached: float, asked: int) -> Warning:
    return Warning.of(code, {"reached": significant(reached)}, reached=reached, asked=asked)


def _judge_counts(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    if not summary.complete:
        yield Warning.of("incomplete")
    if not summary.ios:
        yield Warning.of("nothing-measured")
    for direction, side in summary.sides.items():
        if side.failed:
            words = {"count": counted(side.failed, "I/O"), "errors": _errors_text(side.errors)}
            yield Warning.of("failed", words, failed=side.failed, errors=dict(side.errors))
        if side.requested and 0 < side.ios < P99_SAMPLES:
            words = {"count": counted_were(side.ios, f"{direction} I/O")}
            yield Warning.of("few-samples", words, samples=side.ios, direction=direction)

    if summary.flush is not None and summary.flush.failed:
        words = {"count": "a flush", "errors": _errors_text(summary.flush.errors)}
        yield Warning.of("failed", words, failed=summary.flush.failed, errors=dict(summary.flush.errors))


def _judge_target(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    if around.is_file:
        yield Warning.of("file-system")
    if around.allow_unwritten and workload.reads:
        yield Warning.of("unwritten-allowed")
    elif around.written_unknown and workload.reads:
        yield Warning.of("written-unknown")
    if not all(stream.direct for stream in workload.streams):
        yield Warning.of("buffered")


def _judge_leftovers(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    for what, advice in around.left:
        yield Warning.of("settings-left", what=what, advice=advice)


def _judge_unseen(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    if around.unseen:
        yield Warning.of("unseen", what=" and ".join(around.unseen))


def _judge_device(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    settings = around.conditions
    if settings is None:
        return
    device = settings.device
    if settings.scheduler not in (None, "none"):
        yield Warning.of("scheduler", device=device, scheduler=settings.scheduler)
    if settings.write_cache is None and any(stream.writes for stream in workload.streams):
        yield Warning.of("write-cache-unknown", device=device)
    if settings.rotational:
        yield Warning.of("rotational", device=device)
    used, _, possible = (settings.link or "").partition(" of ")
    if possible and used != possible:
        yield Warning.of("link", device=device, link=settings.link)
    largest = max(stream.largest_block_bytes for stream in workload.streams)
    if settings.max_io_bytes and largest > settings.max_io_bytes:
        words = {"block": block_text(largest), "limit": block_text(settings.max_io_bytes)}
        yield Warning.of("split", words, device=device, block=largest, limit=settings.max_io_bytes)
    most, words = _max_in_flight(summary, workload)
    if settings.nr_requests and most > settings.nr_requests:
        yield Warning.of("queue-limit", words, asked=most, limit=settings.nr_requests, device=device)


def _judge_slots(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    settings, drive = around.conditions, summary.drive or NO_DRIVE
    held = drive.commands_held if settings is None else settings.queue_depth
    most, words = _max_in_flight(summary, workload)
    if held and most > held:
        yield Warning.of("drive-queue", words, asked=most, limit=held)


def _judge_heat(summary: Summary, workload: Workload, around: HostContext) -> Iterator[Warning]:
    drive = summary.drive or NO_DRIVE
    events, limit_w = drive.throttle_events or 0, drive.throttled_to_w
    if not (events or limit_w):
        return
    when = "from the start" if not events else "once" if events == 1 else f"{events} times"
    limit = "" if limit_w is None else f", limited to {limit_w:g} W"
    words = {"when": when, "temperature": f"{drive.temperature_c:.1f} °C", "limit": limit}
    yield Warning.of("throttled", words, events=events, limit_w=limit_w)


_RULES: tuple[Rule, ...] = (
    _judge_counts,
    _judge_heat,
    _judge_pace,
    _judge_host,
    _judge_device,
    _judge_slots,
    _judge_leftovers,
    _judge_unseen,
    _judge_target,
)


def _max_in_flight(summary: Summary, workload: Workload) -> tuple[int, dict[str, str]]:
    """Return the I/Os in flight, as number and words: requested by a closed loop, or counted in an open one.

    An open loop has spare threads, so their number does not tell how many I/Os were in flight.
    """
    if all(isinstance(stream.arrival, Closed | Pulses) for stream in workload.streams):
        asked = sum(stream.in_flight for stream in workload.streams)
        return asked, {
            "in_flight": f"{counted(asked, 'I/O')} in flight {'was' if asked == 1 else 'were'} requested"
        }
    found = summary.in_flight_max or 0
    return found, {"in_flight": f"up to {counted_were(found, 'I/O')} in flight"}


def _asked_depth(workload: Workload) -> int | None:
    """Return the I/Os that should always be in flight; None if the loop is open or pauses."""
    if all(_keeps_depth(stream) for stream in workload.streams):
        return sum(stream.in_flight for stream in workload.streams)
    return None


def _keeps_depth(stream: Stream) -> bool:
    return isinstance(stream.arrival, Closed) and stream.arrival.think_ns == 0 and stream.flush_every is None


def _errors_text(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {errno_text(int(number))}" for number, count in errors.items())


_NAMED = 3
"""Marks of one kind that are named; the others are counted."""


def judge_telemetry(telemetry: StepTelemetry | None, known: Collection[str] = ()) -> list[Warning]:
    """Return a warning for each kind of telemetry mark.

    Parameters
    ----------
    telemetry
        Telemetry of one step; None if the drive reports nothing.
    known
        Codes already raised by the measurement.
    """
    return [] if telemetry is None else [each for each in _judged(telemetry) if each.code not in known]


def _judged(telemetry: StepTelemetry) -> Iterator[Warning]:
    for code in dict.fromkeys(mark.code for mark in telemetry.marks):
        marks = [mark for mark in telemetry.marks if mark.code == code]
        yield _throttled(telemetry, marks) if code == "throttled" else Warning.of(code, what=_words(marks))


def _words(marks: list[Mark]) -> str:
    more = len(marks) - _NAMED
    named = "; ".join(mark.what for mark in marks[:_NAMED])
    return named + (f"; and {more} more" if more > 0 else "")


def _throttled(telemetry: StepTelemetry, marks: list[Mark]) -> Warning:
    heat = telemetry.health.temperature_c if telemetry.health is not None else None
    words = {
        "when": "once" if len(marks) == 1 else f"{len(marks)} times",
        "temperature": "temperature not reported" if heat is None else f"{heat:.1f} °C",
        "limit": "",
    }
    return Warning.of("throttled", words, events=len(marks), limit_w=None)
