"""Workloads as a fio job file, for readers who want to check a result with another tool.

Compared with fio 3.33. Notes in the file name what fio refuses or interprets differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.formats.fio.stream import arrival, distribution, jobs, max_jobs, percents
from ssdlab.model.arrival import AsRecorded
from ssdlab.model.pattern import Recording, Sequential, Stepped
from ssdlab.model.workload import Block, Mix, Ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from ssdlab.model.capabilities import Capabilities
    from ssdlab.model.workload import Stream, Workload

_KINDS = {"read": "read", "write": "write", "mixed": "rw", "trim": "trim"}
_SEEDS = 1 << 63
"""fio reads a seed as a signed 64-bit number."""
_MAX_JOBS = 4096
_STANDS_FOR_DRIVE = "DRIVE"


@dataclass(frozen=True)
class Target:
    """The drive of a job file. `path` is as fio opens it; None if there is nothing to open."""

    path: str | None
    block_device: bool
    capacity_bytes: int
    logical_block_bytes: int

    @classmethod
    def of(cls, can: Capabilities, path: str, capacity_bytes: int, logical_block_bytes: int) -> Self:
        """Return the target for a drive; a simulated drive has no path, because fio cannot open it."""
        return cls(None if can.made_to_order else path, can.block_device, capacity_bytes, logical_block_bytes)


def job_file(steps: Iterable[tuple[str, Workload]], target: Target) -> str:
    """Return the nearest fio job file: sections for each step, `#` lines for what fio cannot do.

    Operations, sizes, span, distribution, workers, depth, engine class, amounts and times are equal. Offsets
    differ, because the tools have different generators.

    Parameters
    ----------
    steps
        Label and workload of each step, in order.
    """
    name, notes = _filename(target)
    sections: list[tuple[str, list[str]]] = []
    for label, workload in steps:
        made, lacking = _step(label, workload, target, name)
        if made and sections:
            made[0][1].append("stonewall")
        sections += made
        notes += lacking
    common = sections[0][1] if len(sections) > 1 else ()
    shared = [each for each in common if all(each in own for _, own in sections)]
    lines = ["[global]", f"filename={name}", "allow_file_create=0", "thread", "group_reporting", *shared]
    for title, options in sections:
        lines += ["", f"[{_title(title)}]", *(each for each in options if each not in shared)]
    return "\n".join((*(lines if sections else ()), *(f"# {note}" for note in dict.fromkeys(notes))))


def _step(
    label: str, workload: Workload, target: Target, filename: str
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Return the sections of one step, which run at the same time, and notes on what they cannot express."""
    seed, several = workload.seed % _SEEDS, len(workload.streams) > 1
    notes = [] if seed == workload.seed else ["fio takes no seed of 2^63 or more: 2^63 is subtracted here"]
    sections: list[tuple[str, list[str]]] = []
    for stream in workload.streams:
        made, lacking = _sections(stream, workload.ramp_ns, target, filename)
        if sections and made:
            made[0].append("new_group")
        title = f"{label}, {stream.name}" if several else label
        sections += [(title, [f"randseed={seed}", *each]) for each in made]
        notes += [f"{stream.name}: {note}" if several else note for note in lacking]
    return sections, notes


def _title(label: str) -> str:
    """Return a label as a section name: fio ends names at a comment sign, and reserves `global`."""
    plain = re.sub(r"[;#\s]+", " ", label).strip() or "step"
    return f"step {plain}" if plain.startswith("global") else plain


def _filename(target: Target) -> tuple[str, list[str]]:
    path = target.path
    if path is None:
        return _STANDS_FOR_DRIVE, [
            "DRIVE: fio cannot open a simulated drive; ssdlab sim serve makes it a device"
        ]
    # fio reads ; and # as the start of a comment, expands ${...}, and trims blanks.
    if any(sign in path for sign in (";", "#", "\n", "${")) or path != path.strip() or "\\" in path:
        return _STANDS_FOR_DRIVE, ["DRIVE: fio cannot take the path of this drive; give another"]
    # fio separates several files by colons.
    return path.replace(":", "\\:"), []


def _sections(
    stream: Stream, ramp_ns: int, target: Target, filename: str
) -> tuple[list[list[str]], list[str]]:
    """Return the options of each section of a stream, and notes on what they cannot express."""
    if isinstance(stream.pattern, Recording):
        return _replayed(stream, filename)
    if stream.trims and not target.block_device:
        return [], ["fio trims block devices only"]
    wanted = min(stream.workers, max_jobs(stream), _MAX_JOBS)
    sections, notes = jobs(stream, wanted, target.capacity_bytes, target.logical_block_bytes)
    count = sum(section.count for section in sections)
    if count < stream.workers and not _few_ios(stream):
        notes.append(f"{count} jobs instead of {stream.workers} threads")
    what, inexact = _what(stream, target)
    due, otherwise = arrival(stream, count)
    issue, ending = _issue(stream), _until(stream, ramp_ns)
    options = [[*what, *section.options(), *issue, *due, *ending] for section in sections]
    if ramp_ns and _limited(stream):
        notes.append("fio counts amounts from the end of the ramp")
    if stream.flush_every is not None and stream.reads:
        notes.append("in a mix, fio flushes after reads too")
    if not stream.stop.ever:
        notes.append("ssdlab runs until stopped; fio ends after one pass over the span")
    return options, [*notes, *inexact, *otherwise]


