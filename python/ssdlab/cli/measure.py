"""`ssdlab measure`: one workload, its live view, and its result in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.fitting import print_parted, print_text
from ssdlab.cli.flags import chosen, takes
from ssdlab.cli.output import on_terminal, paint, print_json, print_line, say
from ssdlab.model.capabilities import capabilities_of
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.measurement import Measurement
from ssdlab.model.options import FIO_ENGINES, MeasureOptions
from ssdlab.model.pattern import Bands, Zipf, pattern_text
from ssdlab.model.printable import advice_text
from ssdlab.model.summary import FLUSH, Cpu
from ssdlab.model.units import (
    NS_PER_S,
    block_text,
    capacity_text,
    count_text,
    counted,
    duration_text,
    latency_text,
    rate_text,
    share_text,
    significant,
    span_text,
    throughput_text,
)
from ssdlab.model.workload import Workload, flush_words

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    import ssdlab._core as _core
    from ssdlab.host.documents import Document
    from ssdlab.model.pattern import AnyPattern
    from ssdlab.model.summary import Direction, Flushes, MeasuredDrive, Side, Summary, SummaryWarning
    from ssdlab.model.workload import Block, Stream
    from ssdlab.results.schema import MeasureResult
    from ssdlab.runs.observe import Watcher

TimeBased = Annotated[
    bool, Parameter(name="--time_based", help="With --runtime, as in fio: run for the whole time.")
]
_LINE_EVERY_NS = 10 * NS_PER_S
_SHOW_AFTER_NS = 300_000_000
"""Load the bar's library only in a phase longer than this."""


def watcher(*, quiet: bool) -> Watcher:
    """Return the progress display of a measurement, on stderr, so that stdout is data only."""
    from ssdlab.runs.observe import Silent

    if on_terminal(sys.stderr):
        return TerminalWatcher()
    return Silent() if quiet else PlainWatcher()


class PlainWatcher:
    """A line at the start of each long phase, and one every ten seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Note a phase; it is announced if it still runs at the first update."""
        length = f" for {span_text(duration_ns / NS_PER_S)}" if duration_ns else ""
        self._phase = f"{name}{length}"
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Print a line if one is due."""
        with suppress(OSError):
            if not self._announced:
                self._announced = True
                say(f"{self._phase} ...")
            if snapshot.elapsed_ns >= self._next_ns:
                # A phase that starts in mid-run finds the clock already advanced.
                self._next_ns = (snapshot.elapsed_ns // _LINE_EVERY_NS + 1) * _LINE_EVERY_NS
                say(f"{snapshot.elapsed_ns // NS_PER_S:>5} s  {rates_text(snapshot)}")


class TerminalWatcher:
    """A progress bar, removed when its phase ends."""

    def __init__(self) -> None:
        self._phase = ""
        self._total = 0
        self._by_time = True
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Remove the previous phase's bar."""
        self.close()
        self._phase = name
        self._by_time = duration_ns is not None
        self._total = duration_ns or size_bytes or 0

    def tick(self, snapshot: _core.Snapshot) -> None:
        """Advance the bar."""
        if snapshot.elapsed_ns < _SHOW_AFTER_NS:
            return
        with suppress(OSError):
            if self._progress is None:
                self._open()
            assert self._progress is not None
            assert self._task is not None
            done = snapshot.elapsed_ns if self._by_time else snapshot.bytes
            phase = self._phase if snapshot.phase == "measuring" else f"{self._phase} ({snapshot.phase})"
            self._progress.update(self._task, completed=done, description=phase, rates=rates_text(snapshot))

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            with suppress(OSError):
                self._progress.stop()
        self._progress = self._task = None

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[rates]}"),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(self._phase, total=self._total or None, rates="")
        self._progress.start()


def rates_text(snapshot: _core.Snapshot) -> str:
    """Return the last interval row in words: IOPS, throughput, p99 response time."""
    row = snapshot.latest
    if row is None:
        seconds = snapshot.elapsed_ns / NS_PER_S or 1.0
        rates = (snapshot.ios / seconds, snapshot.bytes / seconds / 1e6)
        return f"{count_text(rates[0])} IOPS  {throughput_text(rates[1])}"
    tail_ns = max((cell.latency("response")["p99_ns"] for cell in row.cells), default=0)
    p99 = f"  p99 {latency_text(tail_ns)}" if tail_ns else ""
    failed = f"  {snapshot.failed} failed" if snapshot.failed else ""
    return f"{count_text(row.iops)} IOPS  {throughput_text(row.mb_s)}{p99}{failed}"


