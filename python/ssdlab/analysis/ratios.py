"""Two ratios of a measurement: work per watt, and a check of concurrency by Little's law.

Work per watt is throughput over the mean power of the same window. As in the reviews, random I/O is given in
kIOPS per watt, sequential and mixed I/O in MB/s per watt. Without a meter there is no figure: an estimate
would only repeat a rating. Source: AnandTech, enterprise suite of 2018 to 2020, the toggles between
efficiency and average power.

IOPS x mean service time / mean I/Os in flight is 1 if rows, counters and latencies agree and the requested
depth was reached. The tool checks itself by this ratio, which holds for any distribution of arrivals and
service times. Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9
(1961).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["kIOPS/W", "MB/s/W", "x/W"]


@dataclass(frozen=True)
class Efficiency:
    value: float
    unit: Unit


def efficiency(
    pattern: Literal["random", "sequential", "mixed"],
    iops: float | None,
    mb_s: float | None,
    mean_w: float | None,
) -> Efficiency | None:
    """Return the work per watt in a window; None without throughput or a positive mean power.

    >>> efficiency("random", 90_000.0, 368.6, 4.5)
    Efficiency(value=20.0, unit='kIOPS/W')
    >>> efficiency("sequential", 4_000.0, 540.0, None) is None
    True
    """
    if mean_w is None or mean_w <= 0 or iops is None or mb_s is None:
        return None
    if pattern == "random":
        return Efficiency(iops / 1e3 / mean_w, "kIOPS/W")
    return Efficiency(mb_s / mean_w, "MB/s/W")


TOLERANCE = 0.05
"""Accepted distance of the ratio from 1: start and end of a run of one second have this effect."""


def littles_ratio(iops: float, mean_service_ns: float | None, in_flight: float | None) -> float | None:
    """Return IOPS x mean service time / I/Os in flight; None if a value is unknown or no I/O completed.

    Parameters
    ----------
    iops
        I/Os completed a second.
    mean_service_ns
        Mean time from submission to completion, in ns.
    in_flight
        Mean number of I/Os submitted and not completed.
    """
    if mean_service_ns is None or not in_flight or iops <= 0:
        return None
    return iops * mean_service_ns / 1e9 / in_flight


def consistent(ratio: float | None, tolerance: float = TOLERANCE) -> bool:
    """Return whether a ratio is close enough to 1, or unknown."""
    return ratio is None or abs(ratio - 1.0) <= tolerance
