"""Requests for steps (a verb with ordinal, seed and span), and the base class of the lab."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pydantic import JsonValue

from ssdlab.lab.verbs.verb import Tables, Verb, check_verb
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.pattern import Segmented, Span, Uniform, span_unit_bytes
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    from ssdlab.drives.spare import Spare
    from ssdlab.model.workload import Stream, Workload
    from ssdlab.results.records import Policy, Step, StepResult, Tried


@dataclass(frozen=True)
class Segments:
    """Equal, contiguous segments, spread evenly over the part in use.

    Attributes
    ----------
    count
        Number of segments, at least 2.
    length_bytes
        Length of each segment.
    stride_bytes
        Distance from the start of one segment to the start of the next.
    """

    count: int
    length_bytes: int
    stride_bytes: int

    @property
    def reach_bytes(self) -> int:
        """Length of the part that the segments cover, in whole strides."""
        return self.count * self.stride_bytes

    @property
    def pattern(self) -> Segmented:
        """Pattern of random I/O that is spread equally over the segments, and leaves out the gaps."""
        return Segmented(count=self.count, length_bytes=self.length_bytes, stride_bytes=self.stride_bytes)


@dataclass(frozen=True)
class Ground:
    """The part of the drive, and the seed, that the workloads of a step use by default.

    Attributes
    ----------
    usable_bytes
        Length of the part in use, from the drive's start.
    capacity_bytes
        Capacity that a stream's own span may use.
    segments
        Segments for random I/O; None: the whole part.
    """

    usable_bytes: int
    capacity_bytes: int
    logical_block_bytes: int
    seed: int
    segments: Segments | None = None

    @property
    def span(self) -> Span:
        return Span(start=0, length=self.usable_bytes)

    def laid(self, workload: Workload, label: str) -> Workload:
        """Return a workload whose defaults are the step's seed and the span in use.

        Raises
        ------
        UsageError
            A stream would never stop, or a block or span does not fit the drive.
        """
        if endless := next((s.name for s in workload.streams if not s.stop.ever), None):
            raise UsageError(
                f"stream {endless!r} of step {label!r} would never stop",
                "give it a time, bytes or I/Os to stop at",
            )
        changes: dict[str, Any] = {} if "seed" in workload.model_fields_set else {"seed": self.seed}
        streams = tuple(
            stream if "span" in stream.model_fields_set else self._placed(stream, label)
            for stream in workload.streams
        )
        workload = workload.model_copy(update={**changes, "streams": streams})
        try:
            workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        except LabError as error:
            error.what = f"{label}: {error.what}"
            raise
        return workload

    def _placed(self, stream: Stream, label: str) -> Stream:
        if self.segments is None:
            return stream.model_copy(update={"span": self._span_of(stream)})
        if not isinstance(stream.pattern, Uniform):
            raise UsageError(
                f"{label}: only uniform random I/O can be spread over segments",
                "leave active_range_segments at 1 for this test",
            )
        span = Span(start=0, length=self.segments.reach_bytes)
        return stream.model_copy(update={"span": span, "pattern": self.segments.pattern})

    def _span_of(self, stream: Stream) -> Span:
        unit = stream.unit_bytes
        return Span(start=0, length=self.usable_bytes // unit * unit)


def derived_seed(seed: int, *path: int) -> int:
    """Derive a seed from another seed and a path of numbers (ordinal, segment)."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


STEADY = "steady"
"""Name of the condition that ends writing when its rounds are steady."""


@dataclass(frozen=True)
class Until:
    """A condition that ends a step early.

    `holds` is called with the closed interval rows. Name and arguments are stored in the journal.
    """

    name: str
    args: dict[str, JsonValue]
    holds: Callable[[Sequence[Any]], bool] = field(compare=False)


@dataclass(frozen=True)
class Finding:
    """A result computed from tables during a run; it is journalled, so a procedure may branch on it."""

    name: str
    args: dict[str, JsonValue]
    value: Callable[[Tables], dict[str, JsonValue]] = field(compare=False)


@dataclass(frozen=True)
class Request:
    """A request for a step, from the lab to the executor.

    `outlook` is the expectation that the procedure shows to observers (`LabBase.foresee`). `ground` has the
    defaults for the verb's own workloads; None without a lab.
    """

    ordinal: int
    label: str
    asked: Verb
    policy: Policy
    outlook: str = ""
    ground: Ground | None = None
    tried: Tried | None = None

    @property
    def verb(self) -> str:
        return self.asked.verb

    @cached_property
    def args(self) -> dict[str, JsonValue]:
        return self.asked.stored()

    @property
    def workload(self) -> Workload | None:
        return self.asked.work

    def done(self, result: StepResult, attempt: int = 0, place: int = 0) -> Step:
        from ssdlab.results.records import Step

        args: dict[str, object] = dict(self.args)
        return Step(self.ordinal, attempt, self.verb, self.label, args, result, place, self.tried)


class Executor(Protocol):
    """Executes the steps of a procedure."""

    def perform(self, request: Request) -> Step:
        """Execute a step, read back its stored result, or in a plan only count it."""


@runtime_checkable
class Foresighted(Protocol):
    """An executor that can compute the points of a fork ahead of time, in parallel."""

    def expect(self, requests: Sequence[Request]) -> None:
        """Announce steps that will be requested in the fork's state; an empty sequence ends that."""


