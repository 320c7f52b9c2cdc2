"""A measurement's summary as a model, a side for each direction; with block-layer times and pauses.

The JSON of `ssdlab.measurement/1` is the contract (`Measurement.as_dict()`, journals, saved results); this
reads it. Numbers keep the type that the JSON has, so that nothing computed from them depends on whether a
whole number was written with a point. A key of the JSON that is no field here is kept, and found by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ssdlab.model.errors import errno_text
from ssdlab.model.frozen import Stored
from ssdlab.model.telemetry import StepTelemetry
from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Direction = Literal["read", "write", "trim"]
DIRECTIONS: tuple[Direction, ...] = ("read", "write", "trim")
"""In the order that summaries, tables and pages have them."""
FLUSH: Literal["flush"] = "flush"
Command = Literal["read", "write", "trim", "flush"]
COMMANDS: tuple[Command, ...] = (*DIRECTIONS, FLUSH)
"""What has rows and histograms: the directions, and flushes, which are no I/Os."""


BLOCK_TIMES_FACT = "block_layer"
"""Under which a step has them."""
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
"""Keys of the percentiles in a summary; null where fewer than 10 samples lie beyond."""


class BlockTimes(Stored):
    """Times of requests from their issue to their completion, or why there are none."""

    fault: str | None = Field(default=None, description="why the times are unusable; None: they are usable")
    requests: int = 0
    bytes: int = Field(default=0, description="read and written")
    lost: int = Field(default=0, description="events lost because the kernel's buffers were full")
    unmatched: int = Field(default=0, description="requests with only an issue or only a completion")
    busy_ns: int = Field(default=0, description="time with at least one request at the device")
    service_mean_ns: float | None = Field(default=None, description="of all directions")
    service_ns: dict[str, dict[str, float | None]] = Field(
        default={},
        description="by direction: min, mean, max and percentiles; None if too few samples lie beyond",
    )

    @property
    def used(self) -> bool:
        """Whether they stand for the times that the program took."""
        return self.fault is None and self.requests > 0


# Whether the whole process was paused: stopped, frozen, or suspended with its host.
#
# No thread of a process that is stopped sees it: what waits meanwhile seems to wait for the drive. A thread
# that does nothing but sleep to given times (`_core.Heartbeat`) wakes late after it. It wakes late also where
# it finds no free CPU, and that is another matter, the host's limit (`results.attribution`). The two are told
# apart by what the kernel counts of that thread:
#
# starved
#     It was ready, and waited: the scheduler's run delay grows (schedstat), also where a quota of a cgroup
#     throttles it; or a hypervisor had the CPU, whose time then counts as stolen.
# stopped
#     It was not ready: a stop (Ctrl-Z, SIGSTOP, a debugger) or a frozen cgroup. Nothing grows but the time.
# suspended
#     CLOCK_MONOTONIC stands still, and CLOCK_BOOTTIME goes on (clock_gettime(2)).
#
# A virtual machine that is paused looks like a stop where its clock goes on. Where its clock stands still
# too, no latency holds the pause, and nothing in the machine can tell.

PERIOD_S = 0.05
"""Between two beats, which cost about a thousandth of a CPU; up to so much of a stop is sleep."""
MIN_PAUSE_S = 0.05
"""Unexplained lateness that is a stop, so that one of a tenth of a second shows wherever it begins.

Below it lies what a kernel does without counting it, and the 0.01 s in which stolen time is counted: 0.006 s
at most in 16 minutes on a virtual machine with ten threads ready for each CPU.
"""


class Gap(NamedTuple):
    """A sleep that lasted too long, as `_core.Heartbeat.gaps` has it."""

    began_ns: int
    due_ns: int
    ended_ns: int
    suspended_ns: int
    ready_ns: int | None
    stolen_ns: int


class Pause(Stored):
    """A time in which the process was paused, on CLOCK_MONOTONIC."""

    start_ns: int = Field(description="it began no earlier")
    end_ns: int = Field(description="it had ended")
    length_ns: int = Field(
        description="it lasted at least this long, including a suspend, which the clock omits"
    )

    def lasts_to(self, end_ns: int) -> bool:
        """Whether it may have made a wait that ended then longer: else the wait had its time all the same."""
        return self.end_ns + PERIOD_S * NS_PER_S > end_ns


def pauses_in(gaps: Iterable[Gap]) -> tuple[Pause, ...]:
    """Return the pauses among the late beats; that a thread was starved is none."""
    found = []
    for gap in gaps:
        late_ns = gap.ended_ns - gap.due_ns
        # Without the scheduler's account a late beat proves nothing.
        ready_ns = late_ns if gap.ready_ns is None else gap.ready_ns
        stopped_ns = late_ns - ready_ns - gap.stolen_ns
        if stopped_ns < MIN_PAUSE_S * NS_PER_S:
            stopped_ns = 0
        if length_ns := stopped_ns + gap.suspended_ns:
            found.append(Pause(start_ns=gap.began_ns, end_ns=gap.ended_ns, length_ns=length_ns))
    return tuple(found)


def paused_rows(
    pauses: Sequence[Pause], zero_ns: int, rows_ns: Iterable[tuple[int, int]]
) -> tuple[bool, ...]:
    """Return whether a pause was in each interval row, given its beginning and end since `zero_ns`."""
    spans = [(each.start_ns - zero_ns, each.end_ns - zero_ns) for each in pauses]
    return tuple(
        any(start < end_ns and end > start_ns for start, end in spans) for start_ns, end_ns in rows_ns
    )


Number = int | float
Times = dict[str, int | float | None]
"""`min mean max p50 p90 p99 p99.9 p99.99 p99.999` in ns; None where fewer than 10 samples lie beyond."""
NO_TIMES: Times = {}


class _Read(BaseModel):
    """What is read of a summary; what a newer ssdlab adds is kept."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever the JSON has there
        """Return what stands under a key of the JSON.

        Raises
        ------
        KeyError
            There is no such key.
        """
        if key in type(self).model_fields:
            return getattr(self, key)
        return (self.model_extra or {})[key]

    def __contains__(self, key: object) -> bool:
        """Return whether the JSON can have a key."""
        return key in type(self).model_fields or key in (self.model_extra or {})


