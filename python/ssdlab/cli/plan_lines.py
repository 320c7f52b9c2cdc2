"""The lines of a plan: a round in one, whatever the number of its cells, and the tries of a search in one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING

from ssdlab.lab.verbs.drive_state import Stretch
from ssdlab.lab.verbs.verb import NOTHING, Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.runs.plan import PlannedStep

STEPS_OF_A_TRY = 4
"""A rest or a fill, the load, the verdict."""
TRIES_IN_ONE = 5
"""Fewer are told one by one."""
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class PlanLine:
    """One line of a plan.

    Attributes
    ----------
    number
        Of its first step, from 1.
    verb, label
        Of the step, or of the steps that it stands for.
    steps
        How many it stands for.
    seconds, bytes_written
        Of all of them, in the drive's time: what the host adds is in the sums of a plan alone.
    """

    number: int
    verb: str
    label: str
    steps: int
    seconds: Bounds
    bytes_written: Bounds

    def as_dict(self) -> dict[str, object]:
        """Return it as the JSON of a plan has it."""
        return {
            "step": self.number,
            "verb": self.verb,
            "label": self.label,
            "steps": self.steps,
            "seconds": [self.seconds.lower, self.seconds.upper],
            "bytes_written": [self.bytes_written.lower, self.bytes_written.upper],
        }


def lines_of(steps: Sequence[PlannedStep]) -> list[PlanLine]:
    """Return a line for each step; one for all steps of a round, and one for the tries of a search."""
    first = next((at for at, step in enumerate(steps) if step.verb == Stretch.verb), len(steps))
    rounds = (line for stretch in _stretches(steps[first:]) for line in _round(stretch))
    return [*_searched(steps[:first]), *rounds]


def _round(steps: Sequence[PlannedStep]) -> Iterator[PlanLine]:
    for name, group in groupby(steps, key=lambda step: step.label.rpartition(", ")[0]):
        several = list(group)
        if name and len(several) > 1:
            yield _line(several, name)
        else:
            yield from (_line([step], step.label) for step in several)


def _searched(steps: Sequence[PlannedStep]) -> Iterator[PlanLine]:
    """Yield a line for each step, and one for each search."""
    at = 0
    while at < len(steps):
        count = _tries(steps[at:])
        several = steps[at : at + max(1, count)]
        yield _line(several, _label_of_tries(several) if count else several[0].label)
        at += len(several)


def _tries(steps: Sequence[PlannedStep]) -> int:
    """Return how many of the first steps are tries of one search; 0 for none.

    Each of them may be left out or end at once, and those of one try after another differ only in figures.
    """
    possible = list(takewhile(lambda step: step.seconds.lower == 0, steps))
    likes = [_like(step) for step in possible]
    period = next((each for each in range(1, STEPS_OF_A_TRY + 1) if likes[each : each + 1] == likes[:1]), 0)
    if not period:
        return 0
    same = takewhile(lambda at: likes[at] == likes[at % period], range(len(likes)))
    count = sum(1 for _ in same) // period
    return count * period if count >= TRIES_IN_ONE else 0


def _label_of_tries(steps: Sequence[PlannedStep]) -> str:
    """Return what is tried: the first and the last label of those that a figure tells apart."""
    named = next((step for step in steps if _FIGURE.search(step.label)), steps[0])
    last = next(step.label for step in reversed(steps) if _like(step) == _like(named))
    return named.label if last == named.label else f"{named.label} ... {last}"


def _like(step: PlannedStep) -> str:
    return _FIGURE.sub("#", step.label)


def _stretches(steps: Sequence[PlannedStep]) -> Iterator[Sequence[PlannedStep]]:
    """Yield the steps between marks, of which the first is one."""
    begun = [at for at, step in enumerate(steps) if step.verb == Stretch.verb]
    for at, after in pairwise([*begun, len(steps)]):
        yield [step for step in steps[at:after] if step.verb != Stretch.verb]


def _line(steps: Sequence[PlannedStep], label: str) -> PlanLine:
    return PlanLine(
        steps[0].ordinal + 1,
        steps[0].verb,
        label,
        len(steps),
        sum((step.drive_seconds for step in steps), NOTHING),
        sum((step.bytes_written for step in steps), NOTHING),
    )
