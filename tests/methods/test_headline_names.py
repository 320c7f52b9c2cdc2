"""The figures that methods declare are those that they give."""

from __future__ import annotations

import pytest

from methods.quick_runs import METHODS, QuickRun
from ssdlab.lab.folders import REGISTRY, figures_of, is_figure, rated_as, top_figures
from ssdlab.lab.suites import all_suites


@pytest.mark.parametrize("name", METHODS)
def test_figures_of_a_run_are_declared(name: str, quick_run: QuickRun) -> None:
    figures = quick_run(name).manifest.result["scalars"]
    assert [one["name"] for one in figures if not is_figure(one["name"], REGISTRY[name].figures)] == []


def test_every_method_declares_figures() -> None:
    assert [name for name, each in REGISTRY.items() if not each.figures] == []


def test_what_pages_and_ratings_name_is_declared() -> None:
    for method, each in REGISTRY.items():
        named = [*each.rated, *([] if each.top is None else [each.top[1]])]
        assert [name for name in named if not is_figure(name, each.figures)] == [], method
    assert any(suite.page["tiles"] for suite in all_suites())


def test_places_at_the_top_are_different() -> None:
    places = [each.top[0] for each in REGISTRY.values() if each.top is not None]
    assert len(set(places)) == len(places) == len(top_figures())


def test_a_rating_speaks_of_one_method() -> None:
    rated = [name for each in REGISTRY.values() for name in each.rated]
    assert len(set(rated)) == len(rated)
    assert all(rated_as(name) for name in rated)


def test_of_a_method_of_another_package_nothing_is_known() -> None:
    assert figures_of(["qd1", "example.method"]) is None
