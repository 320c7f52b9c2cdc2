"""Two ratios of a window: work for each watt, and concurrency by Little's law.

Work is given as throughput over the mean power of the same window: random I/O in thousands of I/Os a second
for each watt, sequential and mixed I/O in MB/s for each watt, as the reviews do. Without a meter there is no
figure: a guess would be a rating. Source: AnandTech, enterprise suite of 2018 to 2020, the toggles between
efficiency and average power.

IOPS x mean service time / mean I/Os in flight is 1 when rows, counters and latencies agree, and when the
requested depth was really there: a check of the tool on itself, for any distribution of arrivals and service
times. Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9 (1961).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["kIOPS/W", "MB/s/W", "x/W"]


@dataclass(frozen=True)
class Efficiency:
    """Work for each watt."""

    value: float
    unit: Unit


def efficiency(
    pattern: Literal["random", "sequential", "mixed"],
    iops: float | None,
    mb_s: float | None,
    mean_w: float | None,
) -> Efficiency | None:
    """Return the work for each watt of a window; None without a meter, or where it showed nothing.

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
"""How far from 1 the ratio may be: the start and the end of a run of a second weigh so much."""


def littles_ratio(iops: float, mean_service_ns: float | None, in_flight: float | None) -> float | None:
    """Return IOPS x mean service time / I/Os in flight; None where one of them is not known or nothing ran.

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
    """Say whether a ratio is near enough to 1; one that is not known does not speak against it."""
    return ratio is None or abs(ratio - 1.0) <= tolerance
