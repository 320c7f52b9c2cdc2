"""The parts of a suite, the state in which each started, and the medians of several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.report.runs import called
from ssdlab.report.view import Exhibit, Section
from ssdlab.results import cells
from ssdlab.results.cells import Cell, Table, of_unit, words
from ssdlab.results.metric import labelled
from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.lab.kinds import ChildOutcome, RepeatedFigure
    from ssdlab.report.source import SuiteRun

STATES = {
    "any": "as the method itself prepares it",
    "written": "written once, in order",
    "fresh": "purged, where the drive can be",
    "random-steady": "steady state of random writes",
    "sequential-steady": "steady state of sequential writes",
}


def section(suites: Sequence[SuiteRun]) -> Section | None:
    if not suites:
        return None
    exhibits = [_together(suites) if len(suites) > 1 else _alone(suites[0])]
    for each in suites:
        if each.result.repeated:
            exhibits.append(_several(each, many=len(suites) > 1))
    return Section(
        id="suite-0",
        title="What was run",
        lead=tuple(_lead(each) for each in suites) if len(suites) == 1 else (),
        runs=(),
        figures=(),
        exhibits=tuple(exhibits),
    )


def _alone(suite: SuiteRun) -> Exhibit:
    return Exhibit("Parts", _done(suite.result.outcomes), (_parts(suite.result.outcomes),), closed=True)


def _together(suites: Sequence[SuiteRun]) -> Exhibit:
    parts = dict.fromkeys(each.part for suite in suites for each in suite.result.outcomes)
    by_part = [{each.part: each for each in suite.result.outcomes} for suite in suites]
    rows = []
    for part in parts:
        own = [found.get(part) for found in by_part]
        state = next(each.state for each in own if each is not None)
        rows.append((words(part), words(STATES.get(state, state)), *map(_run_of, own)))
    further: tuple[tuple[str, Callable[[SuiteRun], str]], ...] = (
        ("Review", lambda each: short_id(each.manifest.run_id)),
        ("Begun", lambda each: each.manifest.created[:10]),
        ("Seed", lambda each: str(each.manifest.seed)),
    )
    rows += [(words(name), words(""), *(words(tell(each)) for each in suites)) for name, tell in further]
    heads = ("Part", "Planned state", *(called(suite.manifest.drive).name for suite in suites))
    lead = "The steps aim for the planned state; each part says whether it was reached."
    return Exhibit("Parts", lead, (Table("Parts of the review", heads, tuple(rows)),), closed=True)


def _run_of(outcome: ChildOutcome | None) -> Cell:
    if outcome is None:
        return words(cells.NOTHING)
    return words("left out" if outcome.left_out else short_id(outcome.run_id))


def _lead(suite: SuiteRun) -> str:
    manifest = suite.manifest
    done = sum(each.left_out is None for each in suite.result.outcomes)
    runs = f"{done} {'run' if done == 1 else 'runs'}, begun {manifest.created[:10]}, seed {manifest.seed}"
    return f"{manifest.method.title}: {manifest.drive.name}, {runs}."


def _several(suite: SuiteRun, *, many: bool) -> Exhibit:
    return Exhibit(
        f"Several runs of {suite.manifest.drive.name}" if many else "Several runs",
        "The median of each figure with its confidence interval, by order statistics, without assuming a "
        "distribution.",
        (_repeated(suite.result.repeated),),
    )


def _done(outcomes: Sequence[ChildOutcome]) -> str:
    """Return how many parts of a suite were done; the end of the page describes each part."""
    done = [each for each in outcomes if each.left_out is None]
    forked = sum(each.prepared_by is not None for each in done)
    lines = [f"{len(done)} of {len(outcomes)} parts were done, in this order."]
    if forked:
        lines.append(f"{forked} of them started on a fork of another part's drive.")
    lines.append("The steps aim for the planned state; each part says whether it was reached.")
    return " ".join(lines)


def _parts(outcomes: Sequence[ChildOutcome]) -> Table:
    rows = []
    for each in outcomes:
        begins = STATES.get(each.state, each.state)
        if each.prepared_by is not None:
            begins += f", forked from {short_id(each.prepared_by)}"
        run = "left out" if each.left_out else short_id(each.run_id)
        rows.append((words(each.part), words(each.title), words(begins), words(run)))
    return Table("Parts of the review", ("Part", "Method", "Planned state", "Run"), tuple(rows))


def _repeated(figures: Sequence[RepeatedFigure]) -> Table:
    head = (
        "Part",
        "Figure",
        "Median",
        "Lower bound",
        "Upper bound",
        "Confidence",
        "Runs",
        "Minimum",
        "Maximum",
    )
    rows = tuple(
        (
            words(each.part),
            words(labelled(each.label, each.state)),
            words(" ".join(filter(None, (each.bound, of_unit(each.median, each.unit))))),
            *(words(of_unit(value, each.unit)) for value in (each.low, each.high)),
            cells.share(each.confidence),
            cells.count(len(each.values)),
            *(words(of_unit(find(each.values, default=None), each.unit)) for find in (min, max)),
        )
        for each in figures
        if each.values or each.qualified
    )
    return Table("Medians and their confidence intervals", head, rows)
