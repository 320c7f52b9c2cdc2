"""The native half of ssdlab: it issues I/O and counts. Private; use the classes of ``ssdlab`` that wrap it.

Times are nanoseconds as ``int``, sizes bytes as ``int``; a name says which. A *direction* is ``"read"``,
``"write"`` or ``"trim"``; a *kind* of latency is ``"service"`` (submit to complete) or ``"response"``
(intended start to complete). Columns are one-dimensional numpy arrays that own no memory of their own: they
look into what Rust keeps, without a copy.

Errors are those of ``ssdlab.model.errors``: ``UsageError`` (the workload or a parameter is wrong, or there is
no such target), ``Refused`` (it is busy, or not allowed), ``HostError`` (this host cannot, or its resources
ran out), ``DriveError`` (the drive or its file failed), ``Interrupted``. Their ``facts`` hold, where known,
``errno``, ``device``, ``operation``, ``offset``, ``length``; when a run had begun, the exception has an
attribute ``measurement`` with what was measured until then.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cell",
    "Deadline",
    "Heartbeat",
    "Histogram",
    "LogContents",
    "Measurement",
    "Row",
    "SimulatedDrive",
    "SimulatedState",
    "Snapshot",
    "Target",
    "build_info",
    "calibrate",
    "capabilities",
    "check_profile",
    "check_recording",
    "check_workload",
    "digest",
    "read_log",
    "run",
    "serve",
    "workload_schema",
]

_Direction: TypeAlias = Literal["read", "write", "trim"]
_Command: TypeAlias = Literal["read", "write", "trim", "flush"]
_Kind: TypeAlias = Literal["service", "response"]
_Columns: TypeAlias = dict[str, NDArray[Any]]

@final
class Target:
    """An open block device or file, held until `close`; an exclusive claim lasts as long.

    Usable as a context manager.
    """

    @staticmethod
    def from_descriptor(
        descriptor: int, *, path: str | PathLike[str], write: bool = False, exclusive: bool = False
    ) -> Target:
        """Take over what is open under a descriptor, which stays the caller's: both share one open file.

        Parameters
        ----------
        descriptor
            Of a block device or a regular file.
        path
            What people know it by.
        write
            Allow writes and trims; the descriptor must be open for reading and writing.
        exclusive
            The descriptor holds the claim on a block device.

        Raises
        ------
        UsageError
            It is neither a device nor a file.
        DriveError
            Nothing is open there, or not for writing.
        """

    @property
    def path(self) -> str: ...
    @property
    def kind(self) -> Literal["block", "file"]: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def logical_block_bytes(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def exclusive(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def fileno(self) -> int:
        """Return the number of the descriptor that is held; it is closed with the target."""

    def flush(self) -> None:
        """Make written data durable, the drive's own cache included."""

    def trim(self, offset: int, length: int) -> None:
        """Discard a range of a device, or punch it out of a file."""

    def close(self) -> None: ...
    def __enter__(self) -> Target: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Histogram:
    """A log-linear histogram of latencies: 64 buckets an octave, so a quantile is off by at most 0.79 %."""

    def __new__(cls) -> Histogram: ...
    @property
    def count(self) -> int: ...
    @property
    def sum_ns(self) -> int: ...
    @property
    def min_ns(self) -> int | None: ...
    @property
    def max_ns(self) -> int | None: ...
    @property
    def mean_ns(self) -> float | None: ...
    def quantile(self, q: float, *, beyond: int = 0) -> int | None:
        """Latency in ns that a share `q` (0 to 1) of the samples does not exceed.

        None when empty, or with fewer than `beyond` samples above it.
        """

    def buckets(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """``(bucket_low_ns, count)`` of the buckets that are not empty, in rising order."""

    def merge(self, other: Histogram) -> None:
        """Add the samples of `other`."""

    def to_bytes(self) -> bytes:
        """Sparse encoding, as in the append log."""

    @staticmethod
    def from_bytes(data: bytes) -> Histogram: ...
    @staticmethod
    def from_buckets(
        bucket_low_ns: NDArray[np.uint64],
        count: NDArray[np.uint64],
        *,
        sum_ns: int | None = None,
        min_ns: int | None = None,
        max_ns: int | None = None,
    ) -> Histogram:
        """Make one from what `buckets` gave; the sum and extremes default to those of the midpoints."""

@final
class Cell:
    """What one stream did in one direction during one interval. Latencies are 0 where nothing was done."""

    @property
    def stream(self) -> str: ...
    @property
    def direction(self) -> _Direction: ...
    @property
    def ios(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def lateness_max_ns(self) -> int: ...
    def latency(self, kind: _Kind) -> dict[str, int]:
        """``p50_ns p99_ns p99_9_ns max_ns``."""

@final
class Row:
    """One closed interval on the clock of all workers. Counts are sums over all streams and directions."""

    @property
    def index(self) -> int: ...
    @property
    def start_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...
    @property
    def partial(self) -> bool:
        """Whether the run ended within this interval."""

    @property
    def ramp(self) -> bool:
        """Whether the interval lies wholly within the ramp, and so is not in the totals."""

    @property
    def ios(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def iops(self) -> float: ...
    @property
    def mb_s(self) -> float: ...
    @property
    def in_flight_mean(self) -> float: ...
    @property
    def in_flight_max(self) -> int:
        """Sum of the streams' own maxima."""

    @property
    def cells(self) -> list[Cell]:
        """One per stream and direction in which anything was asked for."""

@final
class Snapshot:
    """How far a run is; `on_tick` gets one every 50 ms."""

    @property
    def phase(self) -> Literal["starting", "ramp", "measuring", "draining"]: ...
    @property
    def elapsed_ns(self) -> int: ...
    @property
    def ios(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def failed(self) -> int: ...
    @property
    def dropped(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def latest(self) -> Row | None:
        """The row closed last."""

@final
class Measurement:
    """What a run measured. Immutable."""

    @property
    def streams(self) -> list[str]: ...
    def summary(self) -> dict[str, Any]:
        """Return the keys of ``measure --json``: all but ``drive``; ``warnings`` is empty, ``power`` None.

        A direction that the workload does not ask for is None. ``elapsed_s`` is the span that rates divide
        by: without ramp, overshoot and the drain after a stop by time. ``in_flight`` is the mean. Beside the
        contract's keys: ``streams`` (a list, the same keys for each stream), ``in_flight_max``, ``total_s``,
        ``started`` {monotonic_ns, unix_ns}, ``lateness_ns``, ``failed_ns``, ``overshoot`` and ``drained``
        {ios, bytes, ns} or None, ``flush`` {flushes, failed, errors, latency_ns} where any was asked for,
        ``workers`` (CPU and run-queue time, switches, start skew),
        ``batch_spans``, ``complete``, ``build``. Each call gives a new dict.
        """

    def samples(self) -> list[dict[str, int | None]]:
        """Return what a simulated drive told of itself, once a second of its time and at the end.

        ``at_ns`` since the start of the run, ``temperature_mc cap_mw throttle_events host_read_bytes
        host_written_bytes nand_written_bytes``; the host's bytes are those of the run, throttle events and
        programmed bytes count from when the drive was made. Of a real drive: nothing.
        """

    def rows(self, stream: str, direction: _Command) -> _Columns:
        """Read-only columns with one entry per interval, the intervals without I/O included.

        ``index start_ns duration_ns partial ramp ios failed dropped late bytes lateness_max_ns in_flight_mean
        in_flight_max`` and, for each kind, ``{kind}_p50_ns {kind}_p99_ns {kind}_p99_9_ns {kind}_max_ns`` (0
        where the interval has no sample). In flight counts all directions of the stream. Of ``flush``, which
        is no direction and in none, ``ios`` are the flushes.
        """

    def row_lists(self, stream: str, direction: _Command) -> dict[str, list[Any]]:
        """Return the columns of `rows` as lists, in the same order, without loading numpy."""

    def histogram(self, direction: _Command, kind: _Kind, stream: str | None = None) -> Histogram:
        """Latencies of one stream, or of all of them."""

    @property
    def worker_facts(self) -> dict[str, Any]:
        """CPU and run-queue time, switches, start skew: sums over all workers."""

    @property
    def overshoot(self) -> dict[str, int] | None:
        """``ios``, ``bytes``, ``ns`` after the row that ended the result; None when no `until` did."""

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The first failed I/Os in full: stream, op, errno, offset, length, at_ns."""

    @property
    def cursors(self) -> dict[str, list[int]]:
        """Where each source of the sequential streams stands, to go on from in a later run."""

    @property
    def decided_row(self) -> int | None:
        """Number of the row that `until` accepted."""

    @property
    def complete(self) -> bool:
        """Whether the run was recorded to its end; False for what a torn log holds."""

    def interval_histograms(self) -> _Columns:
        """``row stream direction kind bucket_low_ns count sum_ns``, if they were kept: one per filled bucket.

        ``stream``, ``direction`` and ``kind`` are places in `streams`, in (read, write, trim, flush) and in
        (service, response). A response that is the service, as in a closed loop without think time, is not
        repeated. ``sum_ns`` is the sum of a histogram, a float beside its first bucket and 0 beside the
        others: adding up the entries of whole histograms gives the sum of all their samples. It is exact
        below 2**53 (an overloaded open loop waits centuries in all, more than 64 bits hold).
        """

@final
class LogContents:
    """What an append log holds, up to the first frame that is torn or does not match its checksum."""

    @property
    def header(self) -> dict[str, Any]:
        """What it says before the first row: ``workload``, ``build``, ``owner`` (what `run` was given)."""

    @property
    def torn(self) -> bool:
        """Whether it ends within a frame or without a footer: the run was killed."""

    @property
    def measurement(self) -> Measurement:
        """What was measured, or as much of it as was logged."""

    def ios(self) -> _Columns:
        """``stream direction intended_ns submit_ns latency_ns offset length``: one entry per logged I/O."""

@final
class Heartbeat:
    """A thread that wakes up again and again, and notes what was counted in the sleeps that lasted too long.

    Parameters
    ----------
    period_s
        Of each sleep.
    min_late_s
        A sleep is noted that lasts longer by more than that, or in which the host was suspended.

    Raises
    ------
    HostError
        There can be no thread.
    """

    def __new__(cls, period_s: float, min_late_s: float) -> Heartbeat: ...
    def gaps(self) -> list[tuple[int, int, int, int, int | None, int]]:
        """Return what was noted since this was last asked, up to now; nothing once it is closed.

        Of each sleep, on CLOCK_MONOTONIC: ``began_ns due_ns ended_ns``; ``suspended_ns``, which that clock
        leaves out; ``ready_ns``, in which the thread ran or waited for a CPU (None: not counted here); and
        ``stolen_ns``, the most that a hypervisor took from one CPU.
        """

    def close(self) -> None:
        """End the thread; a second call does nothing."""

@final
class Deadline:
    """A moment after which a run issues nothing more, also where its whole process stood still meanwhile.

    Parameters
    ----------
    seconds
        How far from now, on CLOCK_MONOTONIC.
    """

    def __new__(cls, seconds: float) -> Deadline: ...
    def push(self, seconds: float) -> None:
        """Move it to so far from now; one that has passed stays so."""

    def end(self) -> None:
        """Let it pass at once."""

    @property
    def has_passed(self) -> bool: ...

def run(
    target: Target,
    workload_json: str,
    *,
    log_path: str | PathLike[str] | None = None,
    keep_interval_histograms: bool = False,
    on_tick: Callable[[Snapshot], object] | None = None,
    until: Callable[[Sequence[Row]], bool] | None = None,
    header: str | None = None,
    deadline: Deadline | None = None,
    past_failures: bool = False,
) -> Measurement:
    """Run a workload to its end and return what was measured; other Python threads go on meanwhile.

    Every 50 ms signals are looked at, `on_tick` gets a `Snapshot`, and `until` is asked once for each newly
    closed row, in order, with all rows so far, the newest last. The row at which it says True is the last of
    the result; what was done after it is counted as overshoot. An exception from either, or from a signal
    handler, stops the run, drains what is in flight and is raised then. ``KeyboardInterrupt`` becomes
    `Interrupted` with ``measurement``; SIGTERM and SIGHUP do the same where the program has no handler of its
    own for them. `log_path` must not exist yet; the log holds rows and their histograms, and single I/Os of
    streams with ``log_ios``. Its header is ``{"workload": ..., "build": ..., "owner": header}``, where
    `header` is JSON. Past `deadline` nothing is issued, and the run raises `HostError`. A hundred failed I/Os
    of a thread in a row end the run with `DriveError`, unless it is to go on `past_failures`.
    """

@final
class SimulatedState:
    """The state of a simulated drive at one moment, for `SimulatedDrive.restore`."""

@final
class SimulatedDrive:
    """A simulated drive, made empty from a profile. `UsageError` names the field of a profile that cannot be.

    `scale` makes it so many times smaller with all that decides its steady state kept; `spare` is the share
    of its medium that cannot be addressed; `power_w` or `power_state` limits what it draws; `honours_trim`
    and `write_cache` are switches (None is always the profile's own). `seed` decides what chance decides.
    Anything asked while it is being run raises `UsageError`.
    """

    def __new__(
        cls,
        profile_toml: str,
        *,
        scale: int = 1,
        spare: float | None = None,
        power_w: float | None = None,
        power_state: int | None = None,
        honours_trim: bool | None = None,
        write_cache: bool | None = None,
        seed: int = 1,
    ) -> SimulatedDrive: ...
    @property
    def name(self) -> str: ...
    @property
    def scale(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def capacity_bytes(self) -> int: ...
    @property
    def logical_block_bytes(self) -> int: ...
    @property
    def unscaled(self) -> list[str]:
        """Figures of its profile that did not get smaller with it: absolute amounts, times."""

    @property
    def blocks_cut(self) -> int:
        """Into how many each block is cut, beside the scale, so that there are superblocks enough."""

    @property
    def now_ns(self) -> int:
        """The drive's own clock."""

    def power(self, start_ns: int, end_ns: int) -> dict[str, Any] | None:
        """Return ``mean_w energy_j source`` between two times of its clock; None without a power model."""

    def power_state(self) -> dict[str, Any] | None:
        """Return what is known of power now; None without a power model.

        ``power_cap_w`` (the limit in force), ``highest_w`` (the highest mean over as long as a limit
        holds), ``temperature_c``, ``throttle_events``, ``energy_j`` (by class, since it was made, without
        what it always draws: ``reads programs erases transfers commands link awake``), ``source``.
        """

    def save_power(self, by_itself: int, *, sent: int | None = None) -> bool:
        """Let it use its first `by_itself` states of less power; or send it into one, until the next command.

        Return whether it has any.
        """

    def saves_power(self) -> tuple[int, int | None] | None:
        """Return what `save_power` had set and the next command has not ended; None without such states."""

    def run(
        self,
        workload_json: str,
        *,
        log_path: str | PathLike[str] | None = None,
        keep_interval_histograms: bool = False,
        on_tick: Callable[[Snapshot], object] | None = None,
        until: Callable[[Sequence[Row]], bool] | None = None,
        header: str | None = None,
    ) -> Measurement:
        """Run a workload to its end in the drive's own time; like `run`, and no second is waited for.

        The drive stands still while `until` is asked, so the row at which it says True is the last one in
        which anything is issued. The same drive, seed and workload give the same measurement, but for what
        it cost the host.
        """

    def trim(self, offset: int, length: int) -> None: ...
    def flush(self) -> None: ...
    def purge(self) -> None:
        """Erase everything, as a format does."""

    def place_steady(self) -> bool:
        """Place the steady state of random writes into the erased drive; whether that can be done of it."""

    def idle(self, ns: int) -> None:
        """Let it rest for so long of its own time."""

    def cool(self) -> None:
        """Bring it to ambient temperature, as one that has just been switched on."""

    def written(self, offset: int, length: int) -> bool:
        """Whether every byte of a range holds data."""

    def counters(self) -> dict[str, Any]:
        """Count what the host moved and the flash did since the drive was made.

        ``host_bytes_read host_bytes_written nand_bytes_written moved_bytes cached_bytes folded_bytes
        map_bytes parity_bytes write_amplification erases effective_spare``; write amplification is None
        before any write, effective spare while erased blocks are left that collection does not keep free.
        `cached_bytes` are the host's that were written with one bit a cell, `folded_bytes` those moved on
        from there, `map_bytes` those of a map that does not fit in memory, `parity_bytes` those that hold the
        parity of others.
        """

    def snapshot(self) -> SimulatedState:
        """Keep the state it is in; costs as much memory as the drive."""

    def restore(self, state: SimulatedState) -> None:
        """Go back to a state of this drive, or of one that it was forked from."""

    def digest(self) -> str:
        """Return a short text that stands for the state it is in; costs about a millisecond."""

    def save_state(self, path: str | PathLike[str], identity: Mapping[str, str]) -> None:
        """Write the state into a new file, durably; `HostError` if that fails.

        `identity` says which drive it is: only one with the same can load it.
        """

    def load_state(self, path: str | PathLike[str], identity: Mapping[str, str]) -> None:
        """Take up a state that was saved, after all of it was checked.

        `Refused`, with the drive as it was: the file is torn, corrupt, of another format or of another drive;
        `reason` says which, and `setting` what differs.
        """

    def begun_from(self, state: SimulatedState) -> SimulatedDrive:
        """Return an independent drive in a state of this one; memory is shared until one of them changes."""

    def adopt(self, other: SimulatedDrive) -> None:
        """Change places with another: this drive is in its state then."""

    def fork(self) -> SimulatedDrive:
        """Another drive in the same state, which lives on by itself."""

def check_profile(
    profile_toml: str,
    *,
    scale: int = 1,
    spare: float | None = None,
    power_w: float | None = None,
    power_state: int | None = None,
    honours_trim: bool | None = None,
    write_cache: bool | None = None,
) -> dict[str, Any]:
    """Raise `UsageError` unless the text is a profile that can have size and settings; makes no drive.

    ``profile`` (as written, each figure with its source) and what the drive would be: ``capacity_bytes
    logical_block_bytes raw_bytes superblocks`` (None where nothing is collected) ``spare effective_spare``
    (of the full drive in its steady state) ``placeable`` (whether that state can be placed into the erased
    drive, see `SimulatedDrive.place_steady`) ``blocks_cut unscaled generation`` (what the table says of the
    NAND that it names, or None) ``power_cap_w honours_trim write_cache``.
    """

def read_log(path: str | PathLike[str], *, keep_interval_histograms: bool = False) -> LogContents:
    """Read an append log, whole or torn. Raises `HostError` for what is no log, or a newer one."""

def digest(workload_json: str, n: int) -> str:
    """Digest of the first `n` I/Os and intended starts of every source, in hex: same seed, same digest."""

def check_recording(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file of records to its end: digest, counts, bytes, bounds; `HostError` if it is none."""

def check_workload(workload_json: str) -> None:
    """Raise `UsageError` unless Rust accepts the workload."""

def workload_schema() -> dict[str, Any]:
    """Names that Rust accepts: ``{"structs": {name: [field]}, "enums": {name: {variant: [field]}}}``."""

def capabilities() -> dict[str, Any]:
    """Ask what kernel and process limits allow.

    ``io_uring`` {available, errno, single_issuer, fixed_buffers, commands}, ``locked_memory_bytes``,
    ``open_files``, ``threads`` (None: no limit), ``cpus`` (those the process may use), ``schedstat``.
    """

def calibrate(seconds: float) -> dict[str, Any]:
    """Measure, for so long in all, what the tool itself costs on this host when no drive is in the way.

    ``clock_ns``, ``system_call_ns``, ``generate_ns``, ``record_ns``, ``ring_ns`` (per I/O; the last is None
    without io_uring), ``wake_up_ns`` {min, mean, max, p50, ...} (lateness of a sleeper).
    """

def build_info() -> dict[str, str]:
    """``version``, ``profile`` (``release`` or ``debug``), ``rustc``, ``target``."""

def serve(
    drive: SimulatedDrive | None,
    *,
    name: str,
    capacity_bytes: int,
    logical_block_bytes: int,
    socket: str | PathLike[str] | None = None,
    port: int | None = None,
    data: str | PathLike[str] | None = None,
    contents_seed: int | None = None,
    memory_bytes: int = ...,
    cost_ns: int | None = None,
    on_ready: Callable[[dict[str, Any]], object] | None = None,
    on_idle: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Serve a drive over NBD until a signal comes, and return what was served; None is a drive done at once.

    Either `socket`, a path where nothing is yet, or `port` of 127.0.0.1 (0: one that is free). Contents are
    in memory, up to `memory_bytes`; in the sparse file `data`; or made up from `contents_seed`. Replies are
    sent `cost_ns` before they are due; None: what serving was measured to cost. `on_ready` is called once
    clients can connect, with ``socket port depth_1_iops ceiling_iops measured_cost_ns cost_ns
    cost_after_pauses cost_per_mib_ns processors_kept_awake max_connections idle_limit_ns``; `on_idle` when
    idle clients were dropped because others waited, with their number since the beginning. `Refused` where
    something is in the way, `HostError` where the host cannot.

    Returned are ``ios reads writes trims flushes read_bytes written_bytes refused late dropped
    lateness_p50_ns lateness_p99_ns lateness_max_ns peak_iops elapsed_ns connections turned_away idle
    violations broken``.
    """
