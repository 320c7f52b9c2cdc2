"""Paced bursts: their findings and their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.units import capacity_text
from ssdlab.results import numbers
from ssdlab.results.claim import Amount, Bound, Claim, Evidence
from ssdlab.results.numbers import Table, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.methods.results.paced import PacedBurstResult


def findings(result: PacedBurstResult) -> Iterator[Claim]:
    """Yield load time, speeds inside bursts, and the rate of writes that is safe."""
    paced = result.loads[0]
    shown = Evidence((paced.ordinal,))
    yield Claim(
        "{reads} took {figure} beside the writes",
        figure=Amount(result.load_s, "s"),
        evidence=shown,
        others={"reads": f"{len(result.reads_s)} reads of {capacity_text(result.read_bytes)}"},
    )
    for side in paced.sides:
        yield Claim(
            f"Inside bursts {side.direction}s {{figure}}", figure=Amount(side.mb_s, "MB/s"), evidence=shown
        )
    yield safe_rate(result)


def safe_rate(result: PacedBurstResult) -> Claim:
    """Return the verdict on sustained writing: how long the p99 was at the highest rate that held."""
    tried = Evidence(tuple(each.ordinal for each in result.rates))
    if result.safe_mb_s is None:
        return Claim("No rate of writing was sustained", evidence=tried)
    safe = Amount(result.safe_mb_s, "MB/s")
    if result.lowest_failed_mb_s is None:
        return Claim(
            "Writing is safe up to {figure} sustained; no rate failed",
            figure=safe,
            evidence=tried,
            judged=False,
        )
    failed = next(each for each in result.rates if each.rate == result.lowest_failed_mb_s)
    return Claim(
        "Writing is safe up to {figure} sustained; at {failed} {why}",
        figure=safe,
        bound=Bound("under", Amount(failed.rate, "MB/s")),
        evidence=tried,
        others={"failed": Amount(failed.rate, "MB/s"), "why": failed.why},
    )


def loads(result: PacedBurstResult) -> Table:
    """Return throughput inside bursts and latencies, of each load and direction."""
    head = (
        "Load",
        "Direction",
        "I/Os",
        "MB/s inside",
        "Busy",
        "Latencies",
        "p50",
        "p99",
        "p99.9",
        "p99 by time",
    )
    rows = tuple(
        (
            words(load.name),
            words(side.direction),
            numbers.count(side.ios),
            numbers.throughput(side.mb_s),
            numbers.seconds(side.busy_s),
            numbers.seconds(side.latencies_s),
            *(numbers.latency(side.by_count.get(key)) for key in ("p50", "p99", "p99.9")),
            numbers.latency(side.by_time.get("p99")),
        )
        for load in result.loads
        for side in load.sides
    )
    caption = "Throughput inside bursts, and service latency by count and weighted by time"
    return Table(caption, head, rows)


def load_time(result: PacedBurstResult) -> Table:
    """Return what the large reads took, in one row."""
    head = ("Load time", "Sum of latencies", *(f"Read {at}" for at in range(1, len(result.reads_s) + 1)))
    row = (
        numbers.seconds(result.load_s),
        numbers.seconds(result.load_latencies_s),
        *(numbers.seconds(each) for each in result.reads_s),
    )
    caption = "Load time; each read from when it was due to its last I/O"
    return Table(caption, head, (row,), brief=("Load time", "Sum of latencies"))


def rates(result: PacedBurstResult) -> Table:
    """Return every rate of writes that was tried."""
    head = ("MB/s", "Bytes written", "p99", "Longest", "Held")
    rows = tuple(
        (
            numbers.count(each.rate),
            numbers.count(each.written_bytes),
            numbers.latency(each.p99_ns),
            numbers.latency(each.max_ns),
            words("yes" if each.held else f"no: {each.why}"),
        )
        for each in result.rates
    )
    marked = next((at for at, each in enumerate(result.rates) if each.rate == result.safe_mb_s), None)
    return Table("Every rate tried", head, rows, marked=marked)


def tables(result: PacedBurstResult) -> tuple[Table, ...]:
    """Return the loads, the load time, and every rate."""
    return (loads(result), load_time(result), rates(result))
