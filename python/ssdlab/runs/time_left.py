"""Estimates the remaining time of a run, narrowed by its finished steps.

For a real drive the plan counts, and steps that stop by bytes are planned again with the observed speeds.
For a simulated drive the plan gives the remaining work, and finished steps give its CPU seconds. `HostTime`
gives the wall seconds per CPU second, which change with the load of the host.
"""

from __future__ import annotations

import os
import time
from bisect import insort
from collections import deque
from dataclasses import replace
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING

from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.runs.pace import known_of
from ssdlab.runs.plan import START_MAX_S, Past, Plan, overhead_max_s, planned_step

if TYPE_CHECKING:
    from ssdlab._core import Snapshot
    from ssdlab.analysis.pace import Known
    from ssdlab.results.run_folder import Step
    from ssdlab.runs.plan import PlannedStep

LOOK_S = 0.5
"""Minimum wall time between two samples: shorter times depend on single scheduler time slices."""
RECENT_S = 5.0
"""Averaging time of the recent load."""
MORE_BUSY = 1.5
"""Worst future load to assume, relative to the recent load or that of the whole run."""
PLANNED_BUSY = 3.0
"""Host load that a plan's upper bounds allow for, relative to the calibration."""
_CPU_MIN_S = 1e-3


class HostTime:
    """Records how much wall time a simulation's CPU time takes."""

    def __init__(self) -> None:
        self._wall_s = self._cpu_s = 0.0
        self._recent: deque[tuple[float, float]] = deque()
        self._queue = self._of_late = _queue_of_host()
        self._fastest = 1.0
        self._from: tuple[float, float] | None = time.monotonic(), time.process_time()

    def look(self) -> None:
        """Record wall and CPU time since the last sample."""
        now = time.monotonic(), time.process_time()
        if self._from is None:
            self._from = now
        wall, cpu = (at - before for at, before in zip(now, self._from, strict=True))
        if wall >= LOOK_S:
            self._from = now
            self._note(wall, max(cpu, _CPU_MIN_S))

    def pause(self) -> None:
        """Leave out the time until the next sample, in which this process does not work."""
        self._from = None

    @property
    def stretch(self) -> Bounds:
        """Wall seconds per CPU second from now on: the least (idle host) and the most (busier host)."""
        if not self._wall_s:
            return Bounds(self._fastest, self._queue)
        return Bounds(self._fastest, MORE_BUSY * max(1.0, self._of_late, self.usual))

    @property
    def usual(self) -> float:
        """Wall seconds per CPU second so far."""
        return max(1.0, self._wall_s / self._cpu_s) if self._cpu_s else 1.0

    def _note(self, wall: float, cpu: float) -> None:
        self._wall_s, self._cpu_s = self._wall_s + wall, self._cpu_s + cpu
        self._recent.append((wall, cpu))
        while sum(each[0] for each in self._recent) - self._recent[0][0] >= RECENT_S:
            self._recent.popleft()
        self._of_late = sum(each[0] for each in self._recent) / sum(each[1] for each in self._recent)
        self._fastest = min(self._fastest, self._of_late)


def _queue_of_host() -> float:
    """Return how much busier the host is than a plan allows for, by its load average; at least 1."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)) / PLANNED_BUSY)


SETTLED_S = 2.0
"""Minimum time of a step before its speed predicts the end of a step that stops by bytes ..."""
SPEED_VARIES = (0.7, 1.6)
"""... and the range of that time: a cache that fills up makes the rest slower than the beginning."""
SEEN_S = 0.1
"""Minimum CPU seconds before finished steps show the host's simulation speed ..."""
WORK_VARIES = (0.3, 3.0)
"""... and range of the remaining work's CPU time per planned work, relative to finished work."""
_SHARE_MIN = 0.02
"""Minimum finished share of a step before it predicts the time of the rest."""
_STEP_VARIES = (0.5, 2.0)
"""Range of the host's fixed overhead per simulated step."""
_IN_THIS_RUN = (0.6, 1.6)
"""Range of speeds to expect from later steps, as shares of a speed seen earlier in the run."""


