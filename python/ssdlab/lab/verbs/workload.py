"""Steps that run a workload: `run`, `fill`, `precondition`, and two that replace hours of writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SkipValidation

from ssdlab.analysis.steady_state import WINDOW
from ssdlab.lab.verbs.steps import STEADY, Until, derived_seed
from ssdlab.lab.verbs.stream_bounds import load_of, speed_of, workload_bounds
from ssdlab.lab.verbs.verb import STEP_MAX_S, Bounds, Planned, Planning, StateRole, Verb
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.pattern import Segmented, Sequential
from ssdlab.model.units import NS_PER_S, block_text, bytes_text, counted, duration_text, share_text
from ssdlab.model.workload import RecordedOps, Workload
from ssdlab.results.drive_states import PREPARED
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.base import Until as Ends
    from ssdlab.lab.verbs.verb import StepContext
    from ssdlab.model.summary import Summary
    from ssdlab.model.workload import Stream
    from ssdlab.results.records import PartRecord, Policy
    from ssdlab.results.run_folder import Step


def describe_stream(stream: Stream) -> str:
    """Return a stream's effect on the drive, in words."""
    if isinstance(stream.ops, RecordedOps):
        counts = stream.ops.model_dump().items()
        counted = ", ".join(f"{count} {name}" for name, count in counts if count)
        longest = block_text(stream.largest_block_bytes)
        return f"replays {counted} of up to {longest} in {_where(stream)}"
    blocks = "/".join(block_text(block.bytes) for block in stream.blocks)
    orders = ("in order" if isinstance(each, Sequential) else "at random" for each in stream.patterns)
    order = " and ".join(dict.fromkeys(orders))
    if stream.trims:
        doing = "discards"
    elif not stream.reads:
        doing = "writes"
    else:
        doing = "reads and writes" if stream.writes else "reads"
    return f"{doing} {blocks} {order} in {_where(stream)}, {_until(stream)}"


def _where(stream: Stream) -> str:
    start, length = stream.span.start, stream.span.length
    if not isinstance(start, int) or not isinstance(length, int):
        return f"{start} to {'the end' if length is None else f'{length} further'}"
    places = f"bytes {start} to {start + length}"
    if isinstance(stream.pattern, Segmented):
        return f"{stream.pattern.count} segments of {block_text(stream.pattern.length_bytes)} of {places}"
    return places


def _until(stream: Stream) -> str:
    stop = stream.stop
    ends = [
        f"for {duration_text(stop.time_ns)}" if stop.time_ns is not None else "",
        bytes_text(stop.bytes) if stop.bytes is not None else "",
        counted(stop.ios, "I/O") if stop.ios is not None else "",
        "once over" if stop.span_once else "",
    ]
    return " or ".join(end for end in ends if end) or "until its condition holds"


