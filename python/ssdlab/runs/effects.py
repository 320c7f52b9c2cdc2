"""What a step does to the drive, in words: every write, discard, erase and setting, for `--dry-run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.pattern import Sequential
from ssdlab.model.units import block_text, capacity_text, duration_text
from ssdlab.model.workload import RecordedOps

if TYPE_CHECKING:
    from ssdlab.methods.steps import Request
    from ssdlab.model.workload import Stream


def effects_of(request: Request) -> tuple[str, ...]:
    """Return what reaches the drive in a step; empty where nothing does."""
    if request.workload is not None:
        return tuple(_stream(stream) for stream in request.workload.streams)
    args = request.args
    match request.verb:
        case "trim":
            start, length = int(str(args["start"])), int(str(args["length"]))
            return (f"discards bytes {start} to {start + length} (BLKDISCARD; punches holes into a file)",)
        case "flush":
            return ("flushes the drive's cache (fsync)",)
        case "purge":
            how = args.get("method") or "the strongest method that it supports"
            return (f"erases the whole drive: {how}",)
        case "conditions":
            return _settings(args["required"])
        case "variant":
            return (*_settings(args["required"]), *_spare(args["usable"]))
        case "health":
            return ("reads the drive's health log",)
    return ()


def _settings(wanted: object) -> tuple[str, ...]:
    if not isinstance(wanted, dict) or not wanted:
        return ("reads the drive's settings",)
    return tuple(f"sets {name.replace('_', ' ')} to {value}" for name, value in wanted.items())


def _spare(usable: object) -> tuple[str, ...]:
    if not isinstance(usable, dict) or not usable["free"]:
        return ()
    return (f"discards everything from byte {usable['length']} on, which is not used",)


def _stream(stream: Stream) -> str:
    if isinstance(stream.ops, RecordedOps):
        counts = stream.ops.model_dump().items()
        told = ", ".join(f"{count} {name}" for name, count in counts if count)
        longest = block_text(max(block.bytes for block in stream.block))
        return f"replays {told} of up to {longest} in {_where(stream)}"
    blocks = "/".join(block_text(block.bytes) for block in stream.block)
    order = "in order" if isinstance(stream.pattern, Sequential) else "at random"
    if stream.trims:
        doing = "discards"
    elif not stream.reads:
        doing = "writes"
    else:
        doing = "reads and writes" if stream.writes else "reads"
    return f"{doing} {blocks} {order} in {_where(stream)}, {_until(stream)}"


def _where(stream: Stream) -> str:
    start, length = stream.span.start, stream.span.length
    if not isinstance(start, int) or not isinstance(length, int):
        return f"{start} to {'the end' if length is None else f'{length} further'}"
    return f"bytes {start} to {start + length}"


def _until(stream: Stream) -> str:
    stop = stream.stop
    ends = [
        f"for {duration_text(stop.time_ns)}" if stop.time_ns is not None else "",
        f"{capacity_text(stop.bytes)} ({stop.bytes} bytes)" if stop.bytes is not None else "",
        f"{stop.ios} I/Os" if stop.ios is not None else "",
        "once over" if stop.span_once else "",
    ]
    return " or ".join(end for end in ends if end) or "until its condition holds"
