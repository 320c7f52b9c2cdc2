"""The request for a step by a verb, with the step's number, seed and span."""

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
        Number, at least 2.
    length_bytes
        Of each.
    stride_bytes
        From the start of one to the start of the next.
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
        """Pattern of random I/O that is spread equally over the segments, and goes nowhere else."""
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
    logical_block_bytes
        Logical block of the drive.
    seed
        The step's.
    segments
        Segments to use; None: the whole part.
    """

    usable_bytes: int
    capacity_bytes: int
    logical_block_bytes: int
    seed: int
    segments: Segments | None = None

    @property
    def span(self) -> Span:
        """The part of the drive in use."""
        return Span(start=0, length=self.usable_bytes)

    def laid(self, workload: Workload, label: str) -> Workload:
        """Return a workload whose defaults are the step's seed and the span in use.

        Raises
        ------
        UsageError
            It would never stop, or block or span do not fit the drive.
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
    """A condition that ends a step early, tested on closed interval rows; name and arguments are stored."""

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

    `outlook` is the procedure's expectation for observers. `ground` is where the verb's own workloads do I/O;
    None without a lab.
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
        """Name of the verb."""
        return self.asked.verb

    @cached_property
    def args(self) -> dict[str, JsonValue]:
        """The arguments as stored in the journal."""
        return self.asked.stored()

    @property
    def workload(self) -> Workload | None:
        """Workload of the step, if it has one."""
        return self.asked.work

    def done(self, result: StepResult, attempt: int = 0, place: int = 0) -> Step:
        """Return the finished step with its result."""
        from ssdlab.results.records import Step

        args: dict[str, object] = dict(self.args)
        return Step(self.ordinal, attempt, self.verb, self.label, args, result, place, self.tried)


class Executor(Protocol):
    """What executes the steps of a procedure."""

    def perform(self, request: Request) -> Step:
        """Execute a step, read back its stored result, or in a plan only count it."""


@runtime_checkable
class Foresighted(Protocol):
    """An executor that can compute the points of a fork ahead of time, in parallel."""

    def expect(self, requests: Sequence[Request]) -> None:
        """Expect these steps to be requested in the fork's state; an empty sequence cancels that."""


class Rehearsal:
    """An executor that only collects the requests of a procedure."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def perform(self, request: Request) -> Step:
        """Keep the request."""
        from ssdlab.results.records import StepResult

        self.requests.append(request)
        return request.done(StepResult(seconds=0.0))


class LabBase:
    """The base of the lab: what all verbs need. `Lab` adds the verbs.

    Parameters
    ----------
    executor
        Executes the steps.
    capacity_bytes, logical_block_bytes
        Facts of the drive.
    seed
        Seed of the run: each step draws its own from it and its ordinal.
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
        """Declare the interruption policy for every step of a block."""
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
        """Show an expectation without storing it, such as "steady state likely in round 9"."""
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
        # In the plan already: what does not fit this drive is refused before anything is done.
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
        """Return the defaults for the next step's workload."""
        return Ground(
            self._usable_bytes,
            self.capacity_bytes,
            self.logical_block_bytes,
            derived_seed(seed, self._ordinal),
            self._segments,
        )
