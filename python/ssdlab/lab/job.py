"""A user's own sequence of steps, from a TOML file.

Question
    Whatever the file asks. Each `run` step yields a point per direction; other steps bring the drive into a
    state or leave it idle.

Procedure
    The steps of the file, in its order. On resume, an interrupted `run`, `idle` or `trim` step starts again;
    a `fill` continues where it stopped.

Source
    The file, which is kept with the result.

What it cannot show
    Whether the drive was in the state that the figures need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, JsonValue, create_model, field_validator, model_validator

from ssdlab.drives.purge import PurgeMethodName, check_method
from ssdlab.drives.settings.finding import NAMES, check_wanted
from ssdlab.host.documents import parse_toml
from ssdlab.lab import kinds
from ssdlab.lab.method import Method, Params, RunData, Seconds, param
from ssdlab.lab.parts.points import flushes_of, point_of
from ssdlab.lab.verbs.drive_state import Conditions
from ssdlab.model.errors import LabError, UsageError, unknown
from ssdlab.model.frozen import Bytes, Frozen
from ssdlab.model.limits import STEPS
from ssdlab.model.pattern import AnySpan, Span
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import FILL_BLOCK_BYTES, Stream, Workload
from ssdlab.results.metric import labelled
from ssdlab.results.remarks import label_in_job
from ssdlab.results.schema import JobResult

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from ssdlab.formats.fio.stages import Stage
    from ssdlab.lab.lab import Lab
    from ssdlab.results.run_folder import RunFolder, Step
    from ssdlab.results.schema import Point

_AS_TEXT = BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)
"""Converts a number to text, as TOML files may write a setting as a number."""
_STREAMS = "streams"
_NOT_IN_STEPS = (
    *("precondition", "spare", "allow_unwritten", "log_ios", "numa", "save", "library", "meter"),
    *("size", "destroy", "wipe_signatures", "endurance_cap"),
)
"""Options of `ssdlab measure` that a step cannot have: they mean nothing there, or apply to the whole job."""
_STEP = re.compile(r"^[ \t]*\[\[[ \t]*step[ \t]*\]\]", re.MULTILINE)


class BareStep(Frozen):
    """A step without options."""


class FillStep(Frozen):
    """Options of a fill step."""

    noun: ClassVar[str] = "fill step"

    passes: int = Field(1, ge=1, le=100, description="number of times to write the whole span")
    bs: Bytes = Field(FILL_BLOCK_BYTES, ge=512, description="block size")
    depth: int = Field(1, ge=1, le=1024, description="I/Os in flight; io_uring if above 1")
    unless_written: bool = Field(False, description="skip it if every byte is known to be written")


class IdleStep(Frozen):
    """Options of an idle step."""

    noun: ClassVar[str] = "idle step"

    seconds: Seconds = Field(ge=0, description="how long: 10, 90s, 5min")


class LimitStep(Frozen):
    """Options of a limit step."""

    noun: ClassVar[str] = "limit step"

    size: Bytes = Field(gt=0, description="bytes from the start of the drive to use from here on")


class NoteStep(Frozen):
    """Options of a note step."""

    noun: ClassVar[str] = "note step"

    text: str = Field(min_length=1, description="the text to record")


class PurgeStep(Frozen):
    """Options of a purge step."""

    noun: ClassVar[str] = "purge step"

    method: PurgeMethodName | None = Field(None, description="purge method; by default the drive's strongest")

    @field_validator("method", mode="before")
    @classmethod
    def _known(cls, method: object) -> object:
        return None if method is None else check_method(str(method))


class TrimStep(Frozen):
    """Options of a trim step."""

    noun: ClassVar[str] = "trim step"

    span: AnySpan = Field(Span(), description="what to discard: 0..25%, 1GiB..2GiB; by default everything")


class SettingsStep(Frozen):
    """Base class of `ConditionsStep`, which has a field for each setting."""

    noun: ClassVar[str] = "conditions step"

    @model_validator(mode="after")
    def _could_be(self) -> Self:
        for name, wanted in self.model_dump(exclude_none=True).items():
            check_wanted(name, wanted)
        return self


_SETTINGS: dict[str, Any] = {
    name: (Annotated[str | None, _AS_TEXT], Field(None, description=what)) for name, what in NAMES.items()
}
ConditionsStep = create_model(
    "ConditionsStep",
    __base__=SettingsStep,
    __doc__="Options of a conditions step: any setting, as text or number.",
    **_SETTINGS,
)
_OPTIONS: dict[str, type[Frozen]] = {
    "conditions": ConditionsStep,
    "purge": PurgeStep,
    "fill": FillStep,
    "idle": IdleStep,
    "trim": TrimStep,
    "flush": BareStep,
    "limit": LimitStep,
    "note": NoteStep,
}
MEASURED = ("run", "precondition")
"""Steps that have a workload."""
VERBS = (*MEASURED, *_OPTIONS)


class JobStep(Frozen):
    """One `[[step]]` table: the verb, a label, and options."""

    do: str = Field(description="what the step does: " + ", ".join(VERBS))
    label: str = Field("", description="what reports call it")
    options: dict[str, JsonValue] = Field({}, description="for run steps: the options of ssdlab measure")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.do not in VERBS:
            raise unknown("step", self.do, VERBS)
        if self.do in MEASURED:
            self.workload()
            return self
        known = _OPTIONS[self.do]
        if odd := next((name for name in self.options if name not in known.model_fields), None):
            raise unknown(f"option of a {self.do} step", odd, known.model_fields)
        known.model_validate(self.options)
        return self

    @property
    def asked(self) -> Frozen:
        """The checked options of a step without a workload."""
        return _OPTIONS[self.do].model_validate(self.options)

    @property
    def writes(self) -> bool:
        """Whether the step changes data on the drive."""
        if self.do in MEASURED:
            return self.workload().changes_data
        return self.do in ("purge", "fill", "trim") or (
            self.do == "conditions" and "lba_format" in self.options
        )

    def workload(self) -> Workload:
        """Return the workload of a run step. By default it has the lab's seed and span."""
        return self._made

    @cached_property
    def _made(self) -> Workload:
        from ssdlab.model.options import MeasureOptions

        options: dict[str, Any] = dict(self.options)
        if _STREAMS in options:  # a stage of a fio job file
            return Workload.model_validate(options)
        if wrong := next((name for name in options if name in _NOT_IN_STEPS), None):
            raise UsageError(f"a run step has no {wrong}", "give it for the whole job, or in a separate step")
        asked = MeasureOptions(**options).workload()
        (stream,) = asked.streams
        left_out = set() if "span" in options else {"span"}
        plain = {
            name: getattr(stream, name) for name in Stream.model_fields if name not in left_out | {"name"}
        }
        fields: dict[str, Any] = {"interval_ns": asked.interval_ns, "ramp_ns": asked.ramp_ns}
        if "seed" in options:
            fields["seed"] = asked.seed
        return Workload.of(Stream(**plain), **fields)


