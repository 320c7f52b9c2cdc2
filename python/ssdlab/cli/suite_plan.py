"""What a suite would do, in lines and as JSON: its runs, and their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_fields, print_line, print_table
from ssdlab.cli.plan_lines import lines_of
from ssdlab.cli.plan_texts import (
    endurance_text,
    known_by_text,
    seconds_text,
    steady_text,
    times_of,
    writes_text,
)
from ssdlab.model import units
from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from ssdlab.runs.suites.ordering import PlannedChild, SuiteOrder
    from ssdlab.runs.suites.suite_plan import SuitePlan

PLAN_SCHEMA = "ssdlab.plan/1"


def print_suite_plan(several: SuiteOrder, planned: SuitePlan) -> None:
    """Print what each run of a suite will do, a line for each, and the sums."""
    rows = [_row(each, several.drive, keeps_time=planned.keeps_time) for each in planned.children]
    times = ("drive time", "real time") if planned.keeps_time else ("time",)
    print_table(rows, ("part", "begins", "steps", *times, "writes", ""), right=(2,))
    layout = f"{units.capacity_text(planned.preparation_bytes)}, the file is made and written"
    print_fields(
        [
            ("layout", layout if planned.preparation_bytes else None),
            *times_of(planned, planned.at_once),
            ("known by", known_by_text(planned.known_by)),
            ("writes", writes_text(planned.bytes_written) or "nothing"),
            ("steady state", steady_text(planned)),
            ("endurance", endurance_text(planned)),
        ]
    )


def _row(each: PlannedChild, drive: str, *, keeps_time: bool) -> tuple[object, ...]:
    blank = ("",) * (2 if keeps_time else 1)
    if each.plan is None:
        stands = f"stands in the library: {short_id(each.child.run_id)}"
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
    """Print what reaches the drive in each run."""
    for each in planned.children:
        print_line()
        print_line(f"what reaches the drive in {each.child.part}", "dim")
        for step in () if each.plan is None else each.plan.steps:
            for effect in step.effects:
                print_line(f"{step.ordinal + 1:>4} {effect}")


def suite_plan_as_json(several: SuiteOrder, planned: SuitePlan) -> dict[str, object]:
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


def _part_as_json(each: PlannedChild) -> dict[str, object]:
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
    }
