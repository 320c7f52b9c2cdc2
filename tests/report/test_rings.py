"""Rings say where a rule was applied: what was not judged has none."""

from __future__ import annotations

from typing import Any

from methods.quick_runs import QuickResult
from ssdlab.methods.act import page as act
from ssdlab.methods.pts import demand_page as pts_demand
from ssdlab.report.sections import steady


class Shown:
    index = 0
    label = "a drive"


def ringed(dots: Any) -> int:
    return sum(bool(dot.chosen) for dot in dots)


def test_the_window_of_a_proof_that_judges_nothing_has_no_rings_and_no_mean(
    quick_result: QuickResult,
) -> None:
    quick = quick_result("mixed-random").steady
    judged = quick.model_copy(update={"capacities": 3.0, "first": len(quick.rounds_mb_s) - 5})
    little = judged.model_copy(update={"capacities": 0.1})
    for proof, rings, rules in ((judged, 5, 1), (little, 0, 0)):
        shown: Any = Shown()
        view = steady._view([(shown, proof)])
        assert (ringed(view.lines[0].points), len(view.rules)) == (rings, rules)


def test_a_window_of_samples_and_a_score_that_were_not_judged_have_none(
    quick_result: QuickResult,
) -> None:
    shown: Any = Shown()
    result = quick_result("pts-demand-intensity")
    full = result.model_copy(update={"samples": result.samples.model_copy(update={"fills": 3.0})})
    part = result.model_copy(
        update={"samples": result.samples.model_copy(update={"fills": 0.3, "steady": False})}
    )
    assert ringed(pts_demand._samples(shown, full).points) == 5
    assert ringed(pts_demand._samples(shown, part).points) == 0
    search = quick_result("act-search")
    search = search.model_copy(update={"score": search.tries[0].load})
    whole = search.model_copy(update={"seconds": 86_400.0, "slice_s": 3600.0})
    assert not search.judged and whole.judged
    for result, rings in ((search, 0), (whole, 1)):
        (dots,) = act._dots(result, [1.0] * len(result.tries))
        assert ringed(dots) == rings
