"""The table of figures' names is that of the figures that methods give."""

from __future__ import annotations

import pytest

from methods.quick_runs import METHODS, QuickRun
from ssdlab.methods import REGISTRY
from ssdlab.methods.headline_names import NAMES, is_named, names_of
from ssdlab.methods.suites import all_suites
from ssdlab.report.sections.tiles import USUAL


def test_every_method_is_in_the_table() -> None:
    assert list(NAMES) == list(REGISTRY)


@pytest.mark.parametrize("name", METHODS)
def test_figures_of_a_run_are_named(name: str, quick_run: QuickRun) -> None:
    figures = quick_run(name).manifest.result["scalars"]
    assert [one["name"] for one in figures if not is_named(one["name"], NAMES[name])] == []


def test_what_pages_ask_for_is_named() -> None:
    everything = names_of(REGISTRY)
    assert everything is not None
    assert [name for name in USUAL if not is_named(name, everything)] == []
    assert any(suite.page["tiles"] for suite in all_suites())


def test_of_a_method_of_another_package_nothing_is_known() -> None:
    assert names_of(["qd1", "example.method"]) is None
