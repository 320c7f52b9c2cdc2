"""Works out how far a run is, from the plan and from what the runner tells, and tells the observers.

Where in its plan a run is.

A plan counts the longest way: points that are taken again where writes have fallen, rounds up to the last
that are allowed, tries of a search. A run that does without some of them has its later steps under lower
ordinals than the plan, so its steps are found by what they are.

How long a simulation's work takes by the clock: what the host gives it of its processors.

What a simulation has still to do is known in seconds of a processor, which do not depend on what else the
host does. By the clock they take as much longer as the processors are shared, and that changes while a run
goes on.

How long a run will still take, narrowed by what its finished steps have shown.

On a real drive the rest is that of the plan, with what stops by bytes planned again at the speeds seen. Of a
simulated drive the plan says how much work the rest is for the host, the finished steps how fast this host
does it, and what it gave the run of its processors how long that takes by the clock.
"""

from __future__ import annotations

import os
import time
from bisect import insort
from collections import deque
from dataclasses import replace
from itertools import accumulate
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.verb import NOTHING, Bounds
from ssdlab.lab.verbs.workload import WorkloadVerb
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.results.progress import Progress
from ssdlab.runs.pace import known_of
from ssdlab.runs.plan import START_MAX_S, Past, Plan, overhead_max_s, planned_step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab._core import Snapshot
    from ssdlab.analysis.pace import Known
    from ssdlab.results.progress import Observer
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status
    from ssdlab.runs.plan import PlannedStep

SETTLED_S = 2.0
"""A speed seen for so long says when a step that stops by bytes will end ..."""
SPEED_VARIES = (0.7, 1.6)
"""... give or take: a cache that fills up makes the rest slower than the beginning."""
SEEN_S = 0.1
"""Of a processor: before, it is not known how fast it simulates ..."""
WORK_VARIES = (0.3, 3.0)
"""... and what the rest takes for its work, against what is done took for its own."""
_SHARE_MIN = 0.02
"""Of a step, before it says how long the rest of it takes."""
_STEP_VARIES = (0.5, 2.0)
"""Of what a step takes of the host, whatever it does."""
_IN_THIS_RUN = (0.6, 1.6)
"""Of a speed that an earlier step of the run has shown."""


class TimeLeft:
    """Knows what is left of a plan, step by step.

    Parameters
    ----------
    plan
        Of the whole run.
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
        """Take note of what a step that was done here took; a simulated one of a processor.

        `at` is its index in the plan.
        """
        if self._plan.keeps_time:
            if self._steps[at].simulating.upper:
                self._done_work += _middle(self._steps[at].simulating)
                insort(self._took, seconds)
            return
        before, self._past = self._past, self._past.then(step)
        if self._past.disordered != before.disordered:
            # In order it writes at another speed now.
            self._seen = [known for known in self._seen if known.load.random or not known.load.writes]
        if (known := known_of(step, 0.0, _IN_THIS_RUN)) is not None:
            self._seen.append(known)
        self._plan_again(at + 1)

    def after(self, at: int) -> Bounds:
        """Return what the steps from an index of the plan on will take, and what ends the run.

        Of a simulated drive in seconds of a processor.
        """
        rest, certain, likely = self._from[at]
        ending = START_MAX_S + overhead_max_s(self._steps[at:])
        if not self._plan.keeps_time or sum(self._took) < SEEN_S:
            return rest + Bounds(0.0, ending)
        # What a step takes of the host whatever it does: its record on the disk, threads that start.
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
        """Return what is left of the present step, narrowed by the speed seen where it stops by bytes.

        Of a simulated drive in seconds of a processor, as those that it took until now.
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
        """Plan what stops by bytes at the speeds seen; of other kinds of loads what was known stays."""
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
        """Add up from each step to the end: bounds, certain work and likely work of a simulation."""
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
    sure_s = WORK_VARIES[0] * left if whole.lower else 0.0  # what a rule ends may end at once
    return Bounds(sure_s, WORK_VARIES[1] * left + step.overhead_s)


