"""Packages that bring methods along, as an installer lays them out; their code is that of the document."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "writing-a-method.md"


def fenced(language: str, heading: str) -> str:
    """The first block of a language below a heading of the document."""
    below = DOCUMENT.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", below, re.MULTILINE | re.DOTALL)[0]


def whole_method() -> str:
    """The file of the document."""
    return fenced("python", "The file")


def with_own_result() -> str:
    """The file of the document with the result of its own instead of `conclude`."""
    return whole_method().partition("def conclude")[0] + fenced("python", "A result of its own")


def install(
    site: Path, name: str, entries: dict[str, str], *, group: str = "ssdlab.methods", **modules: str
) -> None:
    """Lay out what an installer would: modules and the metadata with their entry points."""
    info = site / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    listed = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{listed}")
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)
