"""The models of what a run folder holds, its journal apart, which is in `records`.

One definition for writer and reader: `manifest.json` (`Manifest`, with a drive's variant and a suite's runs),
how runs belong together, what all results share, those of measurements and jobs, and dated notes (`Note`).
Units are in the names: `_ns`, `_bytes`, `_s`; `mb_s` is decimal megabytes a second; a share is 0 to 1. A
folder whose schema number is greater than ours was written by a newer ssdlab and is refused, so after a
release no field is added without a new number.
"""

from __future__ import annotations

import operator
from datetime import datetime
from typing import Any, Literal

from pydantic import Field, JsonValue, field_validator

from ssdlab.drives.ratings import Rated
from ssdlab.model.capabilities import Capabilities, StoredKind, capabilities_of, words_of
from ssdlab.model.frozen import Stored, absent
from ssdlab.model.summary import Summary
from ssdlab.results.metric import Metric as Metric
from ssdlab.results.points import Attribution as Attribution
from ssdlab.results.points import FlushPoint as FlushPoint
from ssdlab.results.points import Latencies as Latencies
from ssdlab.results.points import Point as Point
from ssdlab.results.points import Spread as Spread


class Member(Stored):
    """What a run that is part of a suite says of that."""

    suite: str = Field(description="run id of the suite")
    part: str = Field(description="its name within the suite")
    preparation_seed: int = Field(
        description="seed of fills and preconditioning; the same for parts that begin in the same state"
    )
    span_bytes: int | None = Field(
        default=None, description="the suite uses no more of the drive than this; None: all of it"
    )
    written_by: str | None = Field(
        default=None,
        description="run that wrote the whole span before, since when the suite has only read",
    )
    spent_bytes: int = Field(default=0, description="written by the suite's runs before this one")
    prepared_by: str | None = Field(
        default=None,
        description="run whose first steps this one began with, on a fork of its drive",
    )
    prepared_steps: int = Field(default=0, description="how many steps that are")


NOT_ASKED_FOR = "only others were asked for (--only)"
"""Why a part is left out that its user did not want done."""


class Child(Stored):
    """One run of a suite, as the suite's manifest names it before anything is done."""

    part: str = Field(description="name within the suite")
    run_id: str
    method: str
    version: int
    title: str
    params: dict[str, JsonValue]
    quick: bool
    seed: int = Field(description="drawn from the suite's seed and the part's name")
    preparation_seed: int
    drive: str = Field(description="text of the drive, at the scale that the part needs")
    state: str = Field(description="drive state that the part begins in")
    span_bytes: int | None = None
    left_out: str | None = Field(default=None, description="why it is not done on this drive")
    variant: dict[str, JsonValue] = Field(
        default={}, description="what the drive is made for this run alone, as the options of `run` say it"
    )
    standing: bool = Field(default=False, description="done before, and taken from the library as it stands")
    suite: bool = Field(default=False, description="a suite of its own: one drive of a comparison")

    @property
    def label(self) -> str:
        """Its name within the suite, without the number of its repetition."""
        return self.part.partition(" #")[0]


RUN_SCHEMA = "ssdlab.run/2"
"""2: the manifest carries seals."""

SealState = Literal["sealed", "unfinished", "not sealed"]
"""Of a run: finished and sealed; its journal and manifest sealed so far; made before there were seals."""
Status = Literal["running", "interrupted", "finished", "failed"]
ActualStatus = Status | Literal["not begun", "tables not written"]
"""Not begun: a suite on record that waits for its turn, as those of a comparison do. Tables not written: see
`unwritten_tables`."""


# --- manifest.json ----------------------------------------------------------------------------------------


_OF_ONE = {
    "I/Os": "I/O",
    "bursts": "burst",
    "reads": "read",
    "records": "record",
    "spans": "span",
    "threads": "thread",
    "times": "time",
    "user capacities": "user capacity",
}
"""Units that are things counted, by what one of them is called."""


class ParameterInfo(Stored):
    """One parameter of a method, as `ssdlab methods NAME` explains it."""

    name: str
    unit: str = Field(description="unit of the value; empty for a plain number or a name")
    reason: str = Field(description="what it is and why the default is what it is")
    default: JsonValue
    quick: JsonValue = Field(description="its value under --quick")
    points: Literal["each", "all"] | None = Field(
        default=None,
        exclude_if=absent,
        description="it lists points. each: a figure is of one of them, whatever the others are; all: "
        "figures are chosen among them, or of all together. A run that has more than are wanted serves",
    )

    def unit_of(self, value: object) -> str:
        """Return the unit as it stands behind a value: ``span`` behind 1, ``spans`` behind 2."""
        return _OF_ONE.get(self.unit, self.unit) if value == 1 else self.unit


