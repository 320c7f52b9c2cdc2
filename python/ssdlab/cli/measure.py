"""`ssdlab measure`: run one workload, show its progress and print its result."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.fitting import print_parted, print_text
from ssdlab.cli.flags import chosen, takes
from ssdlab.cli.output import on_terminal, paint, print_json, print_line, say
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.measurement import Measurement
from ssdlab.model.measurement_words import (
    LATENCIES,
    clocks_of,
    counts_text,
    drive_text,
    latency_or_dash,
    model_text,
    power_text,
    self_text,
    stream_text,
    workload_of,
)
from ssdlab.model.options import FIO_ENGINES, MeasureOptions
from ssdlab.model.printable import advice_text
from ssdlab.model.summary import FLUSH
from ssdlab.model.units import NS_PER_S, count_text, latency_text, span_text, throughput_text
from ssdlab.model.workload import Workload

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    import ssdlab._core as _core
    from ssdlab.model.summary import Direction, Flushes, Side, Summary, SummaryWarning
    from ssdlab.results.schema import MeasureResult
    from ssdlab.runs.observe import Watcher

TimeBased = Annotated[
    bool, Parameter(name="--time_based", help="With --runtime, as in fio: run for the whole time.")
]
_LINE_EVERY_NS = 10 * NS_PER_S
_SHOW_AFTER_NS = 300_000_000
"""Load the progress bar's library only for a phase longer than this."""


def watcher(*, quiet: bool) -> Watcher:
    """Return a progress display on stderr, so that stdout has only data."""
    from ssdlab.runs.observe import Silent

    if on_terminal(sys.stderr):
        return TerminalWatcher()
    return Silent() if quiet else PlainWatcher()


