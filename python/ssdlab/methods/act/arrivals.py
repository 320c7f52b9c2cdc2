"""How ACT's threads are paced: its own ways of two versions, and two that no number of threads shapes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from ssdlab.analysis.act_backlog import Paced
from ssdlab.model.arrival import Bursts, Open
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Stream, Workload

Arrivals = Literal["act6", "act2019", "even", "poisson"]

QUEUES_2019 = 8
THREADS_A_QUEUE_2019 = 8
"""Eight queues of eight threads: what a published review drives fast NVMe drives with."""
MOST_QUEUED_2019 = 100_000
"""I/Os waiting in all queues at which ACT before 6 gave up."""


def threads_of(arrivals: Arrivals, service_threads: int) -> int:
    """Return how many threads do the small I/Os."""
    return QUEUES_2019 * THREADS_A_QUEUE_2019 if arrivals == "act2019" else service_threads


def lag_ns(max_lag_sec: int, duration_s: int) -> int:
    """Return how long an I/O may stay due; max-lag-sec 0 is "for ever", here: longer than the test."""
    return (max_lag_sec or 2 * duration_s) * NS_PER_S


def service_arrival(arrivals: Arrivals, rate: Fraction, allowed_ns: int) -> Open:
    """Return when the small I/Os are due, and how long they may stay so."""
    if arrivals != "act2019":
        return Open(process=arrivals, rate=rate, backlog_ns=allowed_ns)
    # A queue of so many at this rate is as old as its first I/O.
    backlog_ns = max(1, round(MOST_QUEUED_2019 / rate * NS_PER_S))
    return Open(process="act2019", queues=QUEUES_2019, rate=rate, backlog_ns=backlog_ns)


def paced(workload: Workload, max_lag_sec: int) -> Sequence[Paced]:
    """Return the streams of a load that are due at a rate, and how far behind they may be."""
    return tuple(_paced(stream, max_lag_sec) for stream in workload.streams if stream.requested_iops)


def burst_ios(stream: Stream) -> int:
    """Return how many I/Os are due together, beyond one for each worker."""
    return stream.arrival.bytes // stream.block[0].bytes if isinstance(stream.arrival, Bursts) else 0


def _paced(stream: Stream, max_lag_sec: int) -> Paced:
    rate, lag = float(stream.requested_iops or 0), f"fell more than {max_lag_sec} s (max-lag-sec) behind"
    if isinstance(stream.arrival, Bursts):
        allowed_s = float(max_lag_sec) if max_lag_sec else float("inf")
        return Paced(stream.name, rate, allowed_s, stream.arrival.every_ns / NS_PER_S, lag)
    assert isinstance(stream.arrival, Open)
    queued = f"had more than {MOST_QUEUED_2019:,} I/Os queued"
    told = queued if stream.arrival.process == "act2019" else lag
    return Paced(stream.name, rate, stream.arrival.backlog_ns / NS_PER_S, overrun=told)
