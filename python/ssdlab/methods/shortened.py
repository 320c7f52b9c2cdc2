"""What was set shorter than a method asks for, whoever set it: by the method's own presets, not by a flag.

A parameter of which `--quick` takes less makes the run shorter, and that is what its preset is for. Whoever
sets it below its default has the same run, which has to say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.units import capacity_text
from ssdlab.results.caveats import with_caveat
from ssdlab.results.claim import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import JsonValue

    from ssdlab.methods.method import Params
    from ssdlab.results.schema import Departure, Manifest, ParameterInfo, ResultBase

_PARAMETER = "parameter-"
"""What the code of a departure begins with that is a parameter's value; its name follows."""
_OF_TIME = ("seconds", "sec")
_LIMITS = {"most": "longest", "least": "shortest"}
_LENGTHS = frozenset({"s", "B", "spans", "times"})
"""Units of what goes on for longer or writes more; others are steps and limits of a search."""


def with_shortened(
    result: ResultBase, params: Params, departures: Iterable[Departure], *, quick: bool
) -> ResultBase:
    """Return a Result with the caveat of what was set shorter than a run of its kind has it, if anything was.

    Parameters
    ----------
    result, params
        Of the run.
    departures
        Of the run: what they tell is not said twice.
    quick
        Whether it took its quick presets, of which it then tells by itself.
    """
    found = ", ".join(
        f"{label_of(each.name)} {_amount(each, value)} instead of {_amount(each, each.default)}"
        for each, value in _shorter(params.table(), params.model_dump(), departures, quick=quick)
    )
    if not found:
        return result
    claim = Claim("shorter than the method asks for: {found}", judged=False, others={"found": found})
    return with_caveat(result, claim)


def is_shortened(manifest: Manifest) -> bool:
    """Say whether a run has that caveat, by what its manifest keeps; a suite has it by its runs."""
    if manifest.children:
        return False
    parameters, departures = manifest.method.parameters, manifest.departures
    return any(_shorter(parameters, manifest.params, departures, quick=manifest.quick))


def _shorter(
    parameters: Iterable[ParameterInfo],
    params: Mapping[str, JsonValue],
    departures: Iterable[Departure],
    *,
    quick: bool,
) -> Iterator[tuple[ParameterInfo, float]]:
    """Yield the parameters that were set shorter, each with its value."""
    departed = {each.code.removeprefix(_PARAMETER) for each in departures}
    for each in parameters:
        value = params.get(each.name)
        if each.unit not in _LENGTHS or each.name in departed or not isinstance(value, int | float):
            continue
        if not isinstance(each.default, int | float) or not isinstance(each.quick, int | float):
            continue
        expected = each.quick if quick else each.default
        if each.quick < each.default and value < expected:
            yield each, value


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
