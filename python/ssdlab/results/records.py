"""The models of a run's journal, and its finished steps.

Each line of `journal.jsonl` is a `JournalRecord`. For units and schema numbers see `schema`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, JsonValue

from ssdlab.model.errors import Refused
from ssdlab.model.frozen import Stored, absent
from ssdlab.model.host_load import HostLoad
from ssdlab.model.summary import Pause, Summary
from ssdlab.model.telemetry import StepTelemetry
from ssdlab.results import earlier
from ssdlab.results.schema import Spread, Warned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.model.workload import Workload

Model = TypeVar("Model", bound=BaseModel)
JOURNAL_SCHEMA = "ssdlab.journal/2"
"""2: each line carries its seal, see `seal.Chain`."""

Policy = Literal["continue", "restart", "re-precondition", "from-purge"]


class OpenRecord(Stored):
    """A session on the journal starts."""

    t: Literal["open"] = "open"
    schema_version: str = Field(default=JOURNAL_SCHEMA, alias="schema")
    at: str
    boot_id: str


class Tried(Stored):
    """The value that a search tries in a step; a conclusion finds the steps of a search by it."""

    search: str
    value: int


class BeginRecord(Stored):
    """A step is about to start."""

    t: Literal["begin"] = "begin"
    ordinal: int
    attempt: int
    verb: str
    label: str
    args: dict[str, JsonValue]
    hash: str
    policy: Policy
    at: str
    tried: Tried | None = Field(default=None, exclude_if=absent)


class RestRecord(Stored):
    """A rest of the drive, in times of the meter's clock."""

    start_ns: int
    end_ns: int
    power: dict[str, JsonValue] | None = Field(
        default=None, description="as for a measurement; None: not metered"
    )

    @property
    def mean_w(self) -> float | None:
        found = None if self.power is None else self.power["mean_w"]
        return float(found) if isinstance(found, int | float) else None


class StepResult(Stored):
    """The result of a finished step, from which a conclusion needs no interval rows."""

    seconds: float = Field(description="wall time of the step")
    measurement: dict[str, JsonValue] | None = Field(
        default=None, description="the summary, `ssdlab.measurement/1`, of a step that did I/O"
    )
    spread_iops: Spread | None = None
    host: HostLoad | None = None
    facts: dict[str, JsonValue] = Field(default={}, description="findings or settings of a verb without I/O")
    warnings: tuple[Warned, ...] = ()
    segments: tuple[int, ...] = Field(
        default=(), description="attempts that make up a continued step, in order"
    )
    written_bytes: int | None = Field(
        None,
        exclude_if=absent,
        description="bytes written, with ramp and earlier parts, if more than measured",
    )
    rest: RestRecord | None = Field(None, exclude_if=absent, description="rests of the drive")
    pauses: tuple[Pause, ...] = Field(
        (),
        exclude_if=operator.not_,
        description="pauses of ssdlab in the step, or before it if the drive's state matters",
    )
    telemetry: StepTelemetry | None = Field(
        default=None, description="the drive's telemetry meanwhile; None: it reports nothing"
    )


class EndRecord(Stored):
    """A step finished; only a `void` revokes this."""

    t: Literal["end"] = "end"
    ordinal: int
    attempt: int
    result: StepResult
    drive_state: str | None = Field(
        default=None, description="digest of a simulated drive's state at the end"
    )
    at: str


class VoidRecord(Stored):
    """An attempt does not count; its rows stay in the run folder."""

    t: Literal["void"] = "void"
    ordinal: int
    attempt: int
    why: str
    at: str


class PartRecord(Stored):
    """An attempt was interrupted, and a later one continues it (policy `continue`)."""

    t: Literal["part"] = "part"
    ordinal: int
    attempt: int
    done: dict[str, int] = Field(description="progress: bytes, ios, ns; bytes written; failed I/Os, if any")
    at: str


AnyRecord = OpenRecord | BeginRecord | EndRecord | VoidRecord | PartRecord
JournalRecord = Annotated[AnyRecord, Field(discriminator="t")]


