"""Plans of several drives: that of each, and their totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import print_fields, print_json, print_line, warn
from ssdlab.cli.plan_texts import seconds_text, writes_text
from ssdlab.cli.suite_plan import PLAN_SCHEMA, print_suite_effects, print_suite_plan, suite_plan_as_json
from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.model.errors import of_drive
from ssdlab.runs.suites.session import plan_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.runs.suites.ordering import SuiteOrder
    from ssdlab.runs.suites.suite_plan import SuitePlan

Planned = tuple["SuiteOrder", "SuitePlan"]


def plan_several(orders: Sequence[SuiteOrder], library: Path, *, json: bool) -> None:
    """Print what a suite does on each drive, and on all of them together."""
    plans = _plans(orders, library)
    if json:
        print_json(_as_json(plans))
        return
    _print(plans, effects=False)
    for order, planned in plans:
        if (objection := planned.objection) is not None:
            warn(f"as things stand {order.drive} would be refused: {objection.what}", objection.advice)


def show_several_effects(orders: Sequence[SuiteOrder], library: Path, *, json: bool) -> None:
    """Print what would be done to each drive, and raise what would stop it.

    Raises
    ------
    UsageError, Refused
        As the run itself would.
    """
    plans = _plans(orders, library)
    if json:
        print_json(_as_json(plans))
    else:
        _print(plans, effects=True)
    for order, planned in plans:
        if planned.objection is not None:
            with of_drive(order.drive, plans):
                raise planned.objection


def _plans(orders: Sequence[SuiteOrder], library: Path) -> list[Planned]:
    found = []
    for order in orders:
        with of_drive(order.drive, orders):
            found.append((order, plan_suite(order, library)))
    return found


def _print(plans: Sequence[Planned], *, effects: bool) -> None:
    for order, planned in plans:
        print_line(order.drive, "bold")
        print_suite_plan(order, planned)
        if effects:
            print_suite_effects(planned)
        print_line()
    seconds, real_seconds, written = _totals(plans)
    keeps_time = any(planned.keeps_time for _, planned in plans)
    print_fields(
        [
            ("drives", len(plans)),
            ("drive time of all" if keeps_time else "time of all", seconds_text(seconds)),
            ("real time of all", seconds_text(real_seconds) if keeps_time else None),
            ("writes of all", writes_text(written) or "nothing"),
        ]
    )


def _totals(plans: Sequence[Planned]) -> tuple[Bounds, Bounds, Bounds]:
    """Return seconds, by the drives' clocks and by ours, and bytes written of all drives together."""
    seconds = sum((planned.seconds for _, planned in plans), NOTHING)
    real_seconds = sum((planned.real_seconds for _, planned in plans), NOTHING)
    return seconds, real_seconds, sum((planned.bytes_written for _, planned in plans), NOTHING)


def _as_json(plans: Sequence[Planned]) -> dict[str, object]:
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
