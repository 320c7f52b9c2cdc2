"""The charts that docs/reviews.md names beside the published ones are on the pages of their methods."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from methods.quick_runs import METHODS, QuickRun
from ssdlab.lab.found import find_method
from ssdlab.report import page, source

PAGE = Path(__file__).parents[2] / "docs" / "reviews.md"
OTHERS = {"peak-random-write": "steady-random-write", "peak-sequential-write": "steady-sequential-write"}
"""Methods whose charts have another name."""


LATE = {"consistency-late"}
"""Of runs of 1,400 s alone; tests/report/test_consistency_page.py has one."""


def named() -> dict[str, set[str]]:
    """The charts of the table, by their methods."""
    section = PAGE.read_text().split("### Each printed chart")[1].split("\n### ")[0]
    charts = re.findall(
        r"`([a-z0-9-]+)`", "\n".join(re.findall(r"^\| `review.*\|(.*)\|$", section, re.MULTILINE))
    )
    known = {*METHODS, "pts-iops", *OTHERS}
    found: dict[str, set[str]] = {}
    for chart in charts:
        method = max((each for each in known if chart.startswith(each)), key=len)
        found.setdefault(OTHERS.get(method, method), set()).add(chart)
    return found


def test_each_review_is_answered() -> None:
    charts = named()
    assert sum(map(len, charts.values())) >= 30
    assert all(find_method(method) for method in charts)


@pytest.mark.long
@pytest.mark.parametrize("method", sorted(named().keys() - {"pts-iops"}))  # which takes as long as all others
def test_its_charts_are_on_the_page_of_a_method(quick_run: QuickRun, method: str) -> None:
    html = page.render([source.read_run(quick_run(method).path)])
    assert named()[method] - LATE <= set(re.findall(r'<figure id="([^"]+)"', html))
