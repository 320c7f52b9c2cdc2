"""The methods of ssdlab itself, found by their folders.

A folder of `ssdlab.methods` declares its methods (`DECLARED`), kinds of results (`KINDS`) and its place among
the folders (`ORDER`); its `__init__` is read without importing any method. One that cannot be read is named,
and takes no other down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, NamedTuple

from ssdlab.lab.declared import Declared, RatedAs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.results.kind import ResultKind


@dataclass(frozen=True)
class BrokenMethod:
    """A method that cannot be used: one that a package brings along, or a folder of ours."""

    name: str
    package: str
    why: str

    @property
    def what(self) -> str:
        """The same as a sentence."""
        return f"method {self.name} of package {self.package} cannot be used: {self.why}"


class _Folders(NamedTuple):
    """What the folders of methods declare, in their order."""

    methods: dict[str, Declared]
    kinds: tuple[ResultKind[Any], ...]
    broken: tuple[BrokenMethod, ...]


def _read(package: str) -> _Folders:
    found, broken = [], []
    for each in iter_modules(import_module(package).__path__):
        place = f"{package}.{each.name}"
        try:
            folder = import_module(place)
            declared = [replace(one, place=f"{place}.{one.place}") for one in folder.DECLARED]
            found.append((folder.ORDER, declared, folder.KINDS))
        except Exception as error:  # whatever is wrong with one method, the others work
            broken.append(broken_by(each.name.replace("_", "-"), error))
    found.sort(key=lambda one: one[0])
    methods = {each.name: each for _, declared, _ in found for each in declared}
    return _Folders(methods, tuple(kind for _, _, kinds in found for kind in kinds), tuple(broken))


def broken_by(name: str, error: Exception) -> BrokenMethod:
    """Return a method of ours that an error keeps from use."""
    return BrokenMethod(name, "ssdlab", f"{type(error).__name__}: {error}")


_FOLDERS = _read("ssdlab.methods")
REGISTRY = _FOLDERS.methods
"""Every method of ssdlab itself by its name, in the order of a review; its module has it as `METHOD`."""
KINDS = _FOLDERS.kinds
"""Of their results."""
BROKEN = _FOLDERS.broken
"""Folders that could not be read, by the name that a method of theirs would have."""


def figures_of(methods: Iterable[str]) -> tuple[str, ...] | None:
    """Return what the headline figures of these methods can be called; None where one is of a package."""
    names: list[str] = []
    for method in methods:
        if method not in REGISTRY:
            return None
        names += REGISTRY[method].figures
    return tuple(dict.fromkeys(names))


def is_figure(name: str, names: Iterable[str]) -> bool:
    """Say whether a figure's name is one of these."""
    return any(fnmatchcase(name, each) for each in names)


def top_figures() -> list[str]:
    """Return what a reader looks for first, where a review does not say."""
    return [name for _, name in sorted(each.top for each in REGISTRY.values() if each.top is not None)]


def rated_as(figure: str) -> tuple[RatedAs, ...]:
    """Return what makers rate a headline figure by."""
    return next((each.rated[figure] for each in REGISTRY.values() if figure in each.rated), ())
