"""Summary of a trace, without a replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ssdlab.formats.traces.events import NAMES, TRIM, WRITE, Event
from ssdlab.formats.traces.reading import ALL, Source, Tally, events
from ssdlab.model.limits import SIZES

GAP_NS = 25_000_000
"""Gaps longer than this count as idle; AnandTech's storage bench cut gaps to this length."""


@dataclass
class Bursts:
    """Writes that follow one another without a gap longer than `GAP_NS`."""

    count: int = 0
    bytes: int = 0
    """Total of all bursts."""
    first_ns: int = 0
    last_ns: int = 0
    """Start of the first and of the last burst."""
    _written_ns: int | None = None
    """Time of the previous write."""

    def take(self, event: Event) -> None:
        """Count a write; writes must come in order of time."""
        if self._written_ns is None or event.time_ns - self._written_ns > GAP_NS:
            self.count += 1
            self.last_ns = event.time_ns
            if self.count == 1:
                self.first_ns = event.time_ns
        self._written_ns = max(event.time_ns, self._written_ns or 0)
        self.bytes += event.length

    @property
    def mean_bytes(self) -> int | None:
        """Mean size of a burst; None without bursts."""
        return round(self.bytes / self.count) if self.count else None

    @property
    def every_ns(self) -> int | None:
        """Mean time from one burst to the next; None with fewer than two bursts."""
        return round((self.last_ns - self.first_ns) / (self.count - 1)) if self.count > 1 else None


@dataclass
class Kind:
    """The I/Os of one operation."""

    ios: int = 0
    bytes: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    """Number of I/Os by length; after `SIZES` different lengths, new ones are not counted."""


@dataclass
class Overview:
    """A trace as a whole; offsets in bytes, times in ns from the first I/O."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    extent_bytes: int = 0
    unit_bytes: int = 0
    """Largest power of two, up to 1 MiB, that divides every offset and length."""
    duration_ns: int = 0
    longest_gap_ns: int = 0
    gaps: int = 0
    gaps_ns: int = 0
    """Number and total length of the gaps longer than `GAP_NS`."""
    bursts: Bursts = field(default_factory=Bursts)

    @property
    def write_block_bytes(self) -> int | None:
        """Most common length of the writes; None without writes."""
        written = self.kinds.get("write")
        return written.sizes.most_common(1)[0][0] if written is not None and written.sizes else None

    @property
    def ios(self) -> int:
        """All I/Os, flushes included."""
        return sum(kind.ios for kind in self.kinds.values())

    @property
    def not_replayed(self) -> dict[str, int]:
        """Number of I/Os by operation, for operations that a replay leaves out."""
        return {name: kind.ios for name, kind in self.kinds.items() if NAMES.index(name) > TRIM}


def overview(source: Source) -> tuple[Overview, Tally]:
    """Read a trace to its end, and count its bad lines; without a device in `source`, all are included.

    Raises
    ------
    UsageError, HostError
        As in `reading.events`.
    """
    tally = Tally()
    chosen = source.model_copy(update={"bad_lines": "skip", "device": source.device or ALL})
    found = Overview()
    bits = 1 << 20
    for event in _timed(events(chosen, tally), found):
        kind = found.kinds.setdefault(NAMES[event.op], Kind())
        kind.ios += 1
        kind.bytes += event.length
        if event.length in kind.sizes or len(kind.sizes) < SIZES:
            kind.sizes[event.length] += 1
        if event.op == WRITE:
            found.bursts.take(event)
        if event.op <= TRIM:
            bits |= event.offset | event.length
            found.extent_bytes = max(found.extent_bytes, event.offset + event.length)
    found.unit_bytes = bits & -bits
    return found, tally


def _timed(every: Iterator[Event], found: Overview) -> Iterator[Event]:
    """Pass the events on, and note times and gaps."""
    first_ns = last_ns = None
    for event in every:
        if first_ns is None or last_ns is None:
            first_ns = last_ns = event.time_ns
        gap_ns = event.time_ns - last_ns
        if gap_ns > GAP_NS:
            found.gaps += 1
            found.gaps_ns += gap_ns
        found.longest_gap_ns = max(found.longest_gap_ns, gap_ns)
        found.duration_ns = max(found.duration_ns, event.time_ns - first_ns)
        last_ns = max(last_ns, event.time_ns)
        yield event


def as_dict(found: Overview, tally: Tally) -> dict[str, Any]:
    """Return both as a dictionary for JSON."""
    # Not `asdict`: it would rebuild a Counter from its pairs, and so count the pairs.
    kinds = {name: {**vars(kind), "sizes": dict(kind.sizes)} for name, kind in found.kinds.items()}
    devices = dict(tally.devices.most_common())
    bursts = {
        "count": found.bursts.count,
        "bytes": found.bursts.mean_bytes,
        "every_ns": found.bursts.every_ns,
        "block_bytes": found.write_block_bytes,
    }
    return {**vars(found), "kinds": kinds, "bursts": bursts, **vars(tally), "devices": devices}
