"""maturin's build backend, behind a look whether the front end of the report is there.

It is built by `make` from `web/` and never committed, and maturin packs what it finds: from a clean clone,
the package would lack it and say so only when somebody asks for a report. An editable install is let through.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import maturin
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

BUNDLE = Path("python/ssdlab/report/static")
NEEDED = ("report.js", "report.css", "echarts-LICENSE", "echarts-NOTICE")

Settings = Mapping[str, Any] | None


def check_bundle() -> None:
    """Exit with what is missing and what to do; a file without contents is missing too."""
    for name in NEEDED:
        file = BUNDLE / name
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
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel, and return its name."""
    check_bundle()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build a source distribution, and return its name."""
    check_bundle()
    return maturin.build_sdist(sdist_directory, config_settings)
