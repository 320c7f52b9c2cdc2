"""The summary of a measurement as a model, with a `Side` for each direction, block-layer times and pauses.

The models read the documented JSON, `ssdlab.measurement/1` (`Measurement.as_dict()`, journals, saved
results). Numbers keep their JSON type, so that results do not depend on a decimal point in whole numbers.
Unknown keys are kept, and accessible by name.
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
"""Directions in the order of summaries, tables and pages."""
FLUSH: Literal["flush"] = "flush"
Command = Literal["read", "write", "trim", "flush"]
COMMANDS: tuple[Command, ...] = (*DIRECTIONS, FLUSH)
"""Commands with rows and histograms: the directions, and flushes, which are not I/Os."""
BLOCK_TIMES_FACT = "block_layer"
"""Name of the fact with a step's block-layer times."""
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
"""Keys of the percentiles in a summary; null with fewer than 10 samples beyond."""


class BlockTimes(Stored):
    """Times of block-layer requests from issue to completion, or why there are none."""

    fault: str | None = Field(default=None, description="why the times are unusable; None: they are usable")
    requests: int = 0
    bytes: int = Field(default=0, description="read and written")
    lost: int = Field(default=0, description="events lost because the kernel's buffers were full")
    unmatched: int = Field(default=0, description="requests with only an issue or only a completion")
    busy_ns: int = Field(default=0, description="time with at least one request at the device")
    service_mean_ns: float | None = Field(default=None, description="of all directions")
    service_ns: dict[str, dict[str, float | None]] = Field(
        default={},
        description="by direction: min, mean, max and percentiles; None with too few samples beyond",
    )

    @property
    def used(self) -> bool:
        """Whether these times replace the program's own times."""
        return self.fault is None and self.requests > 0


# Pauses of the whole process: it was stopped, frozen, or suspended with its host.
#
# A stopped process does not notice it: I/Os that complete meanwhile seem to wait for the drive. A thread that
# only sleeps until given times (`_core.Heartbeat`) wakes late after a pause. It also wakes late if no CPU is
# free, but then the host is the limit (`results.points`). The kernel's counters for this thread tell which:
#
# starved
#     The thread was ready and waited. The scheduler's run delay grows (schedstat), also if a cgroup's quota
#     throttles it. Or a hypervisor had the CPU, and the time counts as stolen.
# stopped
#     The thread was not ready: a stop (Ctrl-Z, SIGSTOP, a debugger) or a frozen cgroup. No counter grows.
# suspended
#     CLOCK_MONOTONIC stands still while CLOCK_BOOTTIME goes on (clock_gettime(2)).
#
# A paused virtual machine looks like a stop if its clock goes on. If its clock stands still too, no latency
# includes the pause, and nothing in the machine can detect it.

PERIOD_S = 0.05
"""Seconds between heartbeats, which cost about 0.1 % of a CPU; also the error of a pause's length."""
MIN_PAUSE_S = 0.05
"""Minimum unexplained lateness that counts as a pause, in seconds: every pause of 0.1 s is found.

Smaller delays may come from the kernel, or from stolen time, which is counted in steps of 0.01 s. On a
virtual machine with ten ready threads per CPU, they were at most 0.006 s in 16 minutes.
"""


class Gap(NamedTuple):
    """A sleep of the heartbeat that lasted too long, from `_core.Heartbeat.gaps`."""

    began_ns: int
    due_ns: int
    ended_ns: int
    suspended_ns: int
    ready_ns: int | None
    stolen_ns: int


class Pause(Stored):
    """A pause of the process, on CLOCK_MONOTONIC."""

    start_ns: int = Field(description="earliest start")
    end_ns: int = Field(description="latest end")
    length_ns: int = Field(description="minimum length, including a suspend, which the clock omits")

    def lasts_to(self, end_ns: int) -> bool:
        """Return whether the pause may have prolonged a wait that ended at `end_ns`."""
        return self.end_ns + PERIOD_S * NS_PER_S > end_ns


