"""The score of a search beside that by ACT's rule alone: whether a load was delivered is our own test."""

from __future__ import annotations

import pytest

from ssdlab.analysis.act import LIMITS
from ssdlab.lab.found import find_method
from ssdlab.methods.act import page
from ssdlab.methods.act.findings import score, search_findings
from ssdlab.methods.act.result import ActDelivery, ActSearchResult, ActTry
from ssdlab.methods.act.search import ActSearchParams, search_result
from ssdlab.results.claim import row, sentence
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
    bound = "at least " if all(each.passed for each in tries) else ""
    assert table["Latency rule alone"].text == ("none" if by_rule is None else f"{bound}{by_rule}x")
    said = sentence(next(search_findings(result)))
    assert (f"rule alone {bound}{by_rule}x" in said) is (delivered != by_rule)


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
    assert "30x" in by_rule.qualifiers[0].why, "it was not the upper limit that ended the search"


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


def test_what_stopped_a_search_is_told_with_its_reason() -> None:
    cells = row(
        next(search_findings(searched(tried(30, passed=True, delivered=False), tried(20, passed=True))))
    )
    assert cells["Stopped by"] == "30x, large writes"
    assert cells["Latency rule alone"] == "at least 30x"


def test_shares_of_a_load_ended_early_are_of_all_reads_due_in_its_slice() -> None:
    """The sooner a load fails, the higher its share of what ran: 100 % of 36 s are 1 % of an hour."""
    early = tried(30, passed=False).model_copy(
        update={"completed": False, "ran_s": 36.0, "worst": {"1": 1.0}, "done": {"service": 0.5}}
    )
    whole = early.model_copy(update={"completed": True})
    assert early.share_over(1, 3600) == pytest.approx(0.005)
    assert early.share_over(1, 36) == whole.share_over(1, 3600) == 1.0, "a whole slice is no part of one"


def test_a_load_ended_early_is_a_hollow_dot_on_no_line() -> None:
    early = tried(25, passed=False).model_copy(update={"completed": False, "ran_s": 36.0})
    result = searched(tried(30, passed=False), tried(20, passed=True), early, tried(10, passed=True))
    lines = page._dots(result, (3.0, 2.0, 4.0, 1.0))
    assert [[(dot.x, dot.y, dot.unproven) for dot in line] for line in lines] == [
        [(10, 1, None), (20, 2, None)],
        [(25, 4, True)],
        [(30, 3, None)],
    ]


@pytest.mark.parametrize(
    ("failed", "view"),
    [(tried(30, passed=True, delivered=False), len(LIMITS)), (tried(30, passed=False), 0)],
)
def test_the_chart_opens_on_the_criterion_that_decided(failed: ActTry, view: int) -> None:
    assert page._decided(searched(failed, tried(20, passed=True))) == view
    assert page._decided(searched(tried(20, passed=True))) is None


def aged(retried: ActTry) -> ActSearchResult:
    """A search in which 20x held, 25x failed, and 20x was tried again."""
    first = tried(20, passed=True).model_copy(update={"ordinal": 1, "mean_w": 9.0})
    again = retried.model_copy(update={"ordinal": 3, "mean_w": 8.0})
    return searched(first, tried(25, passed=False).model_copy(update={"ordinal": 2}), again)


def test_of_two_tries_of_the_score_the_later_one_is_cited_and_ringed() -> None:
    result = aged(tried(20, passed=True))
    figures = {each.name: each for each in result.scalars}
    assert figures["act_score"].steps == figures["act_score_by_rule"].steps == (2, 3)
    assert (figures["act_score_w"].value, figures["act_score_w"].steps) == (8.0, (3,))
    assert figures["act_score_per_w"].steps == (3,)
    dots = [dot for line in page._dots(result, (1.0, 2.0, 3.0)) for dot in line]
    assert [(dot.y, dot.chosen) for dot in dots] == [(1.0, None), (3.0, True), (2.0, None)]


def test_a_score_does_not_rest_on_a_try_that_held_of_the_load_that_failed() -> None:
    result = aged(tried(20, passed=False))
    assert result.score is None
    assert next(iter(result.scalars)).steps == (3,)


@pytest.mark.parametrize(("passed", "told"), [(False, True), (None, False)])
def test_only_a_try_with_a_verdict_contradicts_one_that_held(passed: bool | None, told: bool) -> None:
    failed = tried(20, passed=False).model_copy(update={"passed": passed, "why": "3 reads failed"})
    again = failed.model_copy(update={"ordinal": 3})
    result = searched(tried(20, passed=True), tried(25, passed=False), again, tried(15, passed=True))
    claims = list(search_findings(result))
    assert (len(claims) == 2) is told
    if told:
        assert claims[1].others == {"held": "20x", "failed": "20x"}
