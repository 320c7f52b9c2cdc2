"""Which part of a span, and how much, each of fio's jobs gets: together what the stream's workers have.

fio's job knows its own region of the file and goes round in it. Ours go round the whole span, wherever they
began; a sequential job of fio's therefore gets the part of the span in which our worker begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.formats.fio.shares import share
from ssdlab.model.arrival import Bursts, Open
from ssdlab.model.pattern import Sequential, Stepped
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    from ssdlab.model.workload import Stream

_MAX_SECTIONS = 64
"""Parts that differ by a block need a section each; beyond this the line would be no line any more."""


@dataclass(frozen=True)
class Jobs:
    """Workers that one section of fio's stands for: `count` regions, `apart_bytes` from one to the next."""

    offset_bytes: int
    size_bytes: int
    io_size_bytes: int | None = None
    ios: int | None = None
    count: int = 1
    apart_bytes: int = 0

    def options(self) -> list[str]:
        """Return what fio is told of them."""
        options = [f"--numjobs={self.count}", f"--offset={self.offset_bytes}", f"--size={self.size_bytes}"]
        if self.apart_bytes:
            options.append(f"--offset_increment={self.apart_bytes}")
        if self.io_size_bytes is not None:
            options.append(f"--io_size={self.io_size_bytes}")
        if self.ios is not None:
            options.append(f"--number_ios={self.ios}")
        return options


def jobs(
    stream: Stream, workers: int, capacity_bytes: int, logical_block_bytes: int
) -> tuple[tuple[Jobs, ...], list[str]]:
    """Return the sections of a stream in `workers` jobs, and what these do not say of its places."""
    start, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    notes: list[str] = []
    if isinstance(stream.pattern, Sequential):
        regions = _parts(stream, stream.pattern, workers, (start, length), notes)
    else:
        regions = [_grid(stream, start, length)] * workers
    limited = (_limited(stream, region, index, workers) for index, region in enumerate(regions))
    return _together([job for job in limited if job is not None]), notes


def _grid(stream: Stream, start: int, length: int) -> Jobs:
    """Return the places of a random stream: multiples of its step, or of its smallest block."""
    if isinstance(stream.pattern, Stepped):
        first = -(-start // stream.pattern.step_bytes) * stream.pattern.step_bytes
        return Jobs(first, start + length - first)
    unit = min(block.bytes for block in stream.block)
    return Jobs(start, length // unit * unit)


def _parts(
    stream: Stream, pattern: Sequential, workers: int, span: tuple[int, int], notes: list[str]
) -> list[Jobs]:
    start, length = span
    unit = min(block.bytes for block in stream.block)
    blocks = length // unit
    workers = min(workers, blocks)
    if blocks % workers and workers > _MAX_SECTIONS:
        left_out = blocks % workers * unit
        notes.append(f"the parts of so many jobs must be equal: the last {bytes_text(left_out)} are left out")
        blocks -= blocks % workers
    edges = [start + unit * (blocks * index // workers) for index in range(workers + 1)]
    parts = [Jobs(first, end - first) for first, end in pairwise(edges)]
    cursors = pattern.cursors
    if cursors and stream.stop.span_once and len(cursors) == workers:
        ends = edges[1:]
        return [Jobs(cursor, end - cursor) for cursor, end in zip(cursors, ends, strict=True)]
    if cursors:
        notes.append("fio begins at the start of its part, not where the step before ended")
    if not stream.stop.span_once and workers > 1:
        notes.append("each of fio's jobs goes round its own part; ours go round the whole span")
    if isinstance(stream.arrival, Open | Bursts) and workers > 1:
        notes.append("ours is one sequence that all threads draw on")
    return parts


def _limited(stream: Stream, region: Jobs, index: int, workers: int) -> Jobs | None:
    """Return the region with the worker's share of what the stream may issue; None if that is nothing."""
    stop, block = stream.stop, stream.block[0].bytes
    if stop.span_once and region.size_bytes == 0:
        return None
    if len(stream.block) == 1:
        asked = [share(-(-stop.bytes // block), index, workers)] if stop.bytes is not None else []
        asked += [share(stop.ios, index, workers)] if stop.ios is not None else []
        asked += [region.size_bytes // block] if asked and stop.span_once else []
        if not asked:
            return region
        return replace(region, io_size_bytes=min(asked) * block) if min(asked) else None
    ios = None if stop.ios is None else share(stop.ios, index, workers)
    moved = None if stop.bytes is None else share(stop.bytes, index, workers)
    if 0 in (ios, moved):
        return None
    if moved is None and ios is not None:
        # Without an amount fio ends where its region does.
        moved = ios * max(one.bytes for one in stream.block)
    return replace(region, io_size_bytes=moved, ios=ios)


def _together(single: list[Jobs]) -> tuple[Jobs, ...]:
    """Return neighbours in one section where only their offsets differ, and all by the same."""
    sections: list[Jobs] = []
    for job in single:
        last = sections[-1] if sections else None
        if last is not None:
            apart = job.offset_bytes - last.offset_bytes - last.apart_bytes * (last.count - 1)
            alike = replace(job, offset_bytes=0) == replace(last, offset_bytes=0, count=1, apart_bytes=0)
            if alike and (last.count == 1 or apart == last.apart_bytes):
                sections[-1] = replace(last, count=last.count + 1, apart_bytes=apart)
                continue
        sections.append(job)
    return tuple(sections)
