"""maturin's build backend, with a look before it and metadata of our own.

The look: whether the front end of the report is there. It is built by `make` from `web/` and never committed,
and maturin packs what it finds: from a clean clone, the package would lack it and say so only when somebody
asks for a report. An editable install is let through.

The metadata: the licences of what is compiled and bundled, a bill of materials, and a description whose links
lead to the repository.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import maturin
import third_party
from maturin import (
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

NEEDED = ("report.js", "report.css", "packages.json")

Settings = Mapping[str, Any] | None


def check_bundle() -> None:
    """Exit with what is missing and what to do; a file without contents is missing too."""
    for name in NEEDED:
        file = third_party.BUNDLE / name
        if not file.is_file() or not file.stat().st_size:
            sys.exit(
                f"the front end of the report is not built: {file} is missing\n"
                "    Build it first, which needs Node: make wheel (or make sdist) in a clone does both"
            )


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a wheel's build needs; asked before anything is compiled."""
    check_bundle()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Return what the build of a source distribution needs."""
    check_bundle()
    return maturin.get_requires_for_build_sdist(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata of the wheel to come, and return the name of their folder."""
    check_bundle()
    name = maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
    complete(Path(metadata_directory) / name)
    return name


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel, and return its name."""
    check_bundle()
    with tempfile.TemporaryDirectory() as folder:
        metadata_directory = metadata_directory or str(
            Path(folder) / prepare_metadata_for_build_wheel(folder, config_settings)
        )
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build a source distribution, and return its name."""
    check_bundle()
    return maturin.build_sdist(sdist_directory, config_settings)


def complete(information: Path) -> None:
    """Add to a wheel's metadata what maturin does not write: PEP 639 and 770 say where it is looked for."""
    metadata = (information / "METADATA").read_text()
    (version,) = re.findall(r"^Version: (.*)$", metadata, re.MULTILINE)
    parts = third_party.parts()
    for name, text in (
        ("licenses/third-party.txt", third_party.licence_texts(parts)),
        ("sboms/ssdlab.cdx.json", third_party.bill_of_materials(parts, version)),
    ):
        (information / name).parent.mkdir(exist_ok=True)
        (information / name).write_text(text)
    licence = "License-File: LICENSE\n"
    metadata = metadata.replace(licence, f"{licence}License-File: third-party.txt\n", 1)
    # pyproject.toml names no repository yet: until it does, links stay as they are.
    repository = re.search(r"^Project-URL: Repository, (.*?)/?$", metadata, re.MULTILINE)
    if repository:
        metadata = absolute_links(metadata, repository[1])
    (information / "METADATA").write_text(metadata)


def absolute_links(text: str, repository: str) -> str:
    """Return Markdown whose links to files lead to a repository's: an index has no file beside it."""
    link = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)")
    return link.sub(
        lambda found: f"{found[1]}{found[2]}({repository}/{'raw' if found[1] else 'blob'}/HEAD/{found[3]})",
        text,
    )
