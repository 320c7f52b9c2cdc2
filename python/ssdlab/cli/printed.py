"""The types of the JSON that commands print with `--json`; `ssdlab schema` prints them.

mypy uses the types to check the outer keys of `compare`, `show`, `plan` and `runs`; tests validate the
documents. `As` gives the JSON type of a dumped model or dataclass. Shares are 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model, with_config
from typing_extensions import TypedDict  # pydantic's own, which it needs below Python 3.12

from ssdlab.analysis.change_points import Change
from ssdlab.analysis.shift import Shift
from ssdlab.drives.guard.signatures import Signature
from ssdlab.library.comparison import Compared, Judged
from ssdlab.library.index import RUN_COLUMNS
from ssdlab.library.ranking import LeftOut, Ranking
from ssdlab.library.trend import Trend
from ssdlab.model.summary import Summary
from ssdlab.results.catalogue_row import Row
from ssdlab.results.kin import Incomparable
from ssdlab.results.qualifiers import Use
from ssdlab.results.records import StepResult
from ssdlab.results.schema import ActualStatus, Manifest, Note, SealState

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

CLOSED = ConfigDict(extra="forbid", use_attribute_docstrings=True)
"""Configuration of document types: no keys other than the named ones."""


@dataclass(frozen=True)
class As:
    """In an annotation, gives the JSON type of a dumped value."""

    of: Any

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.of)


NAMES = {
    "Change": Change,
    "Incomparable": Incomparable,
    "LeftOut": LeftOut,
    "Line": dict[str, JsonValue],
    "Shift": Shift,
}
"""Types that the annotations of dataclasses name, but their modules import only for type checking."""
Dumped = dict[str, Any]
Bounds = Annotated[list[float], As(tuple[float, float])]
"""Lower and upper bound."""


# --- compare ----------------------------------------------------------------------------------------------


class ComparedSide(TypedDict):
    """One of two sets of runs."""

    given: str
    """The runs as the user named them."""
    runs: tuple[str, ...]
    methods: tuple[str, ...]
    drives: tuple[str, ...]
    serials: tuple[str, ...]
    firmwares: tuple[str, ...]
    software: tuple[str, ...]
    """The software that measured the runs."""


@with_config(CLOSED)
class ComparisonDocument(TypedDict):
    """Two sets of runs, figure by figure, and the verdicts of the gate's rules."""

    schema: Literal["ssdlab.compare/1"]
    base: ComparedSide
    new: ComparedSide
    figures: Annotated[list[Dumped], As(list[Compared])]
    only_on_one_side: tuple[str, ...]
    """Names of the figures that only one side has."""
    rules: Annotated[list[Dumped], As(list[Judged])]
    exit_status: int
    """1 if a rule failed, else 2 if one could not be decided, else 0."""


# --- show -------------------------------------------------------------------------------------------------


class QualifiedFigures(TypedDict):
    """The figures of a part that have a qualifier."""

    part: NotRequired[str]
    drive: NotRequired[str]
    figures: list[str]


class QualifiedParts(TypedDict, total=False):
    """A qualifier's figures by part, for a suite only."""

    of: Annotated[list[Dumped], As(list[QualifiedFigures])]


class QualifierEntry(QualifiedParts):
    """A qualifier and the figures that have it."""

    label: str
    sentence: str
    advice: str
    forbids: list[Use]
    figures: list[str]


class RatedFigure(TypedDict):
    """A headline figure and the drive's rating."""

    part: NotRequired[str]
    drive: NotRequired[str]
    figure: str
    value: float | None
    unit: str
    """Unit of `value`."""
    metric: str
    """The rating, with its unit."""
    rated: float
    state: str | None
    source: str
    share: float | None
    """Figure divided by rating; null if there is no rating for the figure's drive state."""


class Remark(TypedDict):
    """A departure or a warning, and the parts that have it."""

    kind: str
    what: str
    parts: list[str]


class DriveFigure(TypedDict):
    """A figure of one drive."""

    value: float | None
    """null if the figure is withheld."""
    state: str
    qualifiers: dict[str, int]
    """Number of runs with each qualifier, by its code."""
    runs: int


class FigureSideBySide(TypedDict):
    """A figure of a part, for each drive."""

    part: str
    figure: str
    label: str
    unit: str
    drives: dict[str, DriveFigure]


class SuiteFacts(TypedDict):
    """Facts that only a suite has; for several drives, also their figures side by side."""

    rated: Annotated[list[Dumped], As(list[RatedFigure])]
    remarks: NotRequired[list[Remark]]
    side_by_side: NotRequired[list[FigureSideBySide]]


class ShownStep(TypedDict):
    """A finished step that counts; ordinals start at 0."""

    ordinal: int
    attempt: int
    verb: str
    label: str
    result: Annotated[Dumped, As(StepResult)]


class VoidedStep(TypedDict):
    """An attempt at a step that does not count, with the reason."""

    ordinal: int
    attempt: int
    label: str
    why: str


class TelemetryFinding(TypedDict):
    """A finding from the drive's own counters, and the steps that show it."""

    says: str
    steps: list[int]


class Telemetry(TypedDict):
    """Findings from the drive's own counters, by step."""

    findings: list[TelemetryFinding]
    changes: dict[str, float]
    """Growth of each counter over the run."""


class ShownNote(Note):
    """A dated note. A suite has the notes of its parts too."""

    part: str = ""
    drive: str = ""


