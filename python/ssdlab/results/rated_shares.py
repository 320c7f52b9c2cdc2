"""Results as shares of what a drive is rated for.

A rating is a number of a workload in a drive state. A result is held against the rating of its workload in
its own state, unless a qualifier of its own forbids it. One of another state is told beside it and not
compared: a drive that does not reach its fresh rating in steady state breaks no promise, and one that reaches
it shows nothing of a fresh drive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.drives.ratings import METRICS
from ssdlab.model.units import figure_text

if TYPE_CHECKING:
    from ssdlab.drives.rated import Rated
    from ssdlab.drives.ratings import MetricName
    from ssdlab.results.metric import Metric


class _Held(NamedTuple):
    """What a headline figure is held against: metric, factor to its unit, state of the figure."""

    metric: MetricName
    factor: float
    state: str
    state_words: str = ""
    """What is said of the figure beside a rating of another state; empty: its state."""

    def speaks(self, rated: Rated) -> bool:
        """Whether a rating is of the figure's state; one that says none is taken to be of no steady state."""
        if rated.state is None:
            return self.state != "steady" or self.metric in _OF_ANY_STATE
        if rated.state == "steady" and self.metric in _READS:
            return True
        return rated.state == self.state


_OF_ANY_STATE: tuple[MetricName, ...] = ("max_read_w", "max_write_w")
"""What no load draws more than, unless the rating says in which state."""
_READS: tuple[MetricName, ...] = ("random_read_iops", "sequential_read_mb_s", "depth_1_read_us")
"""Of a written drive, as every drive is that is read: what is promised of steady state holds of it."""
_IOPS_OF_MB_S = 1e6 / 4096
_MAX_READ = _Held("max_read_w", 1.0, "fresh")
_MAX_WRITE = _Held("max_write_w", 1.0, "fresh")
"""What no load of the direction draws more than."""
_BY_FIGURE: dict[str, tuple[_Held, ...]] = {
    "peak_random_read_iops": (_Held("random_read_iops", 1.0, "fresh"),),
    "steady_random_write_iops": (_Held("random_write_iops", 1.0, "steady"),),
    "peak_sequential_read_mb_s": (_Held("sequential_read_mb_s", 1.0, "fresh"),),
    "steady_sequential_write_mb_s": (_Held("sequential_write_mb_s", 1.0, "steady"),),
    "fill_mb_s": (_Held("sequential_write_mb_s", 1.0, "fresh", "a whole fill"),),
    "fill_cached_mb_s": (_Held("sequential_write_mb_s", 1.0, "cached"),),
    "mixed_random_qd32_mb_s": (_Held("mixed_70_30_iops", _IOPS_OF_MB_S, "steady"),),
    "consistency_stock_iops": (_Held("random_write_iops", 1.0, "steady"),),
    "qd1_random_read_mean_ns": (_Held("depth_1_read_us", 1e-3, "fresh"),),
    "qd1_random_write_mean_ns": (_Held("depth_1_write_us", 1e-3, "steady"),),
    "peak_sequential_read_w": (_Held("active_read_w", 1.0, "fresh"), _MAX_READ),
    "peak_random_read_w": (_MAX_READ,),
    "steady_sequential_write_w": (_Held("active_write_w", 1.0, "steady"), _MAX_WRITE),
    "steady_random_write_w": (_MAX_WRITE,),
    "fill_w": (_Held("active_write_w", 1.0, "fresh", "a whole fill"), _MAX_WRITE),
    "idle_w": (_Held("idle_w", 1.0, "fresh"),),
}
"""Headline figures that makers rate drives by, by their names: of several the first rated in its state."""
_STATES = {"steady": "steady state"}


@dataclass(frozen=True)
class RatedShare:
    """A result beside the rating of its own state.

    Attributes
    ----------
    figure
        The headline figure.
    rated
        What it is held against.
    share
        Result / rating: for throughput, 1 and more is at least as good; for latency and power, 1 and less.
    unit
        Of the rating.
    """

    figure: Metric
    rated: Rated
    share: float
    unit: str

    @property
    def above_is_better(self) -> bool:
        """Whether a share above 1 is the better one."""
        return self.figure.better == "higher"

    @property
    def in_unit(self) -> float:
        """The result in the unit of its rating, for a row that has both."""
        return self.share * self.rated.value

    @property
    def holds(self) -> str:
        """What a rating promises, in words: so much throughput at least, so much latency or power at most."""
        if self.above_is_better:
            return "throughput at least"
        return "power at most" if self.unit == "W" else "latency at most"

    def kept(self, tolerance: float) -> bool:
        """Whether the result is as good as rated, to within a share."""
        return self.share >= 1 - tolerance if self.above_is_better else self.share <= 1 + tolerance

    @property
    def direction(self) -> str:
        """What follows a share where less is better; a share alone reads as if more were."""
        return "" if self.above_is_better else ", lower is better"


@dataclass(frozen=True)
class OtherRating:
    """A result beside a rating of another state, which it is not held against.

    Attributes
    ----------
    figure
        The headline figure.
    rated
        The rating.
    unit
        Of the rating.
    in_unit
        The result in it.
    state
        What the result is of, in words.
    """

    figure: Metric
    rated: Rated
    unit: str
    in_unit: float
    state: str

    @property
    def words(self) -> str:
        """In the place of a share: `rated 110k IOPS fresh; this is steady state: not compared`."""
        state = f" {self.rated.state}" if self.rated.state else ", state not said"
        return f"rated {figure_text(self.rated.value, self.unit)}{state}; this is {self.state}: not compared"


def rated_shares(figures: Iterable[Metric], ratings: Sequence[Rated]) -> tuple[RatedShare, ...]:
    """Return each headline figure that has a rating of its state, with its share; the others are left out."""
    found = []
    for figure, value in _held(figures):
        pairs = _pairs(figure, ratings)
        held, rated = next((pair for pair in pairs if pair[0].speaks(pair[1])), (None, None))
        if held is not None and rated is not None:
            unit = METRICS[held.metric].unit
            found.append(RatedShare(figure, rated, value * held.factor / rated.value, unit))
    return tuple(found)


def other_ratings(figures: Iterable[Metric], ratings: Sequence[Rated]) -> tuple[OtherRating, ...]:
    """Return each headline figure that has ratings, but none of its state, with the first of them."""
    found = []
    for figure, value in _held(figures):
        pairs = _pairs(figure, ratings)
        if pairs and not any(held.speaks(rated) for held, rated in pairs):
            held, rated = pairs[0]
            state = held.state_words or _STATES.get(held.state, held.state)
            found.append(OtherRating(figure, rated, METRICS[held.metric].unit, value * held.factor, state))
    return tuple(found)


def has_rating(figure: Metric, ratings: Sequence[Rated]) -> bool:
    """Whether a rating speaks of what a figure is of, in whatever state either is."""
    return bool(_pairs(figure, ratings))


def _held(figures: Iterable[Metric]) -> Iterator[tuple[Metric, float]]:
    """Yield the figures that are held against ratings, with their values."""
    return ((each, each.value) for each in figures if each.value is not None and not each.unfit("ratings"))


def _pairs(figure: Metric, ratings: Sequence[Rated]) -> list[tuple[_Held, Rated]]:
    """Return what a figure could be held against, by the order of its metrics, its own state first."""
    return [
        (held, rated)
        for held in _BY_FIGURE.get(figure.name, ())
        for rated in sorted(ratings, key=lambda each: each.state != held.state)
        if rated.metric == held.metric
    ]
