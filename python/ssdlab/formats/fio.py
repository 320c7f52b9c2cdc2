"""The same workload as a fio command line, for a reader who wants to check a point with another tool."""

from __future__ import annotations

import shlex
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.model.arrival import AsRecorded, Bursts, Closed, Open, Pulses
from ssdlab.model.pattern import Bands, Recording, Sequential, Stepped, Zipf
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Mix, Ratio

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream, Workload

_KINDS = {"read": "read", "write": "write", "mixed": "rw", "trim": "trim"}


def command(workload: Workload, path: str, capacity_bytes: int, logical_block_bytes: int) -> str:
    """Return the nearest fio command line: a job for each stream, `#` lines for what fio cannot do.

    Equal are operations, sizes, span, distribution, workers, depth, engine class and times. Never equal
    are the offsets drawn: the two tools have other generators.
    """
    shared = ["fio", f"--filename={path}", "--thread", "--group_reporting", f"--randseed={workload.seed}"]
    parts, notes = [], []
    for stream in workload.streams:
        options, lacking = _job(stream, workload.ramp_ns, capacity_bytes, logical_block_bytes)
        parts += options
        notes += lacking
    line = " ".join(shlex.quote(part) for part in (*shared, *parts))
    return "\n".join((line, *(f"# {note}" for note in notes)))


def _job(
    stream: Stream, ramp_ns: int, capacity_bytes: int, logical_block_bytes: int
) -> tuple[list[str], list[str]]:
    if isinstance(stream.pattern, Recording):
        return _replayed(stream)
    start, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    options = [f"--name={stream.name}", *_what(stream), f"--offset={start}", f"--size={length}"]
    if isinstance(stream.pattern, Sequential):
        if stream.workers > 1:
            options.append(f"--offset_increment={length // stream.workers}")
    else:
        options.append("--norandommap")
    options += _issue(stream)
    arrival, notes = _arrival(stream)
    return [*options, *arrival, *_until(stream, ramp_ns)], notes


def _replayed(stream: Stream) -> tuple[list[str], list[str]]:
    options = [f"--name={stream.name}", "--read_iolog=TRACE.iolog", *_issue(stream)]
    if not isinstance(stream.arrival, AsRecorded):
        options.append("--replay_no_stall=1")
    return options, ["TRACE.iolog: the same trace as a fio iolog; what was left out or moved, fio will issue"]


def _what(stream: Stream) -> list[str]:
    kind, share = "trim", 0
    if isinstance(stream.ops, Mix):
        share = stream.ops.read_pct
        kind = {100: "read", 0: "write"}.get(share, "mixed")
    elif isinstance(stream.ops, Ratio):
        reads, writes = stream.ops.read_weight, stream.ops.write_weight
        kind, share = "mixed", round(100 * reads / (reads + writes))
    sequential = isinstance(stream.pattern, Sequential)
    name = _KINDS[kind] if sequential else f"rand{_KINDS[kind]}"
    options = [f"--rw={name}"]
    if kind == "mixed":
        options.append(f"--rwmixread={share}")
    if len(stream.block) == 1:
        options.append(f"--bs={stream.block[0].bytes}")
    else:
        total = sum(block.weight for block in stream.block)
        split = ":".join(f"{block.bytes}/{round(100 * block.weight / total)}" for block in stream.block)
        options.append(f"--bssplit={split}")
    match stream.pattern:
        case Stepped(step_bytes=step):
            options.append(f"--blockalign={step}")
        case Zipf(theta_milli=theta):
            options.append(f"--random_distribution=zipf:{theta / 1000:g}")
        case Bands(bands=bands):
            access, span = sum(b.access_weight for b in bands), sum(b.span_weight for b in bands)
            zones = (
                f"{round(100 * b.access_weight / access)}/{round(100 * b.span_weight / span)}" for b in bands
            )
            options.append(f"--random_distribution=zoned:{':'.join(zones)}")
    return options


def _issue(stream: Stream) -> list[str]:
    options = ["--ioengine=" + ("psync" if stream.engine == "sync" else "io_uring")]
    options += [f"--numjobs={stream.workers}", f"--iodepth={stream.depth}", f"--direct={int(stream.direct)}"]
    if stream.polled:
        options.append("--hipri")
    if stream.batch is not None:
        options.append(f"--iodepth_batch_submit={stream.batch}")
    if stream.cpus:
        options += [
            f"--cpus_allowed={','.join(str(cpu) for cpu in stream.cpus)}",
            "--cpus_allowed_policy=split",
        ]
    if stream.writes:
        share = stream.compressible_pct
        options += ["--refill_buffers"] + ([f"--buffer_compress_percentage={share}"] if share else [])
    if stream.dsync:
        options.append("--sync=dsync")
    if stream.flush_every is not None:
        options.append(f"--fsync={stream.flush_every}")
    return options


def _arrival(stream: Stream) -> tuple[list[str], list[str]]:
    match stream.arrival:
        case Closed(think_ns=0):
            return [], []
        case Closed(think_ns=think):
            return [f"--thinktime={max(1, think // 1000)}"], []
        case Open(process=process, rate=rate):
            options = [f"--rate_iops={max(1, round(rate / stream.workers))}"]
            if process == "poisson":
                options.append("--rate_process=poisson")
            notes = ["fio paces each job on its own and rounds its rate to whole I/Os a second"]
            if process in ("act6", "act2019"):
                notes.append(f"fio has no arrivals like {process}; they are even here")
            return options, notes
        case Pulses(on_ns=on, every_ns=every):
            options = [f"--thinktime={max(1, (every - on) // 1000)}", f"--thinktime_iotime={on // 1000}us"]
            return options, ["fio counts its rests from when the I/O ends, so that pulses drift"]
        case Bursts(bytes=size, every_ns=every):
            mean = Fraction(size, stream.block[0].bytes) * NS_PER_S / every
            options = [f"--rate_iops={max(1, round(mean / stream.workers))}"]
            return options, ["fio has no bursts on a clock; this is their mean rate"]
        case AsRecorded():
            return [], []


def _until(stream: Stream, ramp_ns: int) -> list[str]:
    options = []
    if ramp_ns:
        options.append(f"--ramp_time={ramp_ns / NS_PER_S:g}")
    if stream.stop.time_ns is not None:
        options += ["--time_based", f"--runtime={(stream.stop.time_ns - ramp_ns) / NS_PER_S:g}"]
    if stream.stop.bytes is not None:
        options.append(f"--io_size={stream.stop.bytes // stream.workers}")
    if stream.stop.ios is not None:
        options.append(f"--number_ios={stream.stop.ios // stream.workers}")
    return options
