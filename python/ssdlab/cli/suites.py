"""How suites look on the command line: from words to an order, while they run, and their results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.cli.ordering import order, settings
from ssdlab.cli.output import paint, print_fields, print_json, print_line, print_table
from ssdlab.cli.progress import RunProgress, bytes_text, display, range_text, status_lines
from ssdlab.methods.results.outcome import read_result
from ssdlab.model import units
from ssdlab.results.store import actual_status, short_id

if TYPE_CHECKING:
    from ssdlab.cli.progress import Display
    from ssdlab.methods.results.outcome import SuiteResult
    from ssdlab.results.family import Child
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.runs.suites.ordering import SuiteOrder
    from ssdlab.runs.suites.session import SuitePlan

PLAN_SCHEMA = "ssdlab.plan/1"
_FIGURES_SHOWN = 4
"""Of each part; all of them are in its own run."""


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

    def ended(self, child: Child, number: int, total: int, *, found_finished: bool) -> None:
        """Say that a run is finished."""
        if found_finished:
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
                range_text(plan.seconds.least, plan.seconds.most),
                bytes_text(plan.bytes_written.least, plan.bytes_written.most),
                scaled,
            )
        )
    print_table(rows, ("part", "begins", "steps", "time", "writes", ""), right=(2,))
    plans = [each.plan for each in planned.children if each.plan is not None]
    least, most = (sum(getattr(plan.seconds, end) for plan in plans) for end in ("least", "most"))
    written = [sum(getattr(plan.bytes_written, end) for plan in plans) for end in ("least", "most")]
    print_fields([("time", range_text(least, most)), ("writes", bytes_text(*written) or "nothing")])


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
        print_json({"schema": PLAN_SCHEMA, "drive": several.drive, "parts": plan_json(planned)})
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
            "seconds": None if each.plan is None else [each.plan.seconds.least, each.plan.seconds.most],
            "bytes_written": None
            if each.plan is None
            else [each.plan.bytes_written.least, each.plan.bytes_written.most],
        }
        for each in planned.children
    ]


def print_suite(run: RunFolder, result: SuiteResult) -> None:
    """Print what the runs of a suite came to."""
    from ssdlab.cli.showing import rating_row, shares_of
    from ssdlab.runs.suites.outcome import finished_children

    runs = {each.manifest.run_id: each for each in finished_children(run.path.parent, run.manifest.children)}
    print_line()
    rows: list[tuple[object, ...]] = []
    for each in result.outcomes:
        if each.left_out is not None:
            rows.append((each.part, "left out", each.left_out))
            continue
        figures = [] if result.repeated else _headlines(runs[each.run_id])
        rows.append((each.part, short_id(each.run_id), figures[0] if figures else ""))
        rows += [("", "", figure) for figure in figures[1:_FIGURES_SHOWN]]
    print_table(rows, ("part", "run", "result"))
    if result.repeated:
        print_line()
        print_repeated(result)
    rated = [
        rating_row(f"{each.part}, {share.figure.label}", share)
        for each in result.outcomes
        if each.left_out is None and not result.repeated
        for share in shares_of(runs[each.run_id])
    ]
    if rated:
        print_line()
        print_table(rated, ("rated", "", "", ""), right=(1,))
    _print_departures(result, runs)
    first = next(each for each in result.outcomes if each.left_out is None)
    print_line()
    print_line(f"All of one part: ssdlab show {short_id(first.run_id)}", "dim")


def _print_departures(result: SuiteResult, runs: Mapping[str, RunFolder]) -> None:
    """Print where the parts depart from their methods, each departure once with the parts it is of."""
    done = [each for each in result.outcomes if each.left_out is None]
    found: dict[str, list[str]] = {}
    for each in done:
        for departure in runs[each.run_id].manifest.departures:
            found.setdefault(f"{departure.what}. {departure.why}", []).append(each.part)
    if found:
        print_line()
    for text, parts in found.items():
        whose = "" if len(parts) == len(done) else f" ({', '.join(parts)})"
        print_line(f"{paint('departure:', 'warn')} {text}{whose}")


def print_repeated(result: SuiteResult) -> None:
    """Print the medians of repeated parts, with their confidence intervals."""
    rows = [
        (
            f"{each.part}, {each.label}",
            units.figure_text(each.median, each.unit),
            f"{units.figure_text(each.low, each.unit)} to {units.figure_text(each.high, each.unit)}",
            f"{each.confidence:.1%}",
            len(each.values),
        )
        for each in result.repeated
    ]
    print_table(rows, ("median", "", "interval", "confidence", "runs"), right=(1, 2, 3, 4))


def print_suite_state(run: RunFolder) -> None:
    """Print how far the runs of an unfinished suite are."""
    print_line()
    rows = []
    for child in run.manifest.children:
        folder = run.path.parent / child.run_id
        rows.append((child.part, _state(child, folder), short_id(child.run_id)))
    print_table(rows, ("part", "", "run"))


def _state(child: Child, folder: Any) -> str:  # noqa: ANN401 - a path
    from ssdlab.results.run_folder import MANIFEST, read_manifest

    if child.left_out is not None:
        return f"left out: {child.left_out}"
    if not (folder / MANIFEST).exists():
        return "not begun"
    return actual_status(folder, read_manifest(folder))


def _headlines(run: RunFolder) -> list[str]:
    found = read_result(run)
    scalars = () if found is None else found.scalars
    return [f"{each.label} {units.figure_text(each.value, each.unit)}" for each in scalars]
