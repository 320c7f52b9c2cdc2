"""`ssdlab plan` and `--dry-run`: show what a run would do on one or several drives, without doing it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.completion import DriveText, MethodName
from ssdlab.cli.failures import InDocument
from ssdlab.cli.flags import Library, takes
from ssdlab.cli.leftovers import left_set
from ssdlab.cli.ordering import (
    Only,
    Precondition,
    Quick,
    Repeat,
    Set,
    library_of,
    of_order,
    order,
    preconditioned,
    target_of,
)
from ssdlab.cli.output import print_fields, print_json, print_line, print_table, warn
from ssdlab.cli.plan_lines import (
    PLAN_SCHEMA,
    cannot_show_text,
    endurance_text,
    known_by_text,
    lines_of,
    print_suite_effects,
    print_suite_plan,
    seconds_text,
    steady_text,
    suite_plan_as_json,
    times_of,
    writes_text,
)
from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.model import units
from ssdlab.model.errors import UsageError, of_drive
from ssdlab.model.options import DriveOptions
from ssdlab.model.units import bytes_text
from ssdlab.runs.conditions.variant import Variant
from ssdlab.runs.suites.session import plan_suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.cli.printed import DrivesPlanDocument, PlanDocument
    from ssdlab.model.errors import LabError
    from ssdlab.runs.order import Order
    from ssdlab.runs.plan import Plan
    from ssdlab.runs.suites.ordering import SuiteOrder
    from ssdlab.runs.suites.suite_plan import SuitePlan

Planned = tuple["SuiteOrder", "SuitePlan"]


def plan_several(orders: Sequence[SuiteOrder], library: Path, *, json: bool) -> None:
    """Print what a suite would do on each drive, and the totals."""
    plans = _plans(orders, library)
    if json:
        print_json(_as_json(plans))
        return
    _print(plans, effects=False)
    for asked, planned in plans:
        if (objection := planned.objection) is not None:
            warn(f"{asked.drive} would be refused now: {objection.what}", objection.advice)


def show_several_effects(orders: Sequence[SuiteOrder], library: Path, *, json: bool) -> None:
    """Print what a suite would do to each drive, and raise the error that would stop it.

    Raises
    ------
    UsageError, Refused
        The run would be refused.
    """
    plans = _plans(orders, library)
    if json:
        print_json(_as_json(plans))
    else:
        _print(plans, effects=True)
    for asked, planned in plans:
        if planned.objection is not None:
            with of_drive(asked.drive, plans):
                raise planned.objection


def _plans(orders: Sequence[SuiteOrder], library: Path) -> list[Planned]:
    found = []
    for asked in orders:
        with of_drive(asked.drive, orders):
            found.append((asked, plan_suite(asked, library)))
    return found


def _print(plans: Sequence[Planned], *, effects: bool) -> None:
    for asked, planned in plans:
        print_line(asked.drive, "bold")
        print_suite_plan(asked, planned)
        if effects:
            print_suite_effects(planned)
        print_line()
    seconds, real_seconds, written = _totals(plans)
    keeps_time = any(planned.keeps_time for _, planned in plans)
    print_fields(
        [
            ("drives", len(plans)),
            ("total drive time" if keeps_time else "total time", seconds_text(seconds)),
            ("total real time", seconds_text(real_seconds) if keeps_time else None),
            ("total writes", writes_text(written) or "nothing"),
        ]
    )


def _totals(plans: Sequence[Planned]) -> tuple[Bounds, Bounds, Bounds]:
    """Return total seconds by the drives' clocks, total seconds by the host's, and total bytes written."""
    seconds = sum((planned.seconds for _, planned in plans), NOTHING)
    real_seconds = sum((planned.real_seconds for _, planned in plans), NOTHING)
    return seconds, real_seconds, sum((planned.bytes_written for _, planned in plans), NOTHING)


def _as_json(plans: Sequence[Planned]) -> DrivesPlanDocument:
    seconds, real_seconds, written = _totals(plans)
    return {
        "schema": PLAN_SCHEMA,
        "suite": plans[0][0].suite.name,
        "drives": [suite_plan_as_json(order, planned) for order, planned in plans],
        "seconds": [seconds.lower, seconds.upper],
        "real_seconds": [real_seconds.lower, real_seconds.upper],
        "bytes_written": [written.lower, written.upper],
        "left_set": left_set(),
    }


@takes(DriveOptions, Variant, several=("destroy",))
def plan(
    name: MethodName,
    /,
    *drives: DriveText,
    set: Set = (),
    only: Only = (),
    precondition: Precondition = None,
    quick: Quick = False,
    repeat: Repeat = 1,
    probe: bool = False,
    fio: bool = False,
    library: Library = None,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> None:
    """Show a method's or suite's steps, duration and writes, without touching a drive.

    The drive's speed is estimated from its link, its ratings and its earlier runs; without these, the bounds
    assume any drive.

    Parameters
    ----------
    name
        The method, suite or review (see `ssdlab methods`), or the path of a declaration.
    drives
        Block devices such as /dev/nvme0n1, a file (with --size to create it), or simulated drives: sim:NAME,
        or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`). With the identifier of a drive in the
        library, only its missing runs are planned. Append options for a variant of a drive:
        /dev/nvme1n1,spare=25%.
    probe
        Measure the drive first, for at most 30 s: reads only, unless --destroy allows writes. For a method,
        not a suite.
    fio
        Print the steps with I/O as a fio job file instead, for one drive.
    json
        Print the plan as JSON, schema ssdlab.plan/1. Times are in seconds, as [lower, upper]: `seconds` by
        the drive's clock, `real_seconds` by the host's. They differ for a simulated drive.
    """
    from ssdlab.cli.suites import in_library, one_consent, one_drive, orders, suite_order
    from ssdlab.runs.order import plan_order

    if fio and json:
        raise UsageError("a fio job file is not JSON", "leave out --json, or --fio")
    consents = options.pop("destroy", ())
    set = preconditioned(set, precondition)
    if len(drives) > 1 or (
        len(drives) == 1 and in_library(drives[0], library_of(library), options.get("size"))
    ):
        _check_no_probe(probe)
        if fio:
            raise UsageError("--fio needs exactly one drive", "give one drive, by its path")
        given = {**of_order(options), "quick": quick, "repeat": repeat, "destroy": consents, "only": only}
        made = orders(name, drives, set, library_of(library), **given)
        plan_several(made, library_of(library), json=json)
        return
    drive = one_drive(drives)
    options["destroy"] = one_consent(consents)
    several = suite_order(name, drive, set, quick=quick, repeat=repeat, only=only, **of_order(options))
    if several is not None:
        _check_no_probe(probe)
        if fio:
            parts = plan_suite(several, library_of(library)).children
            plans = {each.child.part: each.plan for each in parts if each.plan is not None}
            _print_fio(drive, options, plans)
            return
        _plan_suite(several, library_of(library), json=json)
        return
    ordered = order(name, drive, set, quick=quick, **of_order(options))
    planned = plan_order(ordered, library_of(library), probing=probe)
    if fio:
        _print_fio(drive, options, {"": planned})
        return
    if json:
        print_json(plan_as_json(ordered, planned))
        return
    print_plan(planned)
    if planned.objection is not None:
        _warn_of(planned.objection)


def _warn_of(objection: LabError) -> None:
    warn(f"the run would be refused now: {objection.what}", objection.advice)


def _print_fio(drive: str, options: Mapping[str, Any], plans: Mapping[str, Plan]) -> None:
    """Print the steps of plans as a fio job file, and name those that fio cannot do."""
    from ssdlab.formats.fio import job_file

    steps = [
        (f"{part} {step.label}".lstrip(), step.request)
        for part, planned in plans.items()
        for step in planned.steps
        if step.request is not None
    ]
    work = [(label, request.workload) for label, request in steps if request.workload is not None]
    if any(each.changes_data for _, each in work):
        print_line(f"# writes to {drive}: fio checks neither consent nor mounts")
    print_line(job_file(work, target_of(drive, options.get("size"))))
    for label, request in steps:
        if request.workload is None and request.verb != "conditions":
            print_line(f"# {label}: {request.verb}, which fio cannot do")
        elif getattr(request.asked, "until", None) is not None:
            print_line(f"# {label}: it may end early, by a condition that fio does not have")
    objections = (each.objection for each in plans.values() if each.objection is not None)
    if (first := next(objections, None)) is not None:
        _warn_of(first)


def _check_no_probe(probe: bool) -> None:
    if probe:
        raise UsageError(
            "--probe is for a method, not a suite", "leave out --probe, or plan its methods one by one"
        )


def _plan_suite(several: SuiteOrder, library: Path, *, json: bool) -> None:
    planned = plan_suite(several, library)
    if json:
        print_json(suite_plan_as_json(several, planned))
        return
    print_suite_plan(several, planned)
    if (objection := planned.objection) is not None:
        warn(f"the suite would be refused now: {objection.what}", objection.advice)


def print_plan(planned: Plan) -> None:
    """Print the steps of a plan with their times and writes, and the totals."""
    rows: list[tuple[object, ...]] = [
        (
            line.number,
            line.verb,
            line.label if line.steps == 1 else f"{line.label}: {line.steps} steps",
            seconds_text(line.seconds),
            writes_text(line.bytes_written),
        )
        for line in lines_of(planned.steps)
    ]
    if planned.preparation_bytes:
        written = units.capacity_text(planned.preparation_bytes)
        rows.insert(0, ("", "layout", "create and fill the file", seconds_text(planned.preparation), written))
    print_table(rows, ("step", "verb", "label", "time", "writes"), right=(0,))
    print_fields(
        [
            *times_of(planned),
            ("based on", known_by_text(planned.planning.pace.sources)),
            ("writes", writes_text(planned.bytes_written) or "nothing"),
            ("preconditioning", steady_text(planned)),
            ("cannot show", cannot_show_text(planned)),
            ("endurance", endurance_text(planned)),
        ]
    )


def plan_as_json(ordered: Order, planned: Plan) -> PlanDocument:
    """Return a plan as JSON, schema ssdlab.plan/1; times in seconds, as [lower, upper]."""
    written = [planned.bytes_written.lower, planned.bytes_written.upper]
    rated = planned.endurance_bytes
    return {
        "schema": PLAN_SCHEMA,
        "method": ordered.method.name,
        "drive": ordered.drive,
        "params": ordered.params.model_dump(mode="json"),
        "steps": [
            {
                "ordinal": step.ordinal,
                "verb": step.verb,
                "label": step.label,
                "seconds": [step.seconds.lower, step.seconds.upper],
                "bytes_written": [step.bytes_written.lower, step.bytes_written.upper],
                "effects": list(step.effects),
            }
            for step in planned.steps
        ],
        "layout": {
            "bytes": planned.preparation_bytes,
            "seconds": [planned.preparation.lower, planned.preparation.upper],
        },
        "wipes": [asdict(found) for found in planned.signatures],
        "seconds": [planned.seconds.lower, planned.seconds.upper],
        "real_seconds": [planned.real_seconds.lower, planned.real_seconds.upper],
        "known_by": list(planned.planning.pace.sources),
        "bytes_written": written,
        "cannot_show": list(planned.cannot_show),
        "endurance_bytes": rated,
        "endurance_share": None if rated is None else [bound / rated for bound in written],
        "objection": None if planned.objection is None else planned.objection.as_dict(),
        "left_set": left_set(),
    }


# `--dry-run` of `run` and `job` prints what `ssdlab plan` prints, and every command and write that would
# reach the drive, step by step. If the run would be refused, it ends with the same error; in JSON, the
# error is part of the plan.


def dry_run(order: Order, *, json: bool) -> None:
    """Print what a run would do, and raise the error that would stop it.

    Raises
    ------
    UsageError, Refused
        The run would be refused.
    InDocument
        The run would be refused, and the printed JSON already says why.
    """
    from ssdlab.runs.order import plan_order

    planned = plan_order(order)
    if json:
        print_json(plan_as_json(order, planned))
    else:
        print_plan(planned)
        _print_effects(order, planned)
    _end_as_it_would(planned.objection, json=json)


def dry_run_of_suite(several: SuiteOrder, *, json: bool) -> None:
    """Print what each run of a suite would do, and raise the error that would stop it.

    Raises
    ------
    UsageError, Refused, InDocument
        The suite would be refused, as in `dry_run`.
    """
    planned = plan_suite(several)
    if json:
        print_json(suite_plan_as_json(several, planned))
    else:
        print_suite_plan(several, planned)
        print_suite_effects(planned)
    _end_as_it_would(planned.objection, json=json)


def _end_as_it_would(objection: LabError | None, *, json: bool) -> None:
    if objection is not None:
        raise InDocument(objection) if json else objection


def _print_effects(order: Order, planned: Plan) -> None:
    print_line()
    print_line("what reaches the drive", "dim")
    print_line(f"     claims {order.drive} for the duration of the run")
    if planned.preparation_bytes:
        print_line(f"     creates the file and writes all of its {bytes_text(planned.preparation_bytes)}")
    for found in planned.signatures:
        print_line(f"     wipes {found.words}: {bytes_text(found.length)} at byte {found.offset}")
    for step in planned.steps:
        for effect in step.effects:
            number = step.ordinal + 1 - planned.own_steps
            print_line(f"{number if number > 0 else '':>4} {effect}")
