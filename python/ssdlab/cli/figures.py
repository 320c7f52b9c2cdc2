"""A measurement as a reader sees it in a terminal: rates, latencies, and what the tool says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab.cli.fitting import print_parted, print_text
from ssdlab.cli.output import paint, print_line
from ssdlab.model.capabilities import capabilities_of
from ssdlab.model.errors import LabError
from ssdlab.model.pattern import Bands, Zipf, pattern_text
from ssdlab.model.printable import advice_text
from ssdlab.model.summary import Cpu
from ssdlab.model.units import (
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

if TYPE_CHECKING:
    from ssdlab.model.document import Document
    from ssdlab.model.summary import Direction, MeasuredDrive, Side, Summary, SummaryWarning
    from ssdlab.model.workload import Stream, Workload
    from ssdlab.results.schema import MeasureResult

_COLUMNS = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
_INDENT = "  "


def print_measurement(summary: Summary, workload: Workload | None = None) -> None:
    """Print the totals of a measurement, its warnings last.

    Parameters
    ----------
    summary
        `Measurement.summary()`.
    workload
        What was asked for, if that is to be printed.
    """
    if summary.drive is not None:
        print_line(drive_text(summary.drive), "bold")  # a path is one word, to be copied
    for stream in workload.streams if workload else ():
        print_text(f"{stream_text(stream)}, seed {summary.seed}", "dim", _INDENT)
    print_line()
    for direction, side in summary.sides.items():
        _print_direction(direction, side, summary, _closed(workload))
    if model := model_text(summary):
        print_text(f"{_INDENT}{model}", "dim", _INDENT * 2)
    print_text(f"{_INDENT}{self_text(summary, workload)}", "dim", _INDENT * 2)
    print_warnings(summary.warnings or ())


def print_result(result: MeasureResult) -> None:
    """Print the saved result of `measure`."""
    print_line()
    summary = result.summary
    print_measurement(summary, None if summary.workload is None else _workload_of(summary.workload))


def _workload_of(stored: Document) -> Workload | None:
    """Return the workload of a saved measurement; None where an ssdlab wrote it that has others."""
    from ssdlab.model.workload import Workload

    try:
        return Workload.model_validate(stored)
    except (LabError, ValueError):
        return None


def print_warnings(warnings: Sequence[SummaryWarning]) -> None:
    """Print warnings with what to do about each."""
    if warnings:
        print_line()
    for warning in warnings:
        print_text(f"{paint('warning:', 'warn')} {warning.what}", indent=" " * 9)
        if advice := warning.advice:
            print_text(f"{'':9}{advice_text(advice)}", "dim", " " * 9)


def drive_text(drive: MeasuredDrive) -> str:
    """Return a drive in one line: path, model, what it is, capacity."""
    capacity = capacity_text(drive.capacity_bytes)
    if capabilities_of(drive.kind).on_file_system:
        beneath = f" on {drive.backing}" if drive.backing else ""
        return f"{drive.path}  file{beneath}, {capacity}"
    known = " ".join(part for part in (drive.model, drive.serial) if part)
    return "  ".join(part for part in (drive.path, known, capacity) if part)


def stream_text(stream: Stream) -> str:
    """Return what a stream asks for in one line."""
    sizes = stream.block
    total = sum(block.weight for block in sizes)
    blocks = block_text(sizes[0].bytes)
    if len(sizes) > 1:
        blocks = ", ".join(f"{block_text(each.bytes)} {share_text(each.weight / total)}" for each in sizes)
    threads = f"{stream.workers} thread{'s' if stream.workers > 1 else ''}"
    depth = f" x depth {stream.depth}" if stream.engine == "uring" else ""
    parts = [_ops_text(stream), blocks, f"{threads}{depth} ({stream.engine})", _arrival_text(stream)]
    return ", ".join([*parts, *_what_is_special(stream)])


def _what_is_special(stream: Stream) -> Iterator[str]:
    """Yield what was asked for and is otherwise by default, as it could be typed."""
    if isinstance(stream.pattern, Zipf | Bands):
        yield f"pattern {pattern_text(stream.pattern)}"
    if stream.span.start or stream.span.length is not None:
        yield f"span {stream.span.text}"
    if stream.batch is not None:
        yield f"batch {stream.batch}"
    if stream.compressible_pct:
        yield f"compressible {stream.compressible_pct}%"
    if stream.dsync:
        yield "dsync"
    if stream.flush_every is not None:
        yield f"a flush after every {counted(stream.flush_every, 'write')}"
    if stream.cpus:
        yield f"CPUs {','.join(map(str, stream.cpus))}"


def self_text(summary: Summary, workload: Workload | None) -> str:
    """Return what the tool says of itself: I/Os in flight, CPU time per I/O."""
    closed = workload is not None and _closed(workload)
    asked = sum(stream.in_flight for stream in workload.streams) if workload and closed else None
    reached = "unknown" if summary.in_flight is None else _in_flight_text(summary.in_flight)
    in_flight = f"in flight {reached}" + (f" of {asked}" if asked else "")
    cpu = summary.cpu or Cpu()
    per_io = "" if cpu.per_io_ns is None else f"CPU {latency_text(cpu.per_io_ns)} per I/O, "
    times = f"user {significant(cpu.user_s)} s, system {significant(cpu.sys_s)} s"
    return f"{in_flight}; {per_io}{times}; measured for {span_text(summary.elapsed_s)}"


def _in_flight_text(mean: float) -> str:
    # Whole from a thousand on: three digits of 4096 would be more than was asked for.
    return f"{mean:.0f}" if mean >= 1000 else significant(mean)


def model_text(summary: Summary) -> str:
    """Return what a simulated drive says of its inside; nothing for a real one."""
    drive, power = summary.drive, summary.power
    if drive is None or drive.scale is None:
        return ""
    size = f"at 1/{drive.scale} of its size" if drive.scale > 1 else "at scale 1"
    text = [f"simulated {size}"]
    if drive.effective_spare is not None:
        text.append(f"effective spare {share_text(drive.effective_spare)}")
    else:
        text.append("effective spare not judged: not all of the medium was written since it was erased")
    if drive.write_amplification is not None:
        text.append(f"write amplification {significant(drive.write_amplification)}")
    if power is not None:
        text.append(f"{significant(power.mean_w)} W, {significant(power.energy_j or 0.0)} J by its model")
    if drive.temperature_c is not None:
        text.append(f"{drive.temperature_c:.1f} °C at the end")
    return "; ".join(text)


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


def _counts_text(side: Side) -> str:
    counts = {"failed": side.failed, "dropped": side.dropped, "late": side.late}
    text = [counted(side.ios, "I/O")]
    text += [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join(text)


def _latency(latency_ns: float | None) -> str:
    return "-" if latency_ns is None else latency_text(latency_ns)


def _closed(workload: Workload | None) -> bool:
    """Whether response is service everywhere, so that it is printed once."""
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
        return "at its own times"
    if isinstance(arrival, Pulses):
        return f"closed loop, {duration_text(arrival.on_ns)} of every {duration_text(arrival.every_ns)}"
    return f"bursts of {block_text(arrival.bytes)} every {duration_text(arrival.every_ns)}"
