"""Throughput of paced I/O: bytes over the time in which the drive had something to do.

A load that comes in bursts leaves the drive idle in between, so that bytes over the whole time tell the pace
and not the drive. What counts is the time with at least one I/O in flight: the union of the I/Os' service
times. Their plain sum is longer by the number in flight, about four times at depth 4; it is kept beside,
since reviews that speak of "total service time" leave open which one they mean.

Sources: PC Perspective, review of the Intel SSD 600p (2016), throughput during bursts only and load time by
total service time; utilisation as the busy share of time is that of queueing theory (L. Kleinrock, "Queueing
Systems" vol. 1, 1975, section 2.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt


def busy_ns(begin_ns: npt.NDArray[Any], end_ns: npt.NDArray[Any]) -> int:
    """Return the length of the union of intervals, in any order.

    Parameters
    ----------
    begin_ns, end_ns
        Begin and end of each, in whole nanoseconds.
    """
    import numpy as np

    if begin_ns.size == 0:
        return 0
    order = np.argsort(begin_ns, kind="stable")
    begin, end = begin_ns[order].astype(np.int64), end_ns[order].astype(np.int64)
    reached = np.maximum.accumulate(end)
    # Each interval adds what lies beyond all before it.
    covered = np.concatenate([begin[:1], reached[:-1]])
    return int((reached - np.maximum(begin, covered)).clip(min=0).sum())


def spans_ns(group: npt.NDArray[Any], end_ns: npt.NDArray[Any]) -> list[int]:
    """Return for each burst the time from when it was due until its last I/O was done, in order.

    Parameters
    ----------
    group
        When each I/O was due: the same for all of a burst.
    end_ns
        When each was done.
    """
    import numpy as np

    due, which = np.unique(group, return_inverse=True)
    last = np.zeros(due.size, dtype=np.int64)
    np.maximum.at(last, which, end_ns.astype(np.int64))
    return [int(each) for each in last - due.astype(np.int64)]
