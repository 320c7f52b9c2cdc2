"""What a review consists of: the parts of a suite, the state each began in, and what several runs say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.figure_state import labelled
from ssdlab.report.view import Exhibit, Section
from ssdlab.results import numbers
from ssdlab.results.numbers import Table, of_unit, words
from ssdlab.results.store import short_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.methods.results.suite import ChildOutcome, RepeatedFigure
    from ssdlab.report.source import SuiteRun

STATES = {
    "any": "what the method itself brings about",
    "written": "written once, in order",
    "fresh": "purged, where the drive can be",
    "random-steady": "steady state of random writes",
    "sequential-steady": "steady state of sequential writes",
}


def sections(suites: Sequence[SuiteRun]) -> list[Section]:
    """Return a section for each suite on the page."""
    return [_section(number, suite) for number, suite in enumerate(suites)]


def _section(number: int, suite: SuiteRun) -> Section:
    manifest, result = suite.manifest, suite.result
    done = [each for each in result.outcomes if each.left_out is None]
    exhibits = [Exhibit("Parts", _done(result.outcomes), (_parts(result.outcomes),))]
    if result.repeated:
        exhibits.append(
            Exhibit(
                "Several runs",
                "The median of each figure, and the interval that holds the median of all runs with the "
                "stated confidence, whatever their spread is (order statistics).",
                (_repeated(result.repeated),),
            )
        )
    return Section(
        id=f"suite-{number}",
        title=manifest.method.title,
        lead=(
            f"{manifest.drive.name}: {len(done)} runs, begun {manifest.created[:10]}, seed {manifest.seed}.",
        ),
        runs=(),
        figures=(),
        exhibits=tuple(exhibits),
        caveats=(
            *result.caveats,
            *(f"{each.part} was left out: {each.left_out}" for each in result.outcomes if each.left_out),
        ),
    )


def _done(outcomes: Sequence[ChildOutcome]) -> str:
    """Return what was done of a suite; what each part did stands at the end of the page."""
    done = [each for each in outcomes if each.left_out is None]
    forked = sum(each.prepared_by is not None for each in done)
    lines = [f"{len(done)} of {len(outcomes)} parts were done, in this order."]
    if forked:
        lines.append(f"{forked} of them began on a fork of another's drive.")
    lines.append("The state is the one asked for; whether it was reached stands with each part.")
    return " ".join(lines)


def _parts(outcomes: Sequence[ChildOutcome]) -> Table:
    rows = []
    for each in outcomes:
        begins = STATES.get(each.state, each.state)
        if each.prepared_by is not None:
            begins += f", made once: forked from {short_id(each.prepared_by)}"
        run = "left out" if each.left_out else short_id(each.run_id)
        rows.append((words(each.part), words(each.title), words(begins), words(run)))
    return Table("Parts of the review", ("Part", "Method", "State asked for", "Run"), tuple(rows))


def _repeated(figures: Sequence[RepeatedFigure]) -> Table:
    head = ("Part", "Figure", "Median", "Lower end", "Upper end", "Confidence", "Runs", "Least", "Greatest")
    rows = tuple(
        (
            words(each.part),
            words(labelled(each.label, each.state)),
            *(words(of_unit(value, each.unit)) for value in (each.median, each.low, each.high)),
            numbers.share(each.confidence),
            numbers.count(len(each.values)),
            *(words(of_unit(value, each.unit)) for value in (min(each.values), max(each.values))),
        )
        for each in figures
    )
    return Table("Medians and their confidence intervals", head, rows)
