"""A measurement's summary as a model, a side for each direction; with block-layer times and pauses.

The JSON of `ssdlab.measurement/1` is the contract (`Measurement.as_dict()`, journals, saved results); this
reads it. Numbers keep their JSON type, so that results do not depend on a decimal point in whole numbers.
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
"""Kinds with rows and histograms: the directions, and flushes, which are not I/Os."""
BLOCK_TIMES_FACT = "block_layer"
"""Name of a step's block-layer times."""
PERCENTILES = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
"""Keys of the percentiles in a summary; null with fewer than 10 samples beyond."""


class BlockTimes(Stored):
    """Times of requests from issue to completion, or why there are none."""

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
        """Whether they replace the program's own times."""
        return self.fault is None and self.requests > 0


# Whether the whole process was paused: stopped, frozen, or suspended with its host.
#
# No thread of a process that is stopped sees it: what waits meanwhile seems to wait for the drive. A thread
# that does nothing but sleep to given times (`_core.Heartbeat`) wakes late after it. It wakes late also where
# it finds no free CPU, and that is another matter, the host's limit (`results.points`). The two are told
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
"""Interval of beats, which cost about a thousandth of a CPU; pauses are measured up to this error."""
MIN_PAUSE_S = 0.05
"""Unexplained lateness that counts as a pause, so that any pause of 0.1 s shows. Smaller delays may be the
kernel's, or stolen time, which is counted in 0.01 s: at most 0.006 s in 16 minutes on a virtual machine with
ten ready threads per CPU.
"""


class Gap(NamedTuple):
    """A sleep that lasted too long, from `_core.Heartbeat.gaps`."""

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
        """Whether it may have prolonged a wait that ended then."""
        return self.end_ns + PERIOD_S * NS_PER_S > end_ns


def pauses_in(gaps: Iterable[Gap]) -> tuple[Pause, ...]:
    """Return the pauses among the late beats; a starved thread is not a pause."""
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
    """The I/O done in one direction."""

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
    """Times of the threads."""

    busy_ns: int = 0
    """Time with at least one I/O in flight."""
    run_ns: int = 0
    """CPU time in all."""
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
    """Number of thermal throttle events meanwhile."""
    throttled_to_w: Number | None = None


NO_DRIVE = MeasuredDrive()
"""For a measurement without data on it."""


class SummaryWarning(_Read):
    """A warning about the measurement."""

    code: str
    what: str
    advice: str = ""


class Around(_Read):
    """The host meanwhile, as far as not in the environment record."""

    cores: int | None = None
    cpu_busy_share: float | None = None
    device_in_flight: float | None = None


class Drained(_Read):
    """I/Os completed after a stop by time: in counts and latencies, but in no rate."""

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
        """The same, as facts of an error."""
        return {
            "errno": self.errno,
            "operation": self.op,
            "offset": self.offset,
            "length": self.length,
        }


class Started(_Read):
    """The start of the measurement."""

    monotonic_ns: int
    """Time on CLOCK_MONOTONIC, the zero of its rows."""


class Build(_Read):
    """Build of the native module."""

    profile: str | None = None


class Summary(_Read):
    """The totals of a measurement; a direction without I/O is None."""

    iops: Number = 0.0
    mb_s: Number = 0.0
    elapsed_s: Number = 0.0
    """The time for rates: when I/O was issued, without ramp."""
    total_s: Number | None = None
    drained: Drained | None = None
    read: Side | None = None
    write: Side | None = None
    trim: Side | None = None
    flush: Flushes | None = None
    in_flight: Number | None = None
    in_flight_max: int | None = None
    """Maximum, added up over streams, and over threads of a closed loop: an upper bound."""
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
    """The workload, for `Workload`, if stored with the figures."""
    host: Around | None = None
    pauses: tuple[Pause, ...] = ()
    """Pauses of ssdlab during the measurement, if stored with the figures."""
    telemetry: StepTelemetry | None = None
    """The drive's telemetry, if stored with the figures."""
    run: str | None = None
    """Its run folder."""

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
        """Seconds for counts and latencies: the measured time and the drain after it."""
        return float(self.elapsed_s) + (0.0 if self.drained is None else self.drained.ns / 1e9)

    @property
    def zero_ns(self) -> int:
        """Start of its rows on CLOCK_MONOTONIC; 0 if not recorded."""
        return 0 if self.started is None else self.started.monotonic_ns

    @property
    def ios(self) -> int:
        """I/Os done, in all directions."""
        return sum(side.ios for side in self.sides.values())

    @property
    def transfers(self) -> tuple[Side, ...]:
        """The existing sides that move data, reads first."""
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
        """Bytes written."""
        return 0 if self.write is None else self.write.bytes

    @property
    def mean_w(self) -> float | None:
        """Mean power over the measured window; None without a meter."""
        return None if self.power is None else float(self.power.mean_w)
