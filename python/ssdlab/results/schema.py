"""The models of a run folder's files; the journal is in `records`.

Writer and reader share these models: `manifest.json` (`Manifest`, with a drive's variant and a suite's runs),
relations of runs, the base of results, results of measurements and jobs, and dated notes (`Note`). Names end
in their unit: `_ns`, `_bytes`, `_s`; `mb_s` is decimal megabytes a second; a share is 0 to 1. A folder with a
higher schema number is from a newer ssdlab and is refused, so after a release every new field needs a new
number.
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
    """A run's place in its suite."""

    suite: str = Field(description="run id of the suite")
    part: str = Field(description="its name within the suite")
    preparation_seed: int = Field(
        description="seed of fills and preconditioning; the same for parts that start in the same state"
    )
    span_bytes: int | None = Field(
        default=None, description="largest part of the drive that the suite uses; None: all"
    )
    written_by: str | None = Field(
        default=None,
        description="run that wrote the whole span; since then the suite has only read",
    )
    spent_bytes: int = Field(default=0, description="written by the suite's runs before this one")
    prepared_by: str | None = Field(
        default=None,
        description="run whose first steps this one shares, on a fork of its drive",
    )
    prepared_steps: int = Field(default=0, description="number of shared steps")


NOT_ASKED_FOR = "only others were asked for (--only)"
"""Why a part is left out that was not requested."""


class Child(Stored):
    """One run of a suite, as planned in the suite's manifest."""

    part: str = Field(description="name within the suite")
    run_id: str
    method: str
    version: int
    title: str
    params: dict[str, JsonValue]
    quick: bool
    seed: int = Field(description="drawn from the suite's seed and the part's name")
    preparation_seed: int
    drive: str = Field(description="text of the drive, at the scale for the part")
    state: str = Field(description="drive state at the start of the part")
    span_bytes: int | None = None
    left_out: str | None = Field(default=None, description="why it is left out on this drive")
    variant: dict[str, JsonValue] = Field(
        default={}, description="variant of the drive for this run, as options of `run`"
    )
    standing: bool = Field(default=False, description="an earlier run, reused from the library")
    suite: bool = Field(default=False, description="a suite: one drive of a comparison")

    @property
    def label(self) -> str:
        """Name of the part, without the number of its repetition."""
        return self.part.partition(" #")[0]


RUN_SCHEMA = "ssdlab.run/2"
"""2: the manifest carries seals."""

SealState = Literal["sealed", "unfinished", "not sealed"]
"""State of a run's seals. `unfinished`: journal and manifest are sealed so far. `not sealed`: the run is from
before seals."""
Status = Literal["running", "interrupted", "finished", "failed"]
ActualStatus = Status | Literal["not begun", "tables not written"]
"""`not begun`: a recorded suite that waits for its turn in a comparison. `tables not written`: see
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
"""The singular of units that count things."""


class ParameterInfo(Stored):
    """One parameter of a method, as `ssdlab methods NAME` explains it."""

    name: str
    unit: str = Field(description="unit of the value; empty for a plain number or a name")
    reason: str = Field(description="what it is, and the reason for the default")
    default: JsonValue
    quick: JsonValue = Field(description="its value under --quick")
    points: Literal["each", "all"] | None = Field(
        default=None,
        exclude_if=absent,
        description="it lists points. each: a figure depends on one point only; all: figures are chosen "
        "among the points, or combine all. A run with more points than needed can be reused",
    )

    def unit_of(self, value: object) -> str:
        """Return the unit to print after a value: ``span`` after 1, ``spans`` after 2."""
        return _OF_ONE.get(self.unit, self.unit) if value == 1 else self.unit


class MethodInfo(Stored):
    """The method of a run, in full, so that the folder explains itself."""

    name: str
    version: int
    title: str
    prose: str = Field(description="the method's docstring: question, procedure, source, what it cannot show")
    destructive: bool
    needs: tuple[str, ...] = Field(default=(), description="drive state it needs, e.g. 'span written'")
    conditions: dict[str, str] = Field(default={}, description="conditions it requires, e.g. scheduler: none")
    parameters: tuple[ParameterInfo, ...] = ()


class Usable(Stored):
    """The part of a drive that a run uses."""

    length: int = Field(description="bytes from its start, in whole blocks")
    spare: float = Field(description="unused share of the raw or user capacity, 0 to 1")
    of: Literal["raw capacity", "user capacity"]
    by: Literal["LBA range"] = "LBA range"
    free: bool = Field(description="whether the unused part is trimmed before the run")


class VariantInfo(Stored):
    """The variant of the run's drive, which makes it another entry."""

    asked: dict[str, JsonValue] = Field(description="as on the command line")
    words: tuple[str, ...] = Field(description="words of the entry after the drive's name")
    made: bool = Field(description="the drive was made like this (simulated)")
    demands: dict[str, str] = Field(default={}, description="settings on a real drive")
    usable: Usable | None = None


