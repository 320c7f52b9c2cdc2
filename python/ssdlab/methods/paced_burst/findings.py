"""Findings and tables of paced bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Amount, Bound, Claim, Evidence, Table, capacity_text, cells, counted, words

from .result import LOAD_SERVICE, LOAD_TIME, unjudged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .result import PacedBurstResult, PacedRate


_SAFE = "Writing alone is safe up to"
_SLOWED = "The fill slowed after"


def findings(result: PacedBurstResult) -> Iterator[Claim]:
    """Yield the load time, the speeds inside bursts, the safe rate of writes, and the end of a cache."""
    paced, saturated = result.loads
    shown = Evidence((paced.ordinal,))
    yield Claim(
        "{reads} during the writes: {figure} with a read in flight, {service} as the sum of service times",
        figure=Amount(result.load_s, "s"),
        evidence=shown,
        others={
            "reads": f"{counted(len(result.reads_s), 'read')} of {capacity_text(result.read_bytes)}",
            "service": Amount(result.load_latencies_s, "s"),
        },
        columns={"Load time, read in flight": "{figure}"},
    )
    for side in paced.sides:
        name, without = f"{side.direction.capitalize()}s", saturated.side(side.direction)
        yield Claim(
            f"{name} inside bursts: {{figure}}; without pauses: {{without}}",
            figure=Amount(side.mb_s, "MB/s"),
            evidence=Evidence((paced.ordinal, saturated.ordinal)),
            others={"without": Amount(None if without is None else without.mb_s, "MB/s")},
            columns={f"{name} inside bursts": "{figure}", f"{name} without pauses": "{without}"},
        )
    yield safe_rate(result)
    if result.beyond:
        yield rate_beyond(result)
    elif result.cache_bytes is not None:
        yield Claim(
            "Sustained rate beyond the cache ({cache}) not tried: {why}",
            evidence=Evidence(tuple(each.ordinal for each in result.rates)),
            others={"cache": Amount(result.cache_bytes, "bytes"), "why": result.beyond_why},
            columns={_SLOWED: "{cache}"},
        )
    elif result.hot_fill:
        yield Claim(
            "End of a cache not judged: the drive was hot when its speed dropped in the fill",
            columns={_SLOWED: "not judged: the drive was hot"},
        )
    elif result.beyond_why:
        yield Claim(
            "No end of a cache found: {why}",
            others={"why": result.beyond_why},
            columns={_SLOWED: "no end of a cache found"},
        )


def safe_rate(result: PacedBurstResult) -> Claim:
    """Return the verdict on sustained writing, with the p99 at the highest rate that passed."""
    tried = Evidence(tuple(each.ordinal for each in result.rates))
    if (rate := unjudged(result.rates)) is not None:
        return _not_judged(rate, tried)
    if result.safe_mb_s is None:
        return Claim("No write rate was sustained", evidence=tried)
    safe = Amount(result.safe_mb_s, "MB/s")
    held = next(each for each in result.rates if each.rate == result.safe_mb_s)
    within = {
        "span": Amount(result.span_bytes, "bytes"),
        "cache": Amount(result.cache_bytes, "bytes"),
        "written": Amount(held.written_bytes, "bytes"),
    }
    where = " ({written} written over a span of {span})"
    if result.cache_bytes is not None:
        where += "; the fill slowed after {cache}"
    if result.lowest_failed_mb_s is None:
        return Claim(
            f"Writing alone is safe up to at least {{figure}}{where}; no rate failed",
            figure=safe,
            evidence=tried,
            others=within,
            columns={_SAFE: "at least {figure}", "Next rate": "none failed"},
        )
    failed = next(each for each in result.rates if each.rate == result.lowest_failed_mb_s)
    return Claim(
        f"Writing alone is safe up to {{figure}}{where}; at {{failed}} {{why}}",
        figure=safe,
        bound=Bound("under", Amount(failed.rate, "MB/s")),
        evidence=tried,
        others={**within, "failed": Amount(failed.rate, "MB/s"), "why": failed.why},
        columns={_SAFE: "{figure}", "Next rate": "{failed}: {why}"},
    )


def _not_judged(rate: PacedRate, tried: Evidence) -> Claim:
    """Return the claim that no rate passed, for a reason that may not lie in the drive."""
    return Claim(
        "Sustained write rate not judged: at {rate} {why}",
        evidence=tried,
        others={"rate": Amount(rate.rate, "MB/s"), "why": rate.why},
    )


def rate_beyond(result: PacedBurstResult) -> Claim:
    """Return the verdict on sustained writing over twice the cache size."""
    tried = Evidence(tuple(each.ordinal for each in result.beyond))
    others: dict[str, Amount | str] = {
        "span": Amount(result.beyond_span_bytes, "bytes"),
        "cache": Amount(result.cache_bytes, "bytes"),
        "lowest": Amount(result.beyond[0].rate, "MB/s"),
    }
    where = "over a span of {span}, twice the {cache} after which the fill slowed"
    if (rate := unjudged(result.beyond)) is not None:
        return _not_judged(rate, tried)
    if result.safe_beyond_mb_s is None:
        return Claim(f"No rate down to {{lowest}} was sustained {where}", evidence=tried, others=others)
    up_to = "at least " if all(each.held for each in result.beyond) else ""
    return Claim(
        f"Writing alone is safe up to {up_to}{{figure}} {where}",
        figure=Amount(result.safe_beyond_mb_s, "MB/s"),
        evidence=tried,
        others=others,
        columns={"Safe beyond the cache": f"{up_to}{{figure}}", _SLOWED: "{cache}"},
    )


def loads(result: PacedBurstResult) -> Table:
    """Return a table of throughput inside bursts, by load and direction."""
    head = (
        "Load",
        "Direction",
        "I/Os",
        "MB/s inside",
        "MB/s of service time",
        "Busy",
        "Service times summed",
    )
    rows = tuple(
        (
            words(load.name),
            words(side.direction),
            cells.count(side.ios),
            cells.throughput(side.mb_s),
            cells.throughput(side.service_mb_s),
            cells.seconds(side.busy_s),
            cells.seconds(side.latencies_s),
        )
        for load in result.loads
        for side in load.sides
    )
    return Table("Throughput inside bursts", head, rows)


def percentiles(result: PacedBurstResult) -> Table:
    """Return a table of service latency by load and direction, by count and weighted by time."""
    rows = tuple(
        (
            words(load.name),
            words(side.direction),
            *(cells.latency(side.by_count.get(key)) for key in ("p50", "p99", "p99.9")),
            cells.latency(side.by_time.get("p99")),
        )
        for load in result.loads
        for side in load.sides
    )
    head = ("Load", "Direction", "p50", "p99", "p99.9", "p99 by time")
    return Table("Service latency by count, and weighted by time", head, rows)


def load_time(result: PacedBurstResult) -> Table:
    head = (LOAD_TIME, LOAD_SERVICE, *(f"Read {at}" for at in range(1, len(result.reads_s) + 1)))
    row = (
        cells.seconds(result.load_s),
        cells.seconds(result.load_latencies_s),
        *(cells.seconds(each) for each in result.reads_s),
    )
    caption = "Load time; each read from when it was due to its last I/O"
    return Table(caption, head, (row,), brief=(LOAD_TIME, LOAD_SERVICE))


def rates(result: PacedBurstResult) -> Table:
    return _rates("Every rate tried", result.rates, result.safe_mb_s)


def _rates(caption: str, tried: Sequence[PacedRate], safe: int | None) -> Table:
    head = ("MB/s", "Bytes written", "p99 of service", "Longest", "Held")
    rows = tuple(
        (
            cells.count(each.rate),
            cells.count(each.written_bytes),
            cells.latency(each.p99_ns),
            cells.latency(each.max_ns),
            words("yes" if each.held else f"no: {each.why}"),
        )
        for each in tried
    )
    marked = next((at for at, each in enumerate(tried) if each.rate == safe), None)
    return Table(caption, head, rows, marked=marked)


def tables(result: PacedBurstResult) -> tuple[Table, ...]:
    beyond = _rates(
        "Every rate tried over twice what was filled before the speed fell",
        result.beyond,
        result.safe_beyond_mb_s,
    )
    return (
        loads(result),
        percentiles(result),
        load_time(result),
        rates(result),
        *((beyond,) if result.beyond else ()),
    )
