"""All verbs of the lab, loaded on demand; and checks of other packages' verbs."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ssdlab.lab.verbs.verb import Bounds, Facts, Planned, Planning, Verb
from ssdlab.model.fitting import Unfit, misfit
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext
    from ssdlab.results.run_folder import Step

VERBS = {
    "run": "ssdlab.lab.verbs.workload:Run",
    "fill": "ssdlab.lab.verbs.workload:Fill",
    "precondition": "ssdlab.lab.verbs.workload:Precondition",
    "one-pass": "ssdlab.lab.verbs.workload:OnePass",
    "place": "ssdlab.lab.verbs.workload:Place",
    "power-features": "ssdlab.lab.verbs.resting:AskPower",
    "rest": "ssdlab.lab.verbs.resting:Rest",
    "idle": "ssdlab.lab.verbs.resting:Idle",
    "trim": "ssdlab.lab.verbs.drive_state:Trim",
    "flush": "ssdlab.lab.verbs.drive_state:Flush",
    "purge": "ssdlab.lab.verbs.drive_state:Purge",
    "health": "ssdlab.lab.verbs.record:Health",
    "conditions": "ssdlab.lab.verbs.settings:Conditions",
    "variant": "ssdlab.lab.verbs.settings:Variant",
    "limit": "ssdlab.lab.verbs.record:Limit",
    "note": "ssdlab.lab.verbs.record:Note",
    "find": "ssdlab.lab.verbs.record:Find",
    "trace": "ssdlab.lab.verbs.trace:Trace",
    "stretch": "ssdlab.lab.verbs.drive_state:Stretch",
    "fork": "ssdlab.lab.verbs.drive_state:Fork",
    "marks": "ssdlab.lab.verbs.resting:PowerMarks",
    "back": "ssdlab.lab.verbs.drive_state:Back",
}
"""By name: module and class."""
_MEASURING = frozenset({"run", "fill", "precondition", "one-pass"})
"""They say nothing beside what they measured: to show a run, none of them is loaded."""


def verb_named(name: str) -> type[Verb] | None:
    """Return the class of a verb; None for other packages' verbs."""
    if name not in VERBS:
        return None
    module, kind = VERBS[name].split(":")
    found: type[Verb] = getattr(import_module(module), kind)
    return found


def describe_step(step: Step) -> str | None:
    """Return in words what a finished step found besides measurements; None for nothing.

    Verbs of other packages state it in their facts.
    """
    verb = None if step.verb in _MEASURING else verb_named(step.verb)
    return None if verb is None else verb.describe(step)


_NAME = re.compile(r"[a-z0-9]{1,40}([-_][a-z0-9]{1,40}){0,9}")
_OURS = "ssdlab."


def check_verb(asked: Verb) -> None:
    """Refuse an object that is not a verb, or cannot be journalled or shown.

    Raises
    ------
    Unfit
        With what is wrong.
    """
    if type(asked).__module__.startswith(_OURS):
        return
    if not isinstance(asked, Verb):
        raise Unfit(f"lab.do was given a {type(asked).__name__}, not a Verb")
    name = getattr(asked, "verb", None)
    kind = type(asked).__name__
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Unfit(f"{kind} calls its verb {name!r}: a name is lower-case words and digits with hyphens")
    if name in VERBS and verb_named(name) is not type(asked):
        raise Unfit(f"{kind} calls its verb {name}, which is one of ssdlab's own: give it another name")
    effects = asked.effects()
    if fault := misfit(effects, tuple[str, ...], "effects"):
        raise Unfit(f"{kind}.{fault}", asked.effects)
    _check_json(asked.stored(), f"the arguments of {kind}", None)


def plan_of(asked: Verb, planning: Planning) -> Planned:
    """Return the planned time and writes of a step, by its verb.

    Raises
    ------
    Unfit
        Its plan is invalid.
    """
    planned = asked.plan(planning)
    if type(asked).__module__.startswith(_OURS):
        return planned
    kind = f"{type(asked).__name__}.plan"
    fault = misfit(planned, Planned)
    if fault is None:
        named = {name: getattr(planned, name) for name in ("seconds", "bytes_written", "simulating")}
        wrong = (name for name, each in named.items() if not _rising(each))
        fault = next((f"{name} is {named[name]}, not from low to high" for name in wrong), None)
    if fault is not None:
        raise Unfit(f"{kind}: {fault}", asked.plan)
    return planned


def do_checked(asked: Verb, at: StepContext) -> StepResult:
    """Execute a step, and return its result.

    Raises
    ------
    Unfit
        The result is of another type, or cannot be journalled.
    """
    result = asked.do(at)
    if type(asked).__module__.startswith(_OURS):
        return result
    kind = f"{type(asked).__name__}.do"
    if not isinstance(result, StepResult):
        raise Unfit(f"{kind} gave a {type(result).__name__}, not a StepResult", asked.do)
    _check_json(result.facts, f"the facts of {kind}", asked)
    try:
        Facts.model_validate(result.facts)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Unfit(f"the facts of {kind}: departures: {first['msg']}", asked.do) from None
    return result


def _rising(bounds: Bounds) -> bool:
    return 0 <= bounds.lower <= bounds.upper


def _check_json(value: object, noun: str, asked: Verb | None) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Unfit(f"{noun} cannot be kept as JSON: {error}", None if asked is None else asked.do) from None
