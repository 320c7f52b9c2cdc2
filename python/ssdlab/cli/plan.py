"""`ssdlab plan`: what a run would do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.completers import DriveText, MethodName
from ssdlab.cli.flags import takes
from ssdlab.cli.leftovers import left_set
from ssdlab.cli.order_options import Precondition, Quick, Repeat, Set
from ssdlab.cli.ordering import library_of, of_order, order, preconditioned
from ssdlab.cli.output import print_fields, print_json, print_table, warn
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
from ssdlab.model.errors import UsageError
from ssdlab.model.options import DriveOptions
from ssdlab.runs.conditions.variant import Variant

if TYPE_CHECKING:
    from ssdlab.runs.order import Order
    from ssdlab.runs.plan import Plan
    from ssdlab.runs.suites.ordering import SuiteOrder

SCHEMA = "ssdlab.plan/1"


@takes(DriveOptions, Variant, several=("destroy",))
def plan(
    name: MethodName,
    /,
    *drives: DriveText,
    set: Set = (),
    precondition: Precondition = None,
    quick: Quick = False,
    repeat: Repeat = 1,
    probe: bool = False,
    library: Path | None = None,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> None:
    """Tell what a method or suite does on drives, how long it takes and what it writes; touch nothing.

    How fast the drive is, is taken from its link, its ratings and earlier runs of it; where none of them says
    it, the bounds are those of any drive.

    Parameters
    ----------
    name
        The method, suite or review (see `ssdlab methods`), or the path of a declaration.
    drives
        Block devices such as /dev/nvme0n1, a file (with --size when it would have to be made), or simulated
        drives: sim:NAME, or made smaller sim:NAME,scale=64 (see `ssdlab sim list`); or identifiers of drives
        in the library, of which what is missing is planned.
    probe
        Measure the drive first, for 30 s at most: reads only, unless --destroy says that its data may be
        lost. Of a method, not of a suite.
    library
        Folder of runs whose speeds count [default: ssdlab/runs in the data folder].
    json
        Print the plan as JSON, schema ssdlab.plan/1; times in seconds, as [lower, upper]: `seconds` of the
        drive's time, `real_seconds` of the host's. They differ for a simulated drive.
    """
    from ssdlab.cli.drives_named import in_library, one_consent, one_drive, orders
    from ssdlab.cli.suites import suite_order
    from ssdlab.runs.order import plan_order

    consents = options.pop("destroy", ())
    set = preconditioned(set, precondition)
    if len(drives) > 1 or (
        len(drives) == 1 and in_library(drives[0], library_of(library), options.get("size"))
    ):
        from ssdlab.cli.planning_several import plan_several

        _check_no_probe(probe)
        given = {**of_order(options), "quick": quick, "repeat": repeat, "destroy": consents}
        made = orders(name, drives, set, library_of(library), **given)
        plan_several(made, library_of(library), json=json)
        return
    drive = one_drive(drives)
    options["destroy"] = one_consent(consents)
    several = suite_order(name, drive, set, quick=quick, repeat=repeat, **of_order(options))
    if several is not None:
        _check_no_probe(probe)
        _plan_suite(several, library_of(library), json=json)
        return
    ordered = order(name, drive, set, quick=quick, **of_order(options))
    planned = plan_order(ordered, library_of(library), probing=probe)
    if json:
        print_json(plan_as_json(ordered, planned))
        return
    print_plan(planned)
    if planned.objection is not None:
        warn(f"as things stand the run would be refused: {planned.objection.what}", planned.objection.advice)


def _check_no_probe(probe: bool) -> None:
    if probe:
        raise UsageError("a suite is planned without a probe", "leave --probe out, or plan its methods")


def _plan_suite(several: SuiteOrder, library: Path, *, json: bool) -> None:
    """Plan a suite, or a method several times."""
    from ssdlab.cli.suite_plan import print_suite_plan, suite_plan_as_json
    from ssdlab.runs.suites.session import plan_suite

    planned = plan_suite(several, library)
    if json:
        print_json(suite_plan_as_json(several, planned))
        return
    print_suite_plan(several, planned)
    if (objection := planned.objection) is not None:
        warn(f"as things stand the suite would be refused: {objection.what}", objection.advice)


def print_plan(planned: Plan) -> None:
    """Print the steps of a plan with their times and writes, and the sums."""
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
        rows.insert(
            0, ("", "layout", "the file is made and written", seconds_text(planned.preparation), written)
        )
    print_table(rows, ("step", "verb", "label", "time", "writes"), right=(0,))
    print_fields(
        [
            *times_of(planned),
            ("known by", known_by_text(planned.planning.pace.sources)),
            ("writes", writes_text(planned.bytes_written) or "nothing"),
            ("steady state", steady_text(planned)),
            ("endurance", endurance_text(planned)),
        ]
    )


def plan_as_json(ordered: Order, planned: Plan) -> dict[str, Any]:
    """Return a plan as JSON, schema ssdlab.plan/1; times in seconds, as [lower, upper]."""
    written = [planned.bytes_written.lower, planned.bytes_written.upper]
    rated = planned.endurance_bytes
    return {
        "schema": SCHEMA,
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
        "endurance_bytes": rated,
        "endurance_share": None if rated is None else [bound / rated for bound in written],
        "objection": None if planned.objection is None else planned.objection.as_dict(),
        "left_set": left_set(),
    }
