"""The source of a replayed trace, its mapping, and the workload that replays it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from ssdlab.model.arrival import AsRecorded, Closed
from ssdlab.model.frozen import Stored
from ssdlab.model.pattern import Recording
from ssdlab.model.units import counted, counted_were
from ssdlab.model.workload import Block, RecordedOps, Stop, Stream, Workload, row_ns
from ssdlab.results.claim import Claim
from ssdlab.results.metric import Qualifier

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Qualifier(code="example")
"""Qualifier of figures from the built-in example trace."""


class TraceSource(Stored):
    """A trace, and how to read it."""

    file: str
    format: str
    lines: int
    bad_lines: int = Field(description="unreadable lines, skipped")
    bad_text: str = Field(description="the first of them, with their reasons")
    backwards: int = Field(description="I/Os earlier than the one before")
    lost: int = Field(description="events lost during recording, if recorded")
    devices: int
    device: str


class TraceLaid(Stored):
    """How a trace's I/Os were mapped onto the drive."""

    speed: str = Field(description="times faster than recorded, or max")
    ios: int = Field(description="I/Os read from the trace, including flushes")
    extent_bytes: int = Field(description="end of the last I/O, as recorded")
    trace_ns: int = Field(description="from the first replayed I/O to the last, as recorded")
    wrapped: int = Field(description="I/Os beyond the drive's end that were wrapped into it")
    gap_most_ns: int = Field(description="length to which longer gaps were cut; 0: none")
    gaps_cut: int
    gaps_cut_ns: int
    left_out: dict[str, int] = Field(description="I/Os that were not replayed, by reason")


def changes_of(source: TraceSource, laid: TraceLaid) -> Iterator[Claim]:
    """Yield the changes that reading and mapping made to a trace."""
    if source.bad_lines:
        yield Claim(
            "{count} lines could not be read and were skipped: {lines}",
            others={"count": str(source.bad_lines), "lines": source.bad_text},
        )
    if source.lost:
        yield Claim(
            "{count} events were lost when the trace was recorded", others={"count": str(source.lost)}
        )
    for reason, count in laid.left_out.items():
        yield Claim(
            "{count} left out: {reason}", others={"count": counted_were(count, "I/O"), "reason": reason}
        )
    if source.backwards:
        yield Claim(
            "the trace was sorted: its times went back {count} times",
            others={"count": str(source.backwards)},
        )
    if laid.wrapped:
        yield Claim(
            "{count} beyond the drive's end {were} wrapped around to the start",
            others={"count": counted(laid.wrapped, "I/O"), "were": "was" if laid.wrapped == 1 else "were"},
        )


def replay_of(facts: Any, depth: int, arrival: AsRecorded | Closed) -> Workload:  # noqa: ANN401 - as in a step
    """Return the workload that replays the recording of a `trace` step.

    Parameters
    ----------
    facts
        Facts of the `trace` step.
    depth
        Maximum I/Os in flight.
    arrival
        `AsRecorded` starts I/Os at recorded times; `Closed` starts each as soon as the depth allows.
    """
    found = facts["recording"]
    ops = RecordedOps(**{name: found[name] for name in ("reads", "writes", "trims")})
    sizes = dict.fromkeys((found["unit_bytes"], found["longest_bytes"]))
    stream = Stream(
        ops=ops,
        block=tuple(Block(bytes=size) for size in sizes),
        pattern=Recording(
            file=facts["file"],
            digest=found["digest"],
            duration_ns=found["duration_ns"],
            moved_bytes=found["read_bytes"] + found["write_bytes"],
            written_bytes=found["write_bytes"],
        ),
        depth=depth,
        engine="uring",
        arrival=arrival,
        stop=Stop(ios=ops.reads + ops.writes + ops.trims),
    )
    return Workload.of(stream, interval_ns=row_ns(found["duration_ns"]))
