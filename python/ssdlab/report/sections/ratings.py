"""Results beside what the drives are rated for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.figure_state import headline_label
from ssdlab.report.view import Exhibit, Section
from ssdlab.results import numbers
from ssdlab.results.numbers import Table, of_unit, words
from ssdlab.results.rated_shares import RatedShare, rated_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown


def section(runs: Sequence[Shown]) -> Section | None:
    """Return the section of ratings; None where no result has one."""
    rows = [(shown, each) for shown in runs for each in shares(shown)]
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
                "Each result as a share of what the drive is rated for",
                "More than 100 % of a throughput, and less of a latency or a power, is better than rated. A "
                "rating speaks of one drive state: in another the drive may do less and break no promise.",
                (_table(rows),),
            ),
        ),
    )


def shares(shown: Shown) -> tuple[RatedShare, ...]:
    """Return the headline figures of a run that have a rating."""
    return rated_shares(shown.run.result.shown_scalars, shown.run.manifest.ratings)


def format_share(each: RatedShare) -> str:
    """Return a share in words: `98.4 % of the rated 98.0k IOPS`."""
    rated = of_unit(each.rated.value, each.unit)
    return f"{numbers.share(each.share).text} of the rated {rated}{each.direction}"


def _table(rows: Sequence[tuple[Shown, RatedShare]]) -> Table:
    head = ("Run", "Method", "Figure", "Result", "Rated", "Share", "State rated", "Source")
    body = tuple(
        (
            numbers.of_run(shown.label, shown.index),
            words(shown.run.manifest.method.title),
            words(headline_label(shown.run.result, each.figure)),
            words(of_unit(each.in_unit, each.unit)),
            words(of_unit(each.rated.value, each.unit)),
            numbers.share(each.share),
            words(each.rated.state or "not said"),
            words(each.rated.source),
        )
        for shown, each in rows
    )
    return Table("Results and ratings", head, body)
