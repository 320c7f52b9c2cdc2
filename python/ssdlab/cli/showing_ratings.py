"""Headline figures as shares of what the drive is rated for, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.outcome import read_result
from ssdlab.model import units
from ssdlab.results.rated_shares import OtherRating, other_ratings, rated_shares

if TYPE_CHECKING:
    from ssdlab.results.rated_shares import RatedShare
    from ssdlab.results.run_folder import RunFolder


def rating_row(name: str, each: RatedShare | OtherRating) -> tuple[str, str, str, str]:
    """Return a row that tells a result as a share of its rating, or why it is none."""
    figure = units.figure_text(each.in_unit, each.unit)
    if isinstance(each, OtherRating):
        return (name, figure, each.words, each.rated.source)
    rated = units.figure_text(each.rated.value, each.unit)
    return (
        name,
        figure,
        f"{units.share_text(each.share)} of the rated {rated}{each.direction}",
        f"{each.rated.state or 'state not said'}, {each.rated.source}",
    )


def rating_json(each: RatedShare | OtherRating) -> dict[str, object]:
    """Return the same as JSON holds it."""
    return {
        "figure": each.figure.name,
        "value": each.figure.value,
        "unit": each.figure.unit,
        "metric": each.rated.metric,
        "rated": each.rated.value,
        "state": each.rated.state,
        "source": each.rated.source,
        "share": None if isinstance(each, OtherRating) else each.share,
    }


def ratings_of(run: RunFolder) -> tuple[tuple[str, RatedShare | OtherRating], ...]:
    """Return the headline figures of a run beside what the drive is rated for, with their names."""
    result = read_result(run)
    if result is None:
        return ()
    against = result.scalars, run.manifest.ratings
    found: tuple[RatedShare | OtherRating, ...] = (*rated_shares(*against), *other_ratings(*against))
    return tuple((each.figure.marked, each) for each in found)
