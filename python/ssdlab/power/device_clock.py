"""A meter's own clock as the host sees it: what comes late came late, so the least delay is the offset."""

from __future__ import annotations

from collections import deque

_BLOCKS = 64
"""Blocks that the least delay is taken over; at ten a second a clock that is 100 ppm off moves 0.64 ms."""


class DeviceClock:
    """Maps times of a meter's clock to CLOCK_MONOTONIC, from when each block of samples came.

    What is left over is the way itself: at least the least delay of a network, some 0.1 ms on a wire.
    """

    def __init__(self) -> None:
        self._delays: deque[int] = deque(maxlen=_BLOCKS)
        self._first: tuple[int, int] | None = None
        self._offset_ns = 0
        self.drift_ppm = 0.0
        """How fast it runs away from the host's, over all blocks so far; 0 before there are `_BLOCKS`."""

    def put(self, latest_ns: int, came_ns: int) -> int:
        """Take a block by the time of its last sample and when it came; return the offset to be added."""
        self._delays.append(came_ns - latest_ns)
        self._offset_ns = min(self._delays)
        if len(self._delays) == _BLOCKS:
            if self._first is None:
                self._first = (latest_ns, self._offset_ns)
            elif latest_ns > self._first[0]:
                moved = self._offset_ns - self._first[1]
                self.drift_ppm = moved / (latest_ns - self._first[0]) * 1e6
        return self._offset_ns
