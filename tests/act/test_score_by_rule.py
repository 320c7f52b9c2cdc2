"""The score of a search beside that by ACT's rule alone: whether a load was delivered is our own test."""

from __future__ import annotations

import pytest

from ssdlab.lab.found import find_method
from ssdlab.methods.act.findings import score, search_findings
from ssdlab.methods.act.result import ActDelivery, ActSearchResult, ActTry
from ssdlab.methods.act.search import ActSearchParams, search_result
from ssdlab.results.cells import NOTHING
from ssdlab.results.claim import sentence
from ssdlab.results.metric import Variation


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
    said = sentence(next(search_findings(result)))
    assert (f"rule alone {by_rule}x" in said) is (delivered != by_rule)


def test_each_score_rests_on_the_loads_that_it_lies_between() -> None:
    result = searched(
        tried(40, passed=False), tried(30, passed=True, delivered=False), tried(20, passed=True)
    )
    figures = {each.name: each for each in result.scalars}
    assert set(figures["act_score"].steps) == {20, 30}
    assert set(figures["act_score_by_rule"].steps) == {30, 40}
    assert all(each.bound is None and not each.qualifiers for each in figures.values())
    assert {each.varies for each in figures.values()} == {Variation(amount=10, of="search")}


def test_a_score_that_no_load_lies_above_is_one_from_below() -> None:
    result = searched(tried(30, passed=True, delivered=False), tried(20, passed=True))
    score, by_rule = result.scalars
    assert (score.bound, score.codes) == (None, ())
    assert (by_rule.bound, by_rule.codes) == ("at least", ("search-ceiling",)), (
        "none failed by the rule alone"
    )
    assert by_rule.steps == (30,) and by_rule.varies is None
    assert by_rule.unfit("ranking") and by_rule.unfit("ratings")


def test_power_at_a_score_is_of_that_load_alone() -> None:
    watts = {"mean_w": 5.0}
    below, above = tried(20, passed=True).model_copy(update=watts), tried(30, passed=False)
    figures = {each.name: each for each in searched(above, below).scalars}
    ended = {each.name: each for each in searched(below).scalars}
    for name in ("act_score_per_w", "act_score_w"):
        assert (figures[name].steps, figures[name].codes) == ((20,), ())
        assert ended[name].codes == ("search-ceiling",) and ended[name].bound is None


def test_a_short_search_is_not_judged() -> None:
    params = find_method("act-search").params.build({"test_duration_sec": "2", "slice_sec": "2"})
    assert isinstance(params, ActSearchParams)
    result = search_result((tried(30, passed=False), tried(20, passed=True)), params, quick=True)
    for figure in result.scalars:
        (found,) = figure.qualifiers
        assert (found.code, found.why) == ("not-judged", result.why_unjudged)
        assert set(found.steps) == {20, 30}
