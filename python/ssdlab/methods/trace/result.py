"""The result of a replayed trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.plugin import (
    BLOCK_TIMES_FACT,
    DIRECTIONS,
    EXAMPLE,
    NS_PER_S,
    Amount,
    Attribution,
    BlockTimes,
    Claim,
    Evidence,
    Latencies,
    Metric,
    ResultBase,
    Stored,
    Table,
    TraceLaid,
    TraceSource,
    Workers,
    attribute,
    capacity_text,
    cells,
    changes_of,
    count_text,
    span_text,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Step


class TraceRecording(Stored):
    """The recording that was replayed."""

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
    unit_bytes: int = Field(description="largest unit of all offsets and lengths")


class Replayed(Stored):
    """The outcome of a replay: the figures of a storage bench, and how well the host kept up."""

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
    times_from: Literal["program", "block layer"] = Field(
        default="program", description="source of busy and service times"
    )
    block_layer_fault: str | None = Field(
        default=None,
        description="why the block layer's times are not used, if taken",
    )
    attribution: Attribution | None = Field(
        default=None, description="whether the host took part in the times; None: not recorded"
    )

    @property
    def by_host(self) -> tuple[str, ...]:
        """Why busy and service times include the host's; empty if nothing shows that."""
        if self.times_from == "block layer":
            return ()  # the kernel's timestamps exclude the program's waits
        judged = self.attribution
        return judged.reasons if judged is not None and judged.limit == "host" else ()

    @classmethod
    def of(cls, step: Step) -> Self:
        summary = step.measured
        sides = {name: side for name in DIRECTIONS if (side := summary.side(name)) is not None}
        ios = sum(side.ios for side in sides.values())
        waited_ns = sum(side.service_mean_ns * side.ios for side in sides.values() if side.ios)
        block = BlockTimes.model_validate(step.result.facts.get(BLOCK_TIMES_FACT, {}))
        used = block.used
        busy_ns = block.busy_ns if used else (summary.workers or Workers()).busy_ns
        busy_s = busy_ns / NS_PER_S
        power = summary.power
        return cls(
            ordinal=step.ordinal,
            seconds=summary.total_s or 0.0,
            busy_s=busy_s,
            ios=ios,
            late=sum(side.late for side in sides.values()),
            dropped=sum(side.dropped for side in sides.values()),
            failed=sum(side.failed for side in sides.values()),
            read_bytes=sides["read"].bytes if "read" in sides else 0,
            write_bytes=summary.written_bytes,
            mb_s=summary.moved_bytes / busy_s / 1e6 if busy_s else None,
            service_mean_ns=block.service_mean_ns if used else waited_ns / ios if ios else None,
            in_flight=summary.in_flight or 0.0,
            lateness_ns=summary.lateness_ns,
            service_ns=block.service_ns if used else {name: side.service_ns for name, side in sides.items()},
            response_ns={name: side.response_ns for name, side in sides.items()},
            mean_w=summary.mean_w,
            times_from="block layer" if used else "program",
            block_layer_fault=block.fault,
            energy_j=None if power is None else power.energy_j,
            attribution=None if step.result.host is None else attribute(step.result.host),
        )


class TraceResult(ResultBase):
    """The replay of a recorded workload."""

    kind: Literal["trace"] = "trace"
    depth: int = Field(description="in flight at most; as fast as possible: always")
    source: TraceSource
    laid: TraceLaid
    recording: TraceRecording
    done: Replayed

    @classmethod
    def of(cls, replayed: Step, read: Step, depth: int, *, made_up: bool, quick: bool) -> Self:
        facts, done = read.result.facts, Replayed.of(replayed)
        source = TraceSource.model_validate(facts["source"])
        laid = TraceLaid.model_validate(facts["laid"])
        return cls(
            quick=quick,
            depth=depth,
            source=source,
            laid=laid,
            recording=TraceRecording.model_validate(facts["recording"]),
            done=done,
            scalars=tuple(
                each.resting(steps=(done.ordinal,)).qualified([EXAMPLE] if made_up else [])
                for each in _figures(done)
                if each.value is not None
            ),
        )


def _figures(done: Replayed) -> Iterator[Metric]:
    yield Metric.more("trace_mb_s", "data rate while busy", done.mb_s, "MB/s")
    yield Metric.less("trace_service_ns", "mean service time", done.service_mean_ns, "ns")
    for name, service in done.service_ns.items():
        label = f"p99 service time of {name}s"
        yield Metric.less(f"trace_{name}_p99_ns", label, service.get("p99"), "ns")
    yield Metric.less("trace_energy_j", "energy", done.energy_j, "J")


