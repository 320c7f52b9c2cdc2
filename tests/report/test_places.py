"""Who stands where: those that are level share a place, in words and in the order of a tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.analysis.places import places
from ssdlab.report import source
from ssdlab.report.runs import shown
from ssdlab.report.sections.top import top
from ssdlab.report.standings import standings
from ssdlab.results.metric import Qualifier
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.schema import Metric


@pytest.mark.parametrize(
    ("ordered", "found"),
    [
        ([], []),
        ([3.0], [1]),
        ([100.0, 99.5, 99.2, 98.9, 98.0], [1, 1, 1, 4, 4]),
        ([0.0, 0.0, 1.0], [1, 1, 3]),
        ([5.0, 7.0, 7.0, 9.0], [1, 2, 2, 4]),
    ],
)
def test_what_is_level_with_the_best_of_a_place_shares_it(ordered: list[float], found: list[int]) -> None:
    """Not with its neighbour: a long chain of small steps would have no end."""
    assert places(ordered) == found


def test_what_no_drive_has_a_value_of_is_no_chart(
    make_run: Callable[..., Path],
) -> None:
    runs = []
    for at, value in enumerate((None, 5.0)):
        run = source.read_run(make_run(drive={"id": str(at), "name": f"N{at}", "kind": "block"}))
        figures = (
            Metric.more("a", "a", None, "IOPS", steps=(1,)),
            Metric.more("b", "b", value, "IOPS", steps=(2,)),
        )
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": figures})))
    placed = shown(runs)
    (chart,) = top(placed, standings(placed), ()).charts
    assert chart.names == ("b",)
    assert [(bar.shown.index, bar.text) for bar in chart.bars] == [(1, "5.00"), (0, "none")]


def foot_of(make_run: Callable[..., Path], *values: float) -> tuple[list[int | None], str]:
    """Ranks of drives with these values of a figure, and what stands below their bars."""
    runs = []
    for at, value in enumerate(values):
        run = source.read_run(make_run(drive={"id": str(at), "name": f"N{at}", "kind": "block"}))
        figure = Metric(name="x_iops", label="x", value=value, unit="IOPS", better="higher")
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": (figure,)})))
    placed = shown(runs)
    found = standings(placed)
    (chart,) = top(placed, found, ()).charts
    return [place.rank for place in found["x_iops"].places], chart.foot


def test_who_is_level_stands_below_the_bars(make_run: Callable[..., Path]) -> None:
    assert foot_of(make_run, 100_000.0, 99_700.0, 50_000.0) == ([1, 1, 3], "N0 and N1 tied (within 1 %)")
    assert foot_of(make_run, 100_000.0, 100_000.0) == ([1, 1], "N0 and N1 tied (equal)")
    assert foot_of(make_run, 100_000.0, 50_000.0) == ([1, 2], "")


@pytest.mark.parametrize("codes", [("modelled", "modelled"), ("modelled", None)])
def test_what_stands_with_all_bars_is_said_once(
    make_run: Callable[..., Path], codes: tuple[str | None, ...]
) -> None:
    runs = []
    for at, code in enumerate(codes):
        run = source.read_run(make_run(drive={"id": str(at), "name": f"N{at}", "kind": "block"}))
        own = (Qualifier(code=code),) if code else ()
        figure = Metric(
            name="x_iops", label="x", value=9.0 - at, unit="IOPS", better="higher", qualifiers=own
        )
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": (figure,)})))
    placed = shown(runs)
    (chart,) = top(placed, standings(placed), ()).charts
    label = CATALOGUE["modelled"].label
    said = [chart.foot, *(bar.note for bar in chart.bars)]
    assert [label in text for text in said] == ([True, False, False] if all(codes) else [False, True, False])


@pytest.mark.parametrize(("name", "title"), [("Elm E8", "Elm E8"), ("scratch.img", "scratch.img")])
def test_a_title_is_the_name_as_it_is(
    make_run: Callable[..., Path], html: Callable[..., str], name: str, title: str
) -> None:
    text = html(make_run(drive={"id": "1", "name": name, "kind": "block"}))
    assert f"<h1>{title}" in text
