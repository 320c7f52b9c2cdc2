"""Where no rate held, and not by the drive's fault, nothing is said of the drive."""

from __future__ import annotations

from typing import Any

import pytest

from ssdlab.methods.paced_burst.findings import safe_rate
from ssdlab.methods.paced_burst.result import PacedBurstResult, PacedRate, unjudged
from ssdlab.methods.rate_limit.result import OfferedLoad, RateLimitResult, findings
from ssdlab.results.claim import sentence
from ssdlab.results.metric import Metric

FACTS: dict[str, Any] = {
    "quick": False,
    "read_pct": 100,
    "block_bytes": 4096,
    "percentile": "p99",
    "bound_ns": 1e6,
}


def offered(rate: int, held: bool = False, disturbed: bool = False, done: bool = True) -> OfferedLoad:
    took = {"p99": 2e6, "max": 3e6} if done else {"p99": None, "max": None}
    why = "" if held else "it did not"
    return OfferedLoad(
        rate=rate, ordinal=rate, held=held, why=why, response_ns=took, disturbed=disturbed or None
    )


def first(result: RateLimitResult) -> str:
    return sentence(next(iter(findings(result))))


@pytest.mark.parametrize(
    ("tries", "judged"),
    [
        ([offered(1), offered(2)], True),
        ([offered(1), offered(2, disturbed=True)], False),
        ([offered(1, disturbed=True), offered(2)], False),
        ([offered(1, done=False), offered(2, disturbed=True)], False),
        ([offered(1, done=False)], False),
    ],
)
def test_no_rate_is_a_verdict_only_of_tries_that_the_drive_failed(
    tries: list[OfferedLoad], judged: bool
) -> None:
    result = RateLimitResult.of(tries, **FACTS)
    (figure,) = result.scalars
    assert figure.value is None
    assert {*figure.steps, *figure.chosen_among} == {each.ordinal for each in tries}
    assert ("not-judged" in figure.codes) is not judged
    assert ("not judged" in first(result)) is not judged
    assert ("No rate" in first(result)) is judged


def test_a_rate_that_held_rests_on_the_two_that_it_lies_between() -> None:
    tries = [offered(1, held=True), offered(2, held=True), offered(4), offered(8, disturbed=True)]
    (figure,) = RateLimitResult.of(tries, **FACTS).scalars
    assert (figure.value, figure.steps, figure.chosen_among, figure.codes) == (2, (2, 4), (), ())


def test_a_bound_from_below_is_told_as_one() -> None:
    assert "at least" in first(RateLimitResult.of([offered(1, held=True)], **FACTS)).lower()


def paced(rate: int, disturbed: bool = False) -> PacedRate:
    return PacedRate(rate=rate, ordinal=rate, held=False, why="it did not", disturbed=disturbed or None)


@pytest.mark.parametrize("disturbed", [False, True])
def test_paced_writes_that_were_disturbed_judge_no_drive(disturbed: bool) -> None:
    rates = (paced(1), paced(2, disturbed=disturbed), paced(4))
    known: dict[str, Any] = {"rates": rates, "safe_mb_s": None}
    result = PacedBurstResult.model_construct(None, **known)
    assert (unjudged(rates) is not None) is disturbed
    assert ("not judged" in sentence(safe_rate(result))) is disturbed
    figure = result._safe(Metric.more("paced_safe_mb_s", "safe", None, "MB/s"), rates)
    assert {1, 2, 4} == {*figure.steps, *figure.chosen_among}
    assert ("not-judged" in figure.codes) is disturbed
