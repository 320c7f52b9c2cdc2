"""A replayed trace: its findings and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.units import capacity_text, count_text, counted, counted_were, span_text
from ssdlab.results import numbers
from ssdlab.results.claim import Amount, Claim, Evidence
from ssdlab.results.numbers import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.methods.results.replay import Replayed, TraceLaid, TraceResult, TraceSource

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


def changes_of(source: TraceSource, laid: TraceLaid) -> Iterator[Claim]:
    """Yield what was changed of a trace as it was read and laid onto the drive."""
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
            "the times of the trace went back {count} times; it was sorted",
            others={"count": str(source.backwards)},
        )
    if laid.wrapped:
        yield Claim(
            "{count} beyond the drive's end {were} wrapped: their offset is the remainder by the drive's "
            "size, and what would then cross the end lies in front of it",
            others={"count": counted(laid.wrapped, "I/O"), "were": "was" if laid.wrapped == 1 else "were"},
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
        numbers.words(speed_text(result.laid.speed)),
        numbers.throughput(done.mb_s),
        numbers.latency(done.service_mean_ns),
        numbers.seconds(done.busy_s),
        numbers.seconds(done.seconds),
        numbers.plain(done.in_flight),
        numbers.plain(done.energy_j),
        numbers.plain(done.mean_w),
    )
    head = ("Speed", "MB/s busy", "Service", "Busy", "Whole", "In flight", "J", "W")
    return Table("Data rate, mean service time, energy", head, (row,))


def tails(result: TraceResult) -> Table:
    """Return service and response times by direction."""
    clocks = (("service", result.done.service_ns), ("response", result.done.response_ns))
    keys = ("mean", "p50", "p99", "p99.9", "p99.99", "max")
    rows = tuple(
        (
            numbers.words(f"{FROM_DIRECTION[name]}, {clock}"),
            *(numbers.latency(found.get(key)) for key in keys),
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
        numbers.words(result.source.file.rpartition("/")[2]),
        numbers.words(result.source.format),
        numbers.count(result.laid.ios),
        numbers.count(sum(result.laid.left_out.values())),
        numbers.count(result.laid.wrapped),
        numbers.words(capacity_text(result.laid.extent_bytes)),
        numbers.seconds(result.laid.trace_ns / 1e9),
        numbers.count(result.laid.gaps_cut),
        numbers.words(span_text(result.laid.gaps_cut_ns / 1e9)),
    )
    return Table("The trace as recorded, and what became of it", head, (row,))


def lateness(result: TraceResult) -> Table:
    """Return how far the host kept up, in one row."""
    keys = ("mean", "p50", "p99", "p99.9", "max")
    row = (
        *(numbers.count(getattr(result.done, name)) for name in ("ios", "late", "dropped", "failed")),
        *(numbers.latency(result.done.lateness_ns.get(key)) for key in keys),
    )
    head = ("Done", "Late", "Dropped", "Failed", *(f"Lateness {key}" for key in keys))
    return Table("Lateness: from the intended start to the submission", head, (row,))


def tables(result: TraceResult) -> tuple[Table, ...]:
    """Return figures, latencies, the trace, and how far the host kept up."""
    return (data_rate(result), tails(result), trace(result), lateness(result))
