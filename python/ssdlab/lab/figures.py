"""Headline figures that several Results have: of a point, and of power."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING, Any

from ssdlab.analysis.efficiency import efficiency
from ssdlab.results.points import Metric, Qualifier, of_search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.analysis.efficiency import Efficiency
    from ssdlab.results.schema import Point


def searched(figure: Metric, steps: tuple[int, ...], failed: float | None, **evidence: Any) -> Metric:  # noqa: ANN401
    """Return the figure that a search found; where nothing failed it is a bound from below.

    Parameters
    ----------
    figure
        Its value is the highest that held.
    steps
        Of what held and of what failed.
    failed
        The lowest that did not hold; None: all did.
    evidence
        Further fields.
    """
    found = figure.resting(steps=steps, varies=of_search(figure.value, failed), **evidence)
    if figure.value is None or failed is not None:
        return found
    ceiling = Qualifier(code="search-ceiling", steps=steps)
    return found.resting(bound="at least").qualified([ceiling])


def power_scalars(
    name: str, label: str, found: Efficiency | None, mean_w: float | None
) -> tuple[Metric, ...]:
    """Return the headline figures of power: efficiency and mean power; none of them without a meter."""
    if found is None or mean_w is None:
        return ()
    key = "kiops_per_w" if found.unit == "kIOPS/W" else "mb_s_per_w"
    return (
        Metric.more(f"{name}_{key}", f"{label} efficiency".strip(), found.value, found.unit),
        Metric.less(f"{name}_w", f"{label} power".strip(), mean_w, "W"),
    )


def point_scalars(name: str, point: Point) -> tuple[Metric, ...]:
    """Return throughput as the reviews tell it (IOPS of random I/O, else MB/s), mean latency and power."""
    mean = (point.service_ns or {}).get("mean")
    if point.pattern == "random":
        throughput = Metric.more(f"{name}_iops", point.label, point.iops, "IOPS")
    else:
        throughput = Metric.more(f"{name}_mb_s", point.label, point.mb_s, "MB/s")
    return (
        throughput,
        Metric.less(f"{name}_mean_ns", f"{point.label}, mean latency", mean, "ns"),
        *power_scalars(name, f"{point.label},", point.efficiency, point.mean_w),
    )


def mean_scalars(name: str, of_what: str, points: Sequence[Point]) -> tuple[Metric, ...]:
    """Return the mean over points of one kind, in MB/s as client reviews tell it, and for each watt."""
    pattern, label = points[0].pattern, f"{points[0].pattern} {points[0].direction}, {of_what}"
    mb_s, iops = mean(each.mb_s or 0.0 for each in points), mean(each.iops or 0.0 for each in points)
    watts = [each.mean_w for each in points if each.mean_w is not None]
    mean_w = mean(watts) if len(watts) == len(points) else None
    return (
        Metric.more(f"{name}_mb_s", label, mb_s, "MB/s"),
        *power_scalars(name, f"{label},", efficiency(pattern, iops, mb_s, mean_w), mean_w),
    )
