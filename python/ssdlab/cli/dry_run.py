"""`--dry-run` of `run` and `job`: every command and write that would reach the drive, and nothing done.

It says what `ssdlab plan` says, and step by step what reaches the drive. It ends as the run would begin: with
the refusal, if it would be refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import print_json, print_line
from ssdlab.cli.plan import plan_as_json, print_plan

if TYPE_CHECKING:
    from ssdlab.runs.order import Order
    from ssdlab.runs.plan import Plan


def dry_run(order: Order, *, json: bool) -> None:
    """Print what a run would do, and raise what would stop it.

    Raises
    ------
    UsageError, Refused
        As the run itself would.
    """
    from ssdlab.runs.order import plan_order

    planned = plan_order(order)
    if json:
        print_json(plan_as_json(order, planned))
    else:
        print_plan(planned)
        _print_effects(order, planned)
    if planned.objection is not None:
        raise planned.objection


def _print_effects(order: Order, planned: Plan) -> None:
    print_line()
    print_line("what reaches the drive", "dim")
    print_line(f"     claims {order.drive} for as long as the run lasts")
    if planned.preparation_bytes:
        print_line(f"     makes the file and writes all of its {planned.preparation_bytes} bytes")
    for found in planned.signatures:
        print_line(f"     wipes {found.words}: {found.length} bytes at {found.offset}")
    for step in planned.steps:
        for effect in step.effects:
            print_line(f"{step.ordinal + 1:>4} {effect}")