class MethodInfo(Stored):
    """The method a run followed, described so fully that the folder explains itself."""

    name: str
    version: int
    title: str
    prose: str = Field(description="the method's docstring: question, procedure, source, what it cannot show")
    destructive: bool
    needs: tuple[str, ...] = Field(default=(), description="drive state it needs, e.g. 'span written'")
    conditions: dict[str, str] = Field(default={}, description="conditions it requires, e.g. scheduler: none")
    parameters: tuple[ParameterInfo, ...] = ()


class Usable(Stored):
    """How much of a drive a run uses."""

    length: int = Field(description="bytes from its start, in whole blocks")
    spare: float = Field(description="share of the raw or user capacity that is left, 0 to 1")
    of: Literal["raw capacity", "user capacity"]
    by: Literal["LBA range"] = "LBA range"
    free: bool = Field(description="whether what is left is trimmed before the run")


class VariantInfo(Stored):
    """What makes the drive of a run another entry than the drive as it is."""

    asked: dict[str, JsonValue] = Field(description="as on the command line")
    words: tuple[str, ...] = Field(description="what the entry is called beside the drive's name")
    made: bool = Field(description="the drive was made so: a simulated one")
    demands: dict[str, str] = Field(default={}, description="what is set on a real drive")
    usable: Usable | None = None


class DriveInfo(Stored):
    """The drive as it was when the run began."""

    text: str = Field(description="as the user named it")
    kind: StoredKind
    id: str = Field(
        description="serial, WWID, kernel name or path: what consent and resume are checked against"
    )
    name: str = Field(description="what a reader calls it: the model, else the id")
    capacity_bytes: int
    logical_block_bytes: int
    identity: dict[str, JsonValue] = Field(default={}, description="all that the drive reported about itself")
    variant: VariantInfo | None = Field(default=None, description="what a run made of it: another entry")

    @property
    def words(self) -> str:
        """What a reader calls its kind: what the kernel makes up is no real drive."""
        return words_of(self.capabilities, self.identity)

    @property
    def capabilities(self) -> Capabilities:
        """What a drive of its kind can do; a partition is known by its identity."""
        return capabilities_of(self.identity.get("kind"), self.kind)


class Warned(Stored):
    """A warning of the catalogue, as raised."""

    code: str
    what: str
    advice: str = ""
    ordinal: int | None = Field(default=None, description="its step; None: several alike, or the whole run")


class Departure(Stored):
    """Where this run departs from its published method; printed with the result."""

    code: str
    what: str
    why: str = ""


class Failure(Stored):
    """Why a run failed or stopped: the typed error, with its facts."""

    kind: str
    what: str
    advice: str
    facts: dict[str, JsonValue] = Field(default={})


class Session(Stored):
    """One stretch of work on the run: the first start, or a resume."""

    started: str
    ended: str | None = None
    status: Status = "running"
    boot_id: str = ""
    drive_found: str | None = Field(
        default=None, description="digest of the state that a simulated drive's file brought"
    )
    drive_left: str | None = Field(default=None, description="the same of the state that it was left in")


class TableInfo(Stored):
    """One compacted table."""

    name: str
    rows: int
    sha256: str


class Sealed(Stored):
    """What a finished run holds beside its manifest and its tables, as it was when it was finished."""

    journal_lines: int
    journal_seal: str = Field(description="seal of the journal's last line")
    files: dict[str, str] = Field(default={}, description="SHA-256 of each other file, by its name")
    runs: dict[str, str] = Field(
        default={}, description="of a suite: the seal of each run's manifest, by run id"
    )


class Replaced(Stored):
    """A part of a suite that was done again, and stays in the library."""

    old: Child = Field(description="the part as it was done before")
    run_id: str = Field(description="the run that stands in its place")
    at: str = Field(description="when it was put there")

    @property
    def words(self) -> str:
        """What was done, with both runs."""
        return f"{self.old.part} was done again: run {self.run_id} replaces run {self.old.run_id}"


