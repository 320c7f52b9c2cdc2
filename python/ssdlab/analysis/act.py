"""When ACT gives a test up, and its verdict: how many I/Os of each slice took too long.

**Giving up**: a thread too far behind its schedule, or a queue too long; on closed rows. ACT 6 stops when a
thread is later than max-lag-sec (10 s); versions before 6 stopped when more than 100,000 small I/Os were
queued, and the large-block threads at 10 s as ever. Both bounds are here times: so many I/Os are as old as
their number over their rate. What is still due when the test ends was never that late and stops nothing. A
search need not wait for that. Where the load left undone has grown over a minute, so that the bound would be
passed before the test ends, the try is abandoned: "queues grow without bound".

**Verdict**: a drive passes at a load when in every slice of an hour fewer than 5 % of the reads take 1 ms or
longer, fewer than 1 % 8 ms, and fewer than 0.1 % 64 ms. The limits never changed; what is counted did. Up to
version 5 a read counted from when it was queued (here: `response`), since 6.0 from when a thread issues it
(`service`), so that ratings of the two are not comparable. A slice only counts if at least 99.5 % of what was
asked of each stream was done: ACT loses what it is late with when a test ends, and says nothing.

Source: Aerospike ACT 6.6, src/storage/act_storage.c, and 5.2 (max-reqs-queued); the early end is that of a
published review practice. README (verdict) and analysis/act_latency.py (slices, thresholds and table).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


MIN_BEHIND_S = 1.0
"""A trend counts from here on: below, ticks look like one."""
QUARTERS = 4
"""Parts of the stretch that all have to show it."""
NS_PER_MS = 1_000_000
LIMITS = {1: 0.05, 8: 0.01, 64: 0.001}
"""Shares of reads that must take less than so many ms: fewer than this share may be slower."""
THRESHOLDS_MS = (1, 2, 4, 8, 16, 32, 64)
"""Columns of ACT's table."""
MIN_DONE = 0.995
"""Share of what is due in a slice that must be done. An hour that ends 10 s late has 99.7 %, so that in a
test of full length ACT's own rule is the stricter."""


