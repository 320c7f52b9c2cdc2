"""What a ranking calls level, as a page does, and what it says of figures whose value every run withholds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from library.made import manifest, run
from ssdlab.analysis.places import places
from ssdlab.cli import main
from ssdlab.library.index import Index
from ssdlab.results import catalogue
from ssdlab.results.catalogue_row import figure_of
from ssdlab.results.metric import Metric, Variation, varies_by

FIGURE = "even_iops"
Ask = Callable[..., Any]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    def asked(*words: str, status: int = 0) -> Any:
        assert main([*words, "--library", str(tmp_path), "--json"]) == status
        found = capsys.readouterr()
        return " ".join(found.err.split()) if status else json.loads(found.out)

    return asked


def entered(library: Path, number: int, value: float | None, drive: str, **changes: Any) -> None:
    catalogue.add(library, run(library, number, {FIGURE: value}, drive_id=drive, **changes))


def placed(found: Any) -> dict[str, int]:
    return {line["drive_id"]: line["place"] for line in found["lines"]}


@pytest.mark.parametrize("varying", ["FIRST", "NEXT"])
def test_drives_nearer_than_either_varies_by_its_own_evidence_are_level(
    tmp_path: Path, ask: Ask, varying: str
) -> None:
    for number, (drive, value) in enumerate({"FIRST": 100.0, "NEXT": 95.0, "LAST": 80.0}.items()):
        entered(tmp_path, number, value, drive, vary=6.0 if drive == varying else 0.5)
    assert placed(ask("rank", FIGURE)) == {"FIRST": 1, "NEXT": 1, "LAST": 3}
    varies = {line["drive_id"]: line["varies"] for line in ask("rank", FIGURE)["lines"]}
    assert varies == {"FIRST": 0.5, "NEXT": 0.5, "LAST": 0.5} | {varying: 6.0}


def test_what_varies_less_than_the_distance_makes_nothing_level(tmp_path: Path, ask: Ask) -> None:
    entered(tmp_path, 1, 100.0, "FIRST", vary=4.9)
    entered(tmp_path, 2, 95.0, "NEXT", vary=4.9)
    assert placed(ask("rank", FIGURE)) == {"FIRST": 1, "NEXT": 2}


def test_repeats_of_one_drive_are_evidence_too(tmp_path: Path, ask: Ask) -> None:
    for number, value in enumerate((97.0, 100.0, 103.0)):
        entered(tmp_path, number, value, "FIRST", vary=1.0)
    entered(tmp_path, 8, 95.0, "NEXT")
    found = ask("rank", FIGURE)
    assert placed(found) == {"FIRST": 1, "NEXT": 1}
    assert [line["varies"] for line in found["lines"]] == [6.0, None]


def test_tables_in_memory_and_a_rebuild_say_the_same(tmp_path: Path, ask: Ask) -> None:
    for number, value in enumerate((100.0, 97.0, 60.0)):
        entered(tmp_path, number, value, f"D{number}", vary=5.0)
    entered(tmp_path, 7, None, "D7", codes=["state-moved"])
    before = ask("rank", FIGURE)
    catalogue.rebuild(tmp_path)
    assert ask("rank", FIGURE) == before
    with Index(tmp_path, kept=True) as index:
        assert index.ask("SELECT drive_id, varies FROM standings ORDER BY drive_id") == [
            *((f"D{number}", 5.0) for number in range(3)),
            ("D7", None),
        ]


def test_ranking_and_page_ask_one_definition() -> None:
    """A page gives `places` what `varies_by` says; so does the catalogue, that of repeats apart."""
    figure = Metric.less("idle_w", "idle", 2.0, "W", error=0.2, varies=Variation(amount=0.1, of="rows"))
    assert varies_by(figure) == Variation(amount=0.2, of="meter")
    assert varies_by(figure, [2.0, 2.5]) == Variation(amount=0.5, of="repeats")
    assert varies_by(Metric.less("idle_w", "idle", 2.0, "W")) is None
    assert figure_of(figure, None).varies == 0.2
    assert places([2.0, 2.15], [0.2, None]) == [1, 1]


@pytest.mark.parametrize(
    ("codes", "labels"), [(["state-moved"], "state moved"), (["paused", "failed-io"], "failed I/O, paused")]
)
def test_a_figure_that_every_run_withholds_is_told_with_what_keeps_it_back(
    tmp_path: Path, ask: Ask, codes: list[str], labels: str
) -> None:
    for number in (1, 2, 3):
        entered(tmp_path, number, None, f"D{number}", codes=codes)
    for verb in (
        ["rank", FIGURE],
        ["rank", "even"],
        ["changes", FIGURE],
        ["rank", FIGURE, "--like", "000002"],
    ):
        assert f"it has no value in 3 runs ({labels})" in ask(*verb, status=2)


def test_one_run_and_no_reason(tmp_path: Path, ask: Ask) -> None:
    entered(tmp_path, 1, None, "D1")
    assert "it has no value in 1 run ssdlab show" in ask("rank", FIGURE, status=2)


def test_what_is_withheld_is_left_out_beside_what_is_ranked(tmp_path: Path, ask: Ask) -> None:
    entered(tmp_path, 1, 100.0, "D1")
    entered(tmp_path, 2, None, "D1", codes=["state-moved"])
    entered(tmp_path, 3, None, "D3", codes=["state-moved"])
    entered(tmp_path, 4, 200.0, "D4", codes=["throttled"])
    found = ask("rank", FIGURE)
    assert placed(found) == {"D1": 1} and found["lines"][0]["runs"] == 1
    assert sorted((each["why"], each["runs"]) for each in found["left_out"]) == [
        ("state moved", 2),
        ("throttled", 1),
    ]


def test_a_row_has_by_how_much_each_figure_varies() -> None:
    figures = (manifest(1, {"a": 1.0}, vary=0.25).result or {})["scalars"]
    assert isinstance(figures, list)
    assert [figure_of(Metric.model_validate(each), None).varies for each in figures] == [0.25]
