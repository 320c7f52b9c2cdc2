"""Methods that other packages bring along: entry points of the group `ssdlab.methods`, each a `Method`.

A package that is broken must not take the rest down, nor be passed over in silence: what cannot be used is
listed with the reason. What a package imports from ssdlab by another path than the public one is warned of.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from ssdlab.lab.folders import Broken

if TYPE_CHECKING:
    from ssdlab.lab.method import Method

GROUP = "ssdlab.methods"


@dataclass(frozen=True)
class Offered:
    """What other packages bring along."""

    methods: dict[str, Method]
    broken: tuple[Broken, ...]


def offered(taken: Collection[str], only: str | None = None) -> Offered:
    """Load the methods of other packages.

    Parameters
    ----------
    taken
        Names that are ours: another method cannot have them.
    only
        Of this name alone: no other package is imported.
    """
    methods: dict[str, Method] = {}
    broken = []
    all_there = entry_points(group=GROUP)
    wanted = all_there if only is None else all_there.select(name=only)
    found = sorted(wanted, key=lambda entry: (entry.name, _package(entry)))
    if found:
        from ssdlab.lab.plugin_guard import (
            load,  # what a method is made of; most have no plug-in
            naming_failures,
        )
        from ssdlab.model.errors import HostError

        for entry in found:
            whose = "ssdlab" if entry.name in taken else ""
            if entry.name in methods:
                whose = f"package {methods[entry.name].package}"
            method = f"the name is taken by {whose}" if whose else load(entry)
            if not isinstance(method, str):
                try:
                    methods[entry.name] = naming_failures(method, _package(entry), entry.module)
                    continue
                except HostError as error:
                    method = error.what
            broken.append(Broken(entry.name, _package(entry), method))
    return Offered(methods, tuple(broken))


def names() -> list[str]:
    """Return the names of the methods that other packages say they bring; nothing is imported."""
    return sorted(entry_points(group=GROUP).names)


def _package(entry: EntryPoint) -> str:
    return "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
