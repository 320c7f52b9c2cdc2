"""Folders that stand in for sysfs with chips of hwmon."""

from __future__ import annotations

from pathlib import Path

from ssdlab.host.sysfs import HostFiles


def chip(root: Path, number: int, name: str, **files: object) -> Path:
    """Make a chip; names of files with their content."""
    folder = root / "sys" / "class" / "hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    for file, content in {"name": name, **files}.items():
        (folder / file).write_text(f"{content}\n")
    return folder


def host(root: Path) -> HostFiles:
    return HostFiles(root)
