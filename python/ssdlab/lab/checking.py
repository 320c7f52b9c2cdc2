"""Results of other packages, looked at where they are made and where they are read: they have to last."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ssdlab.lab.folders import REGISTRY, is_figure
from ssdlab.lab.kinds import KINDS
from ssdlab.model.fitting import misfit
from ssdlab.results.qualifiers import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ssdlab.lab.kinds import Kind
    from ssdlab.results.points import Metric
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase

_SILENT = frozenset({"back", "conditions", "flush", "fork", "idle", "limit", "note", "stretch", "variant"})
"""Verbs of ours whose steps find nothing out, of which no figure can be."""
_KEY = re.compile(r"[A-Za-z0-9_.%+-]{1,100}")
"""Of a headline figure: what rankings and queries go by."""


def conclusion_fault(result: ResultBase, kind: Kind | None, steps: Iterable[Step]) -> str | None:
    """Return why a result that was just concluded could not be read back as it is; None: it could.

    Parameters
    ----------
    result
        As `conclude` gave it.
    kind
        What the method names as the kind of its Result.
    steps
        Those that the run has.
    """
    shows = {step.ordinal: _shows(step) for step in steps}
    known = kind if kind is not None else KINDS.get(result.kind)
    if known is None:
        return f"its kind is {result.kind!r}, and the method names none: Method(result=ResultKind(...))"
    model = known.loaded_model()
    if not isinstance(result, model):
        return f"it is a {type(result).__name__}, and results of the kind {known.name} are {model.__name__}"
    stored = result.model_dump(mode="json")
    if place := _endless(stored, ""):
        return f"{place} is no finite number: use None where there is none"
    try:
        again = model.model_validate(json.loads(json.dumps(stored, allow_nan=False)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return f"read back, {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if again.model_dump(mode="json") != stored:
        lost = [name for name, value in stored.items() if again.model_dump(mode="json").get(name) != value]
        return f"read back, {', '.join(lost) or 'it'} is another"
    faults = (_evidence_fault(each, shows) or _name_fault(each) for each in result.scalars)
    return result_fault(result) or next(filter(None, faults), None)


def _shows(step: Step) -> bool:
    """Whether a figure can be of a step: it measured, or found something out as the drive was left alone."""
    return step.result.measurement is not None or step.result.rest is not None or step.verb not in _SILENT


def _name_fault(figure: Metric) -> str | None:
    """Return that a figure has the name of one of ours, whose ratings it would be held against."""
    own = next((each.name for each in REGISTRY.values() if is_figure(figure.name, each.figures)), None)
    return (
        None
        if own is None
        else f"the Metric {figure.name} has the name of a figure of {own}: give it one of its own"
    )


def _evidence_fault(figure: Metric, shows: Mapping[int, bool]) -> str | None:
    """Return what is wrong with the evidence of a figure, of which nothing can then be known."""
    if figure.value is not None and not figure.steps:
        return f"the Metric {figure.name} says no steps: Metric.more(..., steps=(step.ordinal,))"
    named = {
        *figure.steps,
        *figure.chosen_among,
        *(step for each in figure.qualifiers for step in each.steps),
    }
    if foreign := sorted(named.difference(shows)):
        return f"the Metric {figure.name} names step {foreign[0]}, which the run does not have"
    if figure.value is not None and not any(shows[step] for step in figure.steps):
        return f"the Metric {figure.name} is of steps that measured nothing: name those that it is of"
    if figure.bound is not None and "search-ceiling" not in figure.codes:
        return f"the Metric {figure.name} is a bound without the qualifier search-ceiling"
    strange = next((each.code for each in figure.qualifiers if each.code not in CATALOGUE), None)
    return f"the Metric {figure.name} has an unknown qualifier: {strange}" if strange else None


def result_fault(result: ResultBase) -> str | None:
    """Return what is wrong with what a result says of itself; None: nothing."""
    fault = misfit(result.passed, bool | None, "passed")
    for figure in result.scalars:
        if not _KEY.fullmatch(figure.name):
            fault = fault or f"the name {figure.name!r} of a Metric is no word of letters, digits and _"
    return fault


def _endless(value: object, place: str) -> str | None:
    """Return the place of a number that is none, or infinite."""
    if isinstance(value, float):
        return None if isfinite(value) else place or "it"
    if isinstance(value, dict):
        inner = ((f"{place}.{name}".lstrip("."), each) for name, each in value.items())
    elif isinstance(value, list):
        inner = ((f"{place}[{at}]", each) for at, each in enumerate(value))
    else:
        return None
    return next((found for name, each in inner if (found := _endless(each, name))), None)
