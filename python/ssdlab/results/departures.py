"""Departures of a run as they are told: what is shorter than its method asks for in one, behind the others.

A parameter of which `--quick` takes less makes the run shorter, and that is what its preset is for. Whoever
sets it below its default has the same run. That follows from the parameters and is not stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.units import capacity_text
from ssdlab.results.claim import Amount
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from ssdlab.results.schema import Manifest, ParameterInfo

_PARAMETER = "parameter-"
"""What the code of a departure begins with that is a parameter's value; its name follows."""
_OF_TIME = ("seconds", "sec")
_LIMITS = {"most": "longest", "least": "shortest"}
_LENGTHS = frozenset({"s", "B", "spans", "times"})
"""Units of what goes on for longer or writes more; others are steps and limits of a search."""


def departure_text(departure: Departure) -> str:
    """Return what and why in one, as warnings are told: without a capital or a full stop."""
    return f"{departure.what}: {departure.why}" if departure.why else departure.what


def gathered_departures(manifest: Manifest) -> tuple[Departure, ...]:
    """Return the departures to show; the manifest keeps each by itself.

    What `--quick` shortened is one choice of the user, and says in many lines only what "quick" says.
    """
    quick = {each.name: each.quick for each in manifest.method.parameters} if manifest.quick else {}
    kept: list[Departure] = []
    shorter = list(_shortened(manifest))
    for each in manifest.departures:
        name = each.code.removeprefix(_PARAMETER)
        by_quick = name != each.code and name in quick and manifest.params.get(name) == quick[name]
        if by_quick:
            shorter.append(each.what)
        else:
            kept.append(each)
    if not shorter:
        return tuple(kept)
    code = "quick" if manifest.quick else "shorter"
    what = "quick" if manifest.quick else "shorter than the method asks for"
    return (*kept, Departure(code=code, what=f"{what}: {', '.join(shorter)}"))


def is_shortened(manifest: Manifest) -> bool:
    """Say whether a run is shorter than its method asks for, or than `--quick` makes it."""
    return any(value < _expected(each, manifest) for each, value in _undeclared(manifest))


def _shortened(manifest: Manifest) -> Iterator[str]:
    """Yield each length that is shorter than the default, which no departure tells of."""
    for each, value in _undeclared(manifest):
        yield f"{label_of(each.name)} {_amount(each, value)} instead of {_amount(each, each.default)}"


def _undeclared(manifest: Manifest) -> Iterator[tuple[ParameterInfo, float]]:
    """Yield the lengths below their default that no departure tells of, with their values."""
    departed = {each.code.removeprefix(_PARAMETER) for each in manifest.departures}
    for each in () if manifest.children else manifest.method.parameters:
        value = manifest.params.get(each.name)
        if each.unit not in _LENGTHS or each.name in departed or not isinstance(value, int | float):
            continue
        if not isinstance(each.default, int | float) or not isinstance(each.quick, int | float):
            continue
        if each.quick < each.default and value < each.default:
            yield each, value


def _expected(each: ParameterInfo, manifest: Manifest) -> float:
    found = each.quick if manifest.quick else each.default
    assert isinstance(found, int | float)  # as `_undeclared` has it
    return found


def label_of(name: str) -> str:
    """Return what a parameter is called in a sentence: its value has the unit, its name need not.

    >>> label_of("ramp_seconds"), label_of("test_duration_sec"), label_of("overwrites")
    ('ramp time', 'test duration', 'overwrites')
    >>> label_of("most_seconds"), label_of("least_seconds")
    ('longest time', 'shortest time')
    """
    *stem, last = name.split("_")
    if last not in _OF_TIME:
        return " ".join((*stem, last))
    words = [_LIMITS.get(each, each) for each in stem]
    return " ".join(words if words and words[-1] == "duration" else (*words, "time"))


def _amount(each: ParameterInfo, value: JsonValue) -> str:
    if each.unit == "B" and isinstance(value, int):
        return capacity_text(value)
    return f"{value:g} {each.unit_of(value)}"


FIRST_BYTES = "first-bytes"
"""Code of the departure; the catalogue has the bytes themselves instead."""


def span_of(manifest: Manifest) -> int | None:
    """Return how many of the drive's first bytes a run was kept to; None: it had the whole drive."""
    asked = None if manifest.member is None else manifest.member.span_bytes
    return span_within(asked, manifest.drive.capacity_bytes)


def span_within(asked: int | None, capacity_bytes: int) -> int | None:
    """Return so many of the first bytes of a drive; None where that is all of them, or nothing was asked."""
    return None if asked is None or asked >= capacity_bytes else asked


def first_bytes(span_bytes: int | None) -> tuple[Departure, ...]:
    """Say of how much of the drive nothing is known; of a whole one there is nothing to say."""
    if span_bytes is None:
        return ()
    return (
        Departure(
            code=FIRST_BYTES,
            what=f"only the first {Amount(span_bytes, 'bytes')} of the drive were used",
            why="the rest is spare, and a cache may hold all that",
        ),
    )