class PlainWatcher:
    """Prints a line at the start of each long phase, and a line every ten seconds."""

    def __init__(self) -> None:
        self._phase = ""
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def phase(self, name: str, *, duration_ns: int | None, size_bytes: int | None) -> None:
        """Start a phase. It is announced at its first update, so that short phases print nothing."""
        length = f" for {span_text(duration_ns / NS_PER_S)}" if duration_ns else ""
        self._phase = f"{name}{length}"
        self._announced = False
        self._next_ns = _LINE_EVERY_NS

    def tick(self, snapshot: _core.Snapshot) -> None:
        with suppress(OSError):
            if not self._announced:
                self._announced = True
                say(f"{self._phase} ...")
            if snapshot.elapsed_ns >= self._next_ns:
                # The clock does not restart with a phase.
                self._next_ns = (snapshot.elapsed_ns // _LINE_EVERY_NS + 1) * _LINE_EVERY_NS
                say(f"{snapshot.elapsed_ns // NS_PER_S:>5} s  {rates_text(snapshot)}")


class TerminalWatcher:
    """Shows a progress bar, and removes it when its phase ends."""

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
    """Return IOPS, throughput and p99 response time of the last interval; at first, the mean rates so far."""
    row = snapshot.latest
    if row is None:
        seconds = snapshot.elapsed_ns / NS_PER_S or 1.0
        rates = (snapshot.ios / seconds, snapshot.bytes / seconds / 1e6)
        return f"{count_text(rates[0])} IOPS  {throughput_text(rates[1])}"
    tail_ns = max((cell.latency("response")["p99_ns"] for cell in row.cells), default=0)
    p99 = f"  p99 {latency_text(tail_ns)}" if tail_ns else ""
    failed = f"  {snapshot.failed} failed" if snapshot.failed else ""
    return f"{count_text(row.iops)} IOPS  {throughput_text(row.mb_s)}{p99}{failed}"


_INDENT = "  "


def print_measurement(summary: Summary, workload: Workload | None = None) -> None:
    """Print the totals of a measurement, then its warnings.

    Parameters
    ----------
    workload
        The workload, to print its streams first.
    """
    if summary.drive is not None:
        print_line(drive_text(summary.drive), "bold")  # not wrapped, so that a path can be copied
    for stream in workload.streams if workload else ():
        print_text(f"{stream_text(stream)}, seed {summary.seed}", "dim", _INDENT)
    print_line()
    for direction, side in summary.sides.items():
        _print_direction(direction, side, summary, workload)
    if summary.flush is not None:
        _print_flushes(summary.flush)
    for text in filter(None, (model_text(summary), power_text(summary))):
        print_text(f"{_INDENT}{text}", "dim", _INDENT * 2)
    print_text(f"{_INDENT}{self_text(summary, workload)}", "dim", _INDENT * 2)
    print_warnings(summary.warnings or ())


def print_result(result: MeasureResult) -> None:
    print_line()
    summary = result.summary
    print_measurement(summary, workload_of(summary))


def print_warnings(warnings: Sequence[SummaryWarning]) -> None:
    if warnings:
        print_line()
    for warning in warnings:
        print_text(f"{paint('warning:', 'warn')} {warning.what}", indent=" " * 9)
        if advice := warning.advice:
            print_text(f"{'':9}{advice_text(advice)}", "dim", " " * 9)


def _print_direction(direction: Direction, side: Side, summary: Summary, workload: Workload | None) -> None:
    iops, mb_s = summary.iops_of(direction), summary.mb_s_of(direction)
    rates = f"{count_text(iops)} IOPS  {throughput_text(mb_s)}"
    print_text(
        f"{_INDENT}{paint(f'{direction:<5}', 'accent')}  {paint(rates, 'bold')}  {counts_text(side)}",
        indent=_INDENT * 2,
    )
    rows = [
        [f"{_INDENT * 2}{name}", *(latency_or_dash(times[key]) for key in LATENCIES)]
        for name, times in clocks_of(side, workload).items()
    ]
    print_parted(rows, ["", *LATENCIES], right=range(1, 10))


def _print_flushes(flushes: Flushes) -> None:
    failed = f", {flushes.failed} failed" if flushes.failed else ""
    many = "" if flushes.flushes == 1 else "es"
    print_text(f"{_INDENT}{paint(FLUSH, 'accent')}  {flushes.flushes} flush{many}{failed}")
    times = [latency_or_dash(flushes.latency_ns.get(key)) for key in LATENCIES]
    print_parted([[f"{_INDENT * 2}latency", *times]], ["", *LATENCIES], right=range(1, 10))


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

    4k is 4096 bytes, as in fio; kB, MB and GB are decimal, KiB, MiB and GiB binary.
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


_OF_FIO = {"--readwrite", "--rwmixread", "--numjobs", "--iodepth", "--ioengine", "--runtime"}
"""Option names of fio. A command line that has one may have been written for fio."""


def _check_as_fio(options: Mapping[str, Any], *, time_based: bool) -> None:
    """Refuse options that fio handles differently, and print where other options differ from fio.

    Raises
    ------
    UsageError
        A runtime with an amount, or several sequential jobs.
    """
    by = {getattr(value, "option", ""): str(value) for value in options.values()}
    if "--runtime" in by and not time_based and options.get("bytes") is None:
        raise UsageError(
            "fio's --runtime without --time_based also ends at size=, which measure lacks",
            "use --seconds, or add --time_based or --bytes",
        )
    if time_based and options.get("bytes") is not None:
        raise UsageError("with --time_based fio ignores amounts", "leave out --bytes, or --time_based")
    order = options.get("rw") or "randread"
    if by.get("--numjobs", "1") != "1" and not order.startswith("rand"):
        raise UsageError(
            "fio's sequential jobs all start at offset 0, but measure gives each thread its own part",
            "replace --numjobs with --threads, or use ssdlab job FILE.fio to start all at 0",
        )
    if (engine := by.get("--ioengine")) is not None and (ours := FIO_ENGINES.get(engine)) is not None:
        say(f"--ioengine {engine}: --engine {ours}")
    if not (time_based or by.keys() & _OF_FIO):
        return
    if (rate := options.get("rate")) is not None:
        say(f"--rate {rate}: total I/Os per second; fio's rate is bytes per second of each job and direction")
    if order.startswith("rand") and options.get("pattern") is None:
        say("random I/O may repeat a block, as with fio's norandommap; --pattern shuffled does not")


def _print(summary: Summary) -> None:

    print_measurement(summary, Workload.model_validate(summary.workload))
