"""When ACT aborts a test, and its verdict: how many I/Os of each slice took too long.

**Giving up**: a thread too far behind its schedule, or a queue too long; on closed rows. ACT 6 stops when a
thread is later than max-lag-sec (10 s); versions before 6 stopped when more than 100,000 small I/Os were
queued, and the large-block threads at 10 s as ever. Both bounds are times here: n waiting I/Os at a rate r
are n / r seconds old. What is still due when the test ends was never that late and stops nothing. A search
need not wait for the end of a slice that has failed: so many reads were slow that it fails even if all that
are still due are fast. A load that falls behind is not given up: what a stall left undone may be caught up.

**Verdict**: a drive passes at a load when in every slice of an hour fewer than 5 % of the reads take 1 ms or
longer, fewer than 1 % 8 ms, and fewer than 0.1 % 64 ms. The limits never changed; what is counted did. Up to
version 5 a read counted from when it was queued (here: `response`), since 6.0 from when a thread issues it
(`service`), so that ratings of the two are not comparable.

**Delivered load**: our own test, beside ACT's rules and no part of them: of every slice, at least 99.5 % of
what was asked of each stream was done. ACT loses what it is late with when a test ends, and says nothing.

Source: Aerospike ACT 6.6, src/storage/act_storage.c, and 5.2 (max-reqs-queued). README (verdict) and
analysis/act_latency.py (slices, thresholds and table).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from ssdlab.model.units import fixed_share_text, share_text

if TYPE_CHECKING:
    import numpy.typing as npt


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
    reads
        By stream, those that were counted by the rule of the test.
    slow
        By threshold in ms, how many of these took so long or longer, at least.
    """

    end_s: float
    done: Mapping[str, int]
    dropped: Mapping[str, int]
    slowest_s: Mapping[str, float]
    reads: Mapping[str, int] = field(default_factory=dict)
    slow: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Why a test ended before its time.

    Attributes
    ----------
    after_s
        When that was known.
    why
        A phrase.
    certain
        Whether ACT would have gone on: the verdict is certain, by its own limits.
    """

    after_s: float
    why: str
    certain: bool = False


@dataclass(slots=True)
class Backlog:
    """Looks at the rows of one test as they close.

    Attributes
    ----------
    streams
        Those that are due at a rate.
    ends_s
        When the test ends by itself; rows beyond are no longer its load.
    """

    streams: Sequence[Paced]
    ends_s: float

    def add(self, row: Interval) -> GivenUp | None:
        """Take the next row; returns why the test is given up after it, or None."""
        if row.end_s > self.ends_s + 1e-6:
            return None
        for stream in self.streams:
            late = row.slowest_s.get(stream.name, 0.0) - stream.burst_s > stream.allowed_s
            if row.dropped.get(stream.name) or (stream.burst_s and late):
                return GivenUp(row.end_s, f"{stream.name} {stream.overrun}")
        return None


@dataclass(slots=True)
class SlowReads:
    """Looks at the rows of one test for a slice that has failed before its end.

    Attributes
    ----------
    due
        Of each stream whose reads count, how many I/Os may be due until a time, in seconds since the start:
        no fewer than are.
    slice_s
        Length of a slice.
    ends_s
        When the test ends by itself.
    """

    due: Mapping[str, Callable[[float], float]]
    slice_s: float
    ends_s: float
    _done: dict[str, int] = field(default_factory=dict)
    _slice: int = 0
    _reads: int = 0
    _slow: dict[int, int] = field(default_factory=dict)

    def add(self, row: Interval) -> GivenUp | None:
        """Take the next row; returns why the slice that it lies in has failed, or None."""
        number = int((row.end_s - 1e-6) / self.slice_s)
        if number != self._slice:
            self._slice, self._reads, self._slow = number, 0, {}
        ends_s = (number + 1) * self.slice_s
        self._reads += sum(row.reads.values())
        for ms, count in row.slow.items():
            self._slow[ms] = self._slow.get(ms, 0) + count
        for name in self.due:
            self._done[name] = self._done.get(name, 0) + row.done.get(name, 0) + row.dropped.get(name, 0)
        if ends_s > self.ends_s + 1e-6 or row.end_s > ends_s - 1e-6:
            return None
        to_come = sum(max(0.0, until(ends_s) - self._done[name]) for name, until in self.due.items())
        for ms, limit in LIMITS.items():
            if (slow := self._slow.get(ms, 0)) and slow >= limit * (self._reads + to_come):
                share = slow / (self._reads + to_come)
                # Counted by the quantiles of rows: that many, and perhaps more.
                share_read = f"at least {share_text(share)} of all its reads"
                why = f"slice {number + 1}: {share_read} took {ms} ms or longer already"
                return GivenUp(row.end_s, f"{why}, not under {fixed_share_text(limit)}", certain=True)
        return None


QUANTILES = {"p50_ns": 0.5, "p99_ns": 0.01, "p99_9_ns": 0.001}
"""Shares of I/Os that took as long as a row's figure, or longer."""
BUCKET = 1 / 32
"""More than the width of a histogram's bucket beside its edge: what a figure may be too high by."""


def slow_by_quantiles(count: int, figures_ns: Mapping[str, float]) -> dict[int, int]:
    """Return how many I/Os of a row took as long as each of the limits, at least, by the row's quantiles.

    Parameters
    ----------
    count
        I/Os of the row.
    figures_ns
        Their quantiles, by the names of `QUANTILES`.
    """
    slow: dict[int, int] = {}
    for ms in LIMITS:
        shares = [
            share
            for name, share in QUANTILES.items()
            if figures_ns[name] * (1 - BUCKET) >= ms * NS_PER_MS and share * count >= 1
        ]
        slow[ms] = floor(max(shares, default=0.0) * count)
    return slow


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
    import numpy as np

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