_COLUMNS = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
_INDENT = "  "


def print_measurement(summary: Summary, workload: Workload | None = None) -> None:
    """Print the totals of a measurement, its warnings last.

    Parameters
    ----------
    summary
        `Measurement.summary()`.
    workload
        The workload, if it is to be printed.
    """
    if summary.drive is not None:
        print_line(drive_text(summary.drive), "bold")  # a path is one word, to be copied
    for stream in workload.streams if workload else ():
        print_text(f"{stream_text(stream)}, seed {summary.seed}", "dim", _INDENT)
    print_line()
    for direction, side in summary.sides.items():
        _print_direction(direction, side, summary, _closed(workload))
    if summary.flush is not None:
        _print_flushes(summary.flush)
    for text in filter(None, (model_text(summary), power_text(summary))):
        print_text(f"{_INDENT}{text}", "dim", _INDENT * 2)
    print_text(f"{_INDENT}{self_text(summary, workload)}", "dim", _INDENT * 2)
    print_warnings(summary.warnings or ())


def print_result(result: MeasureResult) -> None:
    """Print the saved result of `measure`."""
    print_line()
    summary = result.summary
    print_measurement(summary, None if summary.workload is None else _workload_of(summary.workload))


def _workload_of(stored: Document) -> Workload | None:
    """Return the workload of a saved measurement; None if another version's cannot be read."""
    from ssdlab.model.workload import Workload

    try:
        return Workload.model_validate(stored)
    except (LabError, ValueError):
        return None


def print_warnings(warnings: Sequence[SummaryWarning]) -> None:
    """Print warnings with their advice."""
    if warnings:
        print_line()
    for warning in warnings:
        print_text(f"{paint('warning:', 'warn')} {warning.what}", indent=" " * 9)
        if advice := warning.advice:
            print_text(f"{'':9}{advice_text(advice)}", "dim", " " * 9)


def drive_text(drive: MeasuredDrive) -> str:
    """Return a drive in one line: path, model, kind, capacity."""
    capacity = capacity_text(drive.capacity_bytes)
    if capabilities_of(drive.kind).on_file_system:
        beneath = f" on {drive.backing}" if drive.backing else ""
        return f"{drive.path}  file{beneath}, {capacity}"
    known = " ".join(part for part in (drive.model, drive.serial) if part)
    return "  ".join(part for part in (drive.path, known, capacity) if part)


def stream_text(stream: Stream) -> str:
    """Return a stream's workload in one line."""
    blocks = _sizes_text(stream.block)
    if stream.write_block is not None:
        blocks += f" (writes {_sizes_text(stream.write_block)})"
    threads = f"{stream.workers} thread{'s' if stream.workers > 1 else ''}"
    depth = f" x depth {stream.depth}" if stream.engine == "uring" else ""
    parts = [_ops_text(stream), blocks, f"{threads}{depth} ({stream.engine})", _arrival_text(stream)]
    return ", ".join([*parts, *_what_is_special(stream)])


def _sizes_text(sizes: Sequence[Block]) -> str:
    total = sum(block.weight for block in sizes)
    if len(sizes) == 1:
        return block_text(sizes[0].bytes)
    return ", ".join(f"{block_text(each.bytes)} {share_text(each.weight / total)}" for each in sizes)


def _what_is_special(stream: Stream) -> Iterator[str]:
    """Yield settings that are not the default, as they would be typed."""
    if isinstance(stream.pattern, Zipf | Bands):
        yield f"pattern {pattern_text(stream.pattern)}"
    if stream.write_pattern is not None:
        yield f"writes {_order_text(stream.write_pattern)}"
    if stream.span.start or stream.span.length is not None:
        yield f"span {stream.span.text}"
    if stream.batch is not None:
        yield f"batch {stream.batch}"
    if stream.compressible_pct:
        yield f"compressible {stream.compressible_pct}%"
    if stream.dsync:
        yield "dsync"
    if stream.flush_every is not None:
        yield flush_words(stream.flush, stream.flush_every)
    if not stream.direct:
        yield "buffered"
    if stream.polled:
        yield "polled"
    if stream.cpus:
        yield f"CPUs {','.join(map(str, stream.cpus))}"


