"""ssdlab's own methods, found by their folders.

A folder of `ssdlab.methods` declares its methods (`DECLARED`), kinds of results (`KINDS`) and its place
(`ORDER`). Its `__init__` is read without importing a method. A broken folder is named and affects no other.
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
    """A method that cannot be used, from another package or from a folder of ssdlab."""

    name: str
    package: str
    why: str

    @property
    def what(self) -> str:
        """The fault as a sentence."""
        return f"method {self.name} of package {self.package} cannot be used: {self.why}"


class _Folders(NamedTuple):
    """The declarations in the folders of methods, in their order."""

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
    """Return one of ssdlab's methods as unusable because of an error."""
    return BrokenMethod(name, "ssdlab", f"{type(error).__name__}: {error}")


_FOLDERS = _read("ssdlab.methods")
REGISTRY = _FOLDERS.methods
"""Every method of ssdlab by its name, in the order of a review; its module has it as `METHOD`."""
KINDS = _FOLDERS.kinds
"""Kinds of their results."""
BROKEN = _FOLDERS.broken
"""Unreadable folders, by the name of the method they would have."""


def figures_of(methods: Iterable[str]) -> tuple[str, ...] | None:
    """Return the possible names of the methods' headline figures; None if a method is another package's."""
    names: list[str] = []
    for method in methods:
        if method not in REGISTRY:
            return None
        names += REGISTRY[method].figures
    return tuple(dict.fromkeys(names))


def is_figure(name: str, names: Iterable[str]) -> bool:
    """Return whether one of the given patterns matches a figure's name."""
    return any(fnmatchcase(name, each) for each in names)


def top_figures() -> list[str]:
    """Return the top figures, for pages whose review declares none."""
    return [name for _, name in sorted(each.top for each in REGISTRY.values() if each.top is not None)]


def rated_as(figure: str) -> tuple[RatedAs, ...]:
    """Return the makers' ratings for a headline figure."""
    return next((each.rated[figure] for each in REGISTRY.values() if figure in each.rated), ())
