"""A plan as lines and as JSON: a line for each step, search or kind of step in a round; totals of a suite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Final

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_fields, print_line, print_table, say
from ssdlab.cli.progress import bytes_text, range_text
from ssdlab.lab.verbs.drive_state import StepGroup
from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.model import units
from ssdlab.model.units import and_listed
from ssdlab.results.qualifiers import UNKNOWN, kind_of
from ssdlab.results.store import short_id
from ssdlab.runs.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ssdlab.cli.printed import PlannedLine, PlannedPart, SuitePlanDocument
    from ssdlab.runs.plan import PlannedStep
    from ssdlab.runs.suites.ordering import PlannedChild, SuiteOrder
    from ssdlab.runs.suites.suite_plan import SuitePlan

_TO_STEADY = "precondition"


def seconds_text(bounds: Bounds) -> str:
    return range_text(bounds.lower, bounds.upper)


def writes_text(bounds: Bounds) -> str:
    """Return a range of bytes written; empty for none."""
    return bytes_text(bounds.lower, bounds.upper)


def times_of(planned: Plan | SuitePlan, beside: int = 1) -> Iterator[tuple[str, str]]:
    """Yield the times of a plan with their names; a simulated drive has a drive time and a real time.

    `beside` is the number of parts that run at a time.
    """
    if planned.keeps_time:
        yield "drive time", seconds_text(planned.seconds)
        together = f", {beside} parts at a time" if beside > 1 else ""
        yield "real time", seconds_text(planned.real_seconds) + together
    else:
        yield "time", seconds_text(planned.seconds)


def steady_text(planned: Plan | SuitePlan) -> str:
    """Return the maximum time of preconditioning that stops at steady state; empty without such a step."""
    plans = (planned,) if isinstance(planned, Plan) else planned.plans
    steps = [step for plan in plans for step in plan.steps if step.verb == _TO_STEADY]
    longest = sum(step.seconds.upper for step in steps if step.seconds.lower < step.seconds.upper / 2)
    if not longest:
        return ""
    return f"at most {units.span_text(longest)}, stops when steady"


def cannot_show_text(planned: Plan | SuitePlan) -> str:
    """Return which figures cannot be shown to be in steady state, and why; empty if none.

    For a suite, the text names its parts.
    """
    parts: dict[str, list[str]] = {}
    plans = [("", planned)] if isinstance(planned, Plan) else planned.by_part
    for part, plan in plans:
        for why in plan.cannot_show:
            parts.setdefault(why, []).append(part)
    of = (f" of {and_listed(names)}" if any(names) else "" for names in parts.values())
    return "; ".join(f"steady state{names}: {why}" for names, why in zip(of, parts, strict=True))


def say_what_cannot_be_shown(planned: Plan | SuitePlan) -> None:
    """Print `cannot_show_text` before a run, unless it is empty."""
    if text := cannot_show_text(planned):
        say(f"this run cannot show {text}; its figures are marked {kind_of(UNKNOWN).label}")


def known_by_text(sources: Sequence[str]) -> str:
    return ", ".join(sources) or "the bounds cover any drive, as nothing is known about this one"


def endurance_text(planned: Plan | SuitePlan) -> str:
    """Return the share of the rated endurance that is written; without a rating, what limits the writes."""
    written, rated = planned.bytes_written, planned.endurance_bytes
    if rated is None and planned.keeps_time:
        return "not counted (simulated drive)"
    if rated is None:
        unknown = "share unknown: the drive has no rating on record"
        if planned.cap_bytes is None:
            return f"{unknown}, and no cap ends the run"
        if written.upper <= planned.cap_bytes:
            return unknown
        cap = units.capacity_text(planned.cap_bytes)
        return f"{unknown}; the run ends after {cap} unless --endurance-cap allows more, such as 200TB"
    shares = units.ends_text(units.share_text(written.lower / rated), units.share_text(written.upper / rated))
    return f"{shares} of the rated {units.capacity_text(rated)}"


STEPS_OF_A_TRY = 4
"""Maximum steps of one try in a search, such as rest or fill, load, verdict."""
TRIES_IN_ONE = 5
"""Minimum tries that are summarised in one line; the steps of fewer tries have a line each."""
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class PlanLine:
    """One line of a plan, for one step or several.

    Attributes
    ----------
    number
        Number of the first step, from 1.
    verb
        Verb of the first step.
    seconds, bytes_written
        Totals of the steps. The time is by the drive's clock: only a plan's totals have the host's time.
    """

    number: int
    verb: str
    label: str
    steps: int
    seconds: Bounds
    bytes_written: Bounds

    def as_dict(self) -> PlannedLine:
        return {
            "step": self.number,
            "verb": self.verb,
            "label": self.label,
            "steps": self.steps,
            "seconds": [self.seconds.lower, self.seconds.upper],
            "bytes_written": [self.bytes_written.lower, self.bytes_written.upper],
        }


def lines_of(steps: Sequence[PlannedStep]) -> list[PlanLine]:
    """Return a line for each step or search, and in rounds a line for each kind of step."""
    first = next((at for at, step in enumerate(steps) if step.verb == StepGroup.verb), len(steps))
    rounds = (line for group in _groups(steps[first:]) for line in _round(group))
    return [*_searched(steps[:first]), *rounds]


def _round(steps: Sequence[PlannedStep]) -> Iterator[PlanLine]:
    for name, group in groupby(steps, key=lambda step: step.label.rpartition(", ")[0]):
        several = list(group)
        if name and len(several) > 1:
            yield _line(several, name)
        else:
            yield from (_line([step], step.label) for step in several)


def _searched(steps: Sequence[PlannedStep]) -> Iterator[PlanLine]:
    """Yield a line per search, and a line per step outside a search."""
    at = 0
    while at < len(steps):
        count = _tries(steps[at:])
        several = steps[at : at + max(1, count)]
        yield _line(several, _label_of_tries(several) if count else several[0].label)
        at += len(several)


def _tries(steps: Sequence[PlannedStep]) -> int:
    """Return how many of the first steps belong to one search; 0 for none.

    Each step of a search can be skipped or end at once. The labels of its tries differ only in numbers.
    """
    possible = list(takewhile(lambda step: step.seconds.lower == 0, steps))
    likes = [_like(step) for step in possible]
    period = next((each for each in range(1, STEPS_OF_A_TRY + 1) if likes[each : each + 1] == likes[:1]), 0)
    if not period:
        return 0
    same = takewhile(lambda at: likes[at] == likes[at % period], range(len(likes)))
    count = sum(1 for _ in same) // period
    return count * period if count >= TRIES_IN_ONE else 0


def _label_of_tries(steps: Sequence[PlannedStep]) -> str:
    """Return the label of a search: its first and last labels, which differ in a number."""
    named = next((step for step in steps if _FIGURE.search(step.label)), steps[0])
    last = next(step.label for step in reversed(steps) if _like(step) == _like(named))
    return named.label if last == named.label else f"{named.label} ... {last}"


def _like(step: PlannedStep) -> str:
    return _FIGURE.sub("#", step.label)


def _groups(steps: Sequence[PlannedStep]) -> Iterator[Sequence[PlannedStep]]:
    """Yield the steps after each `StepGroup` mark, up to the next mark."""
    begun = [at for at, step in enumerate(steps) if step.verb == StepGroup.verb]
    for at, after in pairwise([*begun, len(steps)]):
        yield [step for step in steps[at:after] if step.verb != StepGroup.verb]


def _line(steps: Sequence[PlannedStep], label: str) -> PlanLine:
    return PlanLine(
        steps[0].ordinal + 1,
        steps[0].verb,
        label,
        len(steps),
        sum((step.drive_seconds for step in steps), NOTHING),
        sum((step.bytes_written for step in steps), NOTHING),
    )


PLAN_SCHEMA: Final = "ssdlab.plan/1"


def print_suite_plan(several: SuiteOrder, planned: SuitePlan) -> None:
    """Print a line for each run of a suite, and the totals."""
    rows = [_row(each, several.drive, keeps_time=planned.keeps_time) for each in planned.children]
    times = ("drive time", "real time") if planned.keeps_time else ("time",)
    print_table(rows, ("part", "begins", "steps", *times, "writes", ""), right=(2,))
    layout = f"{units.capacity_text(planned.preparation_bytes)}, create and fill the file"
    print_fields(
        [
            ("layout", layout if planned.preparation_bytes else None),
            *times_of(planned, planned.at_once),
            ("based on", known_by_text(planned.known_by)),
            ("writes", writes_text(planned.bytes_written) or "nothing"),
            ("preconditioning", steady_text(planned)),
            ("cannot show", cannot_show_text(planned)),
            ("endurance", endurance_text(planned)),
        ]
    )


def _row(each: PlannedChild, drive: str, *, keeps_time: bool) -> tuple[object, ...]:
    blank = ("",) * (2 if keeps_time else 1)
    if each.plan is None:
        stands = f"in the library: {short_id(each.child.run_id)}"
        why = stands if each.child.standing else f"left out: {each.child.left_out}"
        return (each.child.part, each.child.state, "", *blank, "", why)
    plan = each.plan
    times = (plan.seconds, plan.real_seconds) if keeps_time else (plan.seconds,)
    return (
        each.child.part,
        each.child.state,
        len(plan.steps),
        *(seconds_text(each) for each in times),
        writes_text(plan.bytes_written),
        "" if each.child.drive == drive else f"on {each.child.drive}",
    )


def print_suite_effects(planned: SuitePlan) -> None:
    """Print the commands and writes that reach the drive in each run."""
    for each in planned.children:
        print_line()
        print_line(f"what reaches the drive in {each.child.part}", "dim")
        for step in () if each.plan is None else each.plan.steps:
            for effect in step.effects:
                print_line(f"{step.ordinal + 1:>4} {effect}")


def suite_plan_as_json(several: SuiteOrder, planned: SuitePlan) -> SuitePlanDocument:
    """Return a suite's plan as JSON, schema ssdlab.plan/1; times in seconds, as [lower, upper]."""
    written, rated = planned.bytes_written, planned.endurance_bytes
    shares = None if rated is None else [written.lower / rated, written.upper / rated]
    return {
        "schema": PLAN_SCHEMA,
        "suite": several.suite.name,
        "drive": several.drive,
        "parts": [_part_as_json(each) for each in planned.children],
        "layout": {
            "bytes": planned.preparation_bytes,
            "seconds": [planned.preparation.lower, planned.preparation.upper],
        },
        "seconds": [planned.seconds.lower, planned.seconds.upper],
        "real_seconds": [planned.real_seconds.lower, planned.real_seconds.upper],
        "known_by": list(planned.known_by),
        "bytes_written": [written.lower, written.upper],
        "endurance_bytes": rated,
        "endurance_share": shares,
        "objection": None if planned.objection is None else planned.objection.as_dict(),
        "left_set": left_set(),
    }


def _part_as_json(each: PlannedChild) -> PlannedPart:
    plan = each.plan
    return {
        "part": each.child.part,
        "method": each.child.method,
        "state": each.child.state,
        "drive": each.child.drive,
        "left_out": each.child.left_out,
        "standing": each.child.run_id if each.child.standing else None,
        "steps": 0 if plan is None else len(plan.steps),
        "lines": [] if plan is None else [line.as_dict() for line in lines_of(plan.steps)],
        "effects": [] if plan is None else [effect for step in plan.steps for effect in step.effects],
        "seconds": None if plan is None else [plan.seconds.lower, plan.seconds.upper],
        "real_seconds": None if plan is None else [plan.real_seconds.lower, plan.real_seconds.upper],
        "bytes_written": None if plan is None else [plan.bytes_written.lower, plan.bytes_written.upper],
        "cannot_show": [] if plan is None else list(plan.cannot_show),
    }
