"""What commands print with `--json`, as types: mypy holds commands to them, `ssdlab schema` tells of them.

What was dumped from a model or a dataclass has its shape (`As`). Shares are 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model, with_config
from typing_extensions import TypedDict

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
"""A document has no key beyond these."""


@dataclass(frozen=True)
class As:
    """In an annotation: of what type in JSON the value is that was dumped."""

    of: Any

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of that type."""
        return handler.generate_schema(self.of)


NAMES = {
    "Change": Change,
    "Columns": dict[str, JsonValue],
    "Incomparable": Incomparable,
    "LeftOut": LeftOut,
    "Shift": Shift,
}
"""What annotations of dataclasses name that their modules import for them alone."""
Dumped = dict[str, Any]
Bounds = Annotated[list[float], As(tuple[float, float])]
"""Lower and upper."""


# --- compare ----------------------------------------------------------------------------------------------


class ComparedSide(TypedDict):
    """One of two sets of runs."""

    given: str
    """As it was named."""
    runs: tuple[str, ...]
    methods: tuple[str, ...]
    drives: tuple[str, ...]
    serials: tuple[str, ...]
    firmwares: tuple[str, ...]
    software: tuple[str, ...]
    """What measured the runs."""


@with_config(CLOSED)
class ComparisonDocument(TypedDict):
    """Two sets of runs, figure by figure, and what the rules of a gate made of it."""

    schema: Literal["ssdlab.compare/1"]
    base: ComparedSide
    new: ComparedSide
    figures: Annotated[list[Dumped], As(list[Compared])]
    only_on_one_side: tuple[str, ...]
    """Names of figures."""
    rules: Annotated[list[Dumped], As(list[Judged])]
    exit_status: int
    """1 if a rule failed, else 2 if one could not be decided, else 0."""


# --- show -------------------------------------------------------------------------------------------------


class QualifiedFigures(TypedDict):
    """Which figures of a part have a qualifier."""

    part: NotRequired[str]
    drive: NotRequired[str]
    figures: list[str]


class QualifiedParts(TypedDict, total=False):
    """Of a suite alone."""

    of: Annotated[list[Dumped], As(list[QualifiedFigures])]


class QualifierEntry(QualifiedParts):
    """A qualifier, by its code, and which figures have it."""

    label: str
    sentence: str
    advice: str
    forbids: list[Use]
    figures: list[str]


class RatedFigure(TypedDict):
    """A headline figure beside what the drive is rated for."""

    part: NotRequired[str]
    drive: NotRequired[str]
    figure: str
    value: float | None
    unit: str
    """Of the value."""
    metric: str
    """What is rated, with its unit."""
    rated: float
    state: str | None
    source: str
    share: float | None
    """Figure / rating; null: no rating is of the figure's drive state."""


class Remark(TypedDict):
    """A departure or a warning, and the parts that it is of."""

    kind: str
    what: str
    parts: list[str]


class DriveFigure(TypedDict):
    """What one drive has of a figure."""

    value: float | None
    """null: it is withheld."""
    state: str
    qualifiers: dict[str, int]
    """By code, in how many of the runs."""
    runs: int


class FigureSideBySide(TypedDict):
    """A figure of a part, by drive."""

    part: str
    figure: str
    label: str
    unit: str
    drives: dict[str, DriveFigure]


class SuiteFacts(TypedDict):
    """What is told of a suite alone; of several drives with their figures side by side."""

    rated: Annotated[list[Dumped], As(list[RatedFigure])]
    remarks: NotRequired[list[Remark]]
    side_by_side: NotRequired[list[FigureSideBySide]]


class ShownStep(TypedDict):
    """A finished step that counts; ordinals are from 0."""

    ordinal: int
    attempt: int
    verb: str
    label: str
    result: Annotated[Dumped, As(StepResult)]


class VoidedStep(TypedDict):
    """An attempt that does not count, with the reason."""

    ordinal: int
    attempt: int
    label: str
    why: str


class TelemetryFinding(TypedDict):
    """What the drive's own counters say, and in which steps."""

    says: str
    steps: list[int]


class Telemetry(TypedDict):
    """What the drive's own counters say of the steps."""

    findings: list[TelemetryFinding]
    changes: dict[str, float]
    """By counter, how much it grew over the run."""


class ShownNote(Note):
    """A dated note; of a suite also those of its parts."""

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
    """Of a journal line that a kill has cut short."""
    result: dict[str, JsonValue] | None
    """As `ssdlab schema result` has it; null until the run is finished."""
    qualifiers: dict[str, QualifierEntry]
    manifest: Annotated[Dumped, As(Manifest)]
    steps: list[ShownStep]
    telemetry: Telemetry
    voided: list[VoidedStep]
    notes: Annotated[list[Dumped], As(list[ShownNote])]