@dataclass(frozen=True)
class Step:
    """A finished step that counts, with its request and its result."""

    ordinal: int
    attempt: int
    verb: str
    label: str
    args: dict[str, object]
    result: StepResult
    place: int = field(default=0, compare=False)
    """Position in the journal. A step that was repeated after an interruption comes after later steps."""
    tried: Tried | None = None

    # Cached: a page reads each step ten times, and validating one takes as long as writing its lines.
    @cached_property
    def workload(self) -> Workload | None:
        from ssdlab.model.workload import Workload

        stored = self.args.get("workload")
        return None if stored is None else Workload.model_validate(stored)

    @property
    def ran(self) -> Workload:
        """The workload of a step that must have one.

        Raises
        ------
        Refused
            The step has no workload.
        """
        found = self.workload
        if found is None:
            raise Refused(
                f"step {self.ordinal + 1} ({self.label}) has no workload", "name a step that runs one"
            )
        return found

    @cached_property
    def summary(self) -> Summary | None:
        stored = self.result.measurement
        return None if stored is None else Summary.model_validate(stored)

    @property
    def measured(self) -> Summary:
        """The measurement of a step that must have one.

        Raises
        ------
        Refused
            The step measured nothing.
        """
        found = self.summary
        if found is None:
            raise Refused(
                f"step {self.ordinal + 1} ({self.label}) measured nothing", "name a step that measures"
            )
        return found

    @property
    def written_bytes(self) -> int:
        """Bytes that the step wrote, with its ramp and earlier segments.

        Runs of older versions recorded only the measured bytes.
        """
        if self.result.written_bytes is not None:
            return self.result.written_bytes
        return 0 if self.summary is None else self.summary.written_bytes

    def asked(self, verb: type[Model]) -> Model:
        """Return the step's arguments as the model of its verb: ``step.asked(Run).workload``.

        Raises
        ------
        UsageError, pydantic.ValidationError
            The step has another verb.
        """
        return verb.model_validate(self.args)

    def found(self, facts: type[Model]) -> Model:
        """Return the step's findings or settings, as a model of facts: ``step.found(TrimFacts).trim``."""
        return facts.model_validate(self.result.facts)


@dataclass(frozen=True)
class VoidedAttempt:
    """An attempt that does not count, with the reason."""

    ordinal: int
    attempt: int
    label: str
    why: str
    place: int = 0
    """Position of its start in the journal. Steps with a lower position were finished before it."""


@dataclass(frozen=True)
class VoidedWrites:
    """Number of bytes that a voided attempt wrote to the drive."""

    place: int
    """Position of the attempt in the journal."""
    written_bytes: int


def _tried_by(label: str) -> Tried | None:
    found = earlier.tried_by(label)
    return None if found is None else Tried(search=found[0], value=found[1])


def pauses_of(records: Iterable[AnyRecord]) -> dict[tuple[int, int], tuple[Pause, ...]]:
    """Return the pauses of each completed attempt, including voided ones, by ordinal and attempt."""
    ended = (record for record in records if isinstance(record, EndRecord))
    return {(record.ordinal, record.attempt): record.result.pauses for record in ended}


def finished_steps(records: list[AnyRecord]) -> list[Step]:
    """Return the finished steps that count, from journal records."""
    begun: dict[tuple[int, int], BeginRecord] = {}
    ended: dict[int, Step] = {}
    for place, record in enumerate(records):
        if isinstance(record, BeginRecord):
            begun[record.ordinal, record.attempt] = record
        elif isinstance(record, EndRecord):
            begin = begun[record.ordinal, record.attempt]
            ended[record.ordinal] = Step(
                record.ordinal,
                record.attempt,
                begin.verb,
                begin.label,
                dict(begin.args),
                record.result,
                place,
                begin.tried or _tried_by(begin.label),
            )
        elif isinstance(record, VoidRecord):
            step = ended.get(record.ordinal)
            if step is not None and step.attempt == record.attempt:
                del ended[record.ordinal]
    return [ended[ordinal] for ordinal in sorted(ended)]
