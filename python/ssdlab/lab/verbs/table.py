"""All verbs of the lab: a new one is a file of this folder and a line here. Loaded when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import Verb
    from ssdlab.results.run_folder import Step

VERBS = {
    "run": "ssdlab.lab.verbs.run:Run",
    "fill": "ssdlab.lab.verbs.fill:Fill",
    "precondition": "ssdlab.lab.verbs.precondition:Precondition",
    "one-pass": "ssdlab.lab.verbs.one_pass:OnePass",
    "place": "ssdlab.lab.verbs.place:Place",
    "power-features": "ssdlab.lab.verbs.ask_power:AskPower",
    "rest": "ssdlab.lab.verbs.rest:Rest",
    "idle": "ssdlab.lab.verbs.idle:Idle",
    "trim": "ssdlab.lab.verbs.trim:Trim",
    "flush": "ssdlab.lab.verbs.flush:Flush",
    "purge": "ssdlab.lab.verbs.purge:Purge",
    "health": "ssdlab.lab.verbs.health:Health",
    "conditions": "ssdlab.lab.verbs.conditions:Conditions",
    "variant": "ssdlab.lab.verbs.variant:Variant",
    "limit": "ssdlab.lab.verbs.limit:Limit",
    "note": "ssdlab.lab.verbs.note:Note",
    "find": "ssdlab.lab.verbs.find:Find",
    "trace": "ssdlab.lab.verbs.trace:Trace",
    "stretch": "ssdlab.lab.verbs.stretch:Stretch",
    "fork": "ssdlab.lab.verbs.fork:Fork",
    "marks": "ssdlab.lab.verbs.marks:PowerMarks",
    "back": "ssdlab.lab.verbs.back:Back",
}
"""By name: module and class."""
_MEASURING = frozenset({"run", "fill", "precondition", "one-pass"})
"""They say nothing beside what they measured: to show a run, none of them is loaded."""


def verb_named(name: str) -> type[Verb] | None:
    """Return the class of a verb; None of one that another package brings."""
    if name not in VERBS:
        return None
    module, kind = VERBS[name].split(":")
    found: type[Verb] = getattr(import_module(module), kind)
    return found


def describe_step(step: Step) -> str | None:
    """Return in words what a finished step yielded, beside what it measured; None where there is nothing.

    What a verb of another package has to say is in its facts.
    """
    verb = None if step.verb in _MEASURING else verb_named(step.verb)
    return None if verb is None else verb.describe(step)