class Side(_Read):
    """What was done in one direction."""

    requested: int = 0
    ios: int = 0
    failed: int = 0
    dropped: int = 0
    late: int = 0
    bytes: int = 0
    iops: Number | None = None
    """Of those that completed in the measured time; None in what older versions stored."""
    mb_s: Number | None = None
    errors: dict[str, int] = {}
    service_ns: Times = NO_TIMES
    response_ns: Times = NO_TIMES

    @property
    def service_mean_ns(self) -> Number:
        """Mean service time; 0 where nothing was done."""
        return self.service_ns.get("mean") or 0.0

    @property
    def response_mean_ns(self) -> Number:
        """Mean response time; 0 where nothing was done."""
        return self.response_ns.get("mean") or 0.0


class Flushes(_Read):
    """Flushes that followed writes; they are no I/Os."""

    flushes: int = 0
    failed: int = 0
    errors: dict[str, int] = {}
    latency_ns: Times = NO_TIMES


NO_SIDE = Side()
"""A direction in which nothing was asked for."""


class Cpu(_Read):
    """CPU time of the run."""

    user_s: Number = 0.0
    sys_s: Number = 0.0
    per_io_ns: Number | None = None


class MeanPower(_Read):
    """Power over the time that the totals cover."""

    mean_w: Number
    energy_j: Number | None = None
    source: str = "model"
    """Who metered it: `model` is a simulated drive's own account, else kind and place of a meter."""
    error_w: Number | None = None
    """Of the meter; None where its accuracy is not known."""


class Workers(_Read):
    """What the threads did."""

    busy_ns: int = 0
    """Time with at least one I/O in flight."""
    run_ns: int = 0
    """Time on a CPU, all together."""
    run_queue_wait_ns: int | None = 0
    """Time in wait for one."""
    user_cpu_ns: int = 0
    system_cpu_ns: int = 0


NO_WORKERS = Workers()
"""Of a measurement that says nothing of its threads."""


class MeasuredDrive(_Read):
    """What was measured: its identity, and what a simulated drive says of its inside."""

    path: str = ""
    kind: str = ""
    capacity_bytes: int = 0
    model: str | None = None
    serial: str | None = None
    backing: str | None = None
    scale: Number | None = None
    """None of a real drive."""
    commands_held: int | None = None
    """By a simulated drive at once; others wait in the host. None where nothing bounds them."""
    effective_spare: Number | None = None
    write_amplification: Number | None = None
    temperature_c: Number | None = None
    throttle_events: int | None = None
    """How often its heat made it slower meanwhile."""
    throttled_to_w: Number | None = None


NO_DRIVE = MeasuredDrive()
"""Of a measurement that says nothing of it."""


class SummaryWarning(_Read):
    """A warning about the measurement."""

    code: str
    what: str
    advice: str = ""


class Around(_Read):
    """The host meanwhile: what is no part of the environment record."""

    cores: int | None = None
    cpu_busy_share: float | None = None
    device_in_flight: float | None = None


class Drained(_Read):
    """What completed after a stop by time: in the counts and latencies, and in no rate."""

    ios: int = 0
    bytes: int = 0
    ns: int = 0


