"""A recorded workload, replayed as timed, faster, or as fast as possible.

Question
    Data rate, service time with its tail, and energy of a real workload.

Procedure
    1. The trace is read and mapped onto the drive. I/Os beyond its end are wrapped into it. What the drive
       cannot do (flushes, less than a logical block) is left out. Both are counted.
    2. Fill, so that all reads hit written blocks.
    3. Replay: one io_uring thread issues every I/O at its recorded time divided by the speed, whatever the
       drive does, with at most 128 in flight. With `speed=max` I/Os follow each other in the order of the
       trace, always 128 in flight.

    Gaps longer than `gap_most` are cut. An I/O that cannot be issued within the backlog is dropped.
    Lateness, late and dropped I/Os are counted as in every open loop. The data rate is over the time with
    at least one I/O in flight, so that idle time does not lower it.

Source
    AnandTech, Storage Bench 2013 ("The Destroyer") and its successors: average data rate and service time,
    later the 99th percentile and energy; idle gaps cut to 25 ms; the drive full. Data rate over busy time
    follows PC Perspective. Replay in an open loop, with lateness reported, is ssdlab's.

What it cannot show
    What the traced machine would have done on this drive. There, an I/O may have waited for the previous
    one, so a faster drive would have received it earlier. A wrapped trace hits the same blocks more often
    than the original. A trace does not contain the time of file system and CPU. If the block layer's
    request times are not available, the program's times are given. On a loaded host these are marked as
    host-limited, and not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ssdlab.formats.traces import example
from ssdlab.formats.traces.blkparse import Action, Waits
from ssdlab.formats.traces.columns import TimeUnit
from ssdlab.formats.traces.reading import Description, Format, Source, TraceFile
from ssdlab.plugin import (
    AT_ONCE,
    NS_PER_S,
    AsRecorded,
    Closed,
    Departure,
    Method,
    Params,
    Remarks,
    RunData,
    RunFacts,
    Seconds,
    Speed,
    TraceMapping,
    param,
    replay_of,
)

from . import TRACE
from .result import TraceResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab

LABEL = "replay"


class TraceParams(Params):
    file: TraceFile = param(example.NAME, "trace file, plain, .gz or .tar; example: a synthetic trace")
    speed: Speed = param("1", "times faster than recorded; max: as fast as possible", unit="x")
    gap_most: Seconds = param(
        0.0,
        "longer gaps are cut to this, before the speed applies; 0: none; AnandTech: 25ms",
        unit="s",
        ge=0,
        le=1e6,
    )
    seconds: Seconds = param(
        0.0, "only so much of the trace, from its first I/O; 0: all", unit="s", quick=5.0, ge=0, le=1e9
    )
    depth: int = param(
        128, "maximum I/Os in flight; with speed max always so many", unit="I/Os", ge=1, le=4096
    )
    backlog: Seconds = param(10.0, "an I/O that waits longer is dropped", unit="s", gt=0, le=1e6)
    format: Format = param("auto", "iolog (fio), blkparse, msr, alibaba or columns; auto: detected")
    columns: Description = param(
        "", "layout of another format: a TOML file, or time:1:us,op:2,offset:3,length:4"
    )
    device: str = param("", "one of the trace's devices, or all; optional if there is one")
    action: Action = param("Q", "of blkparse: Q queued, D issued to the driver")
    unit: TimeUnit = param("us", "time unit of a fio iolog version 3")
    waits: Waits = param(
        "",
        "waits of a fio iolog version 2. ms: until so many after the start, as fio does; us: for so "
        "many more, as its HOWTO says",
    )
    bad_lines: Literal["stop", "skip"] = param("stop", "on an unreadable line: stop, or skip it")
    order: Literal["stop", "sort"] = param("stop", "on a time before the previous one: stop, or sort")
    beyond: Literal["wrap", "leave-out"] = param(
        "wrap", "I/Os beyond the drive's end: wrap into it, or leave out"
    )
    only: Literal["all", "reads"] = param("all", "reads: writes and trims are left out")
    fill: bool = param(True, "write the whole drive first (destroys its data)", quick=True)

    @property
    def engine(self) -> str:
        return "uring"

    @property
    def source(self) -> Source:
        return Source.model_validate({name: getattr(self, name) for name in Source.model_fields})

    @property
    def mapping(self) -> TraceMapping:
        gap_ns, length_ns = (round(each * NS_PER_S) for each in (self.gap_most, self.seconds))
        return TraceMapping(
            speed=self.speed,
            gap_most_ns=gap_ns,
            length_ns=length_ns,
            only=self.only,
            beyond=self.beyond,
            order=self.order,
        )


def procedure(lab: Lab, p: TraceParams) -> None:
    lab.conditions(scheduler="none")
    read = lab.trace(p.source, p.mapping)
    if p.fill:
        lab.fill(unless_written=True)
    arrival = Closed() if p.speed == AT_ONCE else AsRecorded(backlog_ns=round(p.backlog * NS_PER_S))
    lab.run(replay_of(read.result.facts, p.depth, arrival), label=LABEL)


def conclude(data: RunData, p: TraceParams) -> TraceResult:
    read = next(step for step in data.steps if step.verb == "trace")
    replayed = data.step(LABEL)
    assert replayed is not None  # the procedure has it
    return TraceResult.of(replayed, read, p.depth, made_up=p.file == example.NAME, quick=data.quick)


def remarks(facts: RunFacts, p: TraceParams) -> Remarks:
    """Return departures for I/Os that were left out on request, and for a fill that was not done."""
    del facts
    left_out = Departure(code="reads-alone", what="writes and trims were left out, as requested")
    unfilled = Departure(
        code="unfilled",
        what="the drive was not filled first",
        why="reads of unwritten blocks touch no flash",
    )
    return Remarks((*([left_out] if p.only == "reads" else []), *([] if p.fill else [unfilled])))


METHOD = Method(
    name="trace",
    version=1,
    title="Trace replay",
    params=TraceParams,
    procedure=procedure,
    conclude=conclude,
    remarks=remarks,
    result=TRACE,
    writes=lambda p: p.fill or p.only == "all",
    needs=("span written",),
    conditions={"scheduler": "none"},
)