def pauses_in(gaps: Iterable[Gap]) -> tuple[Pause, ...]:
    """Return the pauses among the late beats; a starved thread is not a pause."""
    found = []
    for gap in gaps:
        late_ns = gap.ended_ns - gap.due_ns
        # Without the scheduler's counters, a late beat proves nothing.
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
    """Return whether each interval row contains a pause, given its start and end since `zero_ns`."""
    spans = [(each.start_ns - zero_ns, each.end_ns - zero_ns) for each in pauses]
    return tuple(
        any(start < end_ns and end > start_ns for start, end in spans) for start_ns, end_ns in rows_ns
    )


Number = int | float
Times = dict[str, int | float | None]
"""`min mean max p50 p90 p99 p99.9 p99.99 p99.999` in ns; None where fewer than 10 samples lie beyond."""
NO_TIMES: Times = {}


class _Read(BaseModel):
    """Base of the summary's models. It keeps fields that a newer ssdlab has added."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever the JSON has there
        """Return the value of a JSON key.

        Raises
        ------
        KeyError
            There is no such key.
        """
        if key in type(self).model_fields:
            return getattr(self, key)
        return (self.model_extra or {})[key]

    def __contains__(self, key: object) -> bool:
        return key in type(self).model_fields or key in (self.model_extra or {})


class Side(_Read):
    """The I/O of one direction."""

    requested: int = 0
    ios: int = 0
    failed: int = 0
    dropped: int = 0
    late: int = 0
    bytes: int = 0
    iops: Number | None = None
    """IOPS of I/Os completed in the measured time; None in older results."""
    mb_s: Number | None = None
    errors: dict[str, int] = {}
    service_ns: Times = NO_TIMES
    response_ns: Times = NO_TIMES

    @property
    def service_mean_ns(self) -> Number:
        """Mean service time; 0 without I/O."""
        return self.service_ns.get("mean") or 0.0

    @property
    def response_mean_ns(self) -> Number:
        """Mean response time; 0 without I/O."""
        return self.response_ns.get("mean") or 0.0


class Flushes(_Read):
    """Flushes after writes, which are not I/Os."""

    flushes: int = 0
    failed: int = 0
    errors: dict[str, int] = {}
    latency_ns: Times = NO_TIMES


NO_SIDE = Side()
"""A direction without requested I/O."""


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
    """The meter: `model` for a simulated drive's own power, else kind and place."""
    error_w: Number | None = None
    """Error of the meter; None if unknown."""


class Workers(_Read):
    """Times of the threads that issue I/O."""

    busy_ns: int = 0
    """Time with at least one I/O in flight."""
    run_ns: int = 0
    """Total CPU time."""
    run_queue_wait_ns: int | None = 0
    """Time waiting for a CPU."""
    user_cpu_ns: int = 0
    system_cpu_ns: int = 0


NO_WORKERS = Workers()
"""For a measurement without data on its threads."""


class MeasuredDrive(_Read):
    """The measured drive: its identity, and a simulated drive's internal figures."""

    path: str = ""
    kind: str = ""
    capacity_bytes: int = 0
    model: str | None = None
    serial: str | None = None
    backing: str | None = None
    scale: Number | None = None
    """None for a real drive."""
    commands_held: int | None = None
    """Maximum commands at a simulated drive; others wait in the host. None: no limit."""
    effective_spare: Number | None = None
    write_amplification: Number | None = None
    temperature_c: Number | None = None
    throttle_events: int | None = None
    """Number of thermal throttle events during the measurement."""
    throttled_to_w: Number | None = None


NO_DRIVE = MeasuredDrive()
"""For a measurement without data on its drive."""


class SummaryWarning(_Read):
    """A warning about the measurement."""

    code: str
    what: str
    advice: str = ""


class Around(_Read):
    """Facts about the host during the measurement that are not in the environment record."""

    cores: int | None = None
    cpu_busy_share: float | None = None
    device_in_flight: float | None = None


class Drained(_Read):
    """I/Os that completed after a stop by time. Counts and latencies include them, rates do not."""

    ios: int = 0
    bytes: int = 0
    ns: int = 0


