"""The Result of a replayed trace."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ssdlab.results.schema import Latencies, ResultBase
from ssdlab.results.stored import Stored


class TraceSource(Stored):
    """Where a trace came from."""

    file: str
    format: str
    lines: int
    bad_lines: int = Field(description="that could not be read and were skipped")
    bad_text: str = Field(description="the first of them, with their reasons")
    backwards: int = Field(description="I/Os whose time is before that of the one in front")
    lost: int = Field(description="events that were lost when it was recorded, as far as it says")
    devices: int
    device: str


class TraceLaid(Stored):
    """What became of a trace's I/Os on this drive."""

    speed: str = Field(description="times faster than recorded, or max")
    ios: int = Field(description="of the trace, as far as it was read, flushes included")
    extent_bytes: int = Field(description="first byte behind all of them, as recorded")
    trace_ns: int = Field(description="from the first replayed I/O to the last, as recorded")
    wrapped: int = Field(description="I/Os beyond the drive's end that were moved into it")
    gap_most_ns: int = Field(description="what longer gaps were cut to; 0: none was")
    gaps_cut: int
    gaps_cut_ns: int
    left_out: dict[str, int] = Field(description="I/Os that were not replayed, by reason")


class TraceRecording(Stored):
    """The file of records that was replayed."""

    digest: str = Field(description="BLAKE3, hex")
    reads: int
    writes: int
    trims: int
    read_bytes: int
    write_bytes: int
    trim_bytes: int
    duration_ns: int = Field(description="when the last I/O was due; 0 as fast as possible")
    end: int = Field(description="first byte behind all I/Os")
    longest_bytes: int
    unit_bytes: int = Field(description="what divides all offsets and lengths")


class Replayed(Stored):
    """What a replay came to; a storage-bench page, and how far the host kept up."""

    ordinal: int
    seconds: float
    busy_s: float = Field(description="time with at least one I/O in flight")
    ios: int
    late: int = Field(description="issued more than 1 ms after they were due")
    dropped: int
    failed: int
    read_bytes: int
    write_bytes: int
    mb_s: float | None = Field(description="bytes read and written over the busy time")
    service_mean_ns: float | None = Field(description="of all directions")
    in_flight: float = Field(description="mean over the whole time")
    lateness_ns: Latencies
    service_ns: dict[str, Latencies] = Field(description="by direction")
    response_ns: dict[str, Latencies] = Field(description="by direction, from the intended start")
    mean_w: float | None
    energy_j: float | None


class TraceResult(ResultBase):
    """A recorded workload, replayed."""

    kind: Literal["trace"] = "trace"
    depth: int = Field(description="in flight at most; as fast as possible: always")
    source: TraceSource
    laid: TraceLaid
    recording: TraceRecording
    done: Replayed