class Manifest(Stored):
    """`manifest.json`: what was run, on what, how it ended and what it showed. Times are ISO 8601, UTC."""

    schema_version: str = Field(default=RUN_SCHEMA, alias="schema")
    run_id: str
    status: Status
    method: MethodInfo
    quick: bool
    params: dict[str, JsonValue]
    drive: DriveInfo
    open_options: dict[str, JsonValue] = Field(default={}, description="how the drive was opened, for resume")
    engine: str
    seed: int
    environment: dict[str, JsonValue]
    tool: dict[str, JsonValue] = Field(description="version and build profile of ssdlab")
    created: str
    sessions: tuple[Session, ...] = Field(min_length=1)
    warnings: tuple[Warned, ...] = ()
    departures: tuple[Departure, ...] = ()
    result: dict[str, JsonValue] | None = Field(
        default=None, description="the method's Result; see `parse_result`"
    )
    failure: Failure | None = None
    tables: tuple[TableInfo, ...] = Field(
        default=(), description="after compaction; empty while step logs stand"
    )
    ratings: tuple[Rated, ...] = Field(default=(), description="what the drive is rated for")
    member: Member | None = Field(default=None, description="the suite that the run is part of")
    children: tuple[Child, ...] = Field(default=(), description="the runs of a suite; it has no steps itself")
    redoing: tuple[Child, ...] = Field(
        default=(),
        exclude_if=operator.not_,
        description="parts of a finished suite that are being done again; of a comparison suites with such",
    )
    replaced: tuple[Replaced, ...] = Field(
        default=(), exclude_if=operator.not_, description="parts of a suite before they were done again"
    )
    review: dict[str, JsonValue] = Field(
        default={}, description="of a suite: chapters, tiles and drives of its declaration"
    )
    sealed: Sealed | None = Field(
        default=None, description="of a finished run; None in one that was finished before there were seals"
    )

    @field_validator("created")
    @classmethod
    def _is_a_moment(cls, created: str) -> str:
        datetime.fromisoformat(created)
        return created

    @field_validator("result")
    @classmethod
    def _has_each_figure_once(cls, result: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        scalars = (result or {}).get("scalars")
        if isinstance(scalars, list):
            _check_once([str(each.get("name")) for each in scalars if isinstance(each, dict)])
        return result

    @property
    def several_drives(self) -> bool:
        """Whether it compares drives: each of its children is a suite."""
        return any(child.suite for child in self.children)

    @property
    def drive_names(self) -> str:
        """What a reader calls its drive, or each of those that it compares."""
        names = [child.title for child in self.children if child.suite]
        return "; ".join(names) or self.drive.name

    @property
    def kept_beside(self) -> tuple[str, ...]:
        """Ids of the runs that go with a suite beside its children: replaced ones, and those under way."""
        replaced = (each.old.run_id for each in self.replaced if not each.old.standing)
        return (*replaced, *(child.run_id for child in self.redoing))

    @property
    def seal_state(self) -> SealState:
        """How far the run is sealed."""
        if self.sealed is not None:
            return "sealed"
        unfinished = self.schema_version == RUN_SCHEMA and self.status != "finished"
        return "unfinished" if unfinished else "not sealed"


def _check_once(names: list[str]) -> None:
    """Refuse a figure that is there twice: it would count as two measurements."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two figures are called {twice}")


class Note(Stored):
    """A line of `notes.jsonl`: kept next to a finished run, never changes it."""

    at: str
    text: str
    day: str | None = Field(
        default=None, exclude_if=absent, description="that it is of, where it was not written then"
    )
    chapter: str | None = Field(
        default=None, exclude_if=absent, description="of the review's page that it belongs to"
    )
    run: str | None = Field(
        default=None, exclude_if=absent, description="id of the run that it leads to, as of an update"
    )

    @property
    def when(self) -> str:
        """Day or moment that it is of."""
        return self.day or self.at

    @property
    def date(self) -> str:
        """Day that it is of."""
        return self.when[:10]

    @property
    def words(self) -> str:
        """Its text, with the run that it leads to."""
        return self.text if self.run is None else f"{self.text.removesuffix('.')}; see run {self.run}"


# --- results of methods -----------------------------------------------------------------------------------


class ResultBase(Stored):
    """What every Result has."""

    kind: str
    quick: bool
    scalars: tuple[Metric, ...] = ()

    @field_validator("scalars")
    @classmethod
    def _each_once(cls, scalars: tuple[Metric, ...]) -> tuple[Metric, ...]:
        _check_once([each.name for each in scalars])
        return scalars

    @property
    def passed(self) -> bool | None:
        """Whether the method's verdict is a pass, if it gives one; a failed one makes exit status 1."""
        return None


class MeasureResult(ResultBase):
    """One workload taken by `ssdlab measure --save`."""

    kind: Literal["measure"] = "measure"
    measurement: dict[str, Any] = Field(description="as `measure --json` prints it, without the intervals")

    @property
    def summary(self) -> Summary:
        """What was measured, as a model."""
        return Summary.model_validate(self.measurement)


class JobResult(ResultBase):
    """A user's own sequence of steps: one point for each stream direction of each `run` step."""

    kind: Literal["job"] = "job"
    points: tuple[Point, ...]
    flushes: tuple[FlushPoint, ...] = Field(
        default=(), exclude_if=operator.not_, description="of the steps whose writes were flushed"
    )