def step_options() -> dict[str, dict[str, FieldInfo]]:
    """Return the options of each kind of step, without `do` and `label`."""
    from ssdlab.model.options import MeasureOptions

    measured = {field.alias or name: field for name, field in MeasureOptions.model_fields.items()}
    own = {name: field for name, field in measured.items() if name not in _NOT_IN_STEPS}
    return dict.fromkeys(MEASURED, own) | {do: model.model_fields for do, model in _OPTIONS.items()}


def step_keys() -> frozenset[str]:
    """Return the option names of all kinds of step, without `do` and `label`."""
    return frozenset(name for options in step_options().values() for name in options)


def read_steps(text: str, name: str) -> tuple[JobStep, ...]:
    """Read the steps of a job from TOML text: `[[step]]` tables with `do`, optional `label`, and options.

    Raises
    ------
    UsageError
        The text is not TOML, has no steps, or has an unknown step or option; the error suggests the nearest
        name.
    Refused
        This version cannot do one of the steps.
    """
    stored = parse_toml(text, name)
    if other := next((key for key in stored if key != "step"), None):
        raise unknown("table", other, ("step",), elsewhere="a job is a list of [[step]] tables")
    listed = stored.get("step")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{name} has no steps", "add [[step]] tables, each with do = ...")
    if len(listed) > STEPS:
        raise UsageError(
            f"{name} has {len(listed)} steps, more than {STEPS}",
            "merge steps, or split the job",
            steps=len(listed),
        )
    lines = _lines(text, len(listed))
    steps = []
    for number, table in enumerate(listed, start=1):
        if not isinstance(table, dict) or "do" not in table:
            raise UsageError(
                f"step {number} of {name}{lines(number)} does not say what to do", 'add a line: do = "run"'
            )
        options = {key.replace("-", "_"): v for key, v in table.items() if key not in ("do", "label")}
        if _STREAMS in options:
            raise UsageError(
                f"step {number} of {name}{lines(number)} has streams, which only fio job files can have",
                "give the options of ssdlab measure, or a job file of fio",
            )
        try:
            steps.append(JobStep(do=table["do"], label=str(table.get("label", "")), options=options))
        except LabError as error:
            error.what = f"step {number} of {name}{lines(number)}: {error.what}"
            error.facts["step"] = number
            raise
    return tuple(steps)


