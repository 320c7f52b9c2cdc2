"""When ACT gives a test up: a thread too far behind its schedule, or a queue too long; on closed rows.

ACT 6 stops when a thread is later than max-lag-sec (10 s); versions before 6 stopped when more than 100,000
small I/Os were queued, and the large-block threads at 10 s as ever. Both bounds are here times: so many
I/Os are as old as their number over their rate. What is still due when the test ends was never that late and
stops nothing.

A search need not wait for that. Where the load left undone has grown over a minute, so that the
bound would be passed before the test ends, the try is abandoned: "queues grow without bound".

Source: Aerospike ACT 6.6, src/storage/act_storage.c, and 5.2 (max-reqs-queued); the early end is that of a
published review practice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

LEAST_BEHIND_S = 1.0
"""A trend counts from here on: below, ticks look like one."""
QUARTERS = 4
"""Parts of the stretch that all have to show it."""


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
        `LEAST_BEHIND_S` behind.
    """
    at_s, now_s = behind[-1]
    if len(behind) < QUARTERS + 1 or now_s < LEAST_BEHIND_S:
        return 0.0
    marks = [behind[round(part * (len(behind) - 1) / QUARTERS)] for part in range(QUARTERS + 1)]
    slope = min((late[1] - early[1]) / (late[0] - early[0]) for early, late in pairwise(marks))
    return now_s + slope * max(0.0, ends_s - at_s) if slope > 0 else 0.0


def least_done(rate: float, seconds: float, workers: int, burst: int, share: float) -> int:
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
