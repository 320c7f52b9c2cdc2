"""Who stands where: those that are level share a place, in words and in the order of a tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.analysis.places import places
from ssdlab.report import source
from ssdlab.report.runs import shown
from ssdlab.report.sections.cards import tiles
from ssdlab.report.standings import standings
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


def test_a_drive_without_a_figure_stands_behind_and_so_does_a_tile_without_any(
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
    (first, second), _ = tiles(placed, standings(placed), ())
    assert (first.names, second.names) == (("b",), ())
    assert [line.shown.index for line in first.lines] == [1, 0]


def said_of(make_run: Callable[..., Path], *values: float) -> list[tuple[int | None, str]]:
    """Rank and distance of drives with these values of a figure."""
    runs = []
    for at, value in enumerate(values):
        run = source.read_run(make_run(drive={"id": str(at), "name": f"N{at}", "kind": "block"}))
        figure = Metric(name="x_iops", label="x", value=value, unit="IOPS", better="higher")
        runs.append(replace(run, result=run.result.model_copy(update={"scalars": (figure,)})))
    standing = standings(shown(runs))["x_iops"]
    return [(place.rank, standing.distance(place)) for place in standing.places]


def test_a_tile_says_who_is_level_and_ranks_them_alike(make_run: Callable[..., Path]) -> None:
    why = "0.30 % apart, and less than 1 % is level"
    assert said_of(make_run, 100_000.0, 99_700.0, 50_000.0) == [
        *[(1, f"1st of 3, level with 1 other: {why}")] * 2,
        (3, "3rd of 3, 49.8 % behind the one before"),
    ]


def test_drives_of_one_value_are_told_to_be_equal(make_run: Callable[..., Path]) -> None:
    found = said_of(make_run, 100_000.0, 100_000.0)
    assert found == [(1, "1st of 2, level with the other: they are equal")] * 2


@pytest.mark.parametrize(
    ("name", "title"), [("simulated tiny-test", "Simulated tiny-test"), ("scratch.img", "scratch.img")]
)
def test_a_title_begins_with_a_capital_but_a_name_stays(
    make_run: Callable[..., Path], html: Callable[..., str], name: str, title: str
) -> None:
    text = html(make_run(drive={"id": "1", "name": name, "kind": "block"}))
    assert f"<h1>{title}" in text
