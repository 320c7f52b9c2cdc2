"""Results compared with the ratings of the drives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.lab.rated_shares import OtherRating, RatedShare, other_ratings, rated_shares
from ssdlab.report.view import Exhibit, Section
from ssdlab.results import cells
from ssdlab.results.cells import Table, of_unit, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.cells import Cell
    from ssdlab.results.metric import Metric


def section(runs: Sequence[Shown]) -> Section | None:
    """Return the section of ratings; None if no result has a rating."""
    rows = [(shown, each) for shown in runs for each in _all(shown)]
    if not rows:
        return None
    return Section(
        id="ratings",
        title="Against the ratings",
        lead=(),
        runs=(),
        figures=(),
        exhibits=(
            Exhibit(
                "Results and the drive's ratings",
                "Better than rated: above 100 % for throughput, below 100 % for latency and power. A rating "
                "applies to one drive state only. A rating of reads in steady state applies to reads of "
                "any written drive, and a maximum power rating to all reads or writes." + _sources(rows),
                (_table(rows),),
            ),
        ),
    )


def of_models(runs: Sequence[Shown]) -> tuple[Exhibit, ...]:
    """Return how simulated drives differ from the ratings that their profiles are made from."""
    whole = section(runs)
    if whole is None:
        return ()
    return tuple(
        Exhibit(
            "Simulated drives and their ratings",
            "How far the models are from the ratings; no drive passes or fails.",
            tuple(replace(table, caption="Models and ratings") for table in each.tables),
            closed=True,
        )
        for each in whole.exhibits
    )


_SOURCES = {"data-sheet": "data sheet", "recalled": "from memory"}


def _sources(rows: Sequence[tuple[Shown, RatedShare | OtherRating]]) -> str:
    """Explain ratings that do not come from a document."""
    recalled = any(each.rated.source == "recalled" for _, each in rows)
    return " From memory: not checked against a data sheet." if recalled else ""


def shares(shown: Shown) -> tuple[RatedShare, ...]:
    """Return the headline figures of a run that have a rating for their state."""
    return rated_shares(shown.run.result.scalars, shown.run.manifest.ratings)


def _all(shown: Shown) -> tuple[RatedShare | OtherRating, ...]:
    return (*shares(shown), *others(shown))


def others(shown: Shown) -> tuple[OtherRating, ...]:
    """Return the headline figures of a run that have ratings only for other states."""
    return other_ratings(shown.run.result.scalars, shown.run.manifest.ratings)


def beside(shown: Shown, figure: Metric) -> tuple[str, ...]:
    """Return the comparison of a figure with its ratings, in words."""
    against = (figure,), shown.run.manifest.ratings
    others = (each.words for each in other_ratings(*against))
    return (*map(format_share, rated_shares(*against)), *others)


def format_share(each: RatedShare) -> str:
    """Return a share in words: `98.4 % of the rated 98.0k IOPS`."""
    rated = of_unit(each.rated.value, each.unit)
    return f"{cells.share(each.share).text} of the rated {rated}{each.direction}"


def _table(rows: Sequence[tuple[Shown, RatedShare | OtherRating]]) -> Table:
    head = ("Run", "Method", "Figure", "Result", "Rated", "Share", "State rated", "Source")
    body = tuple(
        (
            cells.of_run(shown.label, shown.index),
            words(shown.run.manifest.method.title),
            words(each.figure.marked),
            words(of_unit(each.in_unit, each.unit)),
            words(of_unit(each.rated.value, each.unit)),
            _share(each),
            words(each.rated.state or "not stated"),
            words(_SOURCES.get(each.rated.source, each.rated.source)),
        )
        for shown, each in rows
    )
    return Table("Results and ratings", head, body)


def _share(each: RatedShare | OtherRating) -> Cell:
    if isinstance(each, OtherRating):
        return words(f"not compared: {each.state}")
    return cells.share(each.share)
