"""Findings say what is the matter with the figures whose steps they tell of, whoever made them."""

from __future__ import annotations

import pytest

from ssdlab.lab.outcome import marked
from ssdlab.results.claim import Amount, Claim, Evidence, sentence
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.qualifiers import CATALOGUE

OF_ONE = ("few-samples", "search-ceiling", "within-cache")


def figure(*codes: str, steps: tuple[int, ...] = (1,), of: tuple[int, ...] = ()) -> Metric:
    qualifiers = tuple(Qualifier(code=code, steps=of) for code in codes)
    return Metric.more("x_iops", "x", 5.0, "IOPS", steps=steps, qualifiers=qualifiers)


def told(steps: tuple[int, ...], *figures: Metric, value: float = 5.0, says: str = "{figure}") -> str:
    claim = Claim(says, figure=Amount(value, "IOPS"), evidence=Evidence(steps))
    (found,) = marked([claim], figures)
    assert (found.figure, found.evidence) == (claim.figure, claim.evidence)
    return sentence(found)


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_a_finding_of_a_figure_has_all_its_labels_once(code: str) -> None:
    label = CATALOGUE[code].label
    assert told((1,), figure(code), figure(code)).count(f"({label})") == 1
    assert told((1,), figure(code), says="{figure}, " + label).count(label) == 1, "it said so already"
    assert label not in told((2,), figure(code))


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_other_findings_of_its_steps_have_what_forbids_a_claim_and_is_not_of_that_figure_alone(
    code: str,
) -> None:
    spread = "claims" in CATALOGUE[code].forbids and code not in OF_ONE
    assert (CATALOGUE[code].label in told((1, 2), figure(code), value=7.0)) is spread


def test_what_is_the_matter_with_one_step_is_said_of_that_step() -> None:
    hot = figure("throttled", steps=(1, 2), of=(2,))
    assert "throttled" not in told((1,), hot, value=7.0)
    assert "throttled" in told((2,), hot, value=7.0)
    decided = figure("throttled", steps=(1,), of=(9,))
    assert "throttled" in told((1,), decided, value=7.0), "a step that decided which it is"


def test_words_without_a_figure_are_left() -> None:
    claim = Claim("the discard reached the device", evidence=Evidence((1,)))
    assert marked([claim], [figure("failed-io")]) == (claim,)
