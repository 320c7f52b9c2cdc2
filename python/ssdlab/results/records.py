"""The models of a run's journal: each line of `journal.jsonl` is one `JournalRecord`; and its finished steps.

Units and the rule about schema numbers are those of `schema`.
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
    """Begins a session on the journal."""

    t: Literal["open"] = "open"
    schema_version: str = Field(default=JOURNAL_SCHEMA, alias="schema")
    at: str
    boot_id: str


class Tried(Stored):
    """What a search tries in a step: a conclusion finds the tries of the search, and their values, by it."""

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
    """A time at which the drive was left alone, on the clock that meters are read by."""

    start_ns: int
    end_ns: int
    power: dict[str, JsonValue] | None = Field(
        default=None, description="as that of a measurement; None: not metered"
    )

    @property
    def mean_w(self) -> float | None:
        """Mean power."""
        found = None if self.power is None else self.power["mean_w"]
        return float(found) if isinstance(found, int | float) else None


class StepResult(Stored):
    """What a finished step yielded: enough to conclude from without the rows."""

    seconds: float = Field(description="wall time of the step")
    measurement: dict[str, JsonValue] | None = Field(
        default=None, description="the summary, `ssdlab.measurement/1`, of a step that did I/O"
    )
    spread_iops: Spread | None = None
    host: HostLoad | None = None
    facts: dict[str, JsonValue] = Field(default={}, description="what a verb without I/O found or set")
    warnings: tuple[Warned, ...] = ()
    segments: tuple[int, ...] = Field(
        default=(), description="attempts that make up a continued step, in order"
    )
    written_bytes: int | None = Field(
        None,
        exclude_if=absent,
        description="of a step that wrote more than it measured: with its ramp, and parts before it",
    )
    rest: RestRecord | None = Field(None, exclude_if=absent, description="of a drive that was left alone")
    pauses: tuple[Pause, ...] = Field(
        (),
        exclude_if=operator.not_,
        description="in which ssdlab was paused: in the step, or before it where the drive's state counts",
    )
    telemetry: StepTelemetry | None = Field(
        default=None, description="what the drive told of itself meanwhile; None: it tells nothing"
    )


class EndRecord(Stored):
    """A step finished; nothing takes this back but a `void`."""

    t: Literal["end"] = "end"
    ordinal: int
    attempt: int
    result: StepResult
    drive_state: str | None = Field(default=None, description="digest of a simulated drive's state then")
    at: str


class VoidRecord(Stored):
    """An attempt does not count; its rows stay in the folder, marked."""

    t: Literal["void"] = "void"
    ordinal: int
    attempt: int
    why: str
    at: str


class PartRecord(Stored):
    """An attempt was cut short and a later one goes on where it stopped (policy `continue`)."""

    t: Literal["part"] = "part"
    ordinal: int
    attempt: int
    done: dict[str, int] = Field(
        description="how far it came: bytes, ios, ns; bytes written; I/Os that failed, if any did"
    )
    at: str


AnyRecord = OpenRecord | BeginRecord | EndRecord | VoidRecord | PartRecord
JournalRecord = Annotated[AnyRecord, Field(discriminator="t")]


@dataclass(frozen=True)
class Step:
    """A finished step that counts: what was asked and what came of it."""

    ordinal: int
    attempt: int
    verb: str
    label: str
    args: dict[str, object]
    result: StepResult
    place: int = field(default=0, compare=False)
    """In the journal: what an interruption has done again came after later steps."""
    tried: Tried | None = None

    # A page asks each step ten times, and to read one back takes as long as to write its lines.
    @cached_property
    def workload(self) -> Workload | None:
        """What the step ran; None of a step without a workload."""
        from ssdlab.model.workload import Workload

        stored = self.args.get("workload")
        return None if stored is None else Workload.model_validate(stored)

    @property
    def ran(self) -> Workload:
        """The workload that the step ran, for a step that runs one.

        Raises
        ------
        Refused
            It has no workload.
        """
        found = self.workload
        if found is None:
            raise Refused(
                f"step {self.ordinal + 1} ({self.label}) has no workload", "name a step that runs one"
            )
        return found

    @cached_property
    def summary(self) -> Summary | None:
        """What the step measured, in all; None of one that measured nothing."""
        stored = self.result.measurement
        return None if stored is None else Summary.model_validate(stored)

    @property
    def measured(self) -> Summary:
        """What the step measured, of one that did.

        Raises
        ------
        Refused
            It measured nothing.
        """
        found = self.summary
        if found is None:
            raise Refused(
                f"step {self.ordinal + 1} ({self.label}) measured nothing", "name a step that measures"
            )
        return found

    @property
    def written_bytes(self) -> int:
        """Bytes that the step wrote, with its ramp and the segments that it goes on from.

        What was measured alone counts where a run of an earlier version does not tell of these.
        """
        if self.result.written_bytes is not None:
            return self.result.written_bytes
        return 0 if self.summary is None else self.summary.written_bytes

    def asked(self, verb: type[Model]) -> Model:
        """Return the arguments, as the model of the step's verb has them: ``step.asked(Run).workload``.

        Raises
        ------
        UsageError, pydantic.ValidationError
            They are not those of that verb.
        """
        return verb.model_validate(self.args)

    def found(self, facts: type[Model]) -> Model:
        """Return what the step found or set, as a model of facts has it: ``step.found(TrimFacts).trim``."""
        return facts.model_validate(self.result.facts)


@dataclass(frozen=True)
class VoidedAttempt:
    """An attempt that does not count, with the reason."""

    ordinal: int
    attempt: int
    label: str
    why: str
    place: int = 0
    """In the journal, of its beginning: steps of a lower place were finished before."""


@dataclass(frozen=True)
class VoidedWrites:
    """What an attempt that does not count has left on the drive all the same."""

    place: int
    """That of the attempt."""
    written_bytes: int


def _tried_by(label: str) -> Tried | None:
    found = earlier.tried_by(label)
    return None if found is None else Tried(search=found[0], value=found[1])


def pauses_of(records: Iterable[AnyRecord]) -> dict[tuple[int, int], tuple[Pause, ...]]:
    """Return the pauses of each attempt that came to its end, also of one that does not count."""
    ended = (record for record in records if isinstance(record, EndRecord))
    return {(record.ordinal, record.attempt): record.result.pauses for record in ended}


def finished_steps(records: list[AnyRecord]) -> list[Step]:
    """Work out from journal records which steps are finished and count."""
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
