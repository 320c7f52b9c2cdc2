"""`--dry-run` of `run` and `job`: every command and write that would reach the drive, and nothing done.

It says what `ssdlab plan` says, and step by step what reaches the drive. It ends as the run would begin: with
the refusal, if it would be refused, which as JSON is part of the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.failures import InDocument
from ssdlab.cli.output import print_json, print_line
from ssdlab.cli.plan import plan_as_json, print_plan
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    from ssdlab.model.errors import LabError
    from ssdlab.runs.order import Order
    from ssdlab.runs.plan import Plan
    from ssdlab.runs.suites.ordering import SuiteOrder


def dry_run(order: Order, *, json: bool) -> None:
    """Print what a run would do, and raise what would stop it.

    Raises
    ------
    UsageError, Refused
        As the run itself would.
    InDocument
        Likewise, where the JSON that was printed says so.
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
    """Print what each run of a suite would do, and raise what would stop it.

    Raises
    ------
    UsageError, Refused, InDocument
        As of `dry_run`.
    """
    from ssdlab.cli.suite_plan import print_suite_effects, print_suite_plan, suite_plan_as_json
    from ssdlab.runs.suites.session import plan_suite

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
    print_line(f"     claims {order.drive} for as long as the run lasts")
    if planned.preparation_bytes:
        print_line(f"     makes the file and writes all of its {bytes_text(planned.preparation_bytes)}")
    for found in planned.signatures:
        print_line(f"     wipes {found.words}: {bytes_text(found.length)} at byte {found.offset}")
    for step in planned.steps:
        for effect in step.effects:
            number = step.ordinal + 1 - planned.own_steps
            print_line(f"{number if number > 0 else '':>4} {effect}")
