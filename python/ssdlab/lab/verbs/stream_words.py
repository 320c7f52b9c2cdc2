"""What a workload does to a drive, in words, for ``--dry-run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.pattern import Segmented, Sequential
from ssdlab.model.units import block_text, bytes_text, counted, duration_text
from ssdlab.model.workload import RecordedOps

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream


def describe_stream(stream: Stream) -> str:
    """Return what a stream does to the drive."""
    if isinstance(stream.ops, RecordedOps):
        counts = stream.ops.model_dump().items()
        counted = ", ".join(f"{count} {name}" for name, count in counts if count)
        longest = block_text(max(block.bytes for block in stream.block))
        return f"replays {counted} of up to {longest} in {_where(stream)}"
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
    places = f"bytes {start} to {start + length}"
    if isinstance(stream.pattern, Segmented):
        return f"{stream.pattern.count} segments of {block_text(stream.pattern.length_bytes)} of {places}"
    return places


def _until(stream: Stream) -> str:
    stop = stream.stop
    ends = [
        f"for {duration_text(stop.time_ns)}" if stop.time_ns is not None else "",
        bytes_text(stop.bytes) if stop.bytes is not None else "",
        counted(stop.ios, "I/O") if stop.ios is not None else "",
        "once over" if stop.span_once else "",
    ]
    return " or ".join(end for end in ends if end) or "until its condition holds"
