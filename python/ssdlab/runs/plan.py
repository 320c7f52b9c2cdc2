"""Plans a run by running its procedure on a lab that only counts.

Each step gets bounds, [lower, upper], of its time and bytes written, and its effects on the drive in words.
Both come from the step's verb. During a run `tracking` narrows the bounds by the observed speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from ssdlab.analysis.steady_state import MIN_CAPACITIES, WINDOW
from ssdlab.lab.verbs.steps import STEADY
from ssdlab.lab.verbs.verb import NOTHING, Bounds, Planned, Planning, plan_of
from ssdlab.lab.verbs.workload import Precondition
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S, capacity_text, span_text
from ssdlab.results.journal import step_hash
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step

if TYPE_CHECKING:
    from typing import Self

    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.guard.signatures import Signature
    from ssdlab.lab.verbs.steps import Request
    from ssdlab.model.errors import LabError


@dataclass(frozen=True)
class Past:
    """What the drive has gone through before a step."""

    worked: bool = False
    """The drive has done I/O."""
    disordered: bool = False
    """The drive has data from random writes since the purge."""

    def pace(self, of_the_drive: Pace) -> Pace:
        """Return what is known about the drive's speed after this history."""
        return of_the_drive.after(work=self.worked, disorder=self.disordered)

    def then(self, step: Request | Step) -> Self:
        worked = self.worked or step.workload is not None
        if step.verb in ("purge", "place"):
            return type(self)(worked, step.verb == "place")
        streams = () if step.workload is None else step.workload.streams
        at_random = any(each.writes and not isinstance(each.pattern, Sequential) for each in streams)
        return type(self)(worked, self.disordered or at_random)


START_MAX_S = 10.0
"""Maximum time to open the drive, read the environment, and write the tables."""
OVERHEAD_MAX_S = 8.0
"""Maximum host overhead of all steps together, beyond the usual time: some steps wait for a disk ..."""
OVERHEAD_USUAL_S = 0.25
"""... and the usual overhead per step: threads start, I/O is drained, records reach the disk. Measured: 20 to
100 ms."""


@dataclass(frozen=True)
class PlannedStep:
    ordinal: int
    verb: str
    label: str
    seconds: Bounds
    bytes_written: Bounds
    target_bytes: int | None
    """Bytes after which the step stops; None if it stops by time."""
    hash: str = ""
    """Hash of verb and arguments, as in the journal."""
    effects: tuple[str, ...] = ()
    """Effects on the drive, as phrases: ``writes 128 KiB blocks in order to ...``."""
    overhead_s: float = 0.0
    """The host's part of the upper bound of `seconds`."""
    settled_bytes: float = inf
    """Upper bound of the bytes written on a drive that is no longer fresh."""
    request: Request | None = None
    simulating: Bounds = NOTHING
    """Seconds of host time to simulate the step."""

    @property
    def drive_seconds(self) -> Bounds:
        """Bounds of the time without the host's overhead."""
        return Bounds(self.seconds.lower, max(self.seconds.lower, self.seconds.upper - self.overhead_s))


def not_steady(step: PlannedStep) -> str:
    """Return why the writes of a step cannot show steady state; empty if they may."""
    asked = None if step.request is None else step.request.asked
    if not isinstance(asked, Precondition) or asked.until is None or step.request is None:
        return ""
    ground, (stream, *_) = step.request.ground, asked.workload.streams
    until, upper = asked.until, step.bytes_written.upper
    if ground is None or stream.stop.time_ns is None:
        return ""
    span_bytes = stream.span_bytes(ground.capacity_bytes, ground.logical_block_bytes)[1]
    max_ns = stream.stop.time_ns
    ends = f"preconditioning ends after {span_text(max_ns / NS_PER_S)}"
    if until.name == STEADY:
        needed = max(span_bytes * MIN_CAPACITIES, until.given("least_bytes"))
        needed_ns = max(until.least_ns, WINDOW * until.given("round_ns"))
    else:  # after one pass, or in a placed state
        needed, needed_ns = WINDOW * until.given("round_bytes", 0.0), 0.0
    if max_ns < needed_ns:
        return f"{ends}, but needs {span_text(needed_ns / NS_PER_S)}"
    if upper < needed:
        written, enough = capacity_text(round(upper)), capacity_text(round(needed))
        return f"{ends}, with at most {written} of the {enough} needed"
    return ""


