"""A check of the tool on itself: I/Os in flight = throughput x time in the system.

For any stable system, however its arrivals and service times are spread, the mean number inside equals the
mean rate of leaving times the mean time spent inside. So IOPS x mean service time / mean I/Os in flight is
1 when rows, counters and latencies tell the same story, and when the depth that was asked for was really
there.

Source: J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", Operations Research 9 (1961).
"""

from __future__ import annotations

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
