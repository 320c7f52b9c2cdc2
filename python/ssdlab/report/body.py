"""The parts of a page that have charts: the runs with their looks, the methods' sections, and the drives.

Drawing takes longest. Each section is therefore passed on as soon as it is ready. It is drawn while the next
sections are made and `outline` links them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.lab.kinds import KINDS
from ssdlab.lab.outcome import shown_by
from ssdlab.model.errors import UsageError
from ssdlab.report.looks import OURS, Palette
from ssdlab.report.runs import NO_NAMES, Shown, shown
from ssdlab.report.sections import drive
from ssdlab.report.source import Run
from ssdlab.results.kind import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ssdlab.report.source import Reported
    from ssdlab.report.view import Section


@dataclass(frozen=True)
class Body:
    placed: tuple[Shown, ...]
    methods: tuple[tuple[Section, tuple[Shown, ...]], ...]
    """The section of each method with its runs, in the order of the page."""
    drives: Section | None


def placed_of(
    runs: Sequence[Reported], names: Mapping[str, str] = NO_NAMES, palette: Palette = OURS
) -> tuple[Shown, ...]:
    """Return the runs of a page with their looks, including the single runs of suites and comparisons.

    `names` maps drives to the editor's names.

    Raises
    ------
    UsageError
        There is no run, or a run is given twice.
    """
    single = single_runs(runs)
    if not single:
        raise UsageError("there is no run to report", "name one or more runs")
    ids = [each.manifest.run_id for each in runs]
    if twice := next((run_id for run_id in ids if ids.count(run_id) > 1), None):
        raise UsageError(f"run {twice} is named twice", "name each run once", run=twice)
    return shown(single, names, palette)


def single_runs(runs: Sequence[Reported]) -> list[Run]:
    """Return the single runs of a page, including the runs of its suites, each once."""
    found: dict[str, Run] = {}
    for each in runs:
        for run in (each,) if isinstance(each, Run) else each.runs:
            found.setdefault(run.manifest.run_id, run)
    return list(found.values())


def body_of(placed: tuple[Shown, ...], found: Callable[[Section], object] = lambda _: None) -> Body:
    """Return the sections that have charts; `found` is called with each as soon as it is ready."""
    methods = []
    for section, own in _of_methods(placed):
        found(section)
        methods.append((section, own))
    if drives := drive.section(placed):
        found(drives)
    return Body(placed, tuple(methods), drives)


def _of_methods(placed: Sequence[Shown]) -> Iterator[tuple[Section, tuple[Shown, ...]]]:
    for kind in dict.fromkeys([*KINDS, *(one.run.result.kind for one in placed)]):
        methods: dict[str, list[Shown]] = {}
        for one in placed:
            if one.run.result.kind == kind:
                methods.setdefault(one.run.manifest.method.name, []).append(one)
        for name, group in methods.items():
            yield loaded(shown_by(group[0].run.result, name).section)(group), tuple(group)
