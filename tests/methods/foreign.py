"""Packages that bring methods along, as an installer lays them out; their code is that of the document."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "writing-a-method.md"


def fenced(language: str) -> str:
    """The first block of a language in the document."""
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return found[0]


def with_own_result() -> str:
    """The file of the document with the result of its own: the second block instead of `conclude`."""
    first, second = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return first.partition("def conclude")[0] + second


def install(site: Path, name: str, entries: dict[str, str], **modules: str) -> None:
    """Lay out what an installer would: modules and the metadata with their entry points."""
    info = site / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    listed = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
    (info / "entry_points.txt").write_text(f"[ssdlab.methods]\n{listed}")
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)
