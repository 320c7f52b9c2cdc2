"""Checks that a value from another package's code has the expected type, at every level.

Python does not check annotations. This check finds a wrong value as soon as it is returned, with its place,
while the function that returned it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_Wanted = Any
"""A type, or an annotation such as a union."""


class Unfit(TypeError):
    """A value that another package's code returned does not fit.

    Attributes
    ----------
    by
        The function that returned it; None: the caller.
    """

    def __init__(self, what: str, by: Callable[..., object] | None = None) -> None:
        super().__init__(what)
        self.by = by


def misfit(value: object, wanted: _Wanted, place: str = "it") -> str | None:
    """Return why a value is not of the wanted type: ``rows[0][1] is a int, not a Cell``; None if it is.

    Numbers have to be finite. A list is accepted as a tuple.
    """
    origin: object = get_origin(wanted)
    parts = get_args(wanted)
    if wanted is _Wanted:
        return None
    if origin in (Union, UnionType):
        return _of_any(value, parts, place)
    if origin is Literal:
        words = ", ".join(map(repr, parts))
        return (
            None if isinstance(value, str) and value in parts else f"{place} is {value!r}, not one of {words}"
        )
    if origin is tuple:
        return _of_tuple(value, parts, place)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _of_mapping(value, parts, place)
    kind = origin or wanted
    return _of_class(value, kind, place) if isinstance(kind, type) else None


def _of_any(value: object, parts: tuple[_Wanted, ...], place: str) -> str | None:
    found = {part: misfit(value, part, place) for part in parts}
    if None in found.values():
        return None
    # If the value is an instance of one class, that class's misfit says more than a list of the others.
    alike = [why for part, why in found.items() if isinstance(part, type) and isinstance(value, part)]
    return (
        alike[0] if alike else f"{place} is a {type(value).__name__}, not a {' or '.join(map(_word, parts))}"
    )


def _of_tuple(value: object, parts: tuple[_Wanted, ...], place: str) -> str | None:
    if not isinstance(value, tuple | list):
        return f"{place} is a {type(value).__name__}, not a tuple"
    if parts[-1] is Ellipsis:
        parts = (parts[0],) * len(value)
    if len(parts) != len(value):
        return f"{place} has {len(value)} entries, not {len(parts)}"
    faults = (misfit(each, part, f"{place}[{at}]") for at, (each, part) in enumerate(zip(value, parts)))  # noqa: B905
    return next((fault for fault in faults if fault), None)


def _of_mapping(value: object, parts: tuple[_Wanted, ...], place: str) -> str | None:
    if not isinstance(value, Mapping):
        return f"{place} is a {type(value).__name__}, not a mapping"
    for name, each in value.items():
        fault = misfit(name, parts[0], f"a name in {place}")
        if fault := fault or misfit(each, parts[1], f"{place}[{name!r}]"):
            return fault
    return None


def _of_class(value: object, wanted: type, place: str) -> str | None:
    accepted = (int, float) if wanted is float else wanted
    if wanted in (int, float) and isinstance(value, int | float) and not isfinite(value):
        return f"{place} is {value}, not a finite number"
    if not isinstance(value, accepted) or (wanted in (int, float) and isinstance(value, bool)):
        return f"{place} is a {type(value).__name__}, not a {_word(wanted)}"
    if not is_dataclass(wanted):
        return None
    within = "" if place == "it" else f"{place}."
    faults = (misfit(getattr(value, name), hint, f"{within}{name}") for name, hint in _hints(wanted).items())
    return next((fault for fault in faults if fault), None)


@cache
def _hints(model: type) -> dict[str, _Wanted]:
    hints = get_type_hints(model)
    return {each.name: hints[each.name] for each in fields(model)}


def _word(wanted: _Wanted) -> str:
    return "None" if wanted is type(None) else getattr(wanted, "__name__", str(wanted))