class Rehearsal:
    """An executor that only collects the requests of a procedure."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def perform(self, request: Request) -> Step:
        from ssdlab.results.records import StepResult

        self.requests.append(request)
        return request.done(StepResult(seconds=0.0))


class LabBase:
    """The base of the lab: what all verbs need. `Lab` adds the verbs.

    Parameters
    ----------
    executor
        Executes or counts the steps.
    seed
        Seed of the run. Each step derives its own seed from it and from its ordinal.
    preparation_seed
        Seed of fills and preconditioning, shared by runs of a suite; by default the run's.
    span_bytes
        Use only this many bytes, in whole blocks, as if the drive had no more; None: all.
    forks
        Whether the drive can return to a state; see `fork`.
    spare_of
        Returns the recorded spare area of the drive.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        capacity_bytes: int,
        logical_block_bytes: int,
        seed: int = 1,
        preparation_seed: int | None = None,
        span_bytes: int | None = None,
        forks: bool = False,
        spare_of: Callable[[], Spare] | None = None,
    ) -> None:
        self._drive_bytes = self.capacity_bytes = capacity_bytes
        self.logical_block_bytes = logical_block_bytes
        self.forks = forks
        self._executor = executor
        self._seed = seed
        self._preparation_seed = seed if preparation_seed is None else preparation_seed
        self._ordinal = 0
        self._span_bytes = span_bytes
        self._use(capacity_bytes)
        self._policy: Policy | None = None
        self._outlook = ""
        self._segments: Segments | None = None
        self._spare_of = spare_of

    @property
    def spare(self) -> Spare:
        """Spare area of the drive, as recorded."""
        from ssdlab.drives.spare import Spare

        return Spare(None, "drive record") if self._spare_of is None else self._spare_of()

    @property
    def whole(self) -> bool:
        """Whether the whole drive is in use."""
        unit = span_unit_bytes(self._drive_bytes, self.logical_block_bytes)
        return self._usable_bytes >= self._drive_bytes // unit * unit

    @property
    def usable_bytes(self) -> int:
        """Length of `span`, in bytes."""
        return self._usable_bytes

    @property
    def span(self) -> Span:
        """The part of the drive in use: all whole MiB of it, or as set by `limit`."""
        return Span(start=0, length=self._usable_bytes)

    @property
    def scattered(self) -> bool:
        """Whether I/O without a span of its own is limited to segments of `span`."""
        return self._segments is not None

    def scatter(self, count: int, amount_bytes: int) -> None:
        """Limit random I/O from now on to equal segments, spread evenly over the part in use.

        Raises
        ------
        UsageError
            The amount does not divide evenly, or does not fit.
        """
        unit = span_unit_bytes(self.capacity_bytes, self.logical_block_bytes)
        stride_bytes = self._usable_bytes // count // unit * unit
        length_bytes, rest = divmod(amount_bytes, count)
        if rest or length_bytes % unit or not unit <= length_bytes <= stride_bytes:
            raise UsageError(
                f"{bytes_text(amount_bytes)} cannot be spread over {count} segments of "
                f"{bytes_text(self._usable_bytes)}",
                f"give a multiple of {count} x {bytes_text(unit)} that fits",
                amount_bytes=amount_bytes,
                segments=count,
            )
        self._segments = Segments(count, length_bytes, stride_bytes)

    @contextmanager
    def on_interruption(self, policy: Policy) -> Iterator[None]:
        """Set the interruption policy of every step in a block."""
        before, self._policy = self._policy, policy
        try:
            yield
        finally:
            self._policy = before

    @contextmanager
    def _rehearsed(self, executor: Executor) -> Iterator[None]:
        """Send the steps of a block to another executor, then restore executor and step number."""
        doing, ordinal = self._executor, self._ordinal
        self._executor = executor
        try:
            yield
        finally:
            self._executor, self._ordinal = doing, ordinal

    def foresee(self, outlook: str) -> None:
        """Show observers an expectation, such as "steady state likely in round 9"; it is not stored."""
        self._outlook = outlook

    def _use(self, capacity_bytes: int) -> None:
        """Set the capacity, and the part of it that can be used."""
        self.capacity_bytes = min(capacity_bytes, self._span_bytes or capacity_bytes)
        unit = span_unit_bytes(capacity_bytes, self.logical_block_bytes)
        self._usable_bytes = self.capacity_bytes // unit * unit

    def _work(
        self,
        workload: Workload,
        verb_of: Callable[[Workload], Verb],
        label: str,
        policy: Policy,
        *,
        prepares: bool = True,
        tried: Tried | None = None,
    ) -> Step:
        """Request a step with a workload, after giving the workload a seed and a span."""
        ground = self._ground(self._preparation_seed if prepares else self._seed)
        # A plan does this too: it refuses a workload that does not fit the drive before anything starts.
        workload = ground.laid(workload, label)
        return self.do(verb_of(workload), label=label, policy=policy, tried=tried)

    def do(
        self,
        asked: Verb,
        *,
        label: str | None = None,
        policy: Policy | None = None,
        tried: Tried | None = None,
    ) -> Step:
        """Execute a step of any verb, also from another package.

        Parameters
        ----------
        asked
            The verb with its arguments.
        label
            Name of the step in reports; by default the verb's.
        policy
            Interruption policy, unless a block declares one; by default the verb's.
        tried
            The value that a search tries.
        """
        check_verb(asked)
        policy = self._policy or policy or asked.policy
        asked.check(policy)
        ground = self._ground(self._seed)
        request = Request(self._ordinal, label or asked.verb, asked, policy, self._outlook, ground, tried)
        self._ordinal += 1
        return self._executor.perform(request)

    def _ground(self, seed: int) -> Ground:
        return Ground(
            self._usable_bytes,
            self.capacity_bytes,
            self.logical_block_bytes,
            derived_seed(seed, self._ordinal),
            self._segments,
        )
