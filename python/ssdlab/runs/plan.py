"""What a run will do, found by running its procedure on a lab that only counts.

Each step gets bounds, [lower, upper], of time and of bytes written, and what it does to the drive in words,
both from its verb; while a run goes on, `tracking` narrows the bounds by the speed it sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.methods.verbs.bounds import NOTHING, Bounds, Planned, Planning
from ssdlab.results.journal import step_hash
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step

if TYPE_CHECKING:
    from ssdlab.drives.guard.signatures import Signature
    from ssdlab.methods.steps import Request
    from ssdlab.model.errors import Refused

START_MAX_S = 10.0
"""Opening the drive, reading the environment, writing the tables at the end."""


@dataclass(frozen=True)
class PlannedStep:
    """One step to come."""

    ordinal: int
    verb: str
    label: str
    seconds: Bounds
    bytes_written: Bounds
    target_bytes: int | None
    """Where it stops by bytes: how many."""
    hash: str = ""
    """Of verb and arguments, as the journal has it."""
    effects: tuple[str, ...] = ()
    """What reaches the drive, each a phrase: ``writes 128 KiB blocks in order to ...``."""


@dataclass(frozen=True)
class Plan:
    """All steps of a run, with the sums of their bounds."""

    steps: tuple[PlannedStep, ...]
    preparation: Bounds = NOTHING
    """Seconds of laying out a file that does not exist yet."""
    preparation_bytes: int = 0
    objection: Refused | None = None
    """Why the run would be refused as things stand."""
    signatures: tuple[Signature, ...] = ()
    """What is wiped off the drive before its first write, by consent."""
    endurance_bytes: int | None = None
    """Rated endurance of the drive, where it is on record."""

    @property
    def seconds(self) -> Bounds:
        """Seconds from the command to its end."""
        total = self.preparation + Bounds(0.0, START_MAX_S)
        for step in self.steps:
            total = total + step.seconds
        return total

    @property
    def bytes_written(self) -> Bounds:
        """Bytes written to the drive."""
        total = Bounds(self.preparation_bytes, self.preparation_bytes)
        for step in self.steps:
            total = total + step.bytes_written
        return total


class Recorder:
    """The executor that does nothing but count.

    Parameters
    ----------
    known
        Finished steps of the same run: the length of a trace need not be measured again.
    purges_at_once
        The drive's capability of that name.
    """

    def __init__(self, known: Iterable[Step] = (), *, purges_at_once: bool = False) -> None:
        self._purges_at_once = purges_at_once
        self._known = {step.ordinal: step.result for step in known}
        self.steps: list[PlannedStep] = []

    def perform(self, request: Request) -> Step:
        """Count a step."""
        known = self._known.get(request.ordinal) if request.asked.planned_once else None
        planned = request.asked.plan(Planning(self._purges_at_once, known))
        self.steps.append(_planned_step(request, planned))
        result = known or StepResult(seconds=planned.seconds.lower, facts=planned.facts)
        return Step(request.ordinal, 0, request.verb, request.label, dict(request.args), result)


def planned_step(request: Request) -> PlannedStep:
    """Work out the bounds of one step."""
    return _planned_step(request, request.asked.plan(Planning()))


def _planned_step(request: Request, planned: Planned) -> PlannedStep:
    return PlannedStep(
        request.ordinal,
        request.verb,
        request.label,
        planned.seconds,
        planned.bytes_written,
        planned.target_bytes,
        step_hash(request.verb, request.args),
        request.asked.effects(),
    )
