"""A run that a suite kept to the first bytes of its drive is no rank beside one that had the whole drive."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from library.made import run
from ssdlab.cli import main
from ssdlab.results import catalogue
from ssdlab.results.schema import Member

FIGURE = "qd1_random_read_iops"
PART, WHOLE = 512_000_000, 10**12
"""Bytes; the second is all of the drives that are made here."""
APART = "over the first 512 MB of the drive, not the whole drive"

Ask = Callable[..., Any]


def member(span_bytes: int) -> Member:
    return Member(suite="20261121-0900-mine-000100", part="qd1", preparation_seed=1, span_bytes=span_bytes)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two drives in whole, of which one was in a suite that would have used even more, and one in part."""
    made = [
        run(tmp_path, 1, {FIGURE: 10_000.0}),
        run(tmp_path, 2, {FIGURE: 20_000.0}, member=member(2 * WHOLE)),
        run(tmp_path, 3, {FIGURE: 90_000.0}, member=member(PART), departed=("first-bytes",)),
    ]
    for folder in made:
        catalogue.add(tmp_path, folder)
    return made


@pytest.fixture
def ask(folders: list[Path], capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str) -> Any:
        capsys.readouterr()
        assert main([*words, "--library", str(folders[0].parent)]) == 0
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in words else " ".join(out.split())

    return asked


def test_the_part_is_not_ranked_among_the_whole(ask: Ask) -> None:
    found = ask("rank", FIGURE, "--json")
    assert [line["drive_id"] for line in found["lines"]] == ["SERIAL00002", "SERIAL00001"]
    assert found["like"]["span"] is None
    (left,) = found["left_out"]
    assert (left["why"], left["differs"]) == (APART, {"span": [PART, None]})
    assert f"left out: 1 run of 1 drive: {APART}" in ask("rank", FIGURE)


def test_runs_of_one_part_are_ranked_and_say_so(ask: Ask, folders: list[Path]) -> None:
    found = ask("rank", FIGURE, "--like", folders[2].name)
    assert "over the first 512 MB of the drive" in found.partition("median")[0]
    assert "left out: 2 runs of 2 drives: over the whole drive, not the first 512 MB of the drive" in found


def test_a_comparison_says_what_part_it_is(ask: Ask, folders: list[Path]) -> None:
    (figure,) = ask("compare", folders[0].name, folders[2].name, "--json")["figures"]
    assert (figure["shift"], figure["unlike"]) == (None, APART)


def test_the_catalogue_has_it_also_after_a_rebuild(ask: Ask, folders: list[Path]) -> None:
    for _ in range(2):
        assert [each["span"] for each in ask("runs", "--json")["runs"]].count(PART) == 1
        catalogue.rebuild(folders[0].parent)
