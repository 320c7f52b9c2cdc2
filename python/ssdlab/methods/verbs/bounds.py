"""Bounds of what a step will take, and how a plan has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.results.records import StepResult

STEP_MAX_S = 4.0
"""A step may take so much longer than its workload: threads start, I/O is drained, records reach the disk."""
RECORD_MAX_S = 2.0
"""A step that only reads a setting or writes a record."""


@dataclass(frozen=True)
class Bounds:
    """Lower and upper bound of a figure."""

    lower: float
    upper: float

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower + other.lower, self.upper + other.upper)


NOTHING = Bounds(0.0, 0.0)


@dataclass(frozen=True)
class Planned:
    """What a step will take, as far as that is known before.

    Attributes
    ----------
    seconds, bytes_written
        Bounds of its time, and of the bytes that it writes to the drive.
    target_bytes
        Where it stops by bytes: how many.
    facts
        What of its facts the plan can know, so that the procedure may go on.
    """

    seconds: Bounds = Bounds(0.0, RECORD_MAX_S)
    bytes_written: Bounds = NOTHING
    target_bytes: int | None = None
    facts: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Planning:
    """What is known when a step is planned.

    Attributes
    ----------
    purges_at_once
        The drive's capability of that name.
    known
        Of a run that goes on: the result of the step, where it is finished.
    """

    purges_at_once: bool = False
    known: StepResult | None = None
