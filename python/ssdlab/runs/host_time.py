"""How long a simulation takes by the clock, given its share of the host's processors.

What a simulation has still to do is known in seconds of a processor, which do not depend on what else the
host does. By the clock they take as much longer as the processors are shared, and that changes while a run
goes on.
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
"""Of the clock, at least, between two looks: shorter ones say how the scheduler takes turns."""


RECENT_S = 5.0
"""What is said of now is a mean over so long."""


MORE_BUSY = 1.5
"""The host may become so many times busier than it was of late, or in all of the run: nobody foresees it."""


PLANNED_BUSY = 3.0
"""Of a host that was measured by, so many times busier: what a plan's upper bounds of a simulation are of."""


_CPU_MIN_S = 1e-3


class HostTime:
    """Notes how long the work of a simulation takes by the clock."""

    def __init__(self) -> None:
        self._wall_s = self._cpu_s = 0.0
        self._recent: deque[tuple[float, float]] = deque()
        self._queue = self._of_late = _queue_of_host()
        self._fastest = 1.0
        self._from: tuple[float, float] | None = time.monotonic(), time.process_time()

    def look(self) -> None:
        """Note what was used since the last look."""
        now = time.monotonic(), time.process_time()
        if self._from is None:
            self._from = now
        wall, cpu = (at - before for at, before in zip(now, self._from, strict=True))
        if wall >= LOOK_S:
            self._from = now
            self._note(wall, max(cpu, _CPU_MIN_S))

    def pause(self) -> None:
        """Forget since when: what follows until the next look is no work of this process."""
        self._from = None

    @property
    def stretch(self) -> Bounds:
        """Seconds of the clock for one of a processor, from here on: of an idle host, and of a busier one."""
        if not self._wall_s:
            return Bounds(self._fastest, self._queue)
        return Bounds(self._fastest, MORE_BUSY * max(1.0, self._of_late, self.usual))

    @property
    def usual(self) -> float:
        """Seconds of the clock for one of a processor, until now."""
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