def _share_done(step: PlannedStep, snapshot: Snapshot) -> float:
    """Return how much of a step a simulation has done, by bytes or by the drive's time; at most all of it."""
    if step.target_bytes is not None:
        return min(1.0, snapshot.bytes / max(step.target_bytes, 1))
    return min(1.0, snapshot.elapsed_ns / 1e9 / max(step.drive_seconds.upper, 1e-9))


def _middle(bounds: Bounds) -> float:
    """Return the geometric mean of bounds that lie far apart; of what may be nothing, a tenth of the most."""
    lower = bounds.lower or bounds.upper / 10
    return sqrt(lower * bounds.upper)


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


class Whereabouts:
    """Finds the steps of a run, as they come, in the plan.

    Parameters
    ----------
    steps
        Of the plan, in order.
    """

    def __init__(self, steps: Sequence[PlannedStep]) -> None:
        self._steps = steps
        self._found: dict[int, int | None] = {}
        self.past = 0
        """So many steps of the plan are begun, or were left out."""

    def restart(self) -> None:
        """Walk from the first step again."""
        self._found.clear()
        self.past = 0

    def find(self, step: Request | Step) -> int | None:
        """Return the index in the plan of a step that begins or is read back; None of one without a plan."""
        if step.ordinal not in self._found:
            at = self._next(step)
            self._found[step.ordinal] = at
            if at is not None:
                self.past = at + 1
        return self._found[step.ordinal]

    def _next(self, step: Request | Step) -> int | None:
        for at in range(self.past, len(self._steps)):
            if self._is(at, step):
                return at
            if not _may_be_left_out(self._steps[at]):
                break
        if step.ordinal < len(self._steps) and self._is(step.ordinal, step):
            return step.ordinal
        # A try of a search, which goes another way than the longest.
        following = self._steps[self.past : self.past + 1]
        instead = any(_may_be_left_out(each) and each.verb == step.verb for each in following)
        return self.past if instead else None

    def _is(self, at: int, step: Request | Step) -> bool:
        return (self._steps[at].verb, self._steps[at].label) == (step.verb, step.label)


def _may_be_left_out(step: PlannedStep) -> bool:
    return not step.drive_seconds.lower


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


