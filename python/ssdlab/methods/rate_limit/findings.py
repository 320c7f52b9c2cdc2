"""A rate under a latency bound: its findings and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Bound, Claim, Evidence, Table, cells, count_text, latency_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .result import OfferedLoad, RateLimitResult


def findings(result: RateLimitResult) -> Iterator[Claim]:
    """Yield the limit: the percentile at the highest rate that held is the figure held against the bound."""
    bound = Bound("under", Amount(result.bound_ns, "ns"))
    tried = Evidence(tuple(each.ordinal for each in result.tries))
    others: dict[str, Amount | str] = {"percentile": result.percentile}
    if result.highest_held is None:
        yield Claim("No rate kept {percentile} {bound}", bound=bound, evidence=tried, others=others)
        return
    yield from _by_longest(result)
    others["rate"] = Amount(result.highest_held, "IOPS")
    held = next(each for each in result.tries if each.rate == result.highest_held)
    reached_ns = held.response_ns.get("max" if held.by_longest(result.percentile) else result.percentile)
    reached = Amount(reached_ns, "ns")
    says = "{rate} with {percentile} {bound}"
    if result.lowest_failed is None:
        yield Claim(
            f"{says}; no rate failed",
            figure=reached,
            bound=bound,
            evidence=tried,
            others=others,
        )
        return
    failed = next(each for each in result.tries if each.rate == result.lowest_failed)
    others |= {"failed": Amount(failed.rate, "IOPS"), "why": failed.why}
    yield Claim(f"{says}; at {{failed}} {{why}}", figure=reached, bound=bound, evidence=tried, others=others)


def _by_longest(result: RateLimitResult) -> Iterator[Claim]:
    """Yield at which rates there were too few I/Os for the percentile."""
    short = [each for each in result.tries if each.held and each.by_longest(result.percentile)]
    if short:
        yield Claim(
            "Too few I/Os for {percentile} at {rates}: the longest, no shorter, was held against the bound",
            evidence=Evidence(tuple(each.ordinal for each in short)),
            others={
                "percentile": result.percentile,
                "rates": ", ".join(f"{count_text(each.rate)} IOPS" for each in short),
            },
        )


def rates(result: RateLimitResult) -> Table:
    """Return every rate tried."""
    head = ("Offered", "Done", "Mean", "p99", "p99.9", "Dropped", "Held", "W")
    rows = tuple(
        (
            cells.iops(each.rate),
            cells.iops(each.iops),
            *(cells.latency(each.response_ns.get(key)) for key in ("mean", "p99", "p99.9")),
            cells.count(each.dropped),
            cells.words(_held(each, result.percentile)),
            cells.plain(each.mean_w),
        )
        for each in result.tries
    )
    marked = next((at for at, each in enumerate(result.tries) if each.rate == result.highest_held), None)
    return Table("Every rate tried", head, rows, marked=marked)


def _held(load: OfferedLoad, percentile: str) -> str:
    if not load.held:
        return f"no: {load.why}"
    longest_ns = load.response_ns.get("max")
    if longest_ns is not None and load.by_longest(percentile):
        return f"yes: the longest took {latency_text(longest_ns)}"
    return "yes"


def tables(result: RateLimitResult) -> tuple[Table, ...]:
    """Return every rate tried."""
    return (rates(result),)
