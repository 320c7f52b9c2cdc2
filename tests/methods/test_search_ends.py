"""Where a search ended and nothing failed is a bound from below, and is called one wherever it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ssdlab.methods.presented.paced import rate_beyond, safe_rate
from ssdlab.methods.results.outcome import parse_result
from ssdlab.results.claim import sentence

RECORDED = Path(__file__).parent / "recorded"
FROM_BELOW = "at least: none failed"


def recorded(name: str) -> Any:
    return parse_result(json.loads((RECORDED / f"{name}.json").read_text())["result"], name)


def searched(name: str, *, failed: bool) -> Any:
    """A result of a search that met a load that failed, or none."""
    result = recorded(name)
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
        return result.model_copy(update={"highest_held": 1000, "lowest_failed": 2000 if failed else None})
    update = {"score": 10, "resolution": 5 if failed else None, "seconds": 86_400.0, "slice_s": 3600.0}
    return result.model_copy(update=update)


@pytest.mark.parametrize(
    ("name", "figure"),
    [("paced-burst", "paced_safe_mb_s"), ("rate-limit", "rate_under"), ("act-search", "act_score")],
)
def test_a_search_without_a_failure_gives_a_bound_from_below(name: str, figure: str) -> None:
    for failed in (True, False):
        result = searched(name, failed=failed)
        own, *_ = [each for each in result.scalars if each.name.startswith(figure)]
        assert result.unshown(own) == ("" if failed else FROM_BELOW)
        assert result.shows(own) is failed


def test_each_safe_rate_is_named_with_the_span_that_it_was_measured_over() -> None:
    spans = {"span_bytes": 4_000_000, "beyond_span_bytes": 72_000_000_000}
    ended = searched("paced-burst", failed=True).model_copy(update=spans)
    labels = {each.name: each.label for each in ended._headlines()}
    assert labels["paced_safe_mb_s"] == "safe sustained write rate within 4.00 MB"
    assert labels["paced_safe_beyond_mb_s"] == "safe sustained write rate beyond the cache within 72.0 GB"


def test_the_sentences_of_paced_bursts_say_at_least() -> None:
    below, found = searched("paced-burst", failed=False), searched("paced-burst", failed=True)
    assert all("up to at least" in sentence(claim(below)) for claim in (safe_rate, rate_beyond))
    assert not any("at least" in sentence(claim(found)) for claim in (safe_rate, rate_beyond))


def test_a_quick_safe_rate_is_not_told_as_one_beyond_a_cache() -> None:
    """Its span is a few megabytes: a drive that writes 280 MB/s was called safe at 384."""
    result = searched("paced-burst", failed=True).model_copy(update={"quick": True})
    (own,) = [each for each in result.scalars if each.name == "paced_safe_mb_s"]
    assert result.unshown(own) == "not shown beyond a cache" and not result.shows(own)
