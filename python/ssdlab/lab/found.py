"""Finds the methods and suites of ssdlab and of other packages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.lab.declared import Declared
from ssdlab.lab.folders import BROKEN, REGISTRY, BrokenMethod, broken_by
from ssdlab.model.errors import Unsupported, UsageError, unknown

if TYPE_CHECKING:
    from ssdlab.lab.method import Method

# Other packages provide methods as entry points of the group `ssdlab.methods`; each entry point names a
# `Method`.
#
# A broken package must not stop the other packages, but must be reported: it is listed with the reason. A
# package that imports private modules of ssdlab raises a warning.

GROUP = "ssdlab.methods"


@dataclass(frozen=True)
class MethodsOfOthers:
    methods: dict[str, Method]
    broken: tuple[BrokenMethod, ...]


def _offered(taken: Collection[str], only: str | None = None) -> MethodsOfOthers:
    methods: dict[str, Method] = {}
    broken = []
    all_there = entry_points(group=GROUP)
    wanted = all_there if only is None else all_there.select(name=only)
    found = sorted(wanted, key=lambda entry: (entry.name, _package(entry)))
    if found:
        from ssdlab.lab.plugins import load  # late: most installations have no plug-in

        for entry in found:
            whose = "ssdlab" if entry.name in taken else ""
            if entry.name in methods:
                whose = f"package {methods[entry.name].package}"
            method = f"the name is taken by {whose}" if whose else load(entry, _package(entry))
            if isinstance(method, str):
                broken.append(BrokenMethod(entry.name, _package(entry), method))
            else:
                methods[entry.name] = method
    return MethodsOfOthers(methods, tuple(broken))


def names_of_others() -> list[str]:
    """Return the names of other packages' methods, without importing them."""
    return sorted(entry_points(group=GROUP).names)


def _package(entry: EntryPoint) -> str:
    return "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


SUITES = {
    "enterprise-review": Declared(
        "enterprise-review",
        "enterprise-review.toml",
        True,
        "An enterprise drive as reviews test it: queue depth 1, peaks, steady state and mixed load.",
    ),
    "client-review": Declared(
        "client-review",
        "client-review.toml",
        True,
        "A client drive as reviews test it: fresh and full, in bursts and under sustained load.",
    ),
    "quick-look": Declared(
        "quick-look", "quick-look.toml", True, "A first look at a drive, in under ten minutes."
    ),
    "snia": Declared(
        "snia",
        "snia.toml",
        True,
        "All eight tests of SNIA's Solid State Storage Performance Test Specification, in one report.",
    ),
    "review-dc500": Declared(
        "review-dc500",
        "review-dc500.toml",
        True,
        "AnandTech's review of the Kingston DC500 (2019): depth 1, peaks, steady state, mixed load.",
    ),
    "review-c916": Declared(
        "review-c916",
        "review-c916.toml",
        True,
        "AnandTech's review of the Memblaze PBlaze5 C916 (2019): mixed load and ACT, with a limit of 10 W.",
    ),
    "review-dc400": Declared(
        "review-dc400",
        "review-dc400.toml",
        True,
        "TheSSDReview's review of the Kingston DC400 (2016): SNIA's matrix in 25 rounds, latency at QD 32.",
    ),
    "review-xp941": Declared(
        "review-xp941",
        "review-xp941.toml",
        True,
        "AnandTech's review of the Samsung XP941 (2014): consistency with more spare area, TRIM, a trace.",
    ),
    "review-600p": Declared(
        "review-600p",
        "review-600p.toml",
        True,
        "PC Perspective's review of the Intel 600p (2016): bursts of writes beside reads, load time, tails.",
    ),
}
"""ssdlab's suites by name; `place` is the file of the declaration, in the folder `suites`."""

_UNLISTED = {"job": "ssdlab.lab.job"}
"""Methods that have a command of their own; listed here so that their runs can be resumed."""


def find_method(name: str) -> Method:
    """Return a method by its name.

    Raises
    ------
    UsageError
        There is no such method; the error suggests the nearest name.
    Unsupported
        The method is broken and cannot be used.
    """
    place = REGISTRY[name].place if name in REGISTRY else _UNLISTED.get(name)
    if place is not None:
        found = _load(name, place)
        if isinstance(found, BrokenMethod):
            raise _unusable(found)
        return found
    if own := next((each for each in BROKEN if each.name == name), None):
        raise _unusable(own)
    others = methods_of_others(name)
    if name in others.methods:
        return others.methods[name]
    if broken := next((each for each in others.broken if each.name == name), None):
        raise _unusable(broken)

    if Path(name).is_file():
        raise not_a_declaration(name)
    raise unknown("method", name, [*REGISTRY, *names_of_others()], elsewhere="see ssdlab methods")


def _load(name: str, place: str) -> Method | BrokenMethod:
    try:
        found: Method = import_module(place).METHOD
        writes = found.writes(found.params())
    except Exception as error:  # one broken method must not stop the others
        return broken_by(name, error)
    if name in REGISTRY and writes != REGISTRY[name].writes:
        declared = "writes" if REGISTRY[name].writes else "only reads"
        return BrokenMethod(
            name, "ssdlab", f"its folder declares that it {declared}, but its Method disagrees"
        )
    return found


def _unusable(found: BrokenMethod) -> Unsupported:
    return Unsupported(found.what, "update that package, or ask its authors", method=found.name)


def not_a_declaration(name: str) -> UsageError:
    """Return the error for a file that is not a review declaration; it names what can be run."""
    return UsageError(
        f"{name} is a file, but not a review declaration",
        "name a method, a suite or a review (see ssdlab methods), or a declaration of your own, NAME.toml "
        "(see docs/reviews.md); a job file is run by ssdlab job, a recorded workload by the method trace",
        path=name,
    )


def all_methods() -> list[Method]:
    """Return every usable method of ssdlab, in the order of a review."""
    return [each for each in _loaded() if not isinstance(each, BrokenMethod)]


def broken_methods() -> list[BrokenMethod]:
    return [*BROKEN, *(each for each in _loaded() if isinstance(each, BrokenMethod))]


def _loaded() -> list[Method | BrokenMethod]:
    return [_load(name, each.place) for name, each in REGISTRY.items()]


def methods_of_others(only: str | None = None) -> MethodsOfOthers:
    """Return the methods of other packages, and the unusable ones.

    With `only`, import only packages that have a method of that name.
    """
    return _offered({*REGISTRY, *_UNLISTED, *SUITES}, only)
