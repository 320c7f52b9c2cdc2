"""Suites: the methods of a whole review, run together; and one method run several times."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ssdlab.methods import SUITES

if TYPE_CHECKING:
    from ssdlab.methods.suites.suite import Suite


def find_suite(name: str) -> Suite | None:
    """Return a suite by its name; None if no suite has it."""
    listed = SUITES.get(name)
    if listed is None:
        return None
    found: Suite = import_module(listed.place).SUITE
    return found


def all_suites() -> list[Suite]:
    """Return every suite."""
    return [import_module(each.place).SUITE for each in SUITES.values()]
