"""Results as shares of what a drive is rated for.

A rating is a number of a workload in a drive state. A result is held against the rating of its workload; of
several the one in its own state is taken, else the first, and its state is named, because a drive that
does not reach its fresh rating in steady state breaks no promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ssdlab.drives.ratings import METRICS

if TYPE_CHECKING:
    from ssdlab.drives.rated import Rated
    from ssdlab.drives.ratings import MetricName
    from ssdlab.results.schema import Scalar


class _Held(NamedTuple):
    """What a headline figure is held against: metric, factor to its unit, state of the figure."""

    metric: MetricName
    factor: float
    state: str


_IOPS_OF_MB_S = 1e6 / 4096
_MAX_READ = _Held("max_read_w", 1.0, "fresh")
_MAX_WRITE = _Held("max_write_w", 1.0, "fresh")
"""What no load of the direction draws more than."""
_BY_FIGURE: dict[str, tuple[_Held, ...]] = {
    "peak_random_read_iops": (_Held("random_read_iops", 1.0, "fresh"),),
    "steady_random_write_iops": (_Held("random_write_iops", 1.0, "steady"),),
    "peak_sequential_read_mb_s": (_Held("sequential_read_mb_s", 1.0, "fresh"),),
    "steady_sequential_write_mb_s": (_Held("sequential_write_mb_s", 1.0, "steady"),),
    "fill_mb_s": (_Held("sequential_write_mb_s", 1.0, "fresh"),),
    "mixed_random_qd32_mb_s": (_Held("mixed_70_30_iops", _IOPS_OF_MB_S, "steady"),),
    "consistency_stock_iops": (_Held("random_write_iops", 1.0, "steady"),),
    "qd1_random_read_mean_ns": (_Held("depth_1_read_us", 1e-3, "fresh"),),
    "qd1_random_write_mean_ns": (_Held("depth_1_write_us", 1e-3, "steady"),),
    "peak_sequential_read_w": (_Held("active_read_w", 1.0, "fresh"), _MAX_READ),
    "peak_random_read_w": (_MAX_READ,),
    "steady_sequential_write_w": (_Held("active_write_w", 1.0, "steady"), _MAX_WRITE),
    "steady_random_write_w": (_MAX_WRITE,),
    "fill_w": (_Held("active_write_w", 1.0, "fresh"), _MAX_WRITE),
    "idle_w": (_Held("idle_w", 1.0, "fresh"),),
}
"""Headline figures that makers rate drives by, by their names: of several metrics the first that is rated."""


@dataclass(frozen=True)
class RatedShare:
    """A result beside its rating.

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

    figure: Scalar
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


def rated_shares(figures: Iterable[Scalar], ratings: Sequence[Rated]) -> tuple[RatedShare, ...]:
    """Return each headline figure that has a rating, with its share of it; the others are left out."""
    found = []
    for figure in figures:
        metrics = _BY_FIGURE.get(figure.name, ())
        held, rated = next(
            ((each, rated) for each in metrics if (rated := _rating_of(each, ratings)) is not None),
            (None, None),
        )
        if held is None or rated is None or figure.value is None:
            continue
        unit = METRICS[held.metric].unit
        found.append(RatedShare(figure, rated, figure.value * held.factor / rated.value, unit))
    return tuple(found)


def _rating_of(held: _Held, ratings: Sequence[Rated]) -> Rated | None:
    alike = [each for each in ratings if each.metric == held.metric]
    return next((each for each in alike if each.state == held.state), alike[0] if alike else None)
