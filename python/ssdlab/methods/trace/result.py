"""The Result of a replayed trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field

from ssdlab.plugin import (
    DIRECTIONS,
    EXAMPLE,
    FACT,
    NS_PER_S,
    Attribution,
    BlockTimes,
    Latencies,
    Metric,
    ResultBase,
    Stored,
    TraceLaid,
    TraceSource,
    Workers,
    attribute,
)

if TYPE_CHECKING:
    from ssdlab.plugin import Step


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
    """The outcome of a replay: a storage-bench page, and how far the host kept up."""

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
        default="program", description="who took busy and service times"
    )
    block_layer_fault: str | None = Field(
        default=None,
        description="why those of the block layer are not used, where they were taken",
    )
    attribution: Attribution | None = Field(
        default=None, description="whether the host took part in the times; None: not recorded"
    )

    @property
    def by_host(self) -> tuple[str, ...]:
        """Why busy and service times are the host's too; empty where nothing shows that."""
        if self.times_from == "block layer":
            return ()  # stamped where requests begin and end, whatever the program had to wait for
        judged = self.attribution
        return judged.reasons if judged is not None and judged.limit == "host" else ()

    @classmethod
    def of(cls, step: Step) -> Self:
        """Return the outcome of the step that replayed."""
        summary = step.measured
        sides = {name: side for name in DIRECTIONS if (side := summary.side(name)) is not None}
        ios = sum(side.ios for side in sides.values())
        waited_ns = sum(side.service_mean_ns * side.ios for side in sides.values() if side.ios)
        block = BlockTimes.model_validate(step.result.facts.get(FACT, {}))
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
    """A recorded workload, replayed."""

    kind: Literal["trace"] = "trace"
    depth: int = Field(description="in flight at most; as fast as possible: always")
    source: TraceSource
    laid: TraceLaid
    recording: TraceRecording
    done: Replayed

    @classmethod
    def of(cls, replayed: Step, read: Step, depth: int, *, made_up: bool, quick: bool) -> Self:
        """Return the Result of the steps that read the trace and replayed it."""
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
