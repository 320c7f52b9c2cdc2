"""The score of a search beside that by ACT's rule alone: whether a load was delivered is our own test."""

from __future__ import annotations

import pytest

from ssdlab.methods import find_method
from ssdlab.methods.act.search import ActSearchParams, search_result
from ssdlab.methods.presented.act import score, search_findings
from ssdlab.methods.results.act import ActDelivery, ActSearchResult, ActTry
from ssdlab.results.claim import sentence
from ssdlab.results.numbers import NOTHING


def tried(load: int, *, passed: bool, delivered: bool = True) -> ActTry:
    worst = dict.fromkeys(("1", "2", "4", "8", "16", "32", "64"), 0.0 if passed else 0.5)
    return ActTry(
        load=load,
        ordinal=load,
        ran_s=3600,
        completed=True,
        abandoned=False,
        passed=passed,
        why="" if passed else "slice 1: slow",
        delivery=ActDelivery(delivered=delivered, why="" if delivered else "large writes"),
        worst=worst,
        done={"reads": 1.0 if delivered else 0.9},
        drive_state="prepared",
        written_before_bytes=0,
    )


def searched(*tries: ActTry) -> ActSearchResult:
    params = find_method("act-search").params.build({})
    assert isinstance(params, ActSearchParams)
    return search_result(tries, params, quick=False)


@pytest.mark.parametrize(
    ("tries", "delivered", "by_rule"),
    [
        ([tried(30, passed=False), tried(20, passed=True)], 20, 20),
        ([tried(40, passed=False), tried(30, passed=True, delivered=False), tried(20, passed=True)], 20, 30),
        ([tried(30, passed=True, delivered=False)], None, 30),
        # One that passed above one that did not is a score of neither.
        ([tried(40, passed=True), tried(30, passed=False), tried(20, passed=True)], 20, 20),
        ([tried(30, passed=False)], None, None),
    ],
)
def test_both_scores_are_figures_each_with_its_name(
    tries: list[ActTry], delivered: int | None, by_rule: int | None
) -> None:
    result = searched(*tries)
    figures = {each.name: each for each in result.scalars}
    assert (figures["act_score"].value, figures["act_score_by_rule"].value) == (delivered, by_rule)
    assert "delivered" in figures["act_score"].label
    assert "rule alone" in figures["act_score_by_rule"].label
    table = dict(zip(score(result).head, score(result).rows[0], strict=True))
    assert table["By the rule alone"].text == (NOTHING if by_rule is None else f"{by_rule}x")
    (said,) = map(sentence, search_findings(result))
    assert (f"rule alone {by_rule}x" in said) is (delivered != by_rule)


def test_each_score_rests_on_the_loads_that_it_lies_between() -> None:
    result = searched(
        tried(40, passed=False), tried(30, passed=True, delivered=False), tried(20, passed=True)
    )
    figures = {each.name: each for each in result.scalars}
    assert set(result.basis_of(figures["act_score"]).steps) == {20, 30}
    assert set(result.basis_of(figures["act_score_by_rule"]).steps) == {30, 40}
    assert result.shows(figures["act_score"]) and result.shows(figures["act_score_by_rule"])
    open_ended = searched(tried(30, passed=True, delivered=False), tried(20, passed=True))
    above = {each.name: open_ended.shows(each) for each in open_ended.scalars}
    assert above == {"act_score": True, "act_score_by_rule": False}, "no load failed by the rule alone"