@dataclass(frozen=True, slots=True)
class Paced:
    """A stream that is due at a rate.

    Attributes
    ----------
    name
        Of the stream.
    rate
        I/Os a second.
    allowed_s
        How far behind it may be.
    burst_s
        Time from one burst to the next; its I/Os are all due at once, but late only by what lies beyond. 0
        for a stream without bursts.
    overrun
        What it did when it is further behind, in words.
    """

    name: str
    rate: float
    allowed_s: float
    burst_s: float = 0.0
    overrun: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """One closed row: what each stream did until its end, in order.

    Attributes
    ----------
    end_s
        Since the start.
    done
        I/Os by stream; the failed among them.
    dropped
        I/Os that were due for longer than allowed, and given up.
    slowest_s
        Longest response.
    """

    end_s: float
    done: Mapping[str, int]
    dropped: Mapping[str, int]
    slowest_s: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Why a test ended before its time.

    Attributes
    ----------
    after_s
        When that was known.
    why
        A phrase.
    forecast
        Whether it was only seen coming: what ACT itself would have said is not known.
    """

    after_s: float
    why: str
    forecast: bool = False


@dataclass(slots=True)
class Backlog:
    """Looks at the rows of one test as they close.

    Attributes
    ----------
    streams
        Those that are due at a rate.
    ends_s
        When the test ends by itself; rows beyond are no longer its load.
    trend_s
        Stretch over which a trend is judged; 0: never.
    """

    streams: Sequence[Paced]
    ends_s: float
    trend_s: float = 0.0
    _done: dict[str, int] = field(default_factory=dict)
    _behind_s: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, row: Interval) -> GivenUp | None:
        """Take the next row; returns why the test is given up after it, or None."""
        if row.end_s > self.ends_s + 1e-6:
            return None
        found = (self._judged(each, row) for each in self.streams)
        return next((why for why in found if why is not None), None)

    def _judged(self, stream: Paced, row: Interval) -> GivenUp | None:
        late = row.slowest_s.get(stream.name, 0.0) - stream.burst_s > stream.allowed_s
        if row.dropped.get(stream.name) or (stream.burst_s and late):
            return GivenUp(row.end_s, f"{stream.name} {stream.overrun}")
        done = self._done[stream.name] = self._done.get(stream.name, 0) + row.done.get(stream.name, 0)
        seen = self._behind_s.setdefault(stream.name, [])
        seen.append((row.end_s, max(0.0, row.end_s - done / stream.rate)))
        if not self.trend_s:
            return None
        last = [each for each in seen if each[0] > row.end_s - self.trend_s]
        del seen[: len(seen) - len(last)]
        if row.end_s < self.trend_s:
            return None
        expected_s = forecast_s(last, self.ends_s)
        if expected_s <= stream.allowed_s:
            return None
        why = (
            f"abandoned: {stream.name} was {last[-1][1]:.1f} s behind and would have been {expected_s:.0f} s "
            f"at the end, with {stream.allowed_s:.3g} s allowed"
        )
        return GivenUp(row.end_s, why, forecast=True)


def forecast_s(behind: Sequence[tuple[float, float]], ends_s: float) -> float:
    """Return how far behind a stream will be at the end, if it goes on as it did.

    It is taken to fall behind as fast as in that quarter of the stretch in which it did so least: a stall, be
    it long, lies in one or two of them and is no trend.

    Parameters
    ----------
    behind
        Times, and the seconds of load that were undone then.
    ends_s
        The end.

    Returns
    -------
    float
        Seconds of load; 0 while there is too little to tell from: fewer than five points, or less than
        `MIN_BEHIND_S` behind.
    """
    at_s, now_s = behind[-1]
    if len(behind) < QUARTERS + 1 or now_s < MIN_BEHIND_S:
        return 0.0
    marks = [behind[round(part * (len(behind) - 1) / QUARTERS)] for part in range(QUARTERS + 1)]
    slope = min((late[1] - early[1]) / (late[0] - early[0]) for early, late in pairwise(marks))
    return now_s + slope * max(0.0, ends_s - at_s) if slope > 0 else 0.0


def min_done(rate: float, seconds: float, workers: int, burst: int, share: float) -> int:
    """Return how many I/Os of a slice must be done for its load to count as given.

    A slice may begin and end between two ticks and with I/Os in flight: one burst, or one tick of all
    workers, and one I/O of each may fall to its neighbour.

    Parameters
    ----------
    rate, seconds
        I/Os a second that are due, and length of the slice.
    workers, burst
        Threads of the stream; I/Os that are due together, beyond one of each.
    share
        Of what is due.
    """
    return max(0, ceil(share * rate * seconds) - 2 * workers - burst)


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a test.

    Attributes
    ----------
    number
        From 1.
    ios
        I/Os that it is judged by.
    rate
        Of them, per second.
    over
        Share of them that took so many ms or longer, by threshold.
    """

    number: int
    ios: int
    rate: float
    over: Mapping[int, float]

    @property
    def passes(self) -> bool:
        """Whether all limits hold."""
        return all(self.over[ms] < limit for ms, limit in LIMITS.items())


def share_over(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], limit_ns: int
) -> float:
    """Return the share of latencies of at least `limit_ns`, of histogram buckets.

    The bucket that the limit cuts counts by the part of it that lies above: latencies within a bucket, which
    is at most 1.6 % wide, are taken as evenly spread.
    """
    total = int(count.sum())
    if not total:
        return 0.0
    widths = np.maximum(high_ns - low_ns, 1)
    above = np.clip((high_ns - limit_ns) / widths, 0.0, 1.0)
    return float((above * count).sum() / total)


def slices(
    row: npt.NDArray[Any],
    buckets: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
    rows: int,
    rows_a_slice: int,
    slice_s: float,
) -> list[Slice]:
    """Cut a test into slices of equal length; as in ACT, what is left at the end is no slice.

    Parameters
    ----------
    row
        Interval row of each bucket, from 0.
    buckets
        Their low and high edges in ns, and their counts.
    rows, rows_a_slice
        Rows of the test, and of a slice.
    slice_s
        Length of a slice in seconds.
    """
    low, high, count = buckets
    number = row // rows_a_slice
    found = []
    for at in range(rows // rows_a_slice):
        mine = number == at
        part = (low[mine], high[mine], count[mine])
        ios = int(part[2].sum())
        over = {ms: share_over(*part, ms * NS_PER_MS) for ms in THRESHOLDS_MS}
        found.append(Slice(at + 1, ios, ios / slice_s, over))
    return found
