"""Links within the documents lead to files and headings that exist, and so do the sources that are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "requirements").glob("*.md")]
    + [page for folder in ("docs", "crates") for page in (ROOT / folder).rglob("*.md")]
)
LINK = re.compile(r"(?<!`)\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """What its headings are called, as GitHub calls them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    dead = []
    for target, anchor in LINK.findall(text):
        file = page if not target else (page.parent / target).resolve()
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            dead.append(f"{target}#{anchor}")
    assert not dead


DESIGN = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs" / "design").glob("*.md")),
    *sorted((ROOT / "crates").rglob("*.md")),
]
SOURCE = re.compile(r"`([\w./-]+\.(?:pyi?|rs|ts|css|toml|md))`")
FOLDERS = ("python", "crates", "web/src", "tests", "docs", "scripts")


@pytest.mark.parametrize("page", DESIGN, ids=lambda page: str(page.relative_to(ROOT)))
def test_sources_that_are_named_exist(page: Path) -> None:
    """By their path, or the end of it."""
    found = [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*"))]
    paths = [path.as_posix() for path in found]
    named = {word for word in SOURCE.findall(page.read_text()) if not re.search(r"NAME|NN", word)}
    assert not {word for word in named if not any(path.endswith(f"/{word}") for path in paths)}
