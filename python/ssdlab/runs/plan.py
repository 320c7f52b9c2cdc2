"""What a run will do, found by running its procedure on a lab that only counts.

Each step gets bounds, [lower, upper], of time and of bytes written, and what it does to the drive in words,
both from its verb; while a run goes on, `tracking` narrows the bounds by the speed it sees.
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
    """What a drive has behind it."""

    worked: bool = False
    """It has read or written."""
    disordered: bool = False
    """It holds what was written at random since it was purged."""

    def pace(self, of_the_drive: Pace) -> Pace:
        """Return what is known of the drive's speed, for what comes now."""
        return of_the_drive.after(work=self.worked, disorder=self.disordered)

    def then(self, step: Request | Step) -> Self:
        """Return the past behind a step."""
        worked = self.worked or step.workload is not None
        if step.verb in ("purge", "place"):
            return type(self)(worked, step.verb == "place")
        streams = () if step.workload is None else step.workload.streams
        at_random = any(each.writes and not isinstance(each.pattern, Sequential) for each in streams)
        return type(self)(worked, self.disordered or at_random)


START_MAX_S = 10.0
"""Opening the drive, reading the environment, writing the tables at the end."""
OVERHEAD_MAX_S = 8.0
"""Of the host in all steps together, beside what each takes: some wait for a disk, not all do ..."""
OVERHEAD_USUAL_S = 0.25
"""... and what each takes: threads start, I/O is drained, records reach the disk; 20 to 100 ms here."""


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
    overhead_s: float = 0.0
    """What of the upper bound of its time is the host's."""
    settled_bytes: float = inf
    """Upper bound of its writes on a drive that was written for long."""
    request: Request | None = None
    """What was asked; None where nothing was."""
    simulating: Bounds = NOTHING
    """Seconds that a simulation of it takes of the host."""

    @property
    def drive_seconds(self) -> Bounds:
        """Bounds of the drive's own time."""
        return Bounds(self.seconds.lower, max(self.seconds.lower, self.seconds.upper - self.overhead_s))


def not_steady(step: PlannedStep) -> str:
    """Return why the writes of a step certainly cannot show steady state; empty: they may."""
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
    """Seconds of laying out a file that does not exist yet."""
    preparation_bytes: int = 0
    objection: LabError | None = None
    """Why the run would be refused as things stand."""
    signatures: tuple[Signature, ...] = ()
    """What is wiped off the drive before its first write, by consent."""
    endurance_bytes: int | None = None
    """Rated endurance of the drive, where it is on record."""
    cap_bytes: int | None = None
    """The run is refused, or ends, beyond so many bytes written."""
    planning: Planning = field(default_factory=Planning)
    """What was known of the drive."""
    own_steps: int = 0
    """Steps at its beginning that are the run's own, and no step that the user wrote."""
    keeps_time: bool = False
    """The drive keeps time of its own: how long the host takes for it is another matter."""
    cannot_show: tuple[str, ...] = ()
    """Why its figures will not be known to be of steady state, where that is sure; empty: they may be."""

    @property
    def drive_seconds(self) -> Bounds:
        """Seconds of the drive's time, without what the host adds."""
        return sum((step.drive_seconds for step in self.steps), NOTHING)

    @property
    def seconds(self) -> Bounds:
        """Seconds from the command to its end; of a drive that keeps time of its own, of that time."""
        if self.keeps_time:
            return self.drive_seconds
        return self.preparation + self.drive_seconds + Bounds(0.0, START_MAX_S + overhead_max_s(self.steps))

    @property
    def real_seconds(self) -> Bounds:
        """Seconds of the host's clock from the command to its end."""
        if not self.keeps_time:
            return self.seconds
        total = sum((step.simulating for step in self.steps), self.preparation)
        return total + Bounds(0.0, START_MAX_S + overhead_max_s(self.steps))

    @property
    def bytes_written(self) -> Bounds:
        """Bytes written to the drive.

        A drive writes as a fresh one only for so long after each purge, and then as one written for long;
        what surely is written after a purge, such as a fill, uses that up.
        """
        prepared = float(self.preparation_bytes)
        lower = prepared + sum(step.bytes_written.lower for step in self.steps)
        upper = prepared + sum(step.bytes_written.upper for step in self.steps)
        settled = sum(min(step.settled_bytes, step.bytes_written.upper) for step in self.steps)
        settled += prepared + fresh_bytes_of(self.steps, self.planning.pace.fresh_bytes)
        return Bounds(lower, max(lower, min(upper, settled)))


def fresh_bytes_of(steps: Sequence[PlannedStep], fresh_bytes: float) -> float:
    """Return what is written at most at the speed of a fresh drive beyond that of one written for long.

    After each purge the drive is fresh anew, and so it may be when a run begins. What surely is written uses
    that up, and so does a fill that is left out because every byte was written before.
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
    """Return what the host adds at most to steps, beside what each takes of the drive."""
    usual = OVERHEAD_MAX_S + OVERHEAD_USUAL_S * len(steps)
    return min(usual, sum(step.overhead_s for step in steps))


class Recorder:
    """The executor that only counts.

    Parameters
    ----------
    known
        Finished steps of the same run: the length of a trace need not be measured again.
    planning
        What is known of the drive.
    """

    def __init__(self, known: Iterable[Step] = (), *, planning: Planning | None = None) -> None:
        self._planning = planning or Planning()
        self._known = {step.ordinal: step.result for step in known}
        self._past = Past()
        self.steps: list[PlannedStep] = []

    def perform(self, request: Request) -> Step:
        """Count a step."""
        known = self._known.get(request.ordinal) if request.asked.planned_once else None
        pace = self._past.pace(self._planning.pace)
        planned = plan_of(request.asked, replace(self._planning, known=known, pace=pace))
        self._past = self._past.then(request)
        self.steps.append(_planned_step(request, planned))
        result = known or StepResult(seconds=planned.seconds.lower, facts=planned.facts)
        return request.done(result)


def planned_step(request: Request, planning: Planning | None = None, past: Past | None = None) -> PlannedStep:
    """Work out the bounds of one step, which may have others behind it."""
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
