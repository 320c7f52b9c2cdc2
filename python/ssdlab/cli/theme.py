"""`ssdlab theme`: the house style of pages and pictures, to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import warn

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.report.theme import Theme


def theme() -> None:
    """Print the default house style as TOML, to copy and change.

    A style of your own begins with it: ssdlab theme > house.toml. Pages and pictures take it by --theme.
    """
    from ssdlab.report.theme_file import default_text

    print(default_text(), end="")


def themed(file: Path | None) -> Theme | None:
    """Return the house style that a file has, and warn of what its maker should know."""
    from ssdlab.host.documents import user_path
    from ssdlab.report.theme_file import read_theme

    if file is None:
        return None
    found = read_theme(user_path(file))
    for remark in found.remarks:
        warn(remark)
    return found
