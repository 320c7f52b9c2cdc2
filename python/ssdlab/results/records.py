"""The models of a run's journal: each line of `journal.jsonl` is one `JournalRecord`.

Units and the rule about schema numbers are those of `schema`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from ssdlab.model.host_load import HostLoad
from ssdlab.model.stored import Stored, absent
from ssdlab.model.telemetry import StepTelemetry
from ssdlab.results.schema import Spread, Warned

JOURNAL_SCHEMA = "ssdlab.journal/2"
"""2: each line carries its seal, see `seal.Chain`."""

Policy = Literal["continue", "restart", "re-precondition", "from-purge"]


class OpenRecord(Stored):
    """Begins a session on the journal."""

    t: Literal["open"] = "open"
    schema_version: str = Field(default=JOURNAL_SCHEMA, alias="schema")
    at: str
    boot_id: str


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
    rest: RestRecord | None = Field(None, exclude_if=absent, description="of a drive that was left alone")
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
    done: dict[str, int] = Field(description="how far it came: bytes, ios, ns")
    at: str


AnyRecord = OpenRecord | BeginRecord | EndRecord | VoidRecord | PartRecord
JournalRecord = Annotated[AnyRecord, Field(discriminator="t")]
