"""The warnings of a run by their kind, and the steps that each is of: what terminal, card and page count.

A manifest holds what several steps say in the same words once. How many steps that were, only the steps
themselves tell; a warning that none of them raised is of the whole run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Warned

_NAMED = 3
"""Steps that are named in a line; of more the first ones, and how many others."""


@dataclass(frozen=True)
class Worded:
    """One wording of a warning, with the steps that raised it; none: it is of the whole run."""

    what: str
    advice: str
    steps: tuple[Step, ...]

    @property
    def place(self) -> str:
        """Where it holds."""
        return _names(self.steps) if self.steps else "whole run"


@dataclass(frozen=True)
class WarnedSteps:
    """All that a run warns of under one code."""

    code: str
    worded: tuple[Worded, ...]
    measured: int
    """Steps of the run that measured anything."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that it holds for, each once, in their order."""
        found = {step.ordinal: step for each in self.worded for step in each.steps}
        return tuple(found[ordinal] for ordinal in sorted(found))

    @property
    def line(self) -> str:
        """One line: what each step says where all say the same, else the first one's, with its place."""
        first = self.worded[0]
        if len({each.place for each in self.worded}) == 1:  # of one step, or of the whole run
            alike = "; ".join(each.what for each in self.worded)
            return alike + (f" ({self.where})" if self.where else "")
        return (
            f"{first.what} (at {first.place}; alike {self.share or 'elsewhere'}, each with its own figures)"
        )

    @property
    def share(self) -> str:
        """In how many of the steps; empty of what is of the whole run, or of the only step of it."""
        steps = self.steps
        if not steps or self.measured <= 1:
            return ""
        if all(step.result.measurement is not None for step in steps):
            return f"in {len(steps)} of {self.measured} measured steps"
        return f"in {len(steps)} step{'s' if len(steps) > 1 else ''}"

    @property
    def where(self) -> str:
        """In how many of the steps and in which; all of them are not named."""
        steps = self.steps
        if not self.share or len(steps) == self.measured:
            return self.share
        return f"{self.share}: {_names(steps)}"


def warned_steps(warnings: Iterable[Warned], steps: Sequence[Step]) -> list[WarnedSteps]:
    """Gather the warnings of a run by their code, in the order in which they were raised."""
    measured = sum(step.result.measurement is not None for step in steps)
    raised: dict[tuple[str, str], list[Step]] = {}
    for step in steps:
        for each in step.result.warnings:
            raised.setdefault((each.code, each.what), []).append(step)
    by_code: dict[str, list[Worded]] = {}
    for warned in warnings:
        of = raised.get((warned.code, warned.what), ())
        by_code.setdefault(warned.code, []).append(Worded(warned.what, warned.advice, tuple(of)))
    return [WarnedSteps(code, tuple(worded), measured) for code, worded in by_code.items()]


def heat_after(step: Step) -> float | None:
    """Return the drive's temperature when a step had ended, in °C; None where it does not tell."""
    summary, telemetry = step.summary, step.result.telemetry
    if summary is not None and summary.drive is not None and summary.drive.temperature_c is not None:
        return float(summary.drive.temperature_c)
    health = None if telemetry is None else telemetry.health
    return None if health is None else health.temperature_c


def label_in_job(number: int, do: str) -> str:
    """Return the label of a step that its job gives none: its number there, which is not that of the run."""
    return f"step {number} of the job: {do}"


_NUMBERED = re.compile(re.escape(label_in_job(0, "")).replace("0", r"\d+"))


def _name(step: Step) -> str:
    """Return a step's number and label; one that a job has numbered itself keeps that number alone."""
    return step.label if _NUMBERED.match(step.label) else f"step {step.ordinal + 1}, {step.label}"


def _names(steps: Sequence[Step]) -> str:
    labels = [_name(step) for step in steps[:_NAMED]]
    others = len(steps) - len(labels)
    return "; ".join(labels) + (f"; and {others} more" if others else "")
