"""A drive that is added to a page: in the chapters of its review, and told apart by what it was run under."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from report.reading import Page
from ssdlab.cli import main
from ssdlab.report import page, source
from ssdlab.report.body import body_of, placed_of
from ssdlab.report.outline import arranged
from ssdlab.report.runs import shown
from ssdlab.results.store import find_run
from suites.made import reads_part

ELM = {"id": "S4", "name": "Elm E8", "kind": "block"}
HAZEL = {"id": "S9", "name": "Hazel H2", "kind": "block"}


def under(release: str, system: str = "Debian GNU/Linux 12") -> dict[str, Any]:
    part = {"part": "operating_system", "name": system}
    return {"environment": {"kernel": {"release": release}, "platform": {"components": [part]}}}


@pytest.mark.parametrize(
    ("one", "other", "labels"),
    [
        (under("6.1.0-28"), under("6.18.4-fc"), ["Elm E8 · Linux 6.1", "Elm E8 · Linux 6.18"]),
        (under("6.1.0"), under("6.1.0", "Fedora 40"), ["Elm E8 · Debian GNU/Linux 12", "Elm E8 · Fedora 40"]),
        (
            {"drive": ELM | {"identity": {"firmware": "A1"}}} | under("6.1.0"),
            {"drive": ELM | {"identity": {"firmware": "B2"}}} | under("6.18.0"),
            ["Elm E8 · firmware A1", "Elm E8 · firmware B2"],
        ),
        (under("6.1.0"), {"drive": HAZEL} | under("6.18.0"), ["Elm E8", "Hazel H2"]),
    ],
)
def test_a_run_is_named_after_what_tells_it_apart(
    make_run: Callable[..., Path], one: dict[str, Any], other: dict[str, Any], labels: list[str]
) -> None:
    runs = [source.read_run(make_run(**({"drive": ELM} | changes))) for changes in (one, other)]
    assert [each.label for each in shown(runs)] == labels


def test_a_page_remarks_other_software_and_more_spare_once(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    variant = {"asked": {"spare": "25%"}, "words": ["25 % spare"], "made": False}
    usable = {"length": 10**9, "spare": 0.25, "of": "raw capacity", "free": True}
    spared = HAZEL | {"name": "Hazel H2, 25 % spare", "variant": {**variant, "usable": usable}}
    folders = (make_run(drive=ELM, **under("6.1.0")), make_run(drive=spared, **under("6.18.0")))
    text = Page.of(html(*folders)).text
    assert text.count("a different spare area from the other drives") == 1
    assert text.count("Measured with different software") == 1
    assert "method differ" not in text, "they are ranked together"
    alike = Page.of(html(make_run(drive=ELM, **under("6.1.0")), make_run(drive=HAZEL, **under("6.1.0")))).text
    assert "different spare area" not in alike and "different software" not in alike


@pytest.mark.long
def test_a_drive_is_added_to_an_article_by_two_commands(tmp_path: Path) -> None:
    """A review, another, and a single run of a third drive are one page, in the review's chapters."""
    declared = tmp_path / "tried.toml"
    declared.write_text(f"""
schema = "ssdlab.review/1"
name = "tried"
title = "Tried"
chapter = [{{ title = "Reads" }}]
{reads_part("Reads")}""")
    library = ["--library", str(tmp_path / "library")]
    words = ["--set", "fill=true", "--set", "depths=1,8", "--set", "seconds=0.2", "--set", "ramp_seconds=0"]
    drives = [f"sim:tiny-test,scale=4,seed={seed}" for seed in (2, 3, 4)]
    folders = []
    for asked in (
        [str(declared), drives[0]],
        [str(declared), drives[1]],
        ["peak-random-read", drives[2], *words],
    ):
        assert main(["run", *asked, *library]) == 0
        folders.append(find_run("last", Path(library[1])))
    found = [source.read(folder) for folder in folders]
    for order in (found, found[::-1]):
        placed = placed_of(order)
        assert {one.run.manifest.drive.text for one in placed} == set(drives)
        head, outline = arranged(order, body_of(placed))
        assert head.title == "Tried"
        (chapter,) = (each for each in outline.chapters if each.title)
        assert chapter.title == "Reads" and len(chapter.sections[0].runs) == 3
        places = outline.standings["peak_random_read_iops"].ranked
        assert len(places) == 3, "all are ranked together"
    # A run that two suites have stands once.
    (part,) = found[0].runs  # type: ignore[union-attr]
    assert len(placed_of([found[0], part])) == 1
    assert page.render([found[0], part])
