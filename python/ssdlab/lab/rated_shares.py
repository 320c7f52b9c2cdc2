"""Results as shares of the drive's ratings.

A rating is for a workload in a drive state. A result is compared with the rating for its workload and state,
unless a qualifier forbids it. A rating for another state is shown but not compared. A drive in steady state
that is below its fresh rating breaks no promise, and one that reaches it proves nothing about a fresh drive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.drives.ratings import METRICS
from ssdlab.lab.folders import rated_as
from ssdlab.model.units import figure_text

if TYPE_CHECKING:
    from ssdlab.drives.ratings import MetricName, Rated
    from ssdlab.lab.declared import RatedAs
    from ssdlab.results.metric import Metric


_OF_ANY_STATE: tuple[MetricName, ...] = ("max_read_w", "max_write_w")
"""Ratings that hold for every load in any drive state, unless the rating names a state."""
_READS: tuple[MetricName, ...] = ("random_read_iops", "sequential_read_mb_s", "depth_1_read_us")
"""Ratings of reads, which use a written drive: a rating for steady state applies to them."""
_STATES = {"steady": "steady state"}


def _speaks(held: RatedAs, rated: Rated) -> bool:
    """Return whether a rating applies to the figure's drive state.

    A rating without a state excludes steady state, except for maximum power.
    """
    if rated.state is None:
        return held.state != "steady" or held.metric in _OF_ANY_STATE
    if rated.state == "steady" and held.metric in _READS:
        return True
    return rated.state == held.state


@dataclass(frozen=True)
class RatedShare:
    """A result, and the rating for its state.

    Attributes
    ----------
    share
        Result / rating. A throughput rating is met from 1 up; a latency or power rating is met up to 1.
    unit
        Unit of the rating.
    """

    figure: Metric
    rated: Rated
    share: float
    unit: str

    @property
    def above_is_better(self) -> bool:
        return self.figure.better == "higher"

    @property
    def in_unit(self) -> float:
        """The result in the rating's unit, for a row that shows both."""
        return self.share * self.rated.value

    @property
    def holds(self) -> str:
        """What the rating promises: minimum throughput, maximum latency or maximum power."""
        if self.above_is_better:
            return "minimum throughput"
        return "maximum power" if self.unit == "W" else "maximum latency"

    def kept(self, tolerance: float) -> bool:
        return self.share >= 1 - tolerance if self.above_is_better else self.share <= 1 + tolerance

    @property
    def direction(self) -> str:
        """Words to append to a share if lower is better."""
        return "" if self.above_is_better else ", lower is better"


@dataclass(frozen=True)
class OtherRating:
    """A result and a rating for another state; the two are not compared.

    Attributes
    ----------
    unit
        Unit of the rating.
    in_unit
        The result in that unit.
    state
        State of the result, in words.
    """

    figure: Metric
    rated: Rated
    unit: str
    in_unit: float
    state: str

    @property
    def words(self) -> str:
        """Text in place of a share: `rated 110k IOPS fresh; this is steady state: not compared`."""
        state = f" {self.rated.state}" if self.rated.state else ", state not stated"
        return f"rated {figure_text(self.rated.value, self.unit)}{state}; this is {self.state}: not compared"


def rated_shares(figures: Iterable[Metric], ratings: Sequence[Rated]) -> tuple[RatedShare, ...]:
    """Return the headline figures that have a rating for their state, with their shares."""
    found = []
    for figure, value in _held(figures):
        pairs = _pairs(figure, ratings)
        held, rated = next((pair for pair in pairs if _speaks(*pair)), (None, None))
        if held is not None and rated is not None:
            unit = METRICS[held.metric].unit
            found.append(RatedShare(figure, rated, value * held.factor / rated.value, unit))
    return tuple(found)


def other_ratings(figures: Iterable[Metric], ratings: Sequence[Rated]) -> tuple[OtherRating, ...]:
    """Return the headline figures that have ratings only for other states, each with its first rating."""
    found = []
    for figure, value in _held(figures):
        pairs = _pairs(figure, ratings)
        if pairs and not any(_speaks(held, rated) for held, rated in pairs):
            held, rated = pairs[0]
            state = held.state_words or _STATES.get(held.state, held.state)
            found.append(OtherRating(figure, rated, METRICS[held.metric].unit, value * held.factor, state))
    return tuple(found)


def has_rating(figure: Metric, ratings: Sequence[Rated]) -> bool:
    """Return whether any rating applies to a figure's workload, in any state."""
    return bool(_pairs(figure, ratings))


def _held(figures: Iterable[Metric]) -> Iterator[tuple[Metric, float]]:
    """Yield the figures that may be compared with ratings, with their values."""
    return ((each, each.value) for each in figures if each.value is not None and not each.unfit("ratings"))


def _pairs(figure: Metric, ratings: Sequence[Rated]) -> list[tuple[RatedAs, Rated]]:
    """Return the ratings for a figure's workload, in order of its declared ratings, its own state first."""
    return [
        (held, rated)
        for held in rated_as(figure.name)
        for rated in sorted(ratings, key=lambda each: each.state != held.state)
        if rated.metric == held.metric
    ]
