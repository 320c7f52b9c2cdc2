"""A stream as fio's options: its jobs, their arrivals, and their distribution over the span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.pattern import (
    Bands,
    OnePass,
    Segmented,
    Sequential,
    Shuffled,
    Stepped,
    Uniform,
    Zipf,
)
from ssdlab.model.units import bytes_text, duration_text
from ssdlab.model.workload import Mix, Ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.model.workload import Block, Stream


def percents(weights: Sequence[int]) -> tuple[tuple[int, ...], bool]:
    """Return weights as whole percentages that sum to 100, and whether these are exact.

    Rounding is by largest remainders. Rounded one by one, three equal weights would sum to 99.
    """
    total = sum(weights)
    whole = [100 * weight // total for weight in weights]
    rest = [100 * weight % total for weight in weights]
    largest = sorted(range(len(weights)), key=lambda index: (-rest[index], index))
    for index in largest[: 100 - sum(whole)]:
        whole[index] += 1
    return tuple(whole), not any(rest)


def share(total: int, index: int, parts: int) -> int:
    """Return the share of part `index` of `parts`: all shares sum to the total, as in the engine."""
    return total * (index + 1) // parts - total * index // parts


_LONGEST_REST_US = (1 << 31) - 1


def max_jobs(stream: Stream) -> int:
    """Return the maximum number of jobs: fio's Poisson rates must be at least 1 I/O per second in each."""
    if not (isinstance(stream.arrival, Open) and stream.arrival.process == "poisson"):
        return stream.workers
    rarest = min(share for share in _directions(stream) if share) * stream.arrival.rate
    return max(1, min(stream.workers, int(rarest)))


def arrival(stream: Stream, jobs: int) -> tuple[list[str], list[str]]:
    """Return fio's options for a stream's arrivals in `jobs` jobs, and notes on what they cannot express."""
    match stream.arrival:
        case Closed(think_ns=0):
            return [], []
        case Closed(think_ns=think):
            notes = ["fio drains its queue before each rest"] if stream.depth > 1 else []
            return [f"thinktime={_us(think)}us"], notes
        case Open(process=process, rate=rate):
            notes = ["fio paces each job on its own"]
            if process in ("act6", "act2019"):
                notes.append(f"fio has no {process} arrivals; they are evenly spaced here")
            if process != "poisson":
                return [_bytes_a_second(stream, rate, jobs)], notes
            notes.append("fio rounds Poisson's gaps down to microseconds, and rates to whole I/Os a second")
            return [_ios_a_second(stream, rate, jobs), "rate_process=poisson"], notes
        case Pulses(on_ns=on, every_ns=every):
            options = [f"thinktime={_us(every - on)}us", f"thinktime_iotime={_us(on)}us"]
            return options, ["fio counts thinktime from the end of I/O, so pulses drift"]
        case Bursts(bytes=size, every_ns=every):
            mean = stream.requested_iops or Fraction(0)
            bursts = f"{bytes_text(size)} every {duration_text(every)}"
            return [_bytes_a_second(stream, mean, jobs)], [
                f"fio has no timed bursts; this is the mean rate of {bursts}"
            ]
    return [], []


def _bytes_a_second(stream: Stream, rate: Fraction, jobs: int) -> str:
    """Return the rate in bytes: fio's rates in I/Os are whole, and assume the smallest block size."""
    reads, writes = (_mean_bytes(side) for side in (stream.block, stream.write_block or stream.block))
    shares = zip(_directions(stream), (reads, writes, reads), strict=True)
    return "rate=" + ",".join(
        str(max(1, round(rate * mean * share / jobs))) if share else "" for share, mean in shares
    ).rstrip(",")


def _mean_bytes(sizes: tuple[Block, ...]) -> Fraction:
    return Fraction(sum(each.bytes * each.weight for each in sizes), sum(each.weight for each in sizes))


def _ios_a_second(stream: Stream, rate: Fraction, jobs: int) -> str:
    return "rate_iops=" + ",".join(
        str(max(1, round(rate * share / jobs))) if share else "" for share in _directions(stream)
    ).rstrip(",")


