"""What the page of paced bursts says of a rate that failed, of a cache not found, and of its loads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from methods.quick_runs import QuickRun
from ssdlab.methods.paced_burst.desktop_load import _failure
from ssdlab.methods.paced_burst.findings import findings
from ssdlab.methods.paced_burst.page import section
from ssdlab.methods.paced_burst.result import PacedBurstResult, PacedRate
from ssdlab.plugin import Evidence
from ssdlab.report import page, source
from ssdlab.report.view import Figure, Section
from ssdlab.results.claim import row

FAILS_AT = 40
RATES = tuple(
    PacedRate(rate=rate, ordinal=5, p99_ns=2e4, held=rate < FAILS_AT, why="" if rate < FAILS_AT else "late")
    for rate in (10, 20, FAILS_AT, 80)
)


def section_of(quick_run: QuickRun, *, times: int = 1, **changes: Any) -> Section:
    """The section of a quick run, shown so many times, with another result."""
    known = {"rates": RATES, "safe_mb_s": 20, "lowest_failed_mb_s": FAILS_AT, **changes}
    run = source.read_run(quick_run("paced-burst").path)
    changed = replace(run, result=run.result.model_copy(update=known))
    return section(page.shown([changed] * times))


def figure(found: Section, name: str) -> Figure:
    (one,) = [each for each in found.figures if each.id == f"paced-burst-{name}"]
    return one


@pytest.mark.parametrize("times", [1, 2])
def test_a_line_of_rates_ends_with_a_cross_at_the_lowest_that_failed(quick_run: QuickRun, times: int) -> None:
    shown = figure(section_of(quick_run, times=times), "rates")
    (view,) = shown.chart.views
    for line in view.lines:
        assert [point.x for point in line.points] == [10, 20, FAILS_AT]
        assert [point.failed for point in line.points] == [None, None, True]
        assert [point.chosen for point in line.points] == [None, True, None]
    assert len(view.rules) == (1 if times == 1 else 0), "of several drives, no bound says whose it is"
    assert ("Dotted" in shown.lead) == (times == 1)
    assert len(shown.tables[0].rows) == times * len(RATES), "the table has the rates beyond"


def test_the_line_is_drawn_at_the_limit_that_judged_the_rates(quick_run: QuickRun) -> None:
    """A p99 of 2.02 times the unloaded one passes, so it lies below the line."""
    passed = tuple(each.model_copy(update={"p99_ns": 1000.0 * 2.02**at}) for at, each in enumerate(RATES[:2]))
    assert _failure(0, passed[1].p99_ns, 1000.0, Evidence(())) is None
    (view,) = figure(section_of(quick_run, rates=passed, lowest_failed_mb_s=None), "rates").chart.views
    (limit,) = view.rules
    assert passed[1].p99_ns < limit.y == pytest.approx(2 * 1000 * (1 + 1 / 64))


def test_without_the_p99_of_the_lowest_rate_no_limit_is_drawn(quick_run: QuickRun) -> None:
    rates = (RATES[0].model_copy(update={"p99_ns": None}), *RATES[1:])
    shown = figure(section_of(quick_run, rates=rates), "rates")
    assert not shown.chart.views[0].rules and "Dotted" not in shown.lead


@pytest.mark.parametrize(
    ("changes", "ring", "cross"),
    [
        ({}, True, True),
        ({"rates": RATES[:2], "lowest_failed_mb_s": None}, True, False),
        ({"rates": RATES[2:], "safe_mb_s": None}, False, True),
        # It fell behind so far that it has no p99, and so no place in the chart.
        ({"rates": (*RATES[:2], RATES[2].model_copy(update={"p99_ns": None}))}, True, False),
    ],
)
def test_only_marks_that_are_drawn_are_explained(
    quick_run: QuickRun, changes: dict[str, Any], ring: bool, cross: bool
) -> None:
    lead = figure(section_of(quick_run, **changes), "rates").lead
    assert ("Ring" in lead, "Cross" in lead) == (ring, cross)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"cache_bytes": None, "hot_fill": True, "beyond_why": "hot"}, "not judged"),
        ({"cache_bytes": None, "hot_fill": None, "beyond_why": "it did not slow down"}, "no end of a cache"),
        ({"cache_bytes": 17_000_000_000, "hot_fill": None, "beyond_why": "no room"}, "17.0 GB"),
    ],
)
def test_every_drive_has_a_word_on_the_end_of_its_cache(
    quick_run: QuickRun, changes: dict[str, Any], told: str
) -> None:
    result = source.read_run(quick_run("paced-burst").path).result
    assert isinstance(result, PacedBurstResult)
    claims = list(findings(result.model_copy(update={"beyond": (), **changes})))
    (cell,) = [row(claim)[name] for claim in claims for name in claim.columns if "fill slowed" in name]
    assert told in cell


def test_the_two_loads_are_told_beside_each_other(quick_run: QuickRun) -> None:
    result = source.read_run(quick_run("paced-burst").path).result
    assert isinstance(result, PacedBurstResult)
    headings = [name for claim in findings(result) for name in claim.columns]
    for direction in ("Reads", "Writes"):
        at = headings.index(f"{direction} inside bursts")
        assert headings[at + 1] == f"{direction} without pauses"


def test_no_table_is_printed_twice(quick_run: QuickRun) -> None:
    found = section_of(quick_run)
    captions = [table.caption for each in (*found.figures, *found.exhibits) for table in each.tables]
    assert len(set(captions)) == len(captions)
