"""Service and busy time of a device from the issues and completions of its requests, in order of time.

A request is known again by where it begins; of two at one place at a time, the first is taken to be done
first. Times are kept in buckets of 1/64 of an octave, so that a percentile is off by 0.8 % at most; mean,
extremes and busy time are exact.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from fractions import Fraction

from ssdlab.analysis.percentiles import SAMPLES_BEYOND, rank
from ssdlab.model.summary import PERCENTILES

_SUB_BITS = 6


@dataclass
class _Times:
    """Of one direction."""

    buckets: Counter[int] = field(default_factory=Counter)
    count: int = 0
    total_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0

    def add(self, took_ns: int) -> None:
        shift = max(0, took_ns.bit_length() - _SUB_BITS - 1)
        self.buckets[(took_ns >> shift) << shift | (1 << shift) >> 1] += 1
        self.min_ns = took_ns if not self.count else min(self.min_ns, took_ns)
        self.max_ns = max(self.max_ns, took_ns)
        self.count += 1
        self.total_ns += took_ns

    def as_dict(self) -> dict[str, float | None]:
        found: dict[str, float | None] = {
            "min": float(self.min_ns),
            "mean": self.total_ns / self.count,
            "max": float(self.max_ns),
        }
        ordered = sorted(self.buckets.items())
        for name in PERCENTILES:
            at = rank(Fraction(name[1:]), self.count)
            enough = self.count - at >= SAMPLES_BEYOND
            found[name] = float(min(self.max_ns, _at(ordered, at))) if enough else None
        return found


def _at(ordered: list[tuple[int, int]], wanted: int) -> int:
    below = 0
    for value_ns, count in ordered:
        below += count
        if below >= wanted:
            return value_ns
    return ordered[-1][0]


class Requests:
    """Requests of a device; what begins and ends them comes in order of time."""

    def __init__(self) -> None:
        self._open: dict[int, deque[tuple[int, str]]] = {}
        self._in_flight = 0
        self._busy_since_ns = 0
        self._times: dict[str, _Times] = {}
        self.busy_ns = 0
        self.bytes = 0
        self.unmatched = 0

    def begin(self, time_ns: int, place: int, direction: str, length: int) -> None:
        """Take note that a request was given to the device."""
        self._open.setdefault(place, deque()).append((time_ns, direction))
        if not self._in_flight:
            self._busy_since_ns = time_ns
        self._in_flight += 1
        self.bytes += 0 if direction == "trim" else length

    def end(self, time_ns: int, place: int) -> None:
        """Take note that one was done; one whose issue was not seen does not count."""
        waiting = self._open.get(place)
        if not waiting:
            self.unmatched += 1
            return
        began_ns, direction = waiting.popleft()
        if not waiting:
            del self._open[place]
        self._in_flight -= 1
        if not self._in_flight:
            self.busy_ns += time_ns - self._busy_since_ns
        self._times.setdefault(direction, _Times()).add(time_ns - began_ns)

    @property
    def count(self) -> int:
        """Those that were done."""
        return sum(times.count for times in self._times.values())

    @property
    def never_done(self) -> int:
        """Those of which no end was seen."""
        return self._in_flight

    @property
    def mean_ns(self) -> float | None:
        """Mean of all directions."""
        return sum(each.total_ns for each in self._times.values()) / self.count if self.count else None

    def by_direction(self) -> dict[str, dict[str, float | None]]:
        """Return mean, extremes and percentiles of each direction."""
        return {name: times.as_dict() for name, times in self._times.items()}
