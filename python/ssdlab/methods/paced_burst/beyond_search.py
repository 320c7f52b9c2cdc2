"""The search for a rate over twice the cache: where it is tried, and what a run of it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.plugin import Tried

from .beyond_cache import (
    HALVINGS,
    LABEL,
    MIDDLES,
    SEARCH,
    TIMES,
    FoundCache,
    lowest_beyond,
    rate_beyond,
    search_beyond,
    unloaded_ns,
)
from .desktop_load import SEARCH as WITHIN
from .desktop_load import judge_rates

if TYPE_CHECKING:
    from ssdlab.plugin import Lab, RunData, Step

    from .desktop_load import Layout


@dataclass(frozen=True)
class BeyondTrial:
    """How a rate is tried beyond the cache.

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
        """Write twice the cache at a rate in MB/s, and return whether it held."""
        self.rest()
        workload = rate_beyond(self.layout, rate, cache_bytes)
        label, tried = f"{rate} MB/s paced, beyond the cache", Tried(search=SEARCH, value=rate)
        step = self.lab.run(workload, label=label, certain=False, tried=tried)
        return judge_rates([step], self.most, unloaded_ns=unloaded_ns(self.tried))[-1].held


def search_cache(trial: BeyondTrial, cache: FoundCache, safe: int | None, most_seconds: float) -> None:
    """Try rates over twice the cache, where the fill found one that fits; a plan takes the longest way."""
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
    """Return what was found beyond the cache, or why nothing was tried there."""
    looked = next((step for step in data.steps if step.label == LABEL), None)
    cache = FoundCache() if looked is None else FoundCache.model_validate(looked.result.facts)
    lowest = unloaded_ns(data.tried(WITHIN))
    rates = tuple(judge_rates(data.tried(SEARCH), most, unloaded_ns=lowest))
    why = ""
    if not rates:
        if cache.hot:
            why = "the drive throttled itself for heat before its speed dropped in the fill"
        elif cache.cache_bytes is None:
            why = "the speed of the fill did not fall for good"
        elif not most_seconds:
            why = "writing twice as much was not asked for"
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
