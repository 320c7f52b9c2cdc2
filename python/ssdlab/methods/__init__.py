"""The review methods, one file each, and the registry of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ssdlab.errors import unknown

if TYPE_CHECKING:
    from ssdlab.methods.method import Method

REGISTRY = {
    "qd1": "ssdlab.methods.qd1",
    "peak-random-read": "ssdlab.methods.peak_random_read",
    "peak-sequential-read": "ssdlab.methods.peak_sequential_read",
    "steady-random-write": "ssdlab.methods.steady_random_write",
    "steady-sequential-write": "ssdlab.methods.steady_sequential_write",
    "mixed-random": "ssdlab.methods.mixed_random",
    "whole-drive-fill": "ssdlab.methods.whole_drive_fill",
    "consistency": "ssdlab.methods.consistency",
    "rate-limit": "ssdlab.methods.rate_limit",
}
"""Name of each method and the module that defines it as `METHOD`; loaded when asked for."""

_UNLISTED = {"job": "ssdlab.methods.job"}
"""What has a command of its own and is found here only to be resumed."""


def find_method(name: str) -> Method:
    """Return a method by its name.

    Raises
    ------
    UsageError
        With the nearest name, when there is none.
    """
    place = REGISTRY.get(name) or _UNLISTED.get(name)
    if place is None:
        raise unknown("method", name, REGISTRY, elsewhere="see ssdlab methods")
    found: Method = import_module(place).METHOD
    return found


def all_methods() -> list[Method]:
    """Return every method, in the order a review prints them."""
    return [find_method(name) for name in REGISTRY]
