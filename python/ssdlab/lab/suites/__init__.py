"""Suites: the methods of a review, run together, or one method run several times.

A suite is declared in a TOML file in this folder. Users name their own file by its path.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.lab.found import SUITES, not_a_declaration

if TYPE_CHECKING:
    from ssdlab.lab.suites.suite import Suite

_SUFFIX = ".toml"
_FAMILY = "ssdlab.review/"
"""Start of the schema name in a review declaration, which identifies a file of any name."""


def find_suite(name: str) -> Suite | None:
    """Return a suite by its name or by the path of its declaration; None if the name is unknown.

    Raises
    ------
    UsageError, HostError
        The file cannot be read, or its declaration is invalid.
    """
    if not is_path(name):
        return _read(suite_text(name), name) if name in SUITES else None
    from ssdlab.host.documents import read_document, user_path, with_name
    from ssdlab.model.errors import UsageError

    path = user_path(name)
    text = read_document(path, "review", "name a TOML file; see docs/reviews.md")
    try:
        return replace(_read(text, str(path)), own=True)
    except UsageError as error:
        if not name.endswith(_SUFFIX) and _FAMILY not in text:
            raise not_a_declaration(name) from error
        if str(path) not in error.what:
            with_name(error, Path(path))
        raise


def is_path(name: str) -> bool:
    return "/" in name or name.endswith(_SUFFIX)


def suite_text(name: str) -> str:
    """Return the TOML text of one of ssdlab's suites, which a user can copy."""
    return (resources.files("ssdlab.lab.suites") / SUITES[name].place).read_text(encoding="utf-8")


def all_suites() -> list[Suite]:
    """Return every suite that comes with ssdlab."""
    return [_read(suite_text(name), name) for name in SUITES]


def _read(text: str, name: str) -> Suite:
    from ssdlab.lab.suites.declaration import Declaration

    return Declaration.parse(text, name).suite()
