"""What a verb of the lab hands on: one step, asked for, and who does it.

A step has a number, a seed of its own, and the span that it lies on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ssdlab.model import units
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.pattern import Sequential
from ssdlab.model.span import Span

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.model.workload import Stream, Workload
    from ssdlab.results.records import Policy
    from ssdlab.results.run_folder import Step
    from ssdlab.results.tables import Columns


@dataclass(frozen=True)
class Until:
    """A condition judged on the closed interval rows, in order; name and arguments are part of the step."""

    name: str
    args: dict[str, JsonValue]
    holds: Callable[[Sequence[Any]], bool] = field(compare=False)


class Tables(Protocol):
    """What the steps so far have measured, row by row; `methods.method.RunData` is one too."""

    @property
    def rows(self) -> Callable[[Step], Columns]:
        """Gives the interval rows of a finished step, as `results.tables.SERIES_COLUMNS`."""

    @property
    def row_buckets(self) -> Callable[[Step], Columns]:
        """Gives the histogram buckets of each of its rows, as `results.tables.HIST_COLUMNS`."""


@dataclass(frozen=True)
class Finding:
    """What is worked out from tables in mid-run; it is journalled, so that a procedure may branch on it."""

    name: str
    args: dict[str, JsonValue]
    value: Callable[[Tables], dict[str, JsonValue]] = field(compare=False)


@dataclass(frozen=True)
class Request:
    """One step, asked for: what a verb hands to the executor.

    `outlook` tells observers what the procedure expects beyond the step; it is no part of it.
    """

    ordinal: int
    verb: str
    label: str
    args: dict[str, JsonValue]
    policy: Policy
    workload: Workload | None = None
    until: Until | None = None
    finding: Finding | None = None
    outlook: str = ""


class Executor(Protocol):
    """Who does the steps."""

    def perform(self, request: Request) -> Step:
        """Do a step, read it back, or only count it."""


SPAN_UNIT_BYTES = 1 << 20
"""Capacities are rarely a multiple of the larger blocks. All steps alike leave out what lies beyond the last
whole MiB, so that what is read was written by a fill of any block size."""
SPAN_UNIT_FROM_BYTES = 1 << 30
"""Below, a MiB is no trifle: each stream leaves out only what its own block does not divide."""


class LabBase:
    """What all verbs do alike; `Lab` has the verbs.

    Parameters
    ----------
    executor
        Who does the steps.
    capacity_bytes, logical_block_bytes
        Facts of the drive.
    seed
        Seed of the run: each step draws its own from it and its ordinal.
    preparation_seed
        Seed of fills and preconditioning, where runs of a suite share them; by default that of the run.
    span_bytes
        Use no more of the drive than this, in whole blocks; None: all of it.
    forks
        Whether the drive can go back to a state; see `fork`.
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
    ) -> None:
        self.capacity_bytes = capacity_bytes
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

    @property
    def span(self) -> Span:
        """The part of the drive in use: all of it, in whole MiB, or what `limit` left."""
        return Span(start=0, length=self._usable_bytes)

    @contextmanager
    def on_interruption(self, policy: Policy) -> Iterator[None]:
        """Declare what an interruption means to every step of a block."""
        before, self._policy = self._policy, policy
        try:
            yield
        finally:
            self._policy = before

    def foresee(self, outlook: str) -> None:
        """Say what is expected from here on: "steady state likely in round 9". It is shown, and not kept."""
        self._outlook = outlook

    def _use(self, capacity_bytes: int) -> None:
        """Take the drive for one of that capacity."""
        self.capacity_bytes = capacity_bytes
        unit = SPAN_UNIT_BYTES if capacity_bytes >= SPAN_UNIT_FROM_BYTES else self.logical_block_bytes
        self._usable_bytes = min(capacity_bytes, self._span_bytes or capacity_bytes) // unit * unit

    def _reformatted(self, block: str | None, step: Step) -> None:
        if block is not None:
            self.logical_block_bytes = units.parse_bytes(block)
            self._use(int(str(step.result.facts.get("capacity_bytes", self.capacity_bytes))))

    def _work(
        self,
        verb: str,
        workload: Workload,
        label: str,
        until: Until | None,
        policy: Policy,
        extra: dict[str, JsonValue] | None = None,
    ) -> Step:
        if endless := next((s.name for s in workload.streams if not s.stop.ever), None):
            raise UsageError(
                f"stream {endless!r} of step {label!r} would never stop",
                "give it a time, bytes or I/Os to stop at",
            )
        workload = self._laid(workload, self._seed if verb == "run" else self._preparation_seed)
        try:  # in the plan already: what does not fit this drive is refused before anything is done
            workload.resolve(self.capacity_bytes, self.logical_block_bytes)
        except LabError as error:
            error.what = f"{label}: {error.what}"
            raise
        args: dict[str, JsonValue] = {"workload": workload.model_dump(mode="json"), **(extra or {})}
        if until is not None:
            args["until"] = {"name": until.name, **until.args}
        return self._do(verb, label, args, policy, workload, until)

    def _do(
        self,
        verb: str,
        label: str,
        args: dict[str, JsonValue],
        policy: Policy,
        workload: Workload | None = None,
        until: Until | None = None,
        finding: Finding | None = None,
    ) -> Step:
        policy = self._policy or policy
        request = Request(
            self._ordinal, verb, label, args, policy, workload, until, finding, outlook=self._outlook
        )
        if request.policy == "continue" and workload is not None:
            _check_continuable(workload)
        self._ordinal += 1
        return self._executor.perform(request)

    def _laid(self, workload: Workload, seed: int) -> Workload:
        """Give the workload a seed of the step and the lab's span where it has none of its own."""
        changes: dict[str, Any] = {}
        if "seed" not in workload.model_fields_set:
            changes["seed"] = derived_seed(seed, self._ordinal)
        streams = tuple(
            stream
            if "span" in stream.model_fields_set
            else stream.model_copy(update={"span": self._span_of(stream)})
            for stream in workload.streams
        )
        return workload.model_copy(update={**changes, "streams": streams})

    def _span_of(self, stream: Stream) -> Span:
        unit = min(block.bytes for block in stream.block)
        return Span(start=0, length=self._usable_bytes // unit * unit)


def derived_seed(seed: int, *path: int) -> int:
    """Derive a seed from another and a path of numbers (ordinal, segment): the same for the same."""
    text = ":".join(str(part) for part in (seed, *path))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


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
