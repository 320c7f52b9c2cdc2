"""A measurement in words, for terminal and notebook: figures with units, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ssdlab.model.capabilities import capabilities_of
from ssdlab.model.errors import LabError
from ssdlab.model.pattern import Bands, Shuffled, Zipf, pattern_text
from ssdlab.model.printable import advice_text
from ssdlab.model.summary import FLUSH, Cpu
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
from ssdlab.model.workload import (
    AsRecorded,
    Closed,
    Mix,
    Open,
    Pulses,
    Ratio,
    Workload,
    flush_words,
)

if TYPE_CHECKING:
    from ssdlab.model.pattern import AnyPattern
    from ssdlab.model.summary import MeasuredDrive, Side, Summary, Times
    from ssdlab.model.workload import Block, Stream

LATENCIES = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max")
"""Latencies of a summary, in the order of a table."""


def drive_text(drive: MeasuredDrive) -> str:
    """Return a drive in one line: path, model and serial number or backing device, and capacity."""
    capacity = capacity_text(drive.capacity_bytes)
    if capabilities_of(drive.kind).on_file_system:
        beneath = f" on {drive.backing}" if drive.backing else ""
        return f"{drive.path}  file{beneath}, {capacity}"
    known = " ".join(part for part in (drive.model, drive.serial) if part)
    return "  ".join(part for part in (drive.path, known, capacity) if part)


def stream_text(stream: Stream) -> str:
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
    """Yield the requested options that differ from their defaults, in words."""
    if isinstance(stream.pattern, Zipf | Bands | Shuffled):
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


def _ops_text(stream: Stream) -> str:
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


def self_text(summary: Summary, workload: Workload | None) -> str:
    """Return the tool's own figures: I/Os in flight, CPU time per I/O."""
    closed = workload is not None and is_closed(workload)
    asked = sum(stream.in_flight for stream in workload.streams) if workload and closed else None
    reached = "unknown" if summary.in_flight is None else _in_flight_text(summary.in_flight)
    in_flight = f"in flight {reached}" + (f" of {asked}" if asked else "")
    cpu = summary.cpu or Cpu()
    per_io = "" if cpu.per_io_ns is None else f"CPU {latency_text(cpu.per_io_ns)} per I/O, "
    times = f"user {significant(cpu.user_s)} s, system {significant(cpu.sys_s)} s"
    return f"{in_flight}; {per_io}{times}; measured for {span_text(summary.elapsed_s)}"


def _in_flight_text(mean: float) -> str:
    # Whole numbers from 1000 on: with three digits, 4096 would become 4100, more than was requested.
    return f"{mean:.0f}" if mean >= 1000 else significant(mean)


def model_text(summary: Summary) -> str:
    """Return a simulated drive's internal figures; empty for a real drive."""
    drive = summary.drive
    if drive is None or drive.scale is None:
        return ""
    size = f"at 1/{drive.scale} of its size" if drive.scale > 1 else "at scale 1"
    text = [f"simulated {size}, its percentiles modelled"]
    if drive.effective_spare is not None:
        text.append(f"effective spare {share_text(drive.effective_spare)}")
    else:
        text.append("effective spare not judged: not all of the medium was written since it was erased")
    if drive.write_amplification is not None:
        text.append(f"write amplification {significant(drive.write_amplification)}")
    if drive.temperature_c is not None:
        text.append(f"{drive.temperature_c:.1f} °C at the end")
    return "; ".join(text)


def power_text(summary: Summary) -> str:
    """Return the power and its meter; empty without one."""
    power = summary.power
    if power is None:
        return ""
    error = "" if power.error_w is None else f" ± {significant(power.error_w)} W"
    energy = "" if power.energy_j is None else f", {significant(power.energy_j)} J"
    whose = "its model" if power.source == "model" else power.source
    return f"{significant(power.mean_w)} W{error}{energy}, by {whose}"


def counts_text(side: Side) -> str:
    counts = {"failed": side.failed, "dropped": side.dropped, "late": side.late}
    text = [counted(side.ios, "I/O")]
    text += [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join(text)


def latency_or_dash(latency_ns: float | None) -> str:
    """Return a latency with a fitting unit; a dash if too few I/Os were done."""
    return "-" if latency_ns is None else latency_text(latency_ns)


def is_closed(workload: Workload | None) -> bool:
    """Return whether response and service times are equal, so that only one of them is printed."""
    arrivals = [stream.arrival for stream in workload.streams] if workload else []
    return bool(arrivals) and all(
        isinstance(each, Pulses) or (isinstance(each, Closed) and each.think_ns == 0) for each in arrivals
    )


def workload_of(summary: Summary) -> Workload | None:
    """Return the workload of a summary; None if it is not stored, or if an incompatible ssdlab wrote it."""
    try:
        return None if summary.workload is None else Workload.model_validate(summary.workload)
    except (LabError, ValueError):
        return None


def clocks_of(side: Side, workload: Workload | None) -> dict[str, Times]:
    """Return the latencies of a direction by name; only one if response and service times are equal."""
    if is_closed(workload):
        return {"latency": side.response_ns}
    return {"service": side.service_ns, "response": side.response_ns}


def measurement_html(summary: Summary) -> str:
    """Return a measurement for a notebook: a row for each direction and clock, and warnings."""
    from ssdlab.model.notebook import table_html

    workload = workload_of(summary)
    rows: list[list[str]] = []
    for direction, side in summary.sides.items():
        rates = (count_text(summary.iops_of(direction)), throughput_text(summary.mb_s_of(direction)))
        done = [direction, *rates, counts_text(side)]
        for clock, times in clocks_of(side, workload).items():
            rows.append([*done, clock, *_latencies(times)])
            done = [""] * len(done)
    if (flushes := summary.flush) is not None:
        failed = f", {flushes.failed} failed" if flushes.failed else ""
        rows.append([FLUSH, "", "", f"{flushes.flushes}{failed}", "latency", *_latencies(flushes.latency_ns)])
    asked = [f"{stream_text(each)}, seed {summary.seed}" for each in workload.streams] if workload else []
    facts = filter(None, (model_text(summary), power_text(summary), self_text(summary, workload)))
    warnings = [f"warning: {each.what}. {advice_text(each.advice)}" for each in summary.warnings or ()]
    title = "" if summary.drive is None else drive_text(summary.drive)
    head = ("", "IOPS", "throughput", "I/Os", "", *LATENCIES)
    return table_html(title, asked, head, rows, [*facts, *warnings], words=(0, 3, 4))


def _latencies(times: Times) -> list[str]:
    return [latency_or_dash(times.get(key)) for key in LATENCIES]
