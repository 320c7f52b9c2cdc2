"""All verbs of the lab: a new one is a file of this folder and a line here. Loaded when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.methods.verbs.verb import Verb
    from ssdlab.results.run_folder import Step

VERBS = {
    "run": "ssdlab.methods.verbs.run:Run",
    "fill": "ssdlab.methods.verbs.fill:Fill",
    "precondition": "ssdlab.methods.verbs.precondition:Precondition",
    "one-pass": "ssdlab.methods.verbs.one_pass:OnePass",
    "place": "ssdlab.methods.verbs.place:Place",
    "power-features": "ssdlab.methods.verbs.ask_power:AskPower",
    "rest": "ssdlab.methods.verbs.rest:Rest",
    "idle": "ssdlab.methods.verbs.idle:Idle",
    "trim": "ssdlab.methods.verbs.trim:Trim",
    "flush": "ssdlab.methods.verbs.flush:Flush",
    "purge": "ssdlab.methods.verbs.purge:Purge",
    "health": "ssdlab.methods.verbs.health:Health",
    "conditions": "ssdlab.methods.verbs.conditions:Conditions",
    "variant": "ssdlab.methods.verbs.variant:Variant",
    "limit": "ssdlab.methods.verbs.limit:Limit",
    "note": "ssdlab.methods.verbs.note:Note",
    "find": "ssdlab.methods.verbs.find:Find",
    "trace": "ssdlab.methods.verbs.trace:Trace",
    "stretch": "ssdlab.methods.verbs.stretch:Stretch",
    "fork": "ssdlab.methods.verbs.fork:Fork",
    "marks": "ssdlab.methods.verbs.marks:PowerMarks",
    "back": "ssdlab.methods.verbs.back:Back",
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