def _directions(stream: Stream) -> tuple[Fraction, Fraction, Fraction]:
    """Return the shares of reads, writes and trims: fio has a rate for each."""
    match stream.ops:
        case Mix(read_pct=share):
            return Fraction(share, 100), Fraction(100 - share, 100), Fraction(0)
        case Ratio(read_weight=reads, write_weight=writes):
            (share, rest), _ = percents((reads, writes))
            return Fraction(share, 100), Fraction(rest, 100), Fraction(0)
    return Fraction(0), Fraction(0), Fraction(1)


def _us(time_ns: int) -> int:
    return min(_LONGEST_REST_US, max(1, -(-time_ns // 1000)))


# Jobs: the part of the span, and the amount, that each fio job gets. Together they equal those of the
# stream's workers.
#
# A fio job goes round in its own region of the file, while ssdlab's workers go round the whole span. So a
# sequential fio job gets the part of the span in which the worker begins.

_MAX_SECTIONS = 64
"""Parts that differ by a block need a section each. With more sections the job file would be too long."""


@dataclass(frozen=True)
class Jobs:
    """Workers in one section: `count` regions, each `apart_bytes` after the one before."""

    offset_bytes: int
    size_bytes: int
    io_size_bytes: int | None = None
    ios: int | None = None
    count: int = 1
    apart_bytes: int = 0

    def options(self) -> list[str]:
        options = [f"numjobs={self.count}", f"offset={self.offset_bytes}", f"size={self.size_bytes}"]
        if self.apart_bytes:
            options.append(f"offset_increment={self.apart_bytes}")
        if self.io_size_bytes is not None:
            options.append(f"io_size={self.io_size_bytes}")
        if self.ios is not None:
            options.append(f"number_ios={self.ios}")
        return options


def jobs(
    stream: Stream, workers: int, capacity_bytes: int, logical_block_bytes: int
) -> tuple[tuple[Jobs, ...], list[str]]:
    """Return the sections of a stream with `workers` jobs, and notes on what they cannot express."""
    start, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    notes: list[str] = []
    if isinstance(stream.pattern, Sequential) and stream.write_pattern is None:
        regions = _parts(stream, stream.pattern, workers, (start, length), notes)
    else:
        regions = [_grid(stream, start, length)] * workers
        if workers > 1 and any(isinstance(each, Sequential) for each in stream.patterns):
            notes.append("in fio, sequential I/O starts at the start of the span")
    limited = (_limited(stream, region, index, workers) for index, region in enumerate(regions))
    return _together([job for job in limited if job is not None]), notes


def _grid(stream: Stream, start: int, length: int) -> Jobs:
    """Return the region of a random stream, aligned to its step or to its smallest block."""
    if isinstance(stream.pattern, Stepped):
        first = -(-start // stream.pattern.step_bytes) * stream.pattern.step_bytes
        return Jobs(first, start + length - first)
    unit = min(block.bytes for block in stream.blocks)
    return Jobs(start, length // unit * unit)


def _parts(
    stream: Stream, pattern: Sequential, workers: int, span: tuple[int, int], notes: list[str]
) -> list[Jobs]:
    start, length = span
    unit = min(block.bytes for block in stream.blocks)
    blocks = length // unit
    workers = min(workers, blocks)
    if blocks % workers and workers > _MAX_SECTIONS:
        left_out = blocks % workers * unit
        notes.append(f"jobs need parts of equal size: the last {bytes_text(left_out)} are left out")
        blocks -= blocks % workers
    edges = [start + unit * (blocks * index // workers) for index in range(workers + 1)]
    parts = [Jobs(first, end - first) for first, end in pairwise(edges)]
    cursors = pattern.cursors
    if cursors and stream.stop.span_once and len(cursors) == workers:
        ends = edges[1:]
        return [Jobs(cursor, end - cursor) for cursor, end in zip(cursors, ends, strict=True)]
    if cursors:
        notes.append("fio starts at the start of its part, not where the previous step ended")
    if not stream.stop.span_once and workers > 1:
        notes.append("each fio job loops over its own part; ssdlab's loop over the whole span")
    if isinstance(stream.arrival, Open | Bursts) and workers > 1:
        notes.append("ssdlab has one sequence for all threads")
    return parts


def _limited(stream: Stream, region: Jobs, index: int, workers: int) -> Jobs | None:
    """Return the region with a worker's share of the stream's limits; None if that share is nothing."""
    stop, block = stream.stop, stream.block[0].bytes
    if stop.span_once and region.size_bytes == 0:
        return None
    if len(stream.blocks) == 1:
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
        # Without an amount, fio ends at the end of its region.
        moved = ios * stream.largest_block_bytes
    return replace(region, io_size_bytes=moved, ios=ios)


def _together(single: list[Jobs]) -> tuple[Jobs, ...]:
    """Merge neighbours into one section if they differ only by a constant step of their offsets."""
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


MAX_SEGMENTS = 32
"""Maximum segments as zones: each takes one, and the gap after it another; fio's shares are whole
percentages.
"""


def distribution(
    stream: Stream, capacity_bytes: int, logical_block_bytes: int
) -> tuple[list[str], list[str]]:
    """Return fio's options for a stream's pattern, and notes on what they do not express exactly."""
    random = [each for each in stream.patterns if not isinstance(each, Sequential)]
    if _each_at_its_smallest(stream):
        return ["norandommap"], []
    if len(random) > 1 and random[0] != random[1]:
        of_reads = stream.model_copy(update={"write_pattern": None})
        options, notes = distribution(of_reads, capacity_bytes, logical_block_bytes)
        return options, [*notes, "fio has one distribution for reads and writes: here that of the reads"]
    match random[0] if random else stream.pattern:
        case Sequential():
            return [], []
        case Stepped(step_bytes=step):
            return ["norandommap", f"blockalign={step}"], []
        case Zipf(theta_milli=1000):
            return ["norandommap", "random_distribution=zipf:1.001"], ["fio refuses an exponent of 1"]
        case Zipf(theta_milli=theta):
            return ["norandommap", f"random_distribution=zipf:{theta / 1000:g}"], []
        case Bands() as bands:
            return _zoned(*_of_bands(stream, bands, capacity_bytes, logical_block_bytes), "bands")
        case Segmented(count=count) if count > MAX_SEGMENTS:
            return ["norandommap"], [f"fio has no {count} segments: it uses the whole span"]
        case Segmented() as segments:
            gap = segments.stride_bytes - segments.length_bytes
            widths = [segments.length_bytes, gap] if gap else [segments.length_bytes]
            weights = [1, 0] if gap else [1]
            return _zoned(weights * segments.count, widths * segments.count, "segments")
        case Shuffled(anew=anew):
            timed = stream.stop.time_ns is not None and stream.stop.bytes is None and stream.stop.ios is None
            notes = ["fio changes the order in each pass"] if timed and not anew else []
            return (["randrepeat=0"] if anew else []), notes
        case OnePass():
            return [], ["the planned rewrites are ssdlab's; fio's own one random pass is --sprandom=1"]
    return ["norandommap"], []


def _each_at_its_smallest(stream: Stream) -> bool:
    """Return whether reads and writes are each aligned to their own smallest block, as in fio by default."""
    sides = zip(stream.patterns, (stream.block, stream.write_block or stream.block), strict=False)
    own = [
        isinstance(pattern, Uniform)
        if len(side) == 1
        else isinstance(pattern, Stepped) and pattern.step_bytes == min(block.bytes for block in side)
        for pattern, side in sides
        if not isinstance(pattern, Sequential)
    ]
    return len(stream.patterns) > 1 and any(own) and all(own)


def _of_bands(
    stream: Stream, bands: Bands, capacity_bytes: int, logical_block_bytes: int
) -> tuple[list[int], list[int]]:
    """Return weight and bytes of each band, with edges rounded down to a block, as in the engine."""
    _, length = stream.span_bytes(capacity_bytes, logical_block_bytes)
    unit = min(block.bytes for block in stream.block)
    slots = length // unit
    total = sum(band.span_weight for band in bands.bands)
    edges = [0, *(slots * before // total for before in accumulate(b.span_weight for b in bands.bands))]
    widths = [(after - before) * unit for before, after in pairwise(edges)]
    return [band.access_weight for band in bands.bands], widths


def _zoned(weights: list[int], widths: list[int], noun: str) -> tuple[list[str], list[str]]:
    """Return fio's options for zones, each with its share of the accesses and its bytes, and notes."""
    shares, exact = percents(weights)
    zones = ":".join(f"{part}/{width}" for part, width in zip(shares, widths, strict=True))
    notes = [] if exact else [f"fio takes the share of accesses to {noun} in whole percent"]
    return ["norandommap", f"random_distribution=zoned_abs:{zones}"], notes
