"""`ssdlab trace`: show what is in a trace, and record one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.flags import Name, Time, of_option
from ssdlab.cli.output import print_fields, print_json, print_line, print_table, say, warn
from ssdlab.model.units import (
    NS_PER_S,
    block_text,
    capacity_text,
    counted,
    parse_duration,
    share_text,
    span_text,
)

if TYPE_CHECKING:
    from ssdlab.formats.traces.overview import Overview
    from ssdlab.formats.traces.reading import Tally

SHOW_SCHEMA = "ssdlab.trace/1"
RECORD_SCHEMA = "ssdlab.trace-record/1"
_SIZES_SHOWN = 5
_DEVICES_SHOWN = 20
_FILES_SHOWN = 5


def show(
    file: str,
    /,
    *,
    format: Name = "auto",
    columns: Name = "",
    device: Name = "",
    action: Name = "Q",
    unit: Name = "us",
    waits: Name = "",
    json: bool = False,
) -> None:
    """Show what is in a trace: I/Os and sizes, devices, extent, duration, idle gaps, unreadable lines.

    Parameters
    ----------
    file
        The trace; .gz and .tar are read directly. The word example means a built-in synthetic trace.
    format
        iolog (fio), blkparse, msr, alibaba or columns; auto detects it.
    columns
        Columns of another format: a TOML file, or time:1:us,op:2,offset:3,length:4.
    device
        Only this device.
    action
        blkparse action: Q queued, D issued to the driver.
    unit
        Unit of times in a fio iolog version 3: s, ms, us, 100ns, ns.
    waits
        Waits in a fio iolog version 2: ms (milliseconds since the start, as fio does) or us (microseconds to
        wait, as fio's HOWTO says).
    json
        Print JSON, schema ssdlab.trace/1.
    """
    from ssdlab.formats.traces.overview import as_dict, overview
    from ssdlab.formats.traces.reading import Source

    asked = {"format": format, "columns": columns, "device": device, "action": action, "unit": unit}
    found, tally = overview(Source.model_validate({"file": file, **asked, "waits": waits}))
    if json:
        print_json({"schema": SHOW_SCHEMA, "file": file, **as_dict(found, tally)})
    else:
        _print(file, found, tally)


def _print(file: str, found: Overview, tally: Tally) -> None:
    print_line(f"{file}: {tally.format}", "bold")
    fields: list[tuple[str, object]] = [
        ("I/Os", f"{found.ios} in {tally.lines} lines"),
        ("files", f"{len(tally.files)} of a tar: {_listed(tally.files)}" if tally.files else None),
        ("extent", f"{capacity_text(found.extent_bytes)}, in units of {block_text(found.unit_bytes)}"),
        ("length", span_text(found.duration_ns / NS_PER_S)),
        (
            "idle",
            f"{found.gaps} gaps over 25 ms, {span_text(found.gaps_ns / NS_PER_S)} in total; "
            f"the longest {span_text(found.longest_gap_ns / NS_PER_S)}",
        ),
        (
            "not asked",
            ", ".join(f"{count} {name}" for name, count in found.not_replayed.items()) or None,
        ),
        ("lost", f"{tally.lost} events, when it was recorded" if tally.lost else None),
        (
            "times",
            f"go back {tally.backwards} times, first in line {tally.first_backwards}"
            if tally.backwards
            else None,
        ),
        ("bad lines", f"{tally.bad_lines}: {tally.bad_text}" if tally.bad_lines else None),
    ]
    print_fields(fields)
    _print_bursts(found)
    print_line()
    rows = [
        (name, str(kind.ios), capacity_text(kind.bytes), _sizes(kind.sizes, kind.ios))
        for name, kind in found.kinds.items()
    ]
    print_table(rows, ("", "I/Os", "bytes", "sizes"), right=(1, 2))
    if len(tally.devices) > 1:
        print_line()
        listed = tally.devices.most_common(_DEVICES_SHOWN)
        print_table([(name, str(count)) for name, count in listed], ("device", "I/Os"), right=(1,))
        if (more := len(tally.devices) - len(listed)) > 0:
            print_line(f"and {more} more")


def _print_bursts(found: Overview) -> None:
    """Print the bursts of writes in a trace, with the `paced-burst` command that reproduces them."""
    from ssdlab.methods.paced_burst.desktop_load import Asked

    size, every_ns, block = found.bursts.mean_bytes, found.bursts.every_ns, found.write_block_bytes
    if size is None or every_ns is None or block is None:
        return
    print_line()
    every = span_text(every_ns / NS_PER_S)
    print_line(f"{found.bursts.count} bursts of writes: {capacity_text(size)} every {every}")
    asked = Asked.like(size, every_ns, block)
    if asked is None:
        return
    if asked.block_bytes != block:
        cut = f"{block_text(block)} of most writes becomes {block_text(asked.block_bytes)}"
        print_line(f"the block of {cut}: paced-burst takes 512 B to 64 KiB, in steps of 512 B")
    print_line(f"ssdlab run paced-burst DRIVE {asked.words}", "dim")


def _listed(names: list[str]) -> str:
    more = len(names) - _FILES_SHOWN
    return ", ".join(names[:_FILES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _sizes(sizes: dict[int, int], ios: int) -> str:
    """Return the most common sizes with their shares."""
    common = sorted(sizes.items(), key=lambda each: -each[1])
    shares = [f"{block_text(size)} {share_text(count / ios)}" for size, count in common[:_SIZES_SHOWN]]
    return ", ".join(shares) + (
        f" and {len(common) - _SIZES_SHOWN} more" if len(common) > _SIZES_SHOWN else ""
    )


def record(
    device: str,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    seconds: Time = None,
    json: bool = False,
) -> None:
    """Record the I/Os to a block device, through the kernel's block tracepoints, until Ctrl-C.

    The file is text as blkparse prints it, one line per queued I/O (action Q); `ssdlab run trace` replays it.
    For a disk, I/Os to its partitions are included. Events lost because the kernel's buffers were full are
    counted, printed, and noted in the file.

    Parameters
    ----------
    device
        A block device such as /dev/nvme0n1.
    output
        New file to write, not on that device.
    seconds
        Duration, such as 60 or 10m [default: until Ctrl-C].
    json
        Print what was recorded as JSON, schema ssdlab.trace-record/1.
    """
    from ssdlab.formats.traces.capture import capture
    from ssdlab.runs.stopping import StopFlag

    with of_option("--seconds"):
        length_s = None if seconds is None else parse_duration(seconds) / NS_PER_S
    with StopFlag() as stop:
        if not json:
            say(
                f"recording {device}"
                + (" until Ctrl-C" if length_s is None else f" for {span_text(length_s)}")
            )
        captured = capture(device, output, seconds=length_s, stopped=stop)
    if json:
        print_json({"schema": RECORD_SCHEMA, **asdict(captured)})
        return
    print_line(f"{counted(captured.ios, 'I/O')} in {span_text(captured.seconds)}: {captured.file}")
    if captured.lost:
        warn(
            f"{captured.lost} events were lost: I/Os came faster than they could be recorded",
            "record on an idle host; a replay will warn that they are missing",
        )