class Tracker:
    """Knows the plan and the present step.

    Parameters
    ----------
    plan
        Of the whole run.
    observers
        Called in order; none may raise.
    """

    def __init__(self, plan: Plan, observers: Sequence[Observer] = ()) -> None:
        self._plan = plan
        self._whereabouts = Whereabouts(plan.steps)
        self._left = TimeLeft(plan)
        self._observers = observers
        self._host = HostTime() if plan.keeps_time else None
        self._begun = time.monotonic()
        self._step_begun = self._begun
        self._step_cpu_s = time.process_time()
        self._elsewhere = False
        self._current: PlannedStep | None = None
        self._ordinal = -1
        self._outlook = ""
        self._past = Past()

    def restart(self) -> None:
        """Count progress from the first step again."""
        self._current = None
        self._ordinal = -1
        self._past = Past()
        self._whereabouts.restart()

    def began(self, request: Request) -> None:
        """Take note that a step starts."""
        known = self._planned(request) if request.asked.planned_once else None
        self._begin_step(request, known or planned_step(request, self._plan.planning, self._past))
        if self._host is not None:
            self._host.look()
        self._outlook = request.outlook
        progress = self._progress(None)
        for observer in self._observers:
            observer.began(progress)

    def tick(self, snapshot: Any, *, phase: str = "") -> None:  # noqa: ANN401 - _core.Snapshot, or a test's
        """Take note of how far the present step is; `phase` says it where there is no snapshot."""
        if self._host is not None and snapshot is not None:
            self._host.look()
        elif self._host is not None:
            self._host.pause()
            self._elsewhere = True
        progress = self._progress(snapshot, phase)
        for observer in self._observers:
            observer.tick(progress)

    def finished(self, step: Step, *, read_back: bool) -> None:
        """Take note that a step is finished."""
        if self._ordinal != step.ordinal:
            self._begin_step(step, self._planned(step))
        if not read_back and (at := self._whereabouts.find(step)) is not None:
            self._left.finished(at, step, self._used_s())
        self._past = self._past.then(step)
        progress = self._progress(None)
        for observer in self._observers:
            observer.finished(step, progress, read_back=read_back)

    def ended(self, status: Status) -> None:
        """Take note of the end of the run."""
        for observer in self._observers:
            observer.ended(status)

    def _planned(self, step: Request | Step) -> PlannedStep | None:
        at = self._whereabouts.find(step)
        return None if at is None else self._plan.steps[at]

    def _begin_step(self, step: Request | Step, planned: PlannedStep | None) -> None:
        self._whereabouts.find(step)
        self._ordinal, self._current = step.ordinal, planned
        self._step_begun, self._step_cpu_s = time.monotonic(), time.process_time()
        self._elsewhere = False
        self._rate = LiveRate()

    def _used_s(self) -> float:
        """Return seconds of the present step until now: by the clock, or of a processor for a simulation."""
        elapsed = time.monotonic() - self._step_begun
        if self._host is None:
            return elapsed
        if self._elsewhere:  # in processes of its own
            return elapsed / self._host.usual
        return time.process_time() - self._step_cpu_s

    def _remaining(self, snapshot: Snapshot | None) -> Bounds:
        current = self._current
        rest = self._left.after(self._whereabouts.past)
        if current is not None:
            rest = rest + self._left.of(current, self._used_s(), snapshot)
        if self._host is None:
            return rest
        stretch = self._host.stretch
        return Bounds(rest.lower * stretch.lower, rest.upper * stretch.upper)

    def _progress(self, snapshot: Any, phase: str = "") -> Progress:  # noqa: ANN401
        now = time.monotonic()
        current = self._current
        elapsed = now - self._step_begun
        rest = self._remaining(snapshot)
        row = None if snapshot is None else snapshot.latest
        rate = None if snapshot is None else self._rate.of(snapshot)
        tails = [] if row is None else [cell.latency("response") for cell in row.cells if cell.ios]
        return Progress(
            ordinal=self._ordinal,
            # A plan has the longest way, without what is done again: what the run has more or less by now.
            steps=len(self._plan.steps) + self._ordinal - (self._whereabouts.past - 1),
            own_steps=self._plan.own_steps,
            verb="" if current is None else current.verb,
            label="" if current is None else current.label,
            phase=phase if snapshot is None else snapshot.phase,
            step_elapsed_s=elapsed,
            step_least_s=0.0 if current is None else current.seconds.lower,
            step_most_s=0.0 if current is None else current.seconds.upper,
            run_elapsed_s=now - self._begun,
            remaining_least_s=rest.lower,
            remaining_most_s=rest.upper,
            iops=None if rate is None else rate[0],
            mb_s=None if rate is None else rate[1],
            p50_ns=_worst(tails, "p50_ns"),
            p99_ns=_worst(tails, "p99_ns"),
            p999_ns=_worst(tails, "p99_9_ns"),
            slowest_of=max(1, len(tails)),
            failed=0 if snapshot is None else snapshot.failed,
            outlook=self._outlook,
        )


class _Layout(WorkloadVerb):
    """Writes a new file before there is a run; no journal has it."""

    verb: ClassVar[str] = "layout"


def layout_watch(size_bytes: int, observers: Sequence[Observer]) -> Callable[[Any], None]:
    """Return what to call while a new file is laid out, before there is a run: it notifies the observers."""
    stop = Stop(bytes=max(size_bytes, 1))
    fill = Workload.of(Stream(ops=Mix(read_pct=0), pattern=Sequential(), stop=stop))
    request = Request(0, "laying out the drive", _Layout(workload=fill), "restart")
    tracker: Tracker | None = None

    def tick(snapshot: Any) -> None:  # noqa: ANN401 - _core.Snapshot
        nonlocal tracker
        if tracker is None:
            tracker = Tracker(Plan(()), observers)
            tracker.began(request)
        tracker.tick(snapshot)

    return tick


def _worst(tails: list[dict[str, int]], name: str) -> int | None:
    """Percentiles of several streams cannot be averaged; the slowest is shown."""
    return max((tail[name] for tail in tails), default=None)