class FirstFailure(_Read):
    """The first I/O that failed, be it in the ramp."""

    op: str
    errno: int
    """0: the transfer ended early."""
    offset: int
    length: int

    @property
    def words(self) -> str:
        """What failed, where and why."""
        if self.op == FLUSH:
            return f"a flush ({errno_text(self.errno)})"
        return f"a {self.op} of {self.length} bytes at byte {self.offset} ({errno_text(self.errno)})"

    @property
    def facts(self) -> dict[str, Any]:
        """The same, as an error tells it."""
        return {
            "errno": self.errno,
            "operation": self.op,
            "offset": self.offset,
            "length": self.length,
        }


class Started(_Read):
    """When the measurement began."""

    monotonic_ns: int
    """Of CLOCK_MONOTONIC: the zero of its rows."""


class Build(_Read):
    """Of the native module."""

    profile: str | None = None


class Summary(_Read):
    """The totals of a measurement; a direction without I/O is None."""

    iops: Number = 0.0
    mb_s: Number = 0.0
    elapsed_s: Number = 0.0
    """The time that rates are of: in which I/O was issued, without ramp."""
    total_s: Number | None = None
    drained: Drained | None = None
    read: Side | None = None
    write: Side | None = None
    trim: Side | None = None
    flush: Flushes | None = None
    in_flight: Number | None = None
    in_flight_max: int | None = None
    """At once, added up over the streams; of a closed loop over its threads too, so at most."""
    cpu: Cpu | None = None
    power: MeanPower | None = None
    engine: str | None = None
    seed: int | None = None
    requested_iops: Number | None = None
    drive: MeasuredDrive | None = None
    workers: Workers | None = None
    lateness_ns: Times = NO_TIMES
    first_failure: FirstFailure | None = None
    warnings: tuple[SummaryWarning, ...] | None = ()
    complete: bool = True
    build: Build | None = None
    started: Started | None = None
    workload: dict[str, Any] | None = None
    """What was asked for, as `Workload` reads it; where it was kept with the figures."""
    host: Around | None = None
    pauses: tuple[Pause, ...] = ()
    """Pauses of ssdlab during the measurement, if kept with the figures."""
    telemetry: StepTelemetry | None = None
    """What the drive told of itself meanwhile; where it was kept with the figures."""
    run: str | None = None
    """The run folder that it was saved in."""

    def side(self, direction: Direction) -> Side | None:
        """Return what was done in a direction; None where nothing was asked for."""
        return {"read": self.read, "write": self.write, "trim": self.trim}[direction]

    @property
    def sides(self) -> dict[Direction, Side]:
        """The directions that something was asked for in: reads, writes, trims."""
        found = ((name, self.side(name)) for name in DIRECTIONS)
        return {name: side for name, side in found if side is not None}

    def iops_of(self, direction: Direction) -> float:
        """Return the I/Os a second of one direction; 0 where nothing was asked for."""
        side = self.side(direction)
        return 0.0 if side is None else self._rate(side.iops, side.ios)

    def mb_s_of(self, direction: Direction) -> float:
        """Return the decimal megabytes a second of one direction; 0 where nothing was asked for."""
        side = self.side(direction)
        return 0.0 if side is None else self._rate(side.mb_s, side.bytes / 1e6)

    def _rate(self, stored: Number | None, counted: float) -> float:
        if stored is not None:
            return float(stored)
        return counted / float(self.elapsed_s) if self.elapsed_s > 0 else 0.0

    @property
    def counted_s(self) -> float:
        """Seconds that counts and latencies are of: the measured time, and the drain after it."""
        return float(self.elapsed_s) + (0.0 if self.drained is None else self.drained.ns / 1e9)

    @property
    def zero_ns(self) -> int:
        """When its rows begin, on CLOCK_MONOTONIC; 0 where it was not kept."""
        return 0 if self.started is None else self.started.monotonic_ns

    @property
    def ios(self) -> int:
        """I/Os done, in all directions."""
        return sum(side.ios for side in self.sides.values())

    @property
    def transfers(self) -> tuple[Side, ...]:
        """The sides that move data, reads first; those alone that there are."""
        return tuple(side for side in (self.read, self.write) if side is not None)

    def slower(self, key: str) -> Number | None:
        """Return a figure of response time, of that direction which has the greater one.

        None where a direction did too few I/Os for it: which is the slower is not known then.
        """
        found = [side.response_ns.get(key) for side in self.transfers if side.ios]
        known = [value for value in found if value is not None]
        return max(known, default=None) if len(known) == len(found) else None

    @property
    def failed(self) -> int:
        """I/Os that failed, in all directions."""
        return sum(side.failed for side in self.sides.values())

    @property
    def moved_bytes(self) -> int:
        """Bytes read and written."""
        return sum(side.bytes for side in self.transfers)

    @property
    def written_bytes(self) -> int:
        """Bytes written."""
        return 0 if self.write is None else self.write.bytes

    @property
    def mean_w(self) -> float | None:
        """Mean power over the measured window; None where nobody metered it."""
        return None if self.power is None else float(self.power.mean_w)
