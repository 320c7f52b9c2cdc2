"""Suites on the command line: from words to an order, their plan, and while they run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.cli.leftovers import left_set
from ssdlab.cli.ordering import order, settings
from ssdlab.cli.output import print_fields, print_json, print_line, print_table
from ssdlab.cli.progress import RunProgress, bytes_text, display, range_text, status_lines
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.cli.progress import Display
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.schema import Child
    from ssdlab.runs.suites.ordering import SuiteOrder
    from ssdlab.runs.suites.session import SuitePlan

PLAN_SCHEMA = "ssdlab.plan/1"


def suite_order(
    name: str,
    drive: str,
    words: Sequence[str],
    *,
    quick: bool,
    repeat: int = 1,
    **options: Any,  # noqa: ANN401 - those of `order`
) -> SuiteOrder | None:
    """Return what is to be run, if that is a suite or a method several times; None for a single run.

    Raises
    ------
    UsageError
        A parameter that no part has, or a value that does not fit.
    """
    from ssdlab.methods import find_method
    from ssdlab.methods.suites import find_suite
    from ssdlab.runs.suites.ordering import SuiteOrder, check_repeat, repeated, suite_params

    check_repeat(repeat)
    suite = find_suite(name)
    given = settings(words)
    if suite is not None:
        params = suite_params(suite, given, quick=quick, drive=drive)
    elif repeat > 1:
        method = find_method(name)
        suite, params = repeated(method, method.params.build(given, quick=quick), repeat)
    else:
        return None
    like = order(suite.parts[0].method, drive, (), quick=quick or suite.quick, **options)
    return SuiteOrder(suite, params, like, repeat)


class SuiteProgress:
    """Shows a suite: which run begins and ends, and how far those are that go on. A context manager."""

    def __init__(self) -> None:
        self._display: Display = display()
        self._began: dict[str, float] = {}

    def began(self, child: Child, number: int, total: int) -> Sequence[Observer]:
        """Say that a run begins; the observer is for a run in this process."""
        self._began[child.part] = time.monotonic()
        self._display.say(f"({number}/{total}) {child.part} begins")
        return [RunProgress(self._display, keep=True)]

    def look(self, running: Mapping[str, Progress]) -> None:
        """Show how far the runs in other processes are."""
        self._display.update(suite_lines(running))

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        """Say that a run is finished."""
        if already_finished:
            self._display.say(f"({number}/{total}) {child.part}: finished before")
        else:
            took = units.span_text(round(time.monotonic() - self._began[child.part]))
            self._display.say(f"({number}/{total}) {child.part}: finished in {took}")

    def __enter__(self) -> SuiteProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._display.close()


def suite_lines(running: Mapping[str, Progress]) -> tuple[str, ...]:
    """Return the live lines of several runs."""
    return tuple(
        f"{part}: {line.strip()}" for part, progress in running.items() for line in status_lines(progress)[:1]
    )


def print_suite_plan(several: SuiteOrder, planned: SuitePlan) -> None:
    """Print what each run of a suite will do."""
    rows: list[tuple[object, ...]] = []
    for each in planned.children:
        if each.plan is None:
            rows.append((each.child.part, each.child.state, "", "", "", f"left out: {each.child.left_out}"))
            continue
        plan = each.plan
        scaled = "" if each.child.drive == several.drive else f"on {each.child.drive}"
        rows.append(
            (
                each.child.part,
                each.child.state,
                len(plan.steps),
                range_text(plan.seconds.lower, plan.seconds.upper),
                bytes_text(plan.bytes_written.lower, plan.bytes_written.upper),
                scaled,
            )
        )
    print_table(rows, ("part", "begins", "steps", "time", "writes", ""), right=(2,))
    plans = [each.plan for each in planned.children if each.plan is not None]
    lower, upper = (sum(getattr(plan.seconds, end) for plan in plans) for end in ("lower", "upper"))
    written = [sum(getattr(plan.bytes_written, end) for plan in plans) for end in ("lower", "upper")]
    print_fields([("time", range_text(lower, upper)), ("writes", bytes_text(*written) or "nothing")])


def show_suite_effects(several: SuiteOrder, *, json: bool) -> None:
    """Print what each run of a suite would do to the drive, and raise what would stop it.

    Raises
    ------
    UsageError, Refused
        As the suite itself would.
    """
    from ssdlab.runs.suites.session import plan_suite

    planned = plan_suite(several)
    if json:
        listing = {"schema": PLAN_SCHEMA, "drive": several.drive, "parts": plan_json(planned)}
        print_json({**listing, "left_set": left_set()})
    else:
        print_suite_plan(several, planned)
        for each in planned.children:
            print_line()
            print_line(f"what reaches the drive in {each.child.part}", "dim")
            for step in () if each.plan is None else each.plan.steps:
                for effect in step.effects:
                    print_line(f"{step.ordinal + 1:>4} {effect}")
    if planned.objection is not None:
        raise planned.objection


def plan_json(planned: SuitePlan) -> list[dict[str, Any]]:
    """Return what each run of a suite will do, as JSON holds it."""
    return [
        {
            "part": each.child.part,
            "method": each.child.method,
            "state": each.child.state,
            "drive": each.child.drive,
            "left_out": each.child.left_out,
            "steps": 0 if each.plan is None else len(each.plan.steps),
            "effects": []
            if each.plan is None
            else [effect for step in each.plan.steps for effect in step.effects],
            "seconds": None if each.plan is None else [each.plan.seconds.lower, each.plan.seconds.upper],
            "bytes_written": None
            if each.plan is None
            else [each.plan.bytes_written.lower, each.plan.bytes_written.upper],
        }
        for each in planned.children
    ]
