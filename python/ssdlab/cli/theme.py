"""`ssdlab theme`: the default theme of reports and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.output import print_json, warn

if TYPE_CHECKING:
    from ssdlab.report.theme import Theme

ThemeFile = Annotated[
    Path | None,
    Parameter(
        metavar="FILE",
        help="Theme, a TOML file: fonts, logo, colours, sizes. `ssdlab theme` prints one to start from. "
        "[default: that of config.toml, or ours]",
    ),
]


def theme(*, json: bool = False) -> None:
    """Print the default theme as TOML, to copy and change.

    Start your own from it: ssdlab theme > house.toml. Reports and pictures take it with --theme.

    Parameters
    ----------
    json
        Print it as JSON, schema ssdlab.theme/1.
    """
    from ssdlab.host.documents import parse_toml
    from ssdlab.report.theme_file import default_text

    if json:
        print_json(parse_toml(default_text(), "theme"))
    else:
        print(default_text(), end="")


def themed(file: Path | None) -> Theme | None:
    """Return the theme in a file, by default that of `config.toml`, and print its warnings."""
    from ssdlab.host.defaults import read_defaults
    from ssdlab.host.documents import user_path
    from ssdlab.report.theme_file import read_theme

    path = read_defaults().theme if file is None else user_path(file)
    if path is None:
        return None
    found = read_theme(path)
    for remark in found.remarks:
        warn(remark)
    return found
