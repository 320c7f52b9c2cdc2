"""Suites on the command line: from words to an order, and while they run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ssdlab.cli.ordering import order, settings
from ssdlab.cli.output import say
from ssdlab.cli.progress import RunProgress, display, status_lines
from ssdlab.model import units

if TYPE_CHECKING:
    from ssdlab.cli.progress import Display
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.schema import Child
    from ssdlab.runs.suites.ordering import SuiteOrder


def suite_order(
    name: str,
    drive: str,
    words: Sequence[str],
    *,
    quick: bool,
    repeat: int = 1,
    as_suite: bool = False,
    **options: Any,  # noqa: ANN401 - those of `order`
) -> SuiteOrder | None:
    """Return what is to be run, if that is a suite or a method several times; None for a single run.

    With `as_suite` a single run is a suite too, of one part.

    Raises
    ------
    UsageError
        A parameter that no part has, or a value that does not fit.
    """
    from ssdlab.lab.found import find_method
    from ssdlab.lab.suites import find_suite
    from ssdlab.runs.suites.ordering import SuiteOrder, check_repeat, repeated, suite_params

    check_repeat(repeat)
    suite = find_suite(name)
    given = settings(words)
    if suite is not None:
        params = suite_params(suite, given, quick=quick, drive=drive)
    elif repeat > 1 or as_suite:
        method = find_method(name)
        suite, params = repeated(method, method.params.build(given, quick=quick), repeat)
    else:
        return None
    like = order(suite.parts[0].method, drive, (), quick=quick or suite.quick, **options)
    made = SuiteOrder(suite, params, like, repeat)
    if made.drive != like.drive:
        say(f"{suite.name} sets size or write cache of the simulated drive itself: it runs on {made.drive}")
    return made


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