class FirstFailure(_Read):
    """The first failed I/O, including the ramp."""

    op: str
    errno: int
    """Error number; 0: a short transfer."""
    offset: int
    length: int

    @property
    def words(self) -> str:
        """The failed operation, its place and the error."""
        if self.op == FLUSH:
            return f"a flush ({errno_text(self.errno)})"
        return f"a {self.op} of {self.length} bytes at byte {self.offset} ({errno_text(self.errno)})"

    @property
    def facts(self) -> dict[str, Any]:
        """The failed I/O as facts of an error."""
        return {
            "errno": self.errno,
            "operation": self.op,
            "offset": self.offset,
            "length": self.length,
        }


class Started(_Read):
    """The start of the measurement."""

    monotonic_ns: int
    """Start on CLOCK_MONOTONIC; times of interval rows count from it."""


class Build(_Read):
    """Build of the native module."""

    profile: str | None = None


class Summary(_Read):
    """The totals of a measurement; a direction without I/O is None."""

    iops: Number = 0.0
    mb_s: Number = 0.0
    elapsed_s: Number = 0.0
    """Time that the rates refer to: while I/O was issued, without ramp."""
    total_s: Number | None = None
    drained: Drained | None = None
    read: Side | None = None
    write: Side | None = None
    trim: Side | None = None
    flush: Flushes | None = None
    in_flight: Number | None = None
    in_flight_max: int | None = None
    """Upper bound: the sum of the maxima of streams, and of threads in a closed loop."""
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
    """The workload as JSON of `Workload`, if stored with the figures."""
    host: Around | None = None
    pauses: tuple[Pause, ...] = ()
    """Pauses of ssdlab during the measurement, if stored with the figures."""
    telemetry: StepTelemetry | None = None
    """The drive's telemetry, if stored with the figures."""
    run: str | None = None
    """The run folder, if the measurement was saved."""

    def side(self, direction: Direction) -> Side | None:
        """Return the I/O done in a direction; None if none was requested."""
        return {"read": self.read, "write": self.write, "trim": self.trim}[direction]

    @property
    def sides(self) -> dict[Direction, Side]:
        """The requested directions: reads, writes, trims."""
        found = ((name, self.side(name)) for name in DIRECTIONS)
        return {name: side for name, side in found if side is not None}

    def iops_of(self, direction: Direction) -> float:
        """Return the I/Os a second of one direction; 0 if none were requested."""
        side = self.side(direction)
        return 0.0 if side is None else self._rate(side.iops, side.ios)

    def mb_s_of(self, direction: Direction) -> float:
        """Return the decimal megabytes a second of one direction; 0 if none were requested."""
        side = self.side(direction)
        return 0.0 if side is None else self._rate(side.mb_s, side.bytes / 1e6)

    def _rate(self, stored: Number | None, counted: float) -> float:
        if stored is not None:
            return float(stored)
        return counted / float(self.elapsed_s) if self.elapsed_s > 0 else 0.0

    @property
    def counted_s(self) -> float:
        """Seconds that counts and latencies cover: the measured time and the drain after it."""
        return float(self.elapsed_s) + (0.0 if self.drained is None else self.drained.ns / 1e9)

    @property
    def zero_ns(self) -> int:
        """Start of the interval rows on CLOCK_MONOTONIC; 0 if not recorded."""
        return 0 if self.started is None else self.started.monotonic_ns

    @property
    def ios(self) -> int:
        """I/Os done, in all directions."""
        return sum(side.ios for side in self.sides.values())

    @property
    def transfers(self) -> tuple[Side, ...]:
        """The sides with reads and writes, if requested, reads first."""
        return tuple(side for side in (self.read, self.write) if side is not None)

    def slower(self, key: str) -> Number | None:
        """Return a response-time figure of the slower direction.

        None if a direction has too few I/Os to compare.
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
        return 0 if self.write is None else self.write.bytes

    @property
    def mean_w(self) -> float | None:
        """Mean power over the measured window; None without a meter."""
        return None if self.power is None else float(self.power.mean_w)