def _lines(text: str, steps: int) -> Callable[[int], str]:
    """Return a function that gives a step's line in the file, as text for messages.

    The text is empty if not every `[[step]]` starts a line.
    """
    found, line, seen = [], 1, 0
    for match in _STEP.finditer(text):
        line, seen = line + text.count("\n", seen, match.start()), match.start()
        found.append(line)
    return lambda number: f" (line {found[number - 1]})" if len(found) == steps else ""


class JobParams(Params):
    """The steps of a job."""

    steps: tuple[JobStep, ...] = param((), "the steps, in order", min_length=1)


def read_job(text: str, name: str) -> JobParams:
    """Read a job from TOML text; `name` is the file's name, for messages."""
    return JobParams(steps=read_steps(text, name))


def steps_of_fio(stages: Sequence[Stage], remarks: Sequence[str]) -> JobParams:
    """Return the steps of a fio job file: a note, then the idle time, run and flush of each stage."""
    steps = [JobStep(do="note", options={"text": "; ".join(remarks)})] if remarks else []
    for stage in stages:
        if stage.rest_ns:
            steps.append(JobStep(do="idle", options={"seconds": stage.rest_ns / NS_PER_S}))
        workload = stage.workload.model_dump(mode="json", include=stage.workload.model_fields_set)
        workload[_STREAMS] = [_asked_of(stream) for stream in stage.workload.streams]
        steps.append(JobStep(do="run", label=stage.label, options=workload))
        if stage.flush:
            steps.append(JobStep(do="flush"))
    return JobParams(steps=tuple(steps))


def _asked_of(stream: Stream) -> dict[str, JsonValue]:
    """Return the options of a stream that differ from the defaults."""
    usual = Stream().model_dump(mode="json")  # lacks the fields that are stored only if set
    asked = stream.model_dump(mode="json")
    return {name: value for name, value in asked.items() if name not in usual or value != usual[name]}


def procedure(lab: Lab, p: JobParams) -> None:
    lab.do(Conditions(required={}), label="conditions")  # a step of the run, not of the file
    for number, step in enumerate(p.steps, start=1):
        _do(lab, step, step.label or label_in_job(number, step.do))


def _do(lab: Lab, step: JobStep, label: str) -> None:
    if step.do == "run":
        lab.run(step.workload(), label=label)
        return
    if step.do == "precondition":
        lab.precondition(step.workload(), label=label)
        return
    match step.asked:
        case FillStep() as fill:
            lab.fill(
                passes=fill.passes, block_bytes=fill.bs, depth=fill.depth, unless_written=fill.unless_written
            )
        case IdleStep(seconds=seconds):
            lab.idle(seconds, label=label)
        case LimitStep(size=size):
            lab.limit(size)
        case SettingsStep() as settings:
            lab.conditions(**settings.model_dump(exclude_none=True))
        case NoteStep(text=text):
            lab.note(text)
        case PurgeStep(method=method):
            lab.purge(method=method, label=label)
        case TrimStep(span=span):
            used, unit = lab.usable_bytes, lab.logical_block_bytes
            start, length = span.resolve(used, unit, unit)
            lab.trim(start=start, length=length, label=label)
        case _:
            lab.flush()


def conclude(data: RunData, p: JobParams) -> JobResult:
    """Return a point for each direction of each run step."""
    del p
    measured = [step for step in data.steps if step.verb in MEASURED and step.result.measurement is not None]
    return JobResult(
        quick=False,
        points=tuple(point for step in measured for point in _points(step)),
        flushes=tuple(found for step in measured if (found := flushes_of(step)) is not None),
    )


def _points(step: Step) -> list[Point]:
    used = [name for name, side in step.measured.sides.items() if side.requested]
    cached = "" if all(stream.direct for stream in step.ran.streams) else "buffered"
    return [
        point_of(
            step,
            direction=name,
            label=labelled(step.label if len(used) == 1 else f"{step.label}, {name}s", cached),
        )
        for name in used
    ]


METHOD = Method(
    name="job",
    version=1,
    title="Job",
    params=JobParams,
    procedure=procedure,
    conclude=conclude,
    own_steps=1,
    result=kinds.JOB,
    writes=lambda p: any(step.writes for step in p.steps),
)


def finished_steps(run: RunFolder) -> JobResult:
    """Return a point for each direction of each finished, measured step.

    It stands in for the method's result while a run is unfinished: half a sweep, for example, has no peak.
    """
    manifest = run.manifest
    data = RunData(
        tuple(run.steps()), manifest.drive.capacity_bytes, manifest.drive.logical_block_bytes, manifest.quick
    )
    return conclude(data, JobParams.model_construct(steps=()))