FROM_DIRECTION = {"read": "reads", "write": "writes", "trim": "trims"}


def speed_text(speed: str) -> str:
    if speed == "max":
        return "as fast as possible"
    return "as timed" if float(speed) == 1 else f"{speed} times as fast as recorded"


def findings(result: TraceResult) -> Iterator[Claim]:
    done, shown = result.done, Evidence((result.done.ordinal,))
    service = "no mean service time" if done.service_mean_ns is None else "{service} mean service time"
    energy = "" if done.energy_j is None else ", {energy}"
    yield Claim(
        f"{{figure}} while busy, {service}{energy}, {{speed}}",
        figure=Amount(done.mb_s, "MB/s"),
        evidence=shown,
        others={
            "service": Amount(done.service_mean_ns, "ns"),
            "energy": Amount(done.energy_j, "J"),
            "speed": speed_text(result.laid.speed),
        },
        columns={
            "While busy": "{figure}",
            "Mean service time": "{service}",
            **({} if done.energy_j is None else {"Energy": "{energy}"}),
            "Replayed": "{speed}",
        },
    )
    yield Claim(_kept_up(done), evidence=shown)
    yield from changes_of(result.source, result.laid)
    if done.by_host and done.block_layer_fault:  # otherwise the program's times are as good
        why = {"why": done.block_layer_fault}
        yield Claim("Block-layer times not used: {why}", evidence=shown, others=why)
    if done.times_from == "block layer":
        yield Claim(
            "Busy and service times from the block layer, from issue to completion of a request",
            evidence=shown,
        )


def _kept_up(done: Replayed) -> str:
    if not done.late and not done.dropped:
        return "No I/O was late"
    late = f"{count_text(done.late)} {'I/O was' if done.late == 1 else 'I/Os were'} late"
    dropped = f"{count_text(done.dropped)} {'was' if done.dropped == 1 else 'were'} dropped"
    parts = [text for count, text in ((done.late, late), (done.dropped, dropped)) if count]
    return " and ".join(parts)


def data_rate(result: TraceResult) -> Table:
    done = result.done
    row = (
        cells.words(speed_text(result.laid.speed)),
        cells.throughput(done.mb_s),
        cells.latency(done.service_mean_ns),
        cells.seconds(done.busy_s),
        cells.seconds(done.seconds),
        cells.plain(done.in_flight),
        cells.plain(done.energy_j),
        cells.plain(done.mean_w),
    )
    head = ("Speed", "MB/s busy", "Service", "Busy", "Whole", "In flight", "J", "W")
    return Table("Data rate, mean service time, energy", head, (row,))


def tails(result: TraceResult) -> Table:
    clocks = (("service", result.done.service_ns), ("response", result.done.response_ns))
    keys = ("mean", "p50", "p99", "p99.9", "p99.99", "max")
    rows = tuple(
        (
            cells.words(f"{FROM_DIRECTION[name]}, {clock}"),
            *(cells.latency(found.get(key)) for key in keys),
        )
        for clock, by_direction in clocks
        for name, found in by_direction.items()
    )
    return Table("Service and response time", ("", *keys), rows)


def trace(result: TraceResult) -> Table:
    head = (
        "Trace",
        "Format",
        "I/Os",
        "Left out",
        "Wrapped",
        "Extent",
        "Length",
        "Gaps cut",
        "Removed",
    )
    row = (
        cells.words(result.source.file.rpartition("/")[2]),
        cells.words(result.source.format),
        cells.count(result.laid.ios),
        cells.count(sum(result.laid.left_out.values())),
        cells.count(result.laid.wrapped),
        cells.words(capacity_text(result.laid.extent_bytes)),
        cells.seconds(result.laid.trace_ns / 1e9),
        cells.count(result.laid.gaps_cut),
        cells.words(span_text(result.laid.gaps_cut_ns / 1e9)),
    )
    return Table("The trace, as recorded and as replayed", head, (row,))


def lateness(result: TraceResult) -> Table:
    keys = ("mean", "p50", "p99", "p99.9", "max")
    row = (
        *(cells.count(getattr(result.done, name)) for name in ("ios", "late", "dropped", "failed")),
        *(cells.latency(result.done.lateness_ns.get(key)) for key in keys),
    )
    head = ("Done", "Late", "Dropped", "Failed", *(f"Lateness {key}" for key in keys))
    return Table("Lateness: from the intended start to the submission", head, (row,))


def tables(result: TraceResult) -> tuple[Table, ...]:
    return (data_rate(result), tails(result), trace(result), lateness(result))