@dataclass(frozen=True)
class Plan:
    """All steps of a run, with the sums of their bounds."""

    steps: tuple[PlannedStep, ...]
    preparation: Bounds = NOTHING
    """Seconds to create a missing file."""
    preparation_bytes: int = 0
    objection: LabError | None = None
    """Why the run would be refused now."""
    signatures: tuple[Signature, ...] = ()
    """Signatures to wipe before the first write, by consent."""
    endurance_bytes: int | None = None
    """Rated endurance of the drive, if recorded."""
    cap_bytes: int | None = None
    """Limit of bytes written; beyond it the run is refused or ends."""
    planning: Planning = field(default_factory=Planning)
    """Knowledge of the drive."""
    own_steps: int = 0
    """Number of leading steps that are not the user's; the user's count starts after them."""
    keeps_time: bool = False
    """Whether the drive has virtual time, separate from the host's."""
    cannot_show: tuple[str, ...] = ()
    """Why the figures certainly cannot show steady state; empty if they may."""

    @property
    def drive_seconds(self) -> Bounds:
        return sum((step.drive_seconds for step in self.steps), NOTHING)

    @property
    def seconds(self) -> Bounds:
        """Seconds from the command to its end; virtual seconds if the drive keeps its own time."""
        if self.keeps_time:
            return self.drive_seconds
        return self.preparation + self.drive_seconds + Bounds(0.0, START_MAX_S + overhead_max_s(self.steps))

    @property
    def real_seconds(self) -> Bounds:
        """Seconds from the command to its end by the host's clock."""
        if not self.keeps_time:
            return self.seconds
        total = sum((step.simulating for step in self.steps), self.preparation)
        return total + Bounds(0.0, START_MAX_S + overhead_max_s(self.steps))

    @property
    def bytes_written(self) -> Bounds:
        """Bytes written to the drive.

        A drive is fast only for some time after each purge. Writes of a known amount, such as a fill, use up
        that time.
        """
        prepared = float(self.preparation_bytes)
        lower = prepared + sum(step.bytes_written.lower for step in self.steps)
        upper = prepared + sum(step.bytes_written.upper for step in self.steps)
        settled = sum(min(step.settled_bytes, step.bytes_written.upper) for step in self.steps)
        settled += prepared + fresh_bytes_of(self.steps, self.planning.pace.fresh_bytes)
        return Bounds(lower, max(lower, min(upper, settled)))


def fresh_bytes_of(steps: Sequence[PlannedStep], fresh_bytes: float) -> float:
    """Return the maximum extra bytes written at a fresh drive's speed.

    The drive is fresh after each purge, and possibly at the start. Writes of a known amount use this up, and
    so does a fill, even if it is skipped.
    """
    total, left = 0.0, fresh_bytes
    for step in steps:
        if step.verb == "purge":
            total, left = total + left, fresh_bytes
        elif step.bytes_written.lower == step.bytes_written.upper:
            left = max(0.0, left - step.bytes_written.lower)
        elif step.verb == "fill":
            left = max(0.0, left - step.bytes_written.upper)
    return total + left


def overhead_max_s(steps: Sequence[PlannedStep]) -> float:
    usual = OVERHEAD_MAX_S + OVERHEAD_USUAL_S * len(steps)
    return min(usual, sum(step.overhead_s for step in steps))


class Recorder:
    """The executor that only counts.

    Parameters
    ----------
    known
        Finished steps of the same run, so that a trace need not be read again.
    planning
        What is known about the drive.
    """

    def __init__(self, known: Iterable[Step] = (), *, planning: Planning | None = None) -> None:
        self._planning = planning or Planning()
        self._known = {step.ordinal: step.result for step in known}
        self._past = Past()
        self.steps: list[PlannedStep] = []

    def perform(self, request: Request) -> Step:
        """Plan a step, and return it with the result that a plan assumes."""
        known = self._known.get(request.ordinal) if request.asked.planned_once else None
        pace = self._past.pace(self._planning.pace)
        planned = plan_of(request.asked, replace(self._planning, known=known, pace=pace))
        self._past = self._past.then(request)
        self.steps.append(_planned_step(request, planned))
        result = known or StepResult(seconds=planned.seconds.lower, facts=planned.facts)
        return request.done(result)


def planned_step(request: Request, planning: Planning | None = None, past: Past | None = None) -> PlannedStep:
    """Return the bounds of one step; `past` is the drive's history before it."""
    known = planning or Planning()
    if past is not None:
        known = replace(known, pace=past.pace(known.pace))
    return _planned_step(request, plan_of(request.asked, known))


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
        planned.overhead_s,
        planned.bytes_written.upper if planned.settled_bytes is None else planned.settled_bytes,
        request,
        planned.simulating,
    )
