"""Words of a page where it had keys, said one thing three times or used a word that it never explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from report.test_ranks import swept
from ssdlab.drives.ratings import Rated
from ssdlab.model.telemetry import COUNTED
from ssdlab.model.workload import Mix
from ssdlab.report.runs import shown
from ssdlab.report.sections import ratings
from ssdlab.report.sections.drive import _COUNTERS
from ssdlab.report.sections.provenance import _together
from ssdlab.report.sections.specifications import _noted, nand_text
from ssdlab.results.remarks import label_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("64l-tlc-imft", "64-layer TLC, IMFT"),
        ("64l-tlc-bics", "64-layer TLC, BiCS"),
        ("21nm-mlc-samsung", "21 nm MLC, Samsung"),
        ("3D TLC of the maker's own", "3D TLC of the maker's own"),
        (None, None),
    ],
)
def test_a_medium_is_named_in_words(name: str | None, words: str | None) -> None:
    assert nand_text(name) == words


def test_every_counter_has_a_name_and_none_speaks_of_nand() -> None:
    assert set(_COUNTERS) == set(COUNTED)
    assert not any("nand" in name.lower() or "_" in name for name in _COUNTERS.values())


def test_a_note_of_several_drives_stands_once() -> None:
    listed: list[Any] = [
        {"name": "A", "note": "of 960 GB"},
        {"name": "B"},
        {"name": "C", "note": "of 960 GB"},
    ]
    assert list(_noted(listed)) == ["A and C: of 960 GB"]


def test_streams_that_do_the_same_are_told_by_their_number() -> None:
    def stream(read_pct: int) -> Any:
        pattern = SimpleNamespace(kind="uniform")
        return SimpleNamespace(pattern=pattern, direct=True, flush_every=None, ops=Mix(read_pct=read_pct))

    assert _together([stream(100), stream(100), stream(0)]) == (
        "random writes with 2 streams of random reads"
    )
    assert _together([stream(100), stream(0)]) == "random reads with random writes"


def test_a_parameter_of_a_sentence_has_no_unit_in_its_name() -> None:
    names = ("seconds", "least_seconds", "round_seconds", "test_duration_sec", "slice_sec", "overwrites")
    assert [label_of(each) for each in names] == [
        "time",
        "shortest time",
        "round time",
        "test duration",
        "slice time",
        "overwrites",
    ]


@pytest.mark.parametrize("origin", ["recalled", "data-sheet"])
def test_a_source_that_is_no_document_is_explained(make_run: Callable[..., Path], origin: str) -> None:
    run = swept(make_run, 0)
    rated = Rated(metric="random_read_iops", value=1000.0, source=origin)
    run = replace(run, manifest=run.manifest.model_copy(update={"ratings": (rated,)}))
    section = ratings.section(shown([run]))
    assert section is not None
    assert ("not checked against a data sheet" in section.exhibits[0].lead) is (origin == "recalled")
    assert (
        section.exhibits[0].tables[0].rows[0][-1].text
        == {
            "recalled": "from memory",
            "data-sheet": "data sheet",
        }[origin]
    )