class TimeLeft:
    """Estimates the remaining time of a plan, step by step.

    Parameters
    ----------
    plan
        The plan of the whole run.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._steps = list(plan.steps)
        self._seen: list[Known] = []
        self._past = Past()
        self._done_work = 0.0
        self._took: list[float] = []
        """Seconds of a processor of each step with a workload that was done here."""
        self._sum_up()

    def finished(self, at: int, step: Step, seconds: float) -> None:
        """Record the time of a step executed in this session: CPU seconds if simulated, else wall seconds.

        `at` is its index in the plan.
        """
        if self._plan.keeps_time:
            if self._steps[at].simulating.upper:
                self._done_work += _middle(self._steps[at].simulating)
                insort(self._took, seconds)
            return
        before, self._past = self._past, self._past.then(step)
        if self._past.disordered != before.disordered:
            # Sequential writes have another speed from now on.
            self._seen = [known for known in self._seen if known.load.random or not known.load.writes]
        if (known := known_of(step, 0.0, _IN_THIS_RUN)) is not None:
            self._seen.append(known)
        self._plan_again(at + 1)

    def after(self, at: int) -> Bounds:
        """Return the time of the planned steps from index `at` on, and of ending the run.

        For a simulated drive in CPU seconds, else in wall seconds.
        """
        rest, certain, likely = self._from[at]
        ending = START_MAX_S + overhead_max_s(self._steps[at:])
        if not self._plan.keeps_time or sum(self._took) < SEEN_S:
            return rest + Bounds(0.0, ending)
        # Fixed overhead of each step: its record is written to disk, threads start.
        left = [step for step in self._steps[at:] if step.simulating.upper]
        surely = sum(1 for step in left if step.simulating.lower)
        each_min, each_max = self._took[0], self._took[len(self._took) // 2]
        work = [max(0.0, sum(self._took) - each * len(self._took)) for each in (each_max, each_min)]
        shortest_s = (
            WORK_VARIES[0] * work[0] / self._done_work * certain + _STEP_VARIES[0] * surely * each_min
        )
        longest_s = (
            WORK_VARIES[1] * work[1] / self._done_work * likely + _STEP_VARIES[1] * len(left) * each_max
        )
        return Bounds(shortest_s, shortest_s + longest_s + START_MAX_S)

    def of(self, step: PlannedStep, elapsed: float, snapshot: Snapshot | None) -> Bounds:
        """Return the remaining time of the present step, narrowed by its speed if it stops by bytes.

        For a simulated drive in CPU seconds, as is `elapsed`.
        """
        if self._plan.keeps_time:
            return _of_simulation(step, elapsed, snapshot)
        whole = step.seconds
        left = Bounds(max(whole.lower - elapsed, 0.0), max(whole.upper - elapsed, 0.0))
        if step.target_bytes is None or snapshot is None or elapsed < SETTLED_S or not snapshot.bytes:
            return left
        seconds = (step.target_bytes - snapshot.bytes) / (snapshot.bytes / elapsed)
        slow, fast = max(seconds, 0.0) * SPEED_VARIES[1], max(seconds, 0.0) * SPEED_VARIES[0]
        return Bounds(fast, slow)

    def _plan_again(self, begins: int) -> None:
        """Plan steps that stop by bytes again, with the speeds seen for their kind of load."""
        pace = self._plan.planning.pace
        kinds = {(known.load.writes, known.load.random) for known in self._seen}
        kept = tuple(known for known in pace.known if (known.load.writes, known.load.random) not in kinds)
        planning = replace(self._plan.planning, pace=replace(pace, known=(*kept, *self._seen)))
        changed, past = False, Past()
        for at, step in enumerate(self._steps):
            if step.request is None:
                continue
            if at >= begins and step.target_bytes is not None:
                self._steps[at] = planned_step(step.request, planning, past)
                changed = True
            past = past.then(step.request)
        if changed:
            self._sum_up()

    def _sum_up(self) -> None:
        """For each step, sum up to the end: bounds, and certain and likely work of a simulation."""
        keeps_time = self._plan.keeps_time
        sums = accumulate(
            (
                (
                    step.simulating if keeps_time else step.drive_seconds,
                    _middle(step.simulating) if step.simulating.lower else 0.0,
                    _middle(step.simulating),
                )
                for step in reversed(self._steps)
            ),
            lambda one, other: (one[0] + other[0], one[1] + other[1], one[2] + other[2]),
            initial=(NOTHING, 0.0, 0.0),
        )
        self._from = [*sums][::-1]


def _of_simulation(step: PlannedStep, used_s: float, snapshot: Snapshot | None) -> Bounds:
    whole = step.simulating + Bounds(0.0, step.overhead_s)
    share = 0.0 if snapshot is None else _share_done(step, snapshot)
    if used_s < SEEN_S or share < _SHARE_MIN:
        return Bounds(max(whole.lower - used_s, 0.0), max(whole.upper - used_s, used_s))
    left = used_s * (1 - share) / share
    sure_s = WORK_VARIES[0] * left if whole.lower else 0.0  # a step that a rule ends may end at once
    return Bounds(sure_s, WORK_VARIES[1] * left + step.overhead_s)


def _share_done(step: PlannedStep, snapshot: Snapshot) -> float:
    """Return the finished share of a simulated step, by bytes or by virtual time; at most 1."""
    if step.target_bytes is not None:
        return min(1.0, snapshot.bytes / max(step.target_bytes, 1))
    return min(1.0, snapshot.elapsed_ns / 1e9 / max(step.drive_seconds.upper, 1e-9))


def _middle(bounds: Bounds) -> float:
    """Return the geometric mean of bounds far apart; if the lower is 0, a tenth of the upper replaces it."""
    lower = bounds.lower or bounds.upper / 10
    return sqrt(lower * bounds.upper)