def _order_text(pattern: AnyPattern) -> str:
    if isinstance(pattern, Zipf | Bands):
        return f"by {pattern_text(pattern)}"
    return "sequential" if pattern.kind == "sequential" else "random"


def self_text(summary: Summary, workload: Workload | None) -> str:
    """Return the tool's own figures: I/Os in flight, CPU time per I/O."""
    closed = workload is not None and _closed(workload)
    asked = sum(stream.in_flight for stream in workload.streams) if workload and closed else None
    reached = "unknown" if summary.in_flight is None else _in_flight_text(summary.in_flight)
    in_flight = f"in flight {reached}" + (f" of {asked}" if asked else "")
    cpu = summary.cpu or Cpu()
    per_io = "" if cpu.per_io_ns is None else f"CPU {latency_text(cpu.per_io_ns)} per I/O, "
    times = f"user {significant(cpu.user_s)} s, system {significant(cpu.sys_s)} s"
    return f"{in_flight}; {per_io}{times}; measured for {span_text(summary.elapsed_s)}"


def _in_flight_text(mean: float) -> str:
    # Whole from 1000 on: three digits of 4096 would round up beyond the depth.
    return f"{mean:.0f}" if mean >= 1000 else significant(mean)


def model_text(summary: Summary) -> str:
    """Return a simulated drive's internals; empty for a real one."""
    drive = summary.drive
    if drive is None or drive.scale is None:
        return ""
    size = f"at 1/{drive.scale} of its size" if drive.scale > 1 else "at scale 1"
    text = [f"simulated {size}, its percentiles modelled"]
    if drive.effective_spare is not None:
        text.append(f"effective spare {share_text(drive.effective_spare)}")
    else:
        text.append("effective spare not assessed: part of the medium is still erased")
    if drive.write_amplification is not None:
        text.append(f"write amplification {significant(drive.write_amplification)}")
    if drive.temperature_c is not None:
        text.append(f"{drive.temperature_c:.1f} °C at the end")
    return "; ".join(text)


def power_text(summary: Summary) -> str:
    """Return the power drawn and its source; empty without a meter."""
    power = summary.power
    if power is None:
        return ""
    error = "" if power.error_w is None else f" ± {significant(power.error_w)} W"
    energy = "" if power.energy_j is None else f", {significant(power.energy_j)} J"
    whose = "its model" if power.source == "model" else power.source
    return f"{significant(power.mean_w)} W{error}{energy}, by {whose}"


def _print_direction(direction: Direction, side: Side, summary: Summary, closed: bool) -> None:
    iops, mb_s = summary.iops_of(direction), summary.mb_s_of(direction)
    rates = f"{count_text(iops)} IOPS  {throughput_text(mb_s)}"
    print_text(
        f"{_INDENT}{paint(f'{direction:<5}', 'accent')}  {paint(rates, 'bold')}  {_counts_text(side)}",
        indent=_INDENT * 2,
    )
    clocks = {"service": side.service_ns, "response": side.response_ns}
    shown = {"latency": side.response_ns} if closed else clocks
    rows = [
        [f"{_INDENT * 2}{name}", *(_latency(times[key]) for key in _COLUMNS)] for name, times in shown.items()
    ]
    print_parted(rows, ["", *_COLUMNS], right=range(1, 10))


def _print_flushes(flushes: Flushes) -> None:
    failed = f", {flushes.failed} failed" if flushes.failed else ""
    many = "" if flushes.flushes == 1 else "es"
    print_text(f"{_INDENT}{paint(FLUSH, 'accent')}  {flushes.flushes} flush{many}{failed}")
    times = [_latency(flushes.latency_ns.get(key)) for key in _COLUMNS]
    print_parted([[f"{_INDENT * 2}latency", *times]], ["", *_COLUMNS], right=range(1, 10))


