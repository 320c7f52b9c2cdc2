"""The tutorial and the short how-tos are done as they stand there, and the index leads to every page.

What a page shows below a command is what the command prints; ``...`` stands for anything.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from junitparser import JUnitXml

from machine import forked
from report.reading import Page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A command of a page, and what the page shows of its output."""

    command: str
    shown: str


def examples(page: str) -> list[Example]:
    return [
        Example(command, shown)
        for block in BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
        for command, _, shown in (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.M)[1:])
    ]


def shows(shown: str, printed: str) -> bool:
    """Whether this was printed, on lines of whatever length."""
    pattern = ".*?".join(re.escape(" ".join(part.split())) for part in shown.split("..."))
    return re.fullmatch(rf"\s*{pattern}\s*", " ".join(printed.split())) is not None


@pytest.fixture
def place(scratch: Path, wide: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the command on the path and a library of its own."""
    monkeypatch.chdir(scratch)
    monkeypatch.setenv("XDG_DATA_HOME", str(scratch / "data"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return scratch


def do(page: str, place: Path) -> None:
    """Run every command of a page, in order; one that is shown to be refused must be."""
    for command, shown in examples(page):
        done = forked.run_line(command, cwd=place)
        refused = shown.startswith("ssdlab: ")
        assert done.returncode == (2 if refused else 0), f"{command}\n{done.stderr}"
        printed = done.stderr if refused else done.stdout
        assert not shown or shows(shown, printed), f"{command}\n{printed}"


@pytest.mark.long
def test_the_tutorial_makes_an_article(place: Path) -> None:
    do("tutorial.md", place)
    article = Page.of((place / "review.html").read_text())
    text = (place / "review.html").read_text()
    assert "<h1>SATA or NVMe for a small server</h1>" in text and "<strong>twice as much</strong>" in text
    assert {run["label"] for run in article.data["runs"]} == {
        "Samsung 883 DCT 960 GB",
        "Samsung 983 DCT 960 GB",
    }
    assert [each.name for each in (place / "pictures").iterdir()] == ["peak-random-read-throughput.png"]
    assert (place / "thesis.txt").read_text() == "my thesis\n"


def test_the_tutorial_is_short_and_shows_its_own_run() -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert len(text.encode()) <= 12_000
    assert len(pictures) == 2
    assert all((DOCS / picture).stat().st_size < 150_000 for picture in pictures)


@pytest.mark.long
def test_the_gate_passes_and_fails(place: Path) -> None:
    do("howto/firmware-gate.md", place)
    verdicts = JUnitXml.fromfile(str(place / "gate.xml"))
    assert (verdicts.tests, verdicts.failures) == (1, 1)


def test_the_action_has_the_inputs_of_the_how_to() -> None:
    text = (DOCS / "howto" / "firmware-gate.md").read_text(encoding="utf-8")
    given = re.findall(r"^    ([\w-]+):", text.partition("\n  with:\n")[2].partition("```")[0], re.MULTILINE)
    inputs = (ROOT / "action.yml").read_text(encoding="utf-8").partition("\ninputs:\n")[2]
    taken = re.findall(r"^  ([\w-]+):", inputs.partition("\noutputs:\n")[0], re.MULTILINE)
    assert given and set(given) <= set(taken)


@pytest.mark.long
def test_the_meter(place: Path) -> None:
    do("howto/meter.md", place)


@pytest.mark.long
def test_what_works_without_root(place: Path) -> None:
    """As whoever runs the tests; what nobody may look at is tested with the guard."""
    do("howto/no-root.md", place)
    assert (place / "drive.html").exists()


def test_short_how_tos_are_short() -> None:
    for name in ("firmware-gate", "meter", "no-root"):
        assert (DOCS / "howto" / f"{name}.md").stat().st_size <= 4_000


def test_the_index_fits_a_screen_and_leads_to_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert len(index.splitlines()) <= 45
    assert re.findall(r"^## (.+)", index, re.MULTILINE) == ["Tutorial", "How-to", "Reference", "Explanation"]
    linked = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", index)]
    pages = {
        str(page.relative_to(DOCS))
        for pattern in ("*.md", "*.ipynb", "howto/*.md", "reference/*.md", "reference/*/README.md")
        for page in DOCS.glob(pattern)
    } - {"README.md"}
    assert pages <= set(linked)
    assert all(linked.count(page) == 1 for page in pages)


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("howto/weekly.md#firmware-a-against-b", "ssdlab compare"),
        ("runs.md#figure-qualifiers", "`state-unproven`"),
        ("../ARCHITECTURE.md#where-to-change-what", "holders"),
        ("simulated.md#the-tables-of-a-profile", "`[flash]`"),
    ],
)
def test_the_tutorial_leads_to_the_answer(target: str, answer: str) -> None:
    """The answer is below the very heading that the link leads to."""
    assert f"]({target})" in (DOCS / "tutorial.md").read_text(encoding="utf-8")
    page, _, anchor = target.partition("#")
    sections = re.split(r"^#+ ", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    by_anchor = {
        re.sub(r"[^\w\- ]", "", each.partition("\n")[0].lower()).replace(" ", "-"): each for each in sections
    }
    assert answer in by_anchor[anchor]
