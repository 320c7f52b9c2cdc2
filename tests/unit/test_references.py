"""What a text names in backticks as a part of the package is there: a move leaves no name behind."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "ssdlab"
_FILES = {"journal", "power", "live", "series", "manifest"}
"""Files of a run, whose names have a dot as well."""


@cache
def modules() -> dict[str, tuple[Path, ...]]:
    """Files of the package by the name of their module or folder."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in PACKAGE.rglob("*.py"):
        found[path.parent.name if path.stem == "__init__" else path.stem].append(path)
    for folder in (path for path in PACKAGE.rglob("*") if path.is_dir()):
        found[folder.name] += folder.glob("*.py")
    del found[PACKAGE.name]
    return {name: tuple(paths) for name, paths in found.items()}


@cache
def words(name: str) -> frozenset[str]:
    """Every word in the files of a module or folder, and their names."""
    return frozenset(
        word for path in modules()[name] for word in (path.stem, *re.findall(r"\w+", path.read_text()))
    )


def strange(text: str) -> Iterator[str]:
    """Yield names such as `session.start` of which nothing is there."""
    for named in re.findall(r"(?<!`)`((?:\w+\.)+\w+)(?:\(\))?`", text):
        *_, module, name = named.split(".")
        known = module in modules() and module not in _FILES
        if known and name not in words(module) and name not in modules():
            yield named


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if list(path.glob("*.py"))))
def test_what_is_named_in_backticks_is_there(room: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (PACKAGE / room).rglob("*.py")
        for name in strange(path.read_text())
    ]
    assert not found


@pytest.mark.parametrize("name", ["session.begin_all", "ssdlab.runs.no_such_module"])
def test_a_name_of_nothing_is_found(name: str) -> None:
    assert list(strange(f"see `{name}`")) == [name]


def test_paths_of_the_documents_are_there() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    rooms = "|".join(sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
    gone = [
        f"{text.name}: {path}"
        for text in texts
        for path in re.findall(rf"(?<![\w/.])((?:{rooms})/[\w/]+\.py)\b", text.read_text())
        if not (PACKAGE / path).exists() and not (ROOT / path).exists() and not path.endswith("/NAME.py")
    ]
    assert not gone