@with_config(CLOSED)
class ShowDocument(SuiteFacts):
    """A run: its manifest with the typed result, steps, voided attempts, notes."""

    schema: Literal["ssdlab.show/1"]
    run: str
    folder: str
    status: ActualStatus
    seal: SealState
    torn_bytes: int
    """Bytes of an incomplete last line of the journal."""
    result: dict[str, JsonValue] | None
    """The result as `ssdlab schema result` describes it; null until the run is finished."""
    qualifiers: dict[str, QualifierEntry]
    manifest: Annotated[Dumped, As(Manifest)]
    steps: list[ShownStep]
    telemetry: Telemetry
    voided: list[VoidedStep]
    notes: Annotated[list[Dumped], As(list[ShownNote])]


# --- runs, rank and changes -------------------------------------------------------------------------------


class Unreadable(TypedDict):
    """An unfinished run that is damaged, or written by a newer ssdlab."""

    run: str
    why: str


_COLUMNS: dict[str, Any] = {
    name: (field.annotation, Field(..., description=field.description))
    for name, field in Row.model_fields.items()
    if name in RUN_COLUMNS
}
RunLine = create_model("RunLine", __doc__="A run, as the catalogue has it.", __config__=CLOSED, **_COLUMNS)


@with_config(CLOSED)
class RunsDocument(TypedDict):
    """The runs of a library, newest first."""

    schema: Literal["ssdlab.runs/1"]
    library: str
    total: int
    """Number of runs that match, listed or not."""
    runs: Annotated[tuple[Dumped, ...], As(list[RunLine])]
    unreadable: list[Unreadable]


class LeftOutEntry(TypedDict):
    """Runs that have the figure but are not comparable with the selected ones."""

    runs: int
    drives: int
    differs: dict[str, tuple[Any, Any]]
    """What differs: the value of these runs, and the value of the selected runs."""
    why: str


@with_config(CLOSED)
class FiguresDocument(TypedDict):
    """The figures that a library has."""

    schema: Literal["ssdlab.rank/1"]
    library: str
    figures: list[str]


def _printed(of: type, schema: str, **others: Any) -> type[BaseModel]:  # noqa: ANN401 - types
    """Return the document type of a dataclass: its fields, some replaced by `others`, library and schema."""
    hints = {**get_type_hints(of, localns=NAMES), **others, "library": str}
    fields: dict[str, Any] = {name: (hint, ...) for name, hint in hints.items()}
    fields["schema_version"] = (Literal[schema], Field(..., alias="schema"))
    return create_model(f"{of.__name__}Document", __doc__=of.__doc__, __config__=CLOSED, **fields)


RankingDocument = _printed(Ranking, "ssdlab.rank/1", left_out=list[LeftOutEntry])
ChangesDocument = _printed(Trend, "ssdlab.changes/1", left_out=list[LeftOutEntry])


# --- measure ----------------------------------------------------------------------------------------------


class MeasurementDocument(Summary):
    """A measurement. Latencies are in ns; a percentile with fewer than ten I/Os beyond it is null."""

    schema_version: Literal["ssdlab.measurement/1"] = Field(alias="schema")
    intervals: list[dict[str, JsonValue]] | None = Field(
        description="of each its begin and length in s, rates, I/Os in flight, and of each direction counts "
        "and latencies in ns; null where they were left out"
    )


# --- plan -------------------------------------------------------------------------------------------------


class Layout(TypedDict):
    """Bytes and time to create and fill a drive's file."""

    bytes: int
    seconds: Bounds


class PlannedStepEntry(TypedDict):
    """A planned step."""

    ordinal: int
    verb: str
    label: str
    seconds: Bounds
    bytes_written: Bounds
    effects: list[str]
    """Commands and writes that reach the drive."""


class PlanTotals(TypedDict):
    """The totals of a plan, as [lower, upper]."""

    schema: Literal["ssdlab.plan/1"]
    seconds: Bounds
    """Time by the drive's clock."""
    real_seconds: Bounds
    bytes_written: Bounds
    left_set: list[dict[str, JsonValue]]
    """Settings that crashed runs left changed on this host."""


class PlanOfOneDrive(PlanTotals):
    """The plan for one drive."""

    drive: str
    layout: Layout
    known_by: list[str]
    """Sources of the drive's estimated speed."""
    endurance_bytes: int | None
    """Rated endurance; null if not known."""
    endurance_share: Bounds | None
    objection: dict[str, JsonValue] | None
    """Why the run would be refused now: an error, as `--json` prints it."""


@with_config(CLOSED)
class PlanDocument(PlanOfOneDrive):
    """The plan of a method on one drive."""

    method: str
    params: dict[str, JsonValue]
    steps: list[PlannedStepEntry]
    wipes: Annotated[list[Dumped], As(list[Signature])]
    """File systems, partition tables and array members that would be lost."""
    cannot_show: list[str]
    """Reasons why steady state cannot be shown."""


class PlannedLine(TypedDict):
    """A line of a plan, for one step or several."""

    step: int
    """Number of the first step, from 1."""
    verb: str
    label: str
    steps: int
    seconds: Bounds
    bytes_written: Bounds


class PlannedPart(TypedDict):
    """The plan of one part of a suite."""

    part: str
    method: str
    state: str
    """Initial drive state."""
    drive: str
    left_out: str | None
    """Why the part is left out on this drive; null if it is not."""
    standing: str | None
    """The run in the library that replaces the part; null if there is none."""
    steps: int
    lines: list[PlannedLine]
    effects: list[str]
    seconds: Bounds | None
    real_seconds: Bounds | None
    bytes_written: Bounds | None
    cannot_show: list[str]


@with_config(CLOSED)
class SuitePlanDocument(PlanOfOneDrive):
    """The plan of a suite on one drive."""

    suite: str
    parts: list[PlannedPart]


@with_config(CLOSED)
class DrivesPlanDocument(PlanTotals):
    """The plan of a suite on several drives."""

    suite: str
    drives: list[SuitePlanDocument]
