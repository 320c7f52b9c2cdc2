"""The warnings and departures of a run, gathered from its steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ssdlab.results.records import EndRecord
from ssdlab.results.schema import Departure, Warned

if TYPE_CHECKING:
    from ssdlab.results.run_folder import RunFolder, Step

CONDITION_CODE = "condition-"
"""Prefix of departure codes for settings that differ from the method's."""


def warnings_of(steps: Sequence[Step]) -> tuple[Warned, ...]:
    """Gather the steps' warnings, equal ones once.

    A setting that is already a departure raises no warning.
    """
    departed = {departure.code.removeprefix(CONDITION_CODE) for departure in departures_of(steps)}
    found: dict[tuple[str, str], list[Warned]] = {}
    for step in steps:
        for warned in step.result.warnings:
            if warned.code not in departed:
                found.setdefault((warned.code, warned.what), []).append(warned)
    return tuple(
        each[0] if len(each) == 1 else each[0].model_copy(update={"ordinal": None}) for each in found.values()
    )


def unfinished_warnings(run: RunFolder) -> tuple[Warned, ...]:
    """Return the warnings of an unfinished run, by the steps that count.

    Its manifest may be outdated: steps may have been voided or finished since. Warnings of no step apply to
    the whole run and are kept.
    """
    raised = {
        (warned.code, warned.what)
        for record in run.journal()
        if isinstance(record, EndRecord)
        for warned in record.result.warnings
    }
    whole = (each for each in run.manifest.warnings if (each.code, each.what) not in raised)
    return (*warnings_of(run.steps()), *whole)


def departures_of(steps: Sequence[Step]) -> list[Departure]:
    """Return the departures that the steps recorded, in order, equal ones once."""
    from ssdlab.lab.verbs.verb import Facts  # which `show` of a finished run does not load

    return list(dict.fromkeys(each for step in steps for each in step.found(Facts).departures))
