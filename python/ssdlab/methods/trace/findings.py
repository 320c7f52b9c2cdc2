"""A replayed trace: its findings and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import (
    Amount,
    Claim,
    Evidence,
    Table,
    capacity_text,
    cells,
    changes_of,
    count_text,
    span_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import Replayed, TraceResult

FROM_DIRECTION = {"read": "reads", "write": "writes", "trim": "trims"}


def speed_text(speed: str) -> str:
    """Return how fast a trace was replayed."""
    if speed == "max":
        return "as fast as possible"
    return "as timed" if float(speed) == 1 else f"{speed} times as fast as timed"


def findings(result: TraceResult) -> Iterator[Claim]:
    """Yield the figures of a storage-data_rate page, and whether the host kept up."""
    done, shown = result.done, Evidence((result.done.ordinal,))
    service = "no mean service time" if done.service_mean_ns is None else "{service} mean service time"
    energy = "" if done.energy_j is None else ", {energy}"
    state = result.scalars[0].state if result.scalars else ""
    yield Claim(
        f"{{figure}} while busy, {service}{energy}, {{speed}}{{state}}",
        figure=Amount(done.mb_s, "MB/s"),
        evidence=shown,
        others={
            "state": f" ({state})" if state else "",
            "service": Amount(done.service_mean_ns, "ns"),
            "energy": Amount(done.energy_j, "J"),
            "speed": speed_text(result.laid.speed),
        },
    )
    yield Claim(_kept_up(done), evidence=shown)
    yield from changes_of(result.source, result.laid)
    if done.by_host and done.block_layer_fault:  # else the program's times are as good
        why = {"why": done.block_layer_fault}
        yield Claim("The block layer's times are not used: {why}", evidence=shown, others=why)
    if done.times_from == "block layer":
        yield Claim(
            "Busy and service times are the block layer's, from a request's issue to its completion",
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
    """Return the figures of a storage-data_rate page, in one row."""
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
    """Return service and response times by direction."""
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
    """Return the trace as it was recorded, and what became of it, in one row."""
    head = (
        "Trace",
        "Format",
        "I/Os",
        "Left out",
        "Wrapped",
        "Extent",
        "Length",
        "Gaps cut",
        "Cut away",
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
    return Table("The trace as recorded, and what became of it", head, (row,))


def lateness(result: TraceResult) -> Table:
    """Return how far the host kept up, in one row."""
    keys = ("mean", "p50", "p99", "p99.9", "max")
    row = (
        *(cells.count(getattr(result.done, name)) for name in ("ios", "late", "dropped", "failed")),
        *(cells.latency(result.done.lateness_ns.get(key)) for key in keys),
    )
    head = ("Done", "Late", "Dropped", "Failed", *(f"Lateness {key}" for key in keys))
    return Table("Lateness: from the intended start to the submission", head, (row,))


def tables(result: TraceResult) -> tuple[Table, ...]:
    """Return figures, latencies, the trace, and how far the host kept up."""
    return (data_rate(result), tails(result), trace(result), lateness(result))
