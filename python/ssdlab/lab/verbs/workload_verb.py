"""What all steps that run a workload have in common: `run`, `fill` and `precondition`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SkipValidation

from ssdlab.analysis.steady_state import WINDOW
from ssdlab.lab.ground import derived_seed
from ssdlab.lab.steps import STEADY, Until
from ssdlab.lab.verbs.bounds import STEP_MAX_S, Bounds, Planned, Planning
from ssdlab.lab.verbs.stream_bounds import load_of, speed_of, workload_bounds
from ssdlab.lab.verbs.stream_words import describe_stream
from ssdlab.lab.verbs.verb import Facts, Verb
from ssdlab.model.errors import UsageError
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Workload
from ssdlab.results.records import StepResult

if TYPE_CHECKING:
    from ssdlab.analysis.pace import Pace
    from ssdlab.drives.base import Until as Ends
    from ssdlab.lab.verbs.context import StepContext
    from ssdlab.model.summary import Summary
    from ssdlab.results.records import PartRecord, Policy


class StoredUntil(BaseModel):
    """What ended a step early: a name, and arguments of that condition's own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str

    @property
    def least_ns(self) -> int:
        """It does not end the step before."""
        return int(self.given("least_ns", 0))

    def given(self, name: str, default: float = float("nan")) -> float:
        """Return a number among its arguments."""
        return float((self.model_extra or {}).get(name, default))


class WorkloadFacts(Facts):
    """What is said of a step with a workload, beside what it measured."""

    already_written: bool = False
    written_by: str | None = None
    bytes: int | None = None
    """Of a continued step, with `ios` and `ns`: the sum of its parts."""
    ios: int | None = None
    ns: int | None = None


class WorkloadVerb(Verb):
    """Runs a workload."""

    omitted: ClassVar[frozenset[str]] = frozenset({"certain", "overload", "until"})

    workload: Workload
    until: StoredUntil | None = None
    ends: SkipValidation[Until | None] = Field(default=None, exclude=True)
    """The condition itself, which no journal can hold."""
    certain: bool = True
    """False for a step of a search, which may end before it: a plan then counts it as at most."""

    @classmethod
    def of(cls, workload: Workload, until: Until | None = None, **args: Any) -> Self:  # noqa: ANN401
        """Make the step; further arguments are the verb's own."""
        stored = None if until is None else StoredUntil(name=until.name, **until.args)
        return cls(workload=workload, until=stored, ends=until, **args)

    @property
    def work(self) -> Workload:
        """The workload."""
        return self.workload

    @property
    def optional(self) -> bool:
        """Whether the step may turn out not to be needed."""
        return not self.certain

    def stored(self) -> dict[str, JsonValue]:
        """Return the arguments as the journal keeps them, what ends it early as the last."""
        plain = super().stored()
        until = plain.pop("until", None)
        return plain if until is None else {**plain, "until": until}

    def check(self, policy: Policy) -> None:
        """Refuse to continue what cannot be."""
        if policy == "continue":
            _check_continuable(self.workload)

    def plan(self, planning: Planning) -> Planned:
        """Return bounds by the stops and rates of the workload."""
        found = workload_bounds(self._ended_by(planning.pace), planning.pace)
        seconds, written = found.seconds, found.bytes_written
        if self.until is not None:
            # What ends it early may not do so before a time of its own.
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
        """Return the workload as steady state ends it on a drive that is steady from the beginning.

        The window is then of its first rounds, but for the very first, in which a buffer fills; what is to be
        written at least, or to pass, may come later.
        """
        (stream, *others) = self.workload.streams
        if not pace.lasting or self.until is None or self.until.name != STEADY or others:
            return self.workload
        least_bytes, round_ns = self.until.given("least_bytes"), self.until.given("round_ns")
        in_order = replace(load_of(stream), random=False)  # it makes no difference to such a drive
        low = pace.of_target(speed_of(stream, pace), least_bytes, in_order).low
        latest_ns = max(self.until.least_ns, least_bytes / low * NS_PER_S, (1 + WINDOW) * round_ns) + round_ns
        time_ns = min(latest_ns, stream.stop.time_ns or latest_ns)
        stop = stream.stop.model_copy(update={"time_ns": round(time_ns)})
        return self.workload.model_copy(update={"streams": (stream.model_copy(update={"stop": stop}),)})

    def effects(self) -> tuple[str, ...]:
        """Return what each stream does."""
        return tuple(describe_stream(stream) for stream in self.workload.streams)

    def do(self, at: StepContext) -> StepResult:
        """Run what is left of the workload, and measure it."""
        rest = resume_from(self.workload, at.parts)
        if rest is None:
            segments = tuple(part.attempt for part in at.parts)
            written = written_in(at.parts) or None
            facts = totals(at.parts, None)
            return StepResult(seconds=0.0, facts=facts, segments=segments, written_bytes=written)
        return at.measure(rest, self.condition, overload=self.overloads)

    def redo(self, at: StepContext) -> None:
        """Run it for the state that it leaves."""
        at.run(self.workload, self.condition)

    @property
    def condition(self) -> Ends | None:
        """What is asked at each closed row."""
        return None if self.ends is None else self.ends.holds

    @property
    def overloads(self) -> bool:
        """Whether more may be asked for than the drive can do."""
        return False


def resume_from(workload: Workload, parts: Iterable[PartRecord]) -> Workload | None:
    """Return what is left to do of a one-stream workload after its parts; None if nothing is.

    The generator is keyed by the seed, so the rest of a random pattern draws from a seed of its own; a
    sequential one goes on at its cursor.
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
    """Add up the segments of a continued step; `failed` is of those before, where any I/O did."""
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
    """Return the bytes that the segments before have written; those of earlier versions do not tell."""
    return sum(part.done.get("written", 0) for part in parts)


def _check_continuable(workload: Workload) -> None:
    """Refuse a policy that could not be kept: after a kill the cursors of many workers are not known."""
    if len(workload.streams) > 1:
        raise UsageError(
            "a step of several streams cannot be continued after a kill", "declare restart or re-precondition"
        )
    stream = workload.streams[0]
    if isinstance(stream.pattern, Sequential) and stream.workers > 1:
        raise UsageError(
            f"a sequential step of {stream.workers} workers cannot be continued after a kill",
            "declare restart or re-precondition, or use one worker",
            workers=stream.workers,
        )
