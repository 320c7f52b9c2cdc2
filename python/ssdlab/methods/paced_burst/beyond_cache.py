"""Paced writes of at least twice the cache size: what a drive sustains beyond its cache.

In a span within the cache, any rate of the cache looks sustained. So the fill is searched for the end of a
cache, and rates are tried again over twice that amount: halved from the rate that passed in the span until
one passes, then bisected twice.
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
"""So many times the cache is written: once until it is full, and as much again without it."""
HALVINGS, MIDDLES = 6, 2
PARTS = 2000
ROW_NS = 50_000_000
"""Of the fill: short enough that a cache of a hundredth of the drive is some rows."""
SEARCH = "rate beyond the cache"


class FoundCache(BaseModel):
    """The cache that the fill revealed; empty in a plan.

    `hot` says that heat had begun to slow the drive when its speed dropped, so no cache is reported.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    looked: bool = False
    cache_bytes: int | None = None
    hot: bool = False


def look_for_cache(lab: Lab, filled: Step) -> FoundCache:
    """Return where the fill's speed dropped for good; unknown if it was interrupted, or the drive was hot."""

    def value(tables: Tables) -> dict[str, int | bool | None]:
        rows = tables.rows(filled)
        if (rows["end_ns"][1:] < rows["end_ns"][:-1]).any():  # a rest in between, in which a cache is emptied
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
    """Return a workload of writes alone at a rate, until twice the cache size was due."""
    wide = replace(layout, span_bytes=span_beyond(cache_bytes, layout))
    every_ns = layout.burst_bytes * NS_PER_S // (rate * 10**6)
    time_ns = TIMES * cache_bytes * NS_PER_S // (rate * 10**6)
    return Workload.of(wide.writes(every_ns=every_ns, time_ns=time_ns))


def unloaded_ns(tried: Sequence[Step]) -> float | None:
    """Return the p99 at the lowest rate tried within the span; None in a plan."""
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
    """The way to try a rate beyond the cache.

    Attributes
    ----------
    tried
        Rates within the span: the first of them is the unloaded drive.
    most
        Rate to end with, MB/s.
    rest
        Brings the drive to where each load begins.
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
    """Try rates over twice the cache size, if the cache is known and fits; a plan takes the longest way."""
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
    """Return the results beyond the cache, or why nothing was tried there."""
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
