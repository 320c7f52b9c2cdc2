"""Bounds of what a step will take, and how a plan has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ssdlab.analysis.pace import ANY_DRIVE

if TYPE_CHECKING:
    from ssdlab.analysis.pace import Pace
    from ssdlab.model.power_features import PowerFeatures
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
    settled_bytes
        Upper bound of the bytes written on a drive that was written for long; None: that of `bytes_written`.
    overhead_s
        What of the upper bound of its time is the host's, and no part of the drive's time.
    simulating
        Seconds that a simulation of it takes of the host.
    facts
        What of its facts the plan can know, so that the procedure may go on.
    """

    seconds: Bounds = Bounds(0.0, RECORD_MAX_S)
    bytes_written: Bounds = NOTHING
    target_bytes: int | None = None
    settled_bytes: float | None = None
    overhead_s: float = RECORD_MAX_S
    simulating: Bounds = NOTHING
    facts: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Planning:
    """What is known when a step is planned.

    Attributes
    ----------
    purges_at_once
        The drive's capability of that name.
    purge_max_s
        A purge by a method (None: the strongest of the drive) takes no longer; None: nobody knows.
    pace
        How fast the drive is, as far as that is known.
    known
        Of a run that goes on: the result of the step, where it is finished.
    power_features
        What the drive has for saving power; None: only the opened drive says it.
    """

    purges_at_once: bool = False
    purge_max_s: Callable[[str | None], float | None] = lambda method: None
    pace: Pace = ANY_DRIVE
    known: StepResult | None = None
    power_features: Callable[[], PowerFeatures | None] = lambda: None
