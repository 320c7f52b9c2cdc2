"""docs/reference is what `make reference` writes, and what it says of units is so in stored results."""

from __future__ import annotations

import importlib.util
import json
import re
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from ssdlab.cli import dispatch
from ssdlab.lab.folders import REGISTRY, is_figure
from ssdlab.lab.found import find_method

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
PLANTED = ROOT / "tests" / "planted" / "library.tar.xz"
MAX_PAGE_BYTES = 20_000


def reference_pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference_pages", ROOT / "scripts" / "reference_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = reference_pages()


def test_the_pages_are_those_that_the_code_gives() -> None:
    written = {
        str(page.relative_to(REFERENCE)): page.read_text(encoding="utf-8") for page in REFERENCE.rglob("*.md")
    }
    made = SCRIPT.pages()
    old = sorted(path for path in {*written, *made} if written.get(path) != made.get(path))
    assert not old, f"docs/reference is not what the code says: run `make reference` ({', '.join(old)})"


def test_no_page_is_too_long() -> None:
    assert not [page.name for page in REFERENCE.rglob("*.md") if page.stat().st_size > MAX_PAGE_BYTES]


@pytest.mark.parametrize("name", REGISTRY)
def test_a_method_says_all_four_and_begins_as_it_is_listed(name: str) -> None:
    line, sections = SCRIPT.sections_of(find_method(name).prose)
    assert line == REGISTRY[name].line
    assert [heading for heading, _ in sections] == [
        "Question",
        "Procedure",
        "Source",
        "What it cannot show",
    ]
    assert all(text for _, text in sections)


def test_units_and_directions_are_those_of_stored_figures() -> None:
    """The planted library holds results of every method but the two that take longest."""
    seen = set()
    with tarfile.open(PLANTED) as archive:
        for member in archive:
            if not member.name.endswith("/manifest.json") or (file := archive.extractfile(member)) is None:
                continue
            manifest = json.loads(file.read())
            method = manifest["method"]["name"]
            for each in (manifest.get("result") or {}).get("scalars", ()):
                if method in REGISTRY and is_figure(each["name"], REGISTRY[method].figures):
                    rows = re.findall(r"^\| `(\S+)` \| (\S+) \| (\w+) \|", _page(method), re.MULTILINE)
                    # Of a grid the name with an ending is the more particular one, and stands last.
                    unit, better = [row[1:] for row in rows if is_figure(each["name"], [row[0]])][-1]
                    assert (each["name"], each["unit"], each["better"]) == (each["name"], unit, better)
                    seen.add(method)
    assert set(REGISTRY) - seen == {"pts-iops", "pts-composite"}


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.long
def test_the_example_can_be_run(name: str) -> None:
    (words,) = re.findall(r"^\$ ssdlab run (.+)$", _page(name), re.MULTILINE)
    assert dispatch(["plan", *words.split(), "--json"]) == 0


def _page(method: str) -> str:
    return (REFERENCE / "methods" / f"{method}.md").read_text(encoding="utf-8")
