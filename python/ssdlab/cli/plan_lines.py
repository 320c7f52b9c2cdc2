"""The lines of a plan: a round in one, whatever the number of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from ssdlab.methods.verbs.bounds import NOTHING, Bounds
from ssdlab.methods.verbs.stretch import Stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.runs.plan import PlannedStep


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
        Of all of them, without what the host adds.
    """

    number: int
    verb: str
    label: str
    steps: int
    seconds: Bounds
    bytes_written: Bounds


def lines_of(steps: Sequence[PlannedStep]) -> list[PlanLine]:
    """Return a line for each step, and one for all steps of a round or of what else belongs together."""
    found: list[PlanLine] = []
    for stretch in _stretches(steps):
        for name, group in groupby(stretch, key=lambda step: step.label.rpartition(", ")[0]):
            several = list(group)
            if name and len(several) > 1:
                found.append(_line(several, name))
            else:
                found += (_line([step], step.label) for step in several)
    return found


def _stretches(steps: Sequence[PlannedStep]) -> Iterator[Sequence[PlannedStep]]:
    """Yield the steps between marks; those before the first mark are no stretch, and yield one by one."""
    begun = [at for at, step in enumerate(steps) if step.verb == Stretch.verb]
    yield from ([step] for step in steps[: begun[0] if begun else len(steps)])
    for at, after in pairwise([*begun, len(steps)]):
        yield [step for step in steps[at:after] if step.verb != Stretch.verb]


def _line(steps: Sequence[PlannedStep], label: str) -> PlanLine:
    return PlanLine(
        steps[0].ordinal + 1,
        steps[0].verb,
        label,
        len(steps),
        sum((step.drive_seconds for step in steps), NOTHING) if len(steps) > 1 else steps[0].seconds,
        sum((step.bytes_written for step in steps), NOTHING),
    )
