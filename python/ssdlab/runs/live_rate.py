"""How fast a drive is at the moment, as it is shown while a run goes on."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ssdlab.model.units import NS_PER_S

if TYPE_CHECKING:
    from ssdlab._core import Snapshot

_SHORT_NS = NS_PER_S // 4
"""Rows shorter than this hold few I/Os: of one of 1.33 ms every rate is a multiple of 750 a second."""


class LiveRate:
    """The rate of the row closed last; where rows are short, that of all I/O over a longer stretch."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int, int]] = deque()
        self._phase = ""

    def of(self, snapshot: Snapshot) -> tuple[float, float] | None:
        """Return IOPS and MB/s; None before the first row."""
        row = snapshot.latest
        if row is None:
            return None
        if row.end_ns - row.start_ns >= _SHORT_NS:
            return row.iops, row.mb_s
        now = (snapshot.elapsed_ns, snapshot.ios, snapshot.bytes)
        if snapshot.phase != self._phase or (self._seen and now < self._seen[-1]):
            self._seen.clear()
            self._phase = snapshot.phase
        self._seen.append(now)
        while len(self._seen) > 2 and now[0] - self._seen[1][0] >= _SHORT_NS:
            self._seen.popleft()
        elapsed, ios, moved = (end - begin for begin, end in zip(self._seen[0], now, strict=True))
        if elapsed <= 0:
            return row.iops, row.mb_s
        return ios * NS_PER_S / elapsed, moved * 1e3 / elapsed