class DriveInfo(Stored):
    """The drive at the start of the run."""

    text: str = Field(description="as the user named it")
    kind: StoredKind
    id: str = Field(description="serial, WWID, kernel name or path, for consent and resume")
    name: str = Field(description="its name for readers: the model, else the id")
    capacity_bytes: int
    logical_block_bytes: int
    identity: dict[str, JsonValue] = Field(
        default={}, description="everything that the drive reported about itself"
    )
    variant: VariantInfo | None = Field(default=None, description="variant that makes it another entry")

    @property
    def words(self) -> str:
        """Kind of drive in words; a device that the kernel provides, such as loop, is named as one."""
        return words_of(self.capabilities, self.identity)

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of this kind of drive; the kind that the drive reports comes first."""
        return capabilities_of(self.identity.get("kind"), self.kind)


class Warned(Stored):
    """A warning that was raised, with its code in the catalogue of warnings."""

    code: str
    what: str
    advice: str = ""
    ordinal: int | None = Field(default=None, description="its step; None: several, or the whole run")


class Departure(Stored):
    """Where this run departs from its published method; printed with the result."""

    code: str
    what: str
    why: str = ""


class Failure(Stored):
    """Why a run failed or stopped: the error's kind and words, with its facts."""

    kind: str
    what: str
    advice: str
    facts: dict[str, JsonValue] = Field(default={})


class Session(Stored):
    """One session of work on the run: the first start, or a resume."""

    started: str
    ended: str | None = None
    status: Status = "running"
    boot_id: str = ""
    drive_found: str | None = Field(
        default=None, description="digest of the initial state from a simulated drive's file"
    )
    drive_left: str | None = Field(default=None, description="digest of its final state")


class TableInfo(Stored):
    """One table of a finished run."""

    name: str
    rows: int
    sha256: str


class Sealed(Stored):
    """Seals of a finished run's files, other than the manifest and the tables."""

    journal_lines: int
    journal_seal: str = Field(description="seal of the journal's last line")
    files: dict[str, str] = Field(default={}, description="SHA-256 of each other file, by name")
    runs: dict[str, str] = Field(
        default={}, description="for a suite: the seal of each run's manifest, by run id"
    )


class Replaced(Stored):
    """A part of a suite that was repeated, and is kept in the library."""

    old: Child = Field(description="the earlier part")
    run_id: str = Field(description="the run that replaced it")
    at: str = Field(description="time of the replacement")

    @property
    def words(self) -> str:
        return f"{self.old.part} was repeated: run {self.run_id} replaces run {self.old.run_id}"


class Manifest(Stored):
    """`manifest.json`: what was run, on which drive, how it ended, and its result.

    Times are ISO 8601, UTC.
    """

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
        default=(), description="after compaction; empty while there are step logs"
    )
    ratings: tuple[Rated, ...] = Field(default=(), description="ratings of the drive")
    member: Member | None = Field(default=None, description="place in a suite")
    children: tuple[Child, ...] = Field(
        default=(), description="the runs of a suite, which has no steps itself"
    )
    redoing: tuple[Child, ...] = Field(
        default=(),
        exclude_if=operator.not_,
        description="parts of a finished suite being repeated; for a comparison, suites with such parts",
    )
    replaced: tuple[Replaced, ...] = Field(
        default=(), exclude_if=operator.not_, description="earlier parts of a suite, since repeated"
    )
    review: dict[str, JsonValue] = Field(
        default={}, description="for a suite: chapters, tiles and drives of its declaration"
    )
    sealed: Sealed | None = Field(
        default=None, description="for a finished run; None if finished before seals existed"
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
        """Whether the run compares drives, so that each child is a suite."""
        return any(child.suite for child in self.children)

    @property
    def drive_names(self) -> str:
        """Name of the drive for readers, or the names of all compared drives."""
        names = [child.title for child in self.children if child.suite]
        return "; ".join(names) or self.drive.name

    @property
    def kept_beside(self) -> tuple[str, ...]:
        """Ids of runs that a suite keeps besides its children: replaced ones, and replacements under way."""
        replaced = (each.old.run_id for each in self.replaced if not each.old.standing)
        return (*replaced, *(child.run_id for child in self.redoing))

    @property
    def seal_state(self) -> SealState:
        if self.sealed is not None:
            return "sealed"
        unfinished = self.schema_version == RUN_SCHEMA and self.status != "finished"
        return "unfinished" if unfinished else "not sealed"


def _check_once(names: list[str]) -> None:
    """Refuse two figures with the same name, as they would count as two measurements."""
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two figures are called {twice}")


class Note(Stored):
    """A dated note on a finished run, a line of `notes.jsonl`; it does not change the run."""

    at: str
    text: str
    day: str | None = Field(
        default=None, exclude_if=absent, description="its day, if it was not written then"
    )
    chapter: str | None = Field(default=None, exclude_if=absent, description="chapter of the review's page")
    run: str | None = Field(
        default=None, exclude_if=absent, description="id of a linked run, such as an update"
    )

    @property
    def when(self) -> str:
        """The day that the note is about, or else the time at which it was written."""
        return self.day or self.at

    @property
    def date(self) -> str:
        return self.when[:10]

    @property
    def words(self) -> str:
        return self.text if self.run is None else f"{self.text.removesuffix('.')}; see run {self.run}"


# --- results of methods -----------------------------------------------------------------------------------


class ResultBase(Stored):
    """The base of every Result."""

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
        """Whether the method's verdict is a pass; None: no verdict. A fail gives exit status 1."""
        return None


class MeasureResult(ResultBase):
    """One workload measured by `ssdlab measure --save`."""

    kind: Literal["measure"] = "measure"
    measurement: dict[str, Any] = Field(description="as from `measure --json`, without the intervals")

    @property
    def summary(self) -> Summary:
        return Summary.model_validate(self.measurement)


class JobResult(ResultBase):
    """A user's sequence of steps: one point for each stream direction of each `run` step."""

    kind: Literal["job"] = "job"
    points: tuple[Point, ...]
    flushes: tuple[FlushPoint, ...] = Field(
        default=(), exclude_if=operator.not_, description="flushes of the steps with flushed writes"
    )
