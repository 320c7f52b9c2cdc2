"""Latencies that were taken at unlike depths are ranked and compared as on the page: not with each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from library.made import run
from ssdlab.cli import main
from ssdlab.results import catalogue
from ssdlab.results.catalogue_files import CURRENT_SCHEMA
from ssdlab.results.kin import taken_apart

FIGURE = "peak_random_read_p99_ns"
LATENCY = {FIGURE: 90_000.0}
DEPTHS = (4, 4, 16)
APART = "taken at depths 4 and 16"

Ask = Callable[..., Any]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Three drives, of which the last one's sweep was reported at another depth; its p99 is the lowest."""
    for number, depth in enumerate(DEPTHS, start=1):
        figures = {FIGURE: 100_000.0 - 10_000.0 * number}
        catalogue.add(tmp_path, run(tmp_path, number, figures, depth=depth))
        catalogue.add(tmp_path, run(tmp_path, number + 10, {"peak_random_read_iops": 1e5 + number}))
    return tmp_path


@pytest.fixture
def ask(library: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str, status: int = 0) -> Any:
        assert main([*words, "--library", str(library), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return asked


def test_only_latencies_of_one_depth_are_ranked(library: Path, ask: Ask) -> None:
    found = ask("rank", FIGURE)
    assert [line["drive_id"] for line in found["lines"]] == ["SERIAL00002", "SERIAL00001"]
    assert found["like"]["load"] == "depth 4"
    (left,) = found["left_out"]
    assert (left["why"], left["differs"]) == (APART, {"load": ["depth 16", "depth 4"]})
    assert ask("rank", "peak_random_read_iops")["drives"] == 3


def test_the_other_depth_is_ranked_where_it_is_asked_for(library: Path, ask: Ask) -> None:
    other = next(path.name for path in library.iterdir() if path.name.endswith("000003"))
    found = ask("rank", FIGURE, "--like", other)
    assert [line["drive_id"] for line in found["lines"]] == ["SERIAL00003"]
    assert found["left_out_runs"] == 2


def test_the_reason_is_told(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", FIGURE, "--library", str(library)]) == 0
    out = capsys.readouterr().out
    assert ", taken at depth 4\n" in out
    assert f"left out: 1 run of 1 drive: {APART}\n" in out


def test_the_gate_judges_nothing_of_unlike_depths(tmp_path: Path, ask: Ask) -> None:
    one, other = (
        next(path.name for path in tmp_path.iterdir() if path.name.endswith(number))
        for number in ("000001", "000003")
    )
    found = ask("compare", one, other, "--fail-if", "p99 > +5%", status=2)
    (figure,) = found["figures"]
    assert (figure["unlike"], figure["shift"]) == (APART, None)
    assert found["rules"][0]["why"] == f"the runs are not comparable: {APART}"


@pytest.mark.parametrize(
    ("loads", "words"),
    [
        ((), ""),
        (("", ""), ""),
        (("depth 4", "depth 4"), ""),
        (("depth 16", "depth 4", "depth 8"), "taken at depths 4, 8 and 16"),
        (("TC2 QD8", "TC4 QD8"), "taken at TC2 QD8 and TC4 QD8"),
        (("depth 4", ""), "taken at depth 4 and an unknown load"),
    ],
)
def test_loads_in_words(loads: tuple[str, ...], words: str) -> None:
    assert taken_apart(loads) == words


def test_a_catalogue_of_before_is_made_anew(library: Path, ask: Ask) -> None:
    current = library / ".catalogue" / "current.json"
    catalogue.rebuild(library)
    stored = json.loads(current.read_text())
    assert stored["schema"] == CURRENT_SCHEMA
    current.write_text(json.dumps(stored | {"schema": "ssdlab.catalogue/5"}))
    assert ask("rank", FIGURE)["left_out"][0]["why"] == APART
