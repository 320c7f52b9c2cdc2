"""Where a search ended and nothing failed is a bound from below, and is called one wherever it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from methods.quick_runs import QuickResult
from ssdlab.methods.act import search
from ssdlab.methods.act.result import ActSearchResult
from ssdlab.methods.paced_burst.findings import rate_beyond, safe_rate
from ssdlab.methods.paced_burst.result import PacedBurstResult
from ssdlab.methods.rate_limit.result import RateLimitResult
from ssdlab.results.claim import sentence
from ssdlab.results.metric import Metric

Searched = Callable[..., Any]


@pytest.fixture
def searched(quick_result: QuickResult) -> Searched:
    """Make a result of a search that met a load that failed, or none: `searched(name, failed=True)`."""
    return lambda name, *, failed: ended(quick_result(name), name, failed=failed)


def figures_of(result: Any) -> list[Metric]:
    """What a method makes of a result that was altered."""
    if isinstance(result, PacedBurstResult):
        return list(result._headlines())
    if isinstance(result, ActSearchResult):
        return list(search._scalars(result, search.ActSearchParams()))
    return list(result.scalars)


def ended(result: Any, name: str, *, failed: bool) -> Any:
    if name == "paced-burst":
        tries = tuple(each.model_copy(update={"held": True}) for each in result.rates)
        highest = tries[-1].model_copy(update={"held": False, "why": "late"})
        rates = (*tries[:-1], highest) if failed else tries
        end = {
            "quick": False,
            "rates": rates,
            "beyond": rates,
            "lowest_failed_mb_s": highest.rate if failed else None,
        }
        beyond = {"safe_beyond_mb_s": rates[0].rate, "beyond_span_bytes": 2, "cache_bytes": 1}
        return result.model_copy(update={**end, **beyond, "safe_mb_s": rates[0].rate})
    if name == "rate-limit":
        tries = tuple(
            each.model_copy(update={"held": not (failed and each is result.tries[-1])})
            for each in result.tries
        )
        facts = dict(result) | {"tries": tries}
        made = {name: facts[name] for name in ("quick", "read_pct", "block_bytes", "percentile", "bound_ns")}
        return RateLimitResult.of(tries, **made)
    update = {"score": 10, "resolution": 5 if failed else None, "seconds": 86_400.0, "slice_s": 3600.0}
    return result.model_copy(update=update)


@pytest.mark.parametrize(
    ("name", "figure"),
    [("paced-burst", "paced_safe_mb_s"), ("rate-limit", "rate_under"), ("act-search", "act_score")],
)
def test_a_search_without_a_failure_gives_a_bound_from_below(
    name: str, figure: str, searched: Searched
) -> None:
    for failed in (True, False):
        result = searched(name, failed=failed)
        own, *_ = [each for each in figures_of(result) if each.name.startswith(figure)]
        assert own.codes == (() if failed else ("search-ceiling",))
        assert own.bound == (None if failed else "at least")


def test_each_safe_rate_is_named_with_the_span_that_it_was_measured_over(searched: Searched) -> None:
    spans = {"span_bytes": 4_000_000, "beyond_span_bytes": 72_000_000_000}
    ended = searched("paced-burst", failed=True).model_copy(update=spans)
    labels = {each.name: each.label for each in ended._headlines()}
    assert labels["paced_safe_mb_s"] == "safe rate of writes alone, over a span of 4.00 MB"
    assert (
        labels["paced_safe_beyond_mb_s"]
        == "safe rate of writes alone beyond the cache, over a span of 72.0 GB"
    )


def test_the_sentences_of_paced_bursts_say_at_least(searched: Searched) -> None:
    below, found = searched("paced-burst", failed=False), searched("paced-burst", failed=True)
    assert all("up to at least" in sentence(claim(below)) for claim in (safe_rate, rate_beyond))
    assert not any("at least" in sentence(claim(found)) for claim in (safe_rate, rate_beyond))


def test_a_quick_safe_rate_is_not_told_as_one_beyond_a_cache(searched: Searched) -> None:
    """Its span is a few megabytes: a drive that writes 280 MB/s was called safe at 384."""
    result = searched("paced-burst", failed=True).model_copy(update={"quick": True})
    (own,) = [each for each in result._headlines() if each.name == "paced_safe_mb_s"]
    assert own.codes == ("within-cache",) and own.unfit("ranking")
