"""Wall time of a simulation, given its share of the host's CPUs.

The remaining work is known in CPU seconds, independent of other load. The wall time grows as CPUs are shared,
which changes during a run.
"""

from __future__ import annotations

import os
import time
from collections import deque
from typing import TYPE_CHECKING

from ssdlab.lab.verbs.verb import Bounds

if TYPE_CHECKING:
    pass

LOOK_S = 0.5
"""Minimum wall time between two samples: shorter ones only show the scheduler's turns."""


RECENT_S = 5.0
"""Averaging time of the present value."""


MORE_BUSY = 1.5
"""Assumed worst increase of the host's load over the recent or the whole run's."""


PLANNED_BUSY = 3.0
"""Assumed load of the host in a plan's upper bounds, relative to the calibration."""


_CPU_MIN_S = 1e-3


class HostTime:
    """Records the wall time of a simulation's work."""

    def __init__(self) -> None:
        self._wall_s = self._cpu_s = 0.0
        self._recent: deque[tuple[float, float]] = deque()
        self._queue = self._of_late = _queue_of_host()
        self._fastest = 1.0
        self._from: tuple[float, float] | None = time.monotonic(), time.process_time()

    def look(self) -> None:
        """Record the use since the last sample."""
        now = time.monotonic(), time.process_time()
        if self._from is None:
            self._from = now
        wall, cpu = (at - before for at, before in zip(now, self._from, strict=True))
        if wall >= LOOK_S:
            self._from = now
            self._note(wall, max(cpu, _CPU_MIN_S))

    def pause(self) -> None:
        """Ignore the time until the next sample, which is not this process's work."""
        self._from = None

    @property
    def stretch(self) -> Bounds:
        """Wall seconds per CPU second from here on: on an idle host, and on a busier one."""
        if not self._wall_s:
            return Bounds(self._fastest, self._queue)
        return Bounds(self._fastest, MORE_BUSY * max(1.0, self._of_late, self.usual))

    @property
    def usual(self) -> float:
        """Wall seconds per CPU second until now."""
        return max(1.0, self._wall_s / self._cpu_s) if self._cpu_s else 1.0

    def _note(self, wall: float, cpu: float) -> None:
        self._wall_s, self._cpu_s = self._wall_s + wall, self._cpu_s + cpu
        self._recent.append((wall, cpu))
        while sum(each[0] for each in self._recent) - self._recent[0][0] >= RECENT_S:
            self._recent.popleft()
        self._of_late = sum(each[0] for each in self._recent) / sum(each[1] for each in self._recent)
        self._fastest = min(self._fastest, self._of_late)


def _queue_of_host() -> float:
    """Return how much busier the host is than a plan allows for: what is known before anything was seen."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)) / PLANNED_BUSY)