def _few_ios(stream: Stream) -> bool:
    """Return whether an amount limits the stream, so that threads without any I/O have no job."""
    return stream.stop.ios is not None or stream.stop.bytes is not None


def _limited(stream: Stream) -> bool:
    return stream.stop.span_once or stream.stop.bytes is not None or stream.stop.ios is not None


def _replayed(stream: Stream, filename: str) -> tuple[list[list[str]], list[str]]:
    options = ["read_iolog=TRACE.iolog", f"replay_redirect={filename}"]
    options += ["numjobs=1", *_issue(stream)]
    if not isinstance(stream.arrival, AsRecorded):
        options.append("replay_no_stall=1")
    notes = ["TRACE.iolog: the trace as a fio iolog; fio issues even what was left out or moved"]
    if stream.workers > 1:
        notes.append(f"one job, not {stream.workers} threads, as each would replay all of it")
    return [options], notes


def _what(stream: Stream, target: Target) -> tuple[list[str], list[str]]:
    kind, share, notes = "trim", 0, list[str]()
    if isinstance(stream.ops, Mix):
        share = stream.ops.read_pct
        kind = {100: "read", 0: "write"}.get(share, "mixed")
    elif isinstance(stream.ops, Ratio):
        (share, _), exact = percents((stream.ops.read_weight, stream.ops.write_weight))
        kind = "mixed"
        if not exact:
            notes.append("fio takes the share of reads in whole percent")
    random = [100 * (not isinstance(each, Sequential)) for each in stream.patterns]
    options = [f"rw={f'rand{_KINDS[kind]}' if any(random) else _KINDS[kind]}"]
    if kind == "mixed":
        options.append(f"rwmixread={share}")
        if not any(random) and stream.write_pattern is None:
            notes.append("fio's reads and writes advance separately; ssdlab's share one sequence")
    if len(set(random)) > 1:
        options.append(f"percentage_random={','.join(map(str, random))}")
    sizes, inexact = _sizes(stream)
    places, unlike = distribution(stream, target.capacity_bytes, target.logical_block_bytes)
    return [*options, sizes, *places], [*notes, *inexact, *unlike]


def _sizes(stream: Stream) -> tuple[str, list[str]]:
    """Return fio's option for the block sizes of all I/Os or of each direction, and notes on it."""
    sides = (stream.block, *((stream.write_block,) if stream.write_block else ()))
    if all(len(side) == 1 for side in sides):
        return f"bs={','.join(str(side[0].bytes) for side in sides)}", []
    notes = []
    if not all(isinstance(each, Sequential | Stepped) for each in stream.patterns):
        notes.append("fio aligns all sizes to the smallest; ssdlab aligns each to itself")
    shares = [percents([block.weight for block in side]) for side in sides]
    if not all(exact for _, exact in shares):
        if all(_is_range(side) for side in sides):
            return f"bsrange={','.join(f'{side[0].bytes}-{side[-1].bytes}' for side in sides)}", notes
        notes.append("fio takes shares of sizes in whole percent")
    texts = (
        ":".join(f"{block.bytes}/{part}" for block, part in zip(side, own, strict=True) if part)
        for side, (own, _) in zip(sides, shares, strict=True)
    )
    return f"bssplit={','.join(texts)}", notes


def _is_range(side: Sequence[Block]) -> bool:
    """Return whether sizes are all multiples of the smallest up to the largest, with equal weights."""
    step = side[0].bytes
    return all(
        block == Block(bytes=step * number, weight=side[0].weight)
        for number, block in enumerate(side, start=1)
    )


def _issue(stream: Stream) -> list[str]:
    options = ["ioengine=" + ("psync" if stream.engine == "sync" else "io_uring")]
    options += [f"iodepth={stream.depth}", f"direct={int(stream.direct)}"]
    if stream.polled:
        options.append("hipri")
    if stream.batch is not None:
        options.append(f"iodepth_batch_submit={stream.batch}")
    if stream.cpus:
        options += [
            f"cpus_allowed={','.join(str(cpu) for cpu in stream.cpus)}",
            "cpus_allowed_policy=split",
        ]
    if stream.writes:
        share = stream.compressible_pct
        options += ["refill_buffers"] + ([f"buffer_compress_percentage={share}"] if share else [])
    if stream.dsync:
        options.append("sync=dsync")
    if stream.flush_every is not None:
        options.append(f"{stream.flush}={stream.flush_every}")
    return options


def _until(stream: Stream, ramp_ns: int) -> list[str]:
    """Return when a job ends, in whole microseconds: fio does not read a decimal number as seconds."""
    options = []
    if ramp_ns:
        options.append(f"ramp_time={_us(ramp_ns)}us")
    if stream.stop.time_ns is not None:
        # With time_based, fio ignores every other limit.
        options += [] if _limited(stream) else ["time_based"]
        options.append(f"runtime={_us(stream.stop.time_ns - ramp_ns)}us")
    return options


def _us(time_ns: int) -> int:
    return max(1, -(-time_ns // 1000))
