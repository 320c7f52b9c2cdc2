"""Notes on reviews, on the suite of a drive and on parts: each reaches page and `show`, in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.report import page, source
from ssdlab.results.run_folder import RunFolder, read_manifest
from ssdlab.results.schema import Note
from ssdlab.results.store import find_run
from suites.made import reads_part

pytestmark = pytest.mark.long
REVIEW = f"""
schema = "ssdlab.review/1"
name = "tried"
title = "Tried"
chapter = [{{ title = "Reads", text = "As declared." }}, {{ title = "Nothing here" }}]
{reads_part("Reads")}
"""
DAY = "2026-05-20"


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A review of two drives with a note at every level, each with a word of its own."""
    place = tmp_path_factory.mktemp("review")
    (place / "tried.toml").write_text(REVIEW)
    library = place / "library"
    drives = ["sim:tiny-test,scale=4", "sim:tiny-test,scale=4,seed=2"]
    assert main(["run", str(place / "tried.toml"), *drives, "--library", str(library)]) == 0
    top = RunFolder(find_run("last", library))
    suites = [library / child.run_id for child in top.manifest.children]
    part = library / read_manifest(suites[1]).children[0].run_id
    note = noted(library)
    note(top.path, "whole-word")
    note(top.path, "chapter-word", "--chapter", "Reads", "--date", DAY)
    note(top.path, "absent-word", "--chapter", "Nothing here")
    note(top.path, "update-word", "--run", part.name)
    note(suites[0], "drive-word")
    note(suites[1], "drive-chapter-word", "--chapter", "Reads")
    note(part, "part-word")
    return top


def noted(library: Path) -> Callable[..., None]:
    def note(run: Path, *words: str) -> None:
        assert main(["note", run.name, *words, "--library", str(library)]) == 0

    return note


WORDS = (
    *("whole-word", "chapter-word", "absent-word", "update-word", "drive-word", "drive-chapter-word"),
    "part-word",
)


def test_each_note_is_shown_and_stands_on_the_page_once(
    review: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(review.path), "--all"]) == 0
    shown = capsys.readouterr().out
    html = page.render([source.read(review.path)])
    body = html.partition("<script")[0]
    for word in WORDS:
        assert len(re.findall(rf"(?<![\w-]){word}", shown)) == 1, word
        assert len(re.findall(rf"(?<![\w-]){word}", body)) == 1, word


def test_a_note_of_a_chapter_stands_in_it_and_others_among_the_notes(review: RunFolder) -> None:
    html = page.render([source.read(review.path)])
    (chapter,) = re.findall(r'<header class="chapter" id="chapter-1">(.*?)</header>', html, re.DOTALL)
    (banner,) = re.findall(r'<section class="banner note"(.*?)</section>', html, re.DOTALL)
    assert [word for word in WORDS if word in chapter] == ["chapter-word", "drive-chapter-word"]
    assert chapter.index("As declared.") < chapter.index("chapter-word") and DAY in chapter
    for word in ("whole-word", "absent-word", "update-word", "drive-word", "part-word"):
        assert word in banner
    assert "Nothing here" in banner


def test_of_one_drive_page_and_json_have_its_own_notes_alone(
    review: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    _, second = review.manifest.children
    folder = review.path.parent / second.run_id
    html = page.render([source.read(folder)])
    assert "part-word" in html and "drive-chapter-word" in html
    assert "whole-word" not in html and 'drive-word"' not in html
    assert main(["show", str(folder), "--json"]) == 0
    own = json.loads(capsys.readouterr().out)["notes"]
    part = read_manifest(folder).children[0].part
    assert [(each["text"], each.get("part"), each.get("chapter")) for each in own] == [
        ("drive-chapter-word", None, "Reads"),
        ("part-word", part, None),
    ]
    assert main(["show", str(review.path), "--json"]) == 0
    every = json.loads(capsys.readouterr().out)["notes"]
    assert {each["text"] for each in every} == set(WORDS)
    assert {each["text"] for each in every if each.get("drive") == second.part} == {
        "drive-chapter-word",
        "part-word",
    }


@pytest.mark.parametrize(
    "words",
    [
        ["--chapter", "Raeds"],
        ["--date", "20.5.2026"],
        ["--date", "2026-02-30"],
        ["--date", "20260520"],
        ["--run", "nosuch"],
        ["--run", "last"],
    ],
)
def test_a_note_that_leads_nowhere_is_refused_and_not_taken(
    review: RunFolder, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    before = review.notes()
    given = ["note", "last", "text", *words, "--library", str(review.path.parent)]
    assert main(given) == 2
    assert review.notes() == before
    told = capsys.readouterr().err
    assert "Raeds" not in words or "Nothing here" in told, "the chapters that there are are named"


def test_a_run_without_chapters_takes_no_note_of_one(review: RunFolder) -> None:
    suite = review.path.parent / review.manifest.children[0].run_id
    part = read_manifest(suite).children[0].run_id
    given = ["note", part, "text", "--chapter", "Reads", "--library", str(review.path.parent)]
    assert main(given) == 2


def test_a_plain_note_is_written_as_it_always_was(review: RunFolder) -> None:
    """So an older ssdlab reads it, and a note of one is read here."""
    (plain,) = [note for note in review.notes() if note.text == "whole-word"]
    stored = {"at": plain.at, "text": plain.text}
    assert json.loads(plain.model_dump_json()) == stored
    assert Note.model_validate(stored) == plain
