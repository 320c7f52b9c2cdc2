"""Paced writes of at least twice the cache size: the rate that a drive sustains beyond its cache.

Within a span that fits into the cache, every rate that the cache can take looks sustained. So the end of the
cache is looked for in the fill, and rates are tried again over twice that amount. The rate that passed within
the span is halved until a rate passes. Then the interval is bisected twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from ssdlab.analysis.over_position import find_drop, speeds_over, written_ns
from ssdlab.plugin import NS_PER_S, SPAN_UNIT_BYTES, Finding, Tried, Workload, evidence_of

from .desktop_load import SEARCH as WITHIN
from .desktop_load import Layout, judge_rates

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunData, Step, Tables


LABEL = "cache of the fill"
TIMES = 2
"""Amount written, in cache sizes: once until the cache is full, and as much again without it."""
HALVINGS, MIDDLES = 6, 2
PARTS = 2000
ROW_NS = 50_000_000
"""Row length of the fill: short enough that a cache of 1 % of the drive spans several rows."""
SEARCH = "rate beyond the cache"


class FoundCache(BaseModel):
    """The cache that the fill revealed; all defaults in a plan.

    `hot` means that heat had begun to slow the drive when its speed dropped, so no cache is reported.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    looked: bool = False
    cache_bytes: int | None = None
    hot: bool = False


def look_for_cache(lab: Lab, filled: Step) -> FoundCache:
    """Return how much the fill wrote before its speed dropped for good, as a cache size.

    The size is unknown if the fill was interrupted or the drive was hot.
    """

    def value(tables: Tables) -> dict[str, int | bool | None]:
        rows = tables.rows(filled)
        if (rows["end_ns"][1:] < rows["end_ns"][:-1]).any():  # after a break, in which a cache is emptied
            return {"looked": True, "cache_bytes": None}
        speeds, part_bytes = speeds_over(rows, PARTS)
        drop = find_drop(speeds)
        if drop is not None and evidence_of(filled).hot_by(written_ns(rows, (drop.at + 1) * part_bytes)):
            return {"looked": True, "cache_bytes": None, "hot": True}
        return {"looked": True, "cache_bytes": None if drop is None else round(drop.at * part_bytes)}

    finding = Finding("end of a cache", {"of": filled.ordinal}, value)  # type: ignore[arg-type]
    return FoundCache.model_validate(lab.find(finding, label=LABEL).result.facts)


def span_beyond(cache_bytes: int, layout: Layout) -> int:
    """Return the span of the writes beyond the cache: at least twice the cache size, in whole blocks."""
    minimum = max(TIMES * cache_bytes, layout.span_bytes)
    return -(-minimum // SPAN_UNIT_BYTES) * SPAN_UNIT_BYTES // layout.block_bytes * layout.block_bytes


def rate_beyond(layout: Layout, rate: int, cache_bytes: int) -> Workload:
    """Return writes alone at a rate in MB/s, which end when twice the cache size was due."""
    wide = replace(layout, span_bytes=span_beyond(cache_bytes, layout))
    every_ns = layout.burst_bytes * NS_PER_S // (rate * 10**6)
    time_ns = TIMES * cache_bytes * NS_PER_S // (rate * 10**6)
    return Workload.of(wide.writes(every_ns=every_ns, time_ns=time_ns))


def unloaded_ns(tried: Sequence[Step]) -> float | None:
    """Return the p99 in ns at the lowest rate tried within the span; None in a plan."""
    return judge_rates(tried[:1], 0)[0].p99_ns if tried else None


def lowest_beyond(cache_bytes: int, most_seconds: float) -> int:
    """Return the lowest rate, in whole MB/s, that writes twice the cache size in the given time."""
    return max(1, math.ceil(TIMES * cache_bytes / most_seconds / 1e6))


def search_beyond(safe: int, lowest: int, holds: Callable[[int], bool]) -> None:
    """Halve the rate that passed within the span until a rate passes, then bisect the interval twice."""
    failed, rate = None, safe
    for _ in range(HALVINGS):
        if holds(rate):
            break
        failed, rate = rate, max(lowest, rate // 2)
        if rate == failed:
            return
    else:
        return
    for _ in range(0 if failed is None else MIDDLES):
        middle = (rate + (failed or rate)) // 2
        if middle in (rate, failed):
            return
        if holds(middle):
            rate = middle
        else:
            failed = middle


@dataclass(frozen=True)
class BeyondTrial:
    """What it takes to try a rate beyond the cache.

    Attributes
    ----------
    tried
        Steps of the rates within the span; the first shows the unloaded drive.
    most
        Highest rate of the search, in MB/s.
    rest
        Brings the drive back to the state in which each load begins.
    """

    lab: Lab
    layout: Layout
    tried: list[Step]
    most: int
    rest: Callable[[], None]

    def holds(self, rate: int, cache_bytes: int) -> bool:
        """Write twice the cache size at a rate in MB/s, and return whether the drive kept up."""
        self.rest()
        workload = rate_beyond(self.layout, rate, cache_bytes)
        label, tried = f"{rate} MB/s paced, beyond the cache", Tried(search=SEARCH, value=rate)
        step = self.lab.run(workload, label=label, certain=False, tried=tried)
        return judge_rates([step], self.most, unloaded_ns=unloaded_ns(self.tried))[-1].held


def search_cache(trial: BeyondTrial, cache: FoundCache, safe: int | None, most_seconds: float) -> None:
    """Try rates over twice the cache size, if the cache is known and that amount fits on the drive.

    A plan has no results, and assumes the longest search.
    """
    if not most_seconds:
        return
    usable_bytes = trial.lab.usable_bytes
    if not cache.looked:
        most_bytes = usable_bytes // TIMES
        for _ in range(HALVINGS + MIDDLES):
            trial.holds(lowest_beyond(most_bytes, most_seconds), most_bytes)
        return
    found = cache.cache_bytes
    if safe is None or found is None or TIMES * found > usable_bytes:
        return
    search_beyond(safe, lowest_beyond(found, most_seconds), lambda rate: trial.holds(rate, found))


def beyond_facts(data: RunData, most_seconds: float, most: int) -> dict[str, Any]:
    """Return the fields of the result about rates beyond the cache, or about why none was tried."""
    looked = next((step for step in data.steps if step.label == LABEL), None)
    cache = FoundCache() if looked is None else FoundCache.model_validate(looked.result.facts)
    lowest = unloaded_ns(data.tried(WITHIN))
    rates = tuple(judge_rates(data.tried(SEARCH), most, unloaded_ns=lowest))
    why = ""
    if not rates:
        if cache.hot:
            why = "the drive was throttling before its speed dropped in the fill"
        elif cache.cache_bytes is None:
            why = "the fill did not slow down permanently"
        elif not most_seconds:
            why = "writing twice the cache was not requested"
        else:
            why = "twice as much does not fit on the drive, or no rate held within the span"
    steps = [step for step in data.steps if rates and step.ordinal == rates[0].ordinal]
    spans = [step.ran.streams[0].span_bytes(data.capacity_bytes, 1)[1] for step in steps]
    return {
        "cache_bytes": cache.cache_bytes,
        "hot_fill": cache.hot or None,
        "beyond": rates,
        "beyond_span_bytes": spans[0] if spans else None,
        "beyond_why": why,
    }
