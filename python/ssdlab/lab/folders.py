"""Finds ssdlab's own methods in the folders of `ssdlab.methods`.

The `__init__` of each folder declares its methods (`DECLARED`), kinds of result (`KINDS`) and position in
lists (`ORDER`). It is imported without importing a method. A folder that cannot be imported is listed in
`BROKEN` and does not affect the others.
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
    """A method of ssdlab or of another package that cannot be used."""

    name: str
    package: str
    why: str

    @property
    def what(self) -> str:
        return f"method {self.name} of package {self.package} cannot be used: {self.why}"


class _Folders(NamedTuple):
    """The declarations in all folders, sorted by `ORDER`."""

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
        except Exception as error:  # one broken folder must not stop the others
            broken.append(broken_by(each.name.replace("_", "-"), error))
    found.sort(key=lambda one: one[0])
    methods = {each.name: each for _, declared, _ in found for each in declared}
    return _Folders(methods, tuple(kind for _, _, kinds in found for kind in kinds), tuple(broken))


def broken_by(name: str, error: Exception) -> BrokenMethod:
    """Return the record of a method of ssdlab that an error made unusable."""
    return BrokenMethod(name, "ssdlab", f"{type(error).__name__}: {error}")


_FOLDERS = _read("ssdlab.methods")
REGISTRY = _FOLDERS.methods
"""Declarations of all methods of ssdlab by name, in the order of a review. Each module has its `METHOD`."""
KINDS = _FOLDERS.kinds
"""Kinds of result that these methods declare."""
BROKEN = _FOLDERS.broken
"""Folders that could not be imported, each under the method name that its folder suggests."""


def figures_of(methods: Iterable[str]) -> tuple[str, ...] | None:
    """Return the possible names of the methods' headline figures; None if a method is not ssdlab's own."""
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
    """Return the names of all methods' top figures, for pages whose review declares none."""
    return [name for _, name in sorted(each.top for each in REGISTRY.values() if each.top is not None)]


def rated_as(figure: str) -> tuple[RatedAs, ...]:
    """Return the ratings that a headline figure can be compared with; empty if there are none."""
    return next((each.rated[figure] for each in REGISTRY.values() if figure in each.rated), ())
