"""A user's own sequence of steps, from a TOML file.

Question
    Whatever the file asks. Each `run` step yields a point for each direction; the other steps bring the
    drive into a state or leave it alone.

Procedure
    The steps of the file, in its order. An interrupted `run`, `idle` or `trim` step begins anew on resume; an
    interrupted `fill` goes on where it stopped.

Source
    The file, which is kept with the result.

What it cannot show
    That the drive was in the state that the figures need: nothing here proves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.lab import kinds
from ssdlab.lab.job_steps import (
    MEASURED,
    FillStep,
    IdleStep,
    JobStep,
    LimitStep,
    NoteStep,
    PurgeStep,
    SettingsStep,
    TrimStep,
    read_steps,
)
from ssdlab.lab.method import Method, Params, RunData, param
from ssdlab.lab.parts.points import point_of
from ssdlab.lab.verbs.conditions import Conditions
from ssdlab.results.schema import JobResult
from ssdlab.results.warned_steps import label_in_job

if TYPE_CHECKING:
    from ssdlab.lab.lab import Lab
    from ssdlab.results.run_folder import RunFolder, Step
    from ssdlab.results.schema import Point


class JobParams(Params):
    """The steps of a job."""

    steps: tuple[JobStep, ...] = param((), "the steps, in order", min_length=1)


def read_job(text: str, name: str) -> JobParams:
    """Read a job from TOML text; `name` is that of its file, for messages."""
    return JobParams(steps=read_steps(text, name))


def procedure(lab: Lab, p: JobParams) -> None:
    """Do the steps in order."""
    lab.do(Conditions(required={}), label="conditions")  # of the run, and no step of the file
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
    """Make a point of each direction of each run step."""
    del p
    points: list[Point] = []
    for step in data.steps:
        if step.verb in MEASURED and step.result.measurement is not None:
            points += _points(step)
    return JobResult(quick=False, points=tuple(points))


def _points(step: Step) -> list[Point]:
    used = [name for name, side in step.measured.sides.items() if side.requested]
    return [
        point_of(step, direction=name, label=step.label if len(used) == 1 else f"{step.label}, {name}s")
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
    """Return a point for each direction of each measured step that is finished.

    It is no result of the method: a sweep that ends half-way has no peak.
    """
    manifest = run.manifest
    data = RunData(
        tuple(run.steps()), manifest.drive.capacity_bytes, manifest.drive.logical_block_bytes, manifest.quick
    )
    return conclude(data, JobParams.model_construct(steps=()))
