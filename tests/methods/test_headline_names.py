"""The table of figures' names is that of the figures that methods give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab.methods import REGISTRY
from ssdlab.methods.headline_names import NAMES, is_named, names_of
from ssdlab.methods.suites import all_suites
from ssdlab.report.sections.tiles import USUAL

RECORDED = [path for path in sorted(Path(__file__).parent.glob("recorded/*.json")) if path.stem in REGISTRY]


def test_every_method_is_in_the_table() -> None:
    assert list(NAMES) == list(REGISTRY)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_figures_of_recorded_results_are_named(path: Path) -> None:
    figures = json.loads(path.read_text())["result"]["scalars"]
    assert [one["name"] for one in figures if not is_named(one["name"], NAMES[path.stem])] == []


def test_what_pages_ask_for_is_named() -> None:
    everything = names_of(REGISTRY)
    assert everything is not None
    assert [name for name in USUAL if not is_named(name, everything)] == []
    assert any(suite.page["tiles"] for suite in all_suites())


def test_of_a_method_of_another_package_nothing_is_known() -> None:
    assert names_of(["qd1", "example.method"]) is None