# --- runs, rank and changes -------------------------------------------------------------------------------


class Unreadable(TypedDict):
    """A run without an end that is damaged, or that a newer ssdlab wrote."""

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
    """How many there are of those that were asked for."""
    runs: Annotated[tuple[Dumped, ...], As(list[RunLine])]
    unreadable: list[Unreadable]


class LeftOutEntry(TypedDict):
    """Runs that have the figure and are not like those that were looked at."""

    runs: int
    drives: int
    differs: dict[str, tuple[Any, Any]]
    """By what they differ in: theirs, and ours."""
    why: str


@with_config(CLOSED)
class FiguresDocument(TypedDict):
    """The figures that a library has."""

    schema: Literal["ssdlab.rank/1"]
    library: str
    figures: list[str]


def _printed(of: type, schema: str, **others: Any) -> type[BaseModel]:  # noqa: ANN401 - types
    """Return what is printed of a dataclass: its fields, `others` in their place, and whence they are."""
    hints = {**get_type_hints(of, localns=NAMES), **others, "library": str}
    fields: dict[str, Any] = {name: (hint, ...) for name, hint in hints.items()}
    fields["schema_version"] = (Literal[schema], Field(..., alias="schema"))
    return create_model(f"{of.__name__}Document", __doc__=of.__doc__, __config__=CLOSED, **fields)


RankingDocument = _printed(Ranking, "ssdlab.rank/1", left_out=list[LeftOutEntry])
ChangesDocument = _printed(Trend, "ssdlab.changes/1", left_out=list[LeftOutEntry])


# --- measure ----------------------------------------------------------------------------------------------


class MeasurementDocument(Summary):
    """What was measured: latencies in ns, null for a percentile with fewer than ten I/Os beyond it."""

    schema_version: Literal["ssdlab.measurement/1"] = Field(alias="schema")
    intervals: list[dict[str, JsonValue]] | None = Field(
        description="of each its begin and length in s, rates, I/Os in flight, and of each direction counts "
        "and latencies in ns; null where they were left out"
    )


# --- plan -------------------------------------------------------------------------------------------------


class Layout(TypedDict):
    """What making the file of a drive takes."""

    bytes: int
    seconds: Bounds


class PlannedStepEntry(TypedDict):
    """A step that a run would do."""

    ordinal: int
    verb: str
    label: str
    seconds: Bounds
    bytes_written: Bounds
    effects: list[str]
    """What would reach the drive."""


class PlanTotals(TypedDict):
    """The sums of a plan, as [lower, upper]."""

    schema: Literal["ssdlab.plan/1"]
    seconds: Bounds
    """By the drive's clock."""
    real_seconds: Bounds
    bytes_written: Bounds
    left_set: list[dict[str, JsonValue]]
    """Settings that runs which died have left on this host."""


class PlanOfOneDrive(PlanTotals):
    """What is planned for one drive."""

    drive: str
    layout: Layout
    known_by: list[str]
    """Where the drive's pace is taken from."""
    endurance_bytes: int | None
    """Rated; null: not known."""
    endurance_share: Bounds | None
    objection: dict[str, JsonValue] | None
    """Why the run would be refused as things stand: an error, as `--json` prints it."""


@with_config(CLOSED)
class PlanDocument(PlanOfOneDrive):
    """What a method would do on a drive."""

    method: str
    params: dict[str, JsonValue]
    steps: list[PlannedStepEntry]
    wipes: Annotated[list[Dumped], As(list[Signature])]
    """File systems and the like that would be lost."""
    cannot_show: list[str]
    """Which steady state surely will not be shown, and why."""


class PlannedLine(TypedDict):
    """A line of a plan: a step, or several that it stands for."""

    step: int
    """The number of its first, from 1."""
    verb: str
    label: str
    steps: int
    seconds: Bounds
    bytes_written: Bounds


class PlannedPart(TypedDict):
    """What a part of a suite would do."""

    part: str
    method: str
    state: str
    """Drive state that it begins in."""
    drive: str
    left_out: str | None
    """Why it is not done on this drive."""
    standing: str | None
    """The run that stands in the library for it."""
    steps: int
    lines: list[PlannedLine]
    effects: list[str]
    seconds: Bounds | None
    real_seconds: Bounds | None
    bytes_written: Bounds | None
    cannot_show: list[str]


@with_config(CLOSED)
class SuitePlanDocument(PlanOfOneDrive):
    """What a suite would do on a drive."""

    suite: str
    parts: list[PlannedPart]


@with_config(CLOSED)
class DrivesPlanDocument(PlanTotals):
    """What a suite would do on several drives."""

    suite: str
    drives: list[SuitePlanDocument]