class StoredUntil(BaseModel):
    """The stored condition that ends a step early: its name and arguments."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str

    @property
    def least_ns(self) -> int:
        """Time before which the condition does not end the step, in ns."""
        return int(self.given("least_ns", 0))

    def given(self, name: str, default: float = float("nan")) -> float:
        return float((self.model_extra or {}).get(name, default))


class WorkloadVerb(Verb):
    """A step that runs a workload."""

    omitted: ClassVar[frozenset[str]] = frozenset({"certain", "overload", "until"})

    workload: Workload
    until: StoredUntil | None = None
    ends: SkipValidation[Until | None] = Field(default=None, exclude=True)
    """The condition with its function, which the journal cannot store."""
    certain: bool = True
    """False for a step that a search may skip: a plan counts it in the upper bounds only."""

    @classmethod
    def of(cls, workload: Workload, until: Until | None = None, **args: Any) -> Self:  # noqa: ANN401
        """Return the step; further arguments belong to the verb."""
        stored = None if until is None else StoredUntil(name=until.name, **until.args)
        return cls(workload=workload, until=stored, ends=until, **args)

    @property
    def work(self) -> Workload:
        return self.workload

    @property
    def optional(self) -> bool:
        return not self.certain

    def stored(self) -> dict[str, JsonValue]:
        """Return the arguments as in the journal, with the stop condition last."""
        plain = super().stored()
        until = plain.pop("until", None)
        return plain if until is None else {**plain, "until": until}

    def check(self, policy: Policy) -> None:
        """Refuse the policy `continue` if the step cannot be continued."""
        if policy == "continue":
            _check_continuable(self.workload)

    def plan(self, planning: Planning) -> Planned:
        found = workload_bounds(self._ended_by(planning.pace), planning.pace)
        seconds, written = found.seconds, found.bytes_written
        if self.until is not None:
            # The condition may have a time before which it does not end the step.
            not_before_s = self.until.least_ns / NS_PER_S
            seconds = Bounds(min(seconds.lower, not_before_s), seconds.upper)
            written = Bounds(0.0, written.upper)
        if self.optional:
            seconds, written = Bounds(0.0, seconds.upper), Bounds(0.0, written.upper)
        return Planned(
            seconds + Bounds(0.0, STEP_MAX_S),
            written,
            found.target_bytes,
            min(found.settled_bytes, written.upper),
            overhead_s=STEP_MAX_S,
            simulating=Bounds(found.simulating.lower if seconds.lower else 0.0, found.simulating.upper),
        )

    def _ended_by(self, pace: Pace) -> Workload:
        """Return the workload with its expected stop on a drive that is steady from the beginning.

        The steady-state window then starts after the first round, in which a buffer fills. The step's minimum
        bytes or time can delay its end.
        """
        (stream, *others) = self.workload.streams
        if not pace.lasting or self.until is None or self.until.name != STEADY or others:
            return self.workload
        least_bytes, round_ns = self.until.given("least_bytes"), self.until.given("round_ns")
        in_order = replace(load_of(stream), random=False)  # the order makes no difference to such a drive
        low = pace.of_target(speed_of(stream, pace), least_bytes, in_order).low
        latest_ns = max(self.until.least_ns, least_bytes / low * NS_PER_S, (1 + WINDOW) * round_ns) + round_ns
        time_ns = min(latest_ns, stream.stop.time_ns or latest_ns)
        stop = stream.stop.model_copy(update={"time_ns": round(time_ns)})
        return self.workload.model_copy(update={"streams": (stream.model_copy(update={"stop": stop}),)})

    def effects(self) -> tuple[str, ...]:
        return tuple(describe_stream(stream) for stream in self.workload.streams)

    def do(self, at: StepContext) -> StepResult:
        """Run and measure what earlier parts left of the workload."""
        rest = resume_from(self.workload, at.parts)
        if rest is None:
            segments = tuple(part.attempt for part in at.parts)
            written = written_in(at.parts) or None
            facts = totals(at.parts, None)
            return StepResult(seconds=0.0, facts=facts, segments=segments, written_bytes=written)
        return at.measure(rest, self.condition, overload=self.overloads)

    def redo(self, at: StepContext) -> None:
        at.run(self.workload, self.condition)

    @property
    def condition(self) -> Ends | None:
        return None if self.ends is None else self.ends.holds

    @property
    def overloads(self) -> bool:
        return False


def resume_from(workload: Workload, parts: Iterable[PartRecord]) -> Workload | None:
    """Return the rest of a one-stream workload after its earlier parts; None if nothing is left.

    The rest of a random pattern gets its own seed; a sequential one continues at its cursor.
    """
    listed = list(parts)
    if not listed:
        return workload
    (stream,) = workload.streams
    done = {key: sum(part.done[key] for part in listed) for key in ("bytes", "ios", "ns")}
    left = {
        "bytes": None if stream.stop.bytes is None else stream.stop.bytes - done["bytes"],
        "ios": None if stream.stop.ios is None else stream.stop.ios - done["ios"],
        "time_ns": None if stream.stop.time_ns is None else stream.stop.time_ns - done["ns"],
    }
    if any(value is not None and value <= 0 for value in left.values()):
        return None
    changes: dict[str, object] = {"stop": stream.stop.model_copy(update=left)}
    if isinstance(stream.pattern, Sequential):
        start, length = stream.span.start, stream.span.length
        assert isinstance(start, int)  # the lab resolves spans to bytes
        assert isinstance(length, int)
        cursor = start + done["bytes"] % length
        changes["pattern"] = Sequential(cursors=(cursor,))
    return workload.model_copy(
        update={
            "seed": derived_seed(workload.seed, len(listed)),
            "ramp_ns": 0,
            "streams": (stream.model_copy(update=changes),),
        }
    )


def totals(parts: Sequence[PartRecord], summary: Summary | None) -> dict[str, JsonValue]:
    """Add up the segments of a continued step; `failed` counts the failed I/Os of earlier segments."""
    totals: dict[str, int] = {"bytes": 0, "ios": 0, "ns": 0}
    for part in parts:
        for key in totals:
            totals[key] += part.done[key]
    if summary is not None:
        totals["bytes"] += sum(side.bytes for side in summary.sides.values())
        totals["ios"] += summary.ios
        totals["ns"] += int(summary.elapsed_s * 1e9)
    failed = sum(part.done.get("failed", 0) for part in parts)
    return {**totals, **({"failed": failed} if failed else {})}


def written_in(parts: Iterable[PartRecord]) -> int:
    """Return the bytes that earlier segments wrote; older versions do not record them."""
    return sum(part.done.get("written", 0) for part in parts)


def _check_continuable(workload: Workload) -> None:
    """Refuse to continue steps whose position after a kill is unknown, as with many workers."""
    if len(workload.streams) > 1:
        raise UsageError(
            "a step of several streams cannot be continued after a kill", "declare restart or re-precondition"
        )
    stream = workload.streams[0]
    if stream.write_pattern is not None or stream.write_block is not None:
        raise UsageError(
            "a step whose writes have their own sizes or pattern cannot be continued after a kill",
            "declare restart or re-precondition",
        )
    if isinstance(stream.pattern, Sequential) and stream.workers > 1:
        raise UsageError(
            f"a sequential step of {stream.workers} workers cannot be continued after a kill",
            "declare restart or re-precondition, or use one worker",
            workers=stream.workers,
        )


class Run(WorkloadVerb):
    """Runs a workload and measures it."""

    verb: ClassVar[str] = "run"

    overload: bool = False
    """Whether overload is intended; it then raises no warning."""

    @property
    def overloads(self) -> bool:
        return self.overload


class Fill(WorkloadVerb):
    """Writes the whole span sequentially, with incompressible data."""

    verb: ClassVar[str] = "fill"
    policy: ClassVar[Policy] = "continue"

    passes: int
    """Number of times to write the span."""
    unless_written: bool = False
    """Whether to skip the fill if every byte is known to be written."""

    @property
    def optional(self) -> bool:
        return self.unless_written

    def do(self, at: StepContext) -> StepResult:
        """Write the rest of the span, unless all of it is known to be written."""
        if not at.parts and self._needless(at):
            facts: dict[str, JsonValue] = {"already_written": True}
            if at.written_by is not None:
                facts["written_by"] = at.written_by
            return StepResult(seconds=0.0, facts=facts)
        return super().do(at)

    def redo(self, at: StepContext) -> None:
        if not self._needless(at):
            super().redo(at)

    def _needless(self, at: StepContext) -> bool:
        if not self.unless_written:
            return False
        if at.written_by is not None:
            return True
        size = at.drive.capacity_bytes, at.drive.logical_block_bytes
        spans = [stream.span_bytes(*size) for stream in self.workload.streams]
        return all(at.drive.written(start, length) is True for start, length in spans)


class Precondition(WorkloadVerb):
    """Brings the drive into the state that later steps need; the figures of this step are kept too."""

    verb: ClassVar[str] = "precondition"
    state: ClassVar[StateRole] = "prepares"


class OnePass(WorkloadVerb):
    """Prepares steady state by one random pass, which is not SNIA's preconditioning."""

    verb: ClassVar[str] = "one-pass"
    state: ClassVar[StateRole] = "prepares"

    spare: float
    """Spare share that the pass assumes."""
    spare_from: str
    """Source of the spare share."""

    @classmethod
    def laid(cls, workload: Workload, *, spare: float, spare_from: str) -> Self:
        facts: dict[str, Any] = {"spare": spare, "spare_from": spare_from}
        return cls.of(workload, **facts)

    def do(self, at: StepContext) -> StepResult:
        """Write the pass; it replaces SNIA's procedure, which is a departure."""
        result = super().do(at)
        departure = Departure(
            code="one-pass",
            what=f"one random pass replaced SNIA's preconditioning, for a spare of "
            f"{share_text(self.spare)} ({self.spare_from})",
            why="it was requested instead of the full procedure, which overwrites the drive several times",
        )
        return result.model_copy(update={"facts": {**result.facts, "departures": [departure.model_dump()]}})


class Place(Verb):
    """Computes a simulated drive's steady state from theory, and places it in the drive's map."""

    verb: ClassVar[str] = "place"
    state: ClassVar[StateRole] = "prepares"

    spare: float
    """Effective spare share of the drive."""

    def effects(self) -> tuple[str, ...]:
        return ("places the steady state of random writes into a simulated drive, without a write",)

    def do(self, at: StepContext) -> StepResult:
        """Place steady state; a real drive is refused."""
        if at.drive.state is None:
            raise Refused(
                "the steady state of a real drive cannot be placed: it has to be written",
                "precondition by one pass, or in full",
                reason="not-simulated",
            )
        at.drive.state.place_steady()
        departure = Departure(
            code="analytic",
            what="steady state was computed from theory and placed in the drive, not reached by writing",
            why="a simulated drive can take any state; SNIA's preconditioning writes the drive",
        )
        return StepResult(seconds=0.0, facts={"departures": [departure.model_dump()]})

    @classmethod
    def describe(cls, step: Step) -> str | None:
        del step
        return PREPARED
