"""A plan held against the run that it was made for: its bounds, and the range of the time left meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from ssdlab.lab.verbs.workload import WorkloadVerb
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.plan import Plan, fresh_bytes_of
from ssdlab.runs.tracking import Whereabouts

LOOKS = 20
"""Taken of the time left, evenly from a tenth of the run on."""


@dataclass
class Looks:
    """An observer that notes, again and again, how long is said to be left."""

    noted: list[tuple[float, float, float]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)
    over: float = 0.0

    def began(self, progress: Any) -> None:
        self._note(progress)

    def tick(self, progress: Any) -> None:
        self._note(progress)

    def finished(self, step: Any, progress: Any, *, read_back: bool) -> None:
        self._note(progress)

    def ended(self, status: Any) -> None:
        self.over = time.monotonic()

    def _note(self, progress: Any) -> None:
        seconds = time.monotonic() - self.begun
        self.noted.append((seconds, progress.remaining_least_s, progress.remaining_most_s))

    def held(self) -> list[bool]:
        """Whether each look held the true end: the last that was shown at each moment."""
        whole = self.over - self.begun
        moments = [whole * (0.1 + 0.9 * at / LOOKS) for at in range(LOOKS)]
        shown = [max((each for each in self.noted if each[0] <= moment), default=None) for moment in moments]
        return [
            least <= whole - at <= most
            for moment, look in zip(moments, shown, strict=True)
            if look is not None
            for at, least, most in [look]
        ]


@dataclass(frozen=True)
class Held:
    """What a run took of its drive, and what the plan had said."""

    actual: float
    lower: float
    upper: float
    given: float
    """The upper bound, given the steps that were done and how long those went on that end by a rule."""

    @property
    def inside(self) -> bool:
        # A tenth of a per cent: a step ends with the I/O that was in flight.
        return self.lower * 0.999 <= self.actual <= self.upper * 1.001 + 1e-9

    @property
    def share(self) -> float:
        """The upper bound to what it took."""
        return self.given / self.actual if self.actual else 1.0


def against(plan: Plan, run: RunFolder) -> tuple[Held, Held]:
    """Return a run's time and its writes against the plan."""
    whereabouts = Whereabouts(plan.steps)
    places = {step.ordinal: whereabouts.find(step) for step in run.steps()}
    assert None not in places.values(), "the run took a step that its plan has not"
    planned = {ordinal: plan.steps[place] for ordinal, place in places.items() if place is not None}
    seconds = written = given_s = given_bytes = 0.0
    settled = fresh_bytes_of([*planned.values()], plan.planning.pace.fresh_bytes)
    for step in run.steps():
        said = planned[step.ordinal]
        measured: Any = step.result.measurement or {}
        workload = step.workload
        took = measured.get("elapsed_s", float(str(step.args.get("seconds", 0))))
        took += 0.0 if workload is None else workload.ramp_ns / 1e9
        wrote = (measured.get("write") or {}).get("bytes", 0)
        seconds, written = seconds + took, written + wrote
        if step.result.facts.get("already_written"):
            continue  # a fill that was not needed, which only the opened drive can tell
        asked = None if said.request is None else said.request.asked
        by_rule = isinstance(asked, WorkloadVerb) and asked.until is not None
        share = min(1.0, took / said.drive_seconds.upper) if by_rule else 1.0
        given_s += took if by_rule else said.drive_seconds.upper
        given_bytes += share * said.bytes_written.upper
        settled += share * said.settled_bytes
    times, writes = plan.drive_seconds, plan.bytes_written
    return (
        Held(seconds, times.lower, times.upper, given_s),
        Held(written, writes.lower, writes.upper, min(given_bytes, settled)),
    )
