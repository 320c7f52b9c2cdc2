"""ACT's rules: when a test is aborted, and whether a drive passes by its share of slow reads.

**Abort**: a test is aborted when a thread is too far behind its schedule, or a queue is too long. Both are
judged on closed rows. ACT 6 stops when a thread is later than max-lag-sec (10 s). Versions before 6 stopped
when more than 100,000 small I/Os were queued, or when the large-block threads were 10 s late. Here both
bounds are times: n waiting I/Os at a rate r are n / r seconds old. I/Os still due when the test ends were
never late enough to abort it. A search also stops within a slice that is certain to fail: its slow reads are
too many even if all reads still due are fast. A load that falls behind is not aborted for that alone, since
it may catch up after a stall.

**Verdict**: a drive passes at a load if each slice of an hour keeps three limits. Fewer than 5 % of the reads
take 1 ms or longer, fewer than 1 % take 8 ms, and fewer than 0.1 % take 64 ms. The limits never changed, but
the latency did. Up to version 5 it began when a read was queued (here: `response`). Since 6.0 it begins when
a thread issues the read (`service`). Ratings of the two are therefore not comparable.

**Delivered load**: a test of our own, in addition to ACT's rules. In every slice each stream must complete at
least 99.5 % of the I/Os that were due. ACT drops late I/Os at the end of a test without reporting them.

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
"""By threshold in ms: the share of reads that may take so long or longer must stay below this."""
THRESHOLDS_MS = (1, 2, 4, 8, 16, 32, 64)
"""Columns of ACT's table."""
MIN_DONE = 0.995
"""Minimum share of the due I/Os that must complete in a slice. An hour that ends 10 s late has 99.7 %, so in
a test of full length ACT's own rule is stricter."""


@dataclass(frozen=True, slots=True)
class Paced:
    """A stream whose I/Os are due at a fixed rate.

    Attributes
    ----------
    rate
        I/Os a second.
    allowed_s
        How late an I/O may be before the test is aborted.
    burst_s
        Time from one burst to the next; 0 for a stream without bursts. All I/Os of a burst are due at once,
        but only the time beyond this period counts as late.
    overrun
        Phrase that says what the stream did if it was later than allowed.
    """

    name: str
    rate: float
    allowed_s: float
    burst_s: float = 0.0
    overrun: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """What each stream did in one closed row. All mappings but `slow` are by stream name.

    Attributes
    ----------
    end_s
        End of the row, since the start of the test.
    done
        I/Os completed, including failed ones.
    dropped
        I/Os that were given up because they were late for longer than allowed.
    slowest_s
        Longest response time.
    reads
        Reads that the rule of the test counts.
    slow
        By threshold in ms: the minimum number of these reads that took so long or longer.
    """

    end_s: float
    done: Mapping[str, int]
    dropped: Mapping[str, int]
    slowest_s: Mapping[str, float]
    reads: Mapping[str, int] = field(default_factory=dict)
    slow: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Why a test ended early.

    Attributes
    ----------
    after_s
        Time since the start at which the reason was known.
    why
        A phrase for users.
    certain
        Whether ACT itself would have gone on, to a verdict that its limits already make certain.
    """

    after_s: float
    why: str
    certain: bool = False


@dataclass(slots=True)
class Backlog:
    """Checks the rows of a test, as they close, for a stream that is too late.

    Attributes
    ----------
    ends_s
        Planned end of the test; later rows are ignored.
    """

    streams: Sequence[Paced]
    ends_s: float

    def add(self, row: Interval) -> GivenUp | None:
        """Check the next row. Return why the test is aborted after it, or None."""
        if row.end_s > self.ends_s + 1e-6:
            return None
        for stream in self.streams:
            late = row.slowest_s.get(stream.name, 0.0) - stream.burst_s > stream.allowed_s
            if row.dropped.get(stream.name) or (stream.burst_s and late):
                return GivenUp(row.end_s, f"{stream.name} {stream.overrun}")
        return None


@dataclass(slots=True)
class SlowReads:
    """Checks the rows of a test, as they close, for a slice that is certain to fail.

    Attributes
    ----------
    due
        For each stream whose reads count: a function from a time, in seconds since the start, to the number
        of I/Os due by then. It may return too many, but never too few.
    slice_s
        Length of a slice.
    ends_s
        Planned end of the test.
    """

    due: Mapping[str, Callable[[float], float]]
    slice_s: float
    ends_s: float
    _done: dict[str, int] = field(default_factory=dict)
    _slice: int = 0
    _reads: int = 0
    _slow: dict[int, int] = field(default_factory=dict)

    def add(self, row: Interval) -> GivenUp | None:
        """Check the next row. Return why its slice is certain to fail, or None."""
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
                # The count comes from the quantiles of rows, so it is a lower bound.
                share_read = f"at least {share_text(share)} of all its reads"
                why = f"slice {number + 1}: {share_read} took {ms} ms or longer already"
                return GivenUp(row.end_s, f"{why}, not under {fixed_share_text(limit)}", certain=True)
        return None


QUANTILES = {"p50_ns": 0.5, "p99_ns": 0.01, "p99_9_ns": 0.001}
"""Shares of a row's I/Os that took at least as long as each of its figures."""
BUCKET = 1 / 32
"""Upper bound on the relative width of a histogram bucket: a figure may be too high by this share."""


def slow_by_quantiles(count: int, figures_ns: Mapping[str, float]) -> dict[int, int]:
    """Return the minimum number of a row's I/Os that took as long as each limit, by the row's quantiles.

    Parameters
    ----------
    figures_ns
        Quantiles of the row, by the names of `QUANTILES`.
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
    """Return how many I/Os must complete in a slice for its load to count as delivered.

    Some I/Os may be counted in the neighbouring slice, because a slice can begin or end between two ticks or
    with I/Os in flight. The tolerance is one burst, or one tick of all workers, and one I/O of each worker.

    Parameters
    ----------
    rate, seconds
        I/Os a second that are due, and length of the slice.
    workers, burst
        Threads of the stream, and I/Os of a burst beyond one for each thread.
    share
        Minimum share of the due I/Os.
    """
    return max(0, ceil(share * rate * seconds) - 2 * workers - burst)


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a test.

    Attributes
    ----------
    number
        Number of the slice, from 1.
    ios
        I/Os that the slice is judged by.
    rate
        These I/Os per second.
    over
        By threshold in ms: share of these I/Os that took so long or longer.
    """

    number: int
    ios: int
    rate: float
    over: Mapping[int, float]

    @property
    def passes(self) -> bool:
        return all(self.over[ms] < limit for ms, limit in LIMITS.items())


def share_over(
    low_ns: npt.NDArray[Any], high_ns: npt.NDArray[Any], count: npt.NDArray[Any], limit_ns: int
) -> float:
    """Return the share of latencies of at least `limit_ns`, from histogram buckets.

    The bucket that contains the limit counts by its part above the limit. Latencies are taken as evenly
    spread within a bucket, which is at most 1.6 % wide.
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
    """Cut a test into slices of equal length; as in ACT, an incomplete slice at the end is left out.

    Parameters
    ----------
    row
        Interval row of each bucket, from 0.
    buckets
        Low and high edges of the buckets in ns, and their counts.
    rows, rows_a_slice
        Rows of the test, and rows of a slice.
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