def _counts_text(side: Side) -> str:
    counts = {"failed": side.failed, "dropped": side.dropped, "late": side.late}
    text = [counted(side.ios, "I/O")]
    text += [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join(text)


def _latency(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else latency_text(latency_ns)


def _closed(workload: Workload | None) -> bool:
    """Whether response and service times are equal, so that only one is printed."""
    from ssdlab.model.workload import Closed, Pulses

    arrivals = [stream.arrival for stream in workload.streams] if workload else []
    return bool(arrivals) and all(
        isinstance(each, Pulses) or (isinstance(each, Closed) and each.think_ns == 0) for each in arrivals
    )


def _ops_text(stream: Stream) -> str:
    from ssdlab.model.workload import Mix, Ratio

    if stream.pattern.kind == "recorded":
        return "recorded I/O"
    order = "sequential" if stream.pattern.kind == "sequential" else "random"
    if isinstance(stream.ops, str):
        return f"{order} trim"
    if isinstance(stream.ops, Ratio):
        return f"{order} {stream.ops.read_weight}:{stream.ops.write_weight} read:write"
    assert isinstance(stream.ops, Mix)
    share = stream.ops.read_pct
    return f"{order} " + {100: "read", 0: "write"}.get(share, f"{share} % read, {100 - share} % write")


def _arrival_text(stream: Stream) -> str:
    from ssdlab.model.workload import AsRecorded, Closed, Open, Pulses

    arrival = stream.arrival
    if isinstance(arrival, Closed):
        return f"closed loop, think {duration_text(arrival.think_ns)}" if arrival.think_ns else "closed loop"
    if isinstance(arrival, Open):
        return f"{arrival.process} arrivals at {rate_text(arrival.rate)} IOPS"
    if isinstance(arrival, AsRecorded):
        return "at recorded times"
    if isinstance(arrival, Pulses):
        return f"closed loop, {duration_text(arrival.on_ns)} of every {duration_text(arrival.every_ns)}"
    return f"bursts of {block_text(arrival.bytes)} every {duration_text(arrival.every_ns)}"


@takes(MeasureOptions)
def measure(
    drive: str,
    /,
    *,
    time_based: TimeBased = False,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - MeasureOptions checks them
) -> None:
    """Run one workload now and print what was measured.

    4k is 4096 bytes, as in fio; kB, MB and GB are decimal, KiB, MiB and GiB binary (fio's kb_base=1000).
    Times without a unit are seconds. Where an option has two names, the second is fio's.

    Parameters
    ----------
    drive
        A block device such as /dev/nvme0n1, a file (with --size to create it), or a simulated drive:
        sim:NAME, or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`).
    json
        Print the result as JSON, schema ssdlab.measurement/1.
    """
    from ssdlab.runs.measure import perform

    _check_as_fio(options, time_based=time_based)
    asked = chosen(MeasureOptions, options)
    looker = watcher(quiet=json)
    try:
        measurement = perform(drive, asked, looker)
    except LabError as error:
        if isinstance(error.measurement, Measurement) and not json:
            _print(error.measurement.summary())
        raise
    finally:
        if isinstance(looker, TerminalWatcher):
            looker.close()
    if json:
        print_json(measurement.report())
        return
    summary = measurement.summary()
    _print(summary)
    if summary.run:
        say(f"saved: {summary.run}")


def _check_as_fio(options: Mapping[str, Any], *, time_based: bool) -> None:
    """Refuse options that mean something else in fio, and name the equivalent of its engine.

    Raises
    ------
    UsageError
        An amount and a time, or sequential clones, which fio handles differently.
    """
    by = {getattr(value, "option", ""): str(value) for value in options.values()}
    if "--runtime" in by and not time_based and options.get("bytes") is None:
        raise UsageError(
            "fio's --runtime without --time_based also ends at size, which measure does not have",
            "use --seconds, or add --time_based or --bytes",
        )
    if time_based and options.get("bytes") is not None:
        raise UsageError("with --time_based fio ignores amounts", "leave out --bytes, or --time_based")
    order = options.get("rw") or "randread"
    if by.get("--numjobs", "1") != "1" and not order.startswith("rand"):
        raise UsageError(
            "fio's sequential clones all start at offset 0; here each thread has its own part",
            "use --threads for parts, or ssdlab job FILE.fio for clones",
        )
    if by.get("--readwrite") == "rw":
        raise UsageError(
            "fio's sequential reads and writes have separate positions; here they share one",
            "use --rw rw to share one, or two jobs in ssdlab job FILE.fio",
        )
    if (engine := by.get("--ioengine")) is not None and (ours := FIO_ENGINES.get(engine)) is not None:
        say(f"--ioengine {engine}: --engine {ours}")


def _print(summary: Summary) -> None:

    print_measurement(summary, Workload.model_validate(summary.workload))
