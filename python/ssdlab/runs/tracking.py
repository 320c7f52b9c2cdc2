"""Tracks a run's progress and its place in the plan, and notifies the observers."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar

from ssdlab.lab.verbs.steps import Request
from ssdlab.lab.verbs.verb import Bounds
from ssdlab.lab.verbs.workload import WorkloadVerb
from ssdlab.model.pattern import Sequential
from ssdlab.model.units import NS_PER_S
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.results.progress import Progress
from ssdlab.runs.plan import Past, Plan, planned_step
from ssdlab.runs.time_left import HostTime, TimeLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab._core import Snapshot
    from ssdlab.results.progress import Observer
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status
    from ssdlab.runs.plan import PlannedStep


_SHORT_NS = NS_PER_S // 4
"""Shorter rows hold too few I/Os: with rows of 1.33 ms, every rate is a multiple of 750 a second."""


class LiveRate:
    """The rate of the last closed row; for short rows, of all I/O over several rows."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int, int]] = deque()
        self._phase = ""

    def of(self, snapshot: Snapshot) -> tuple[float, float] | None:
        """Return IOPS and MB/s; None before the first closed row."""
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


# Where a run is in its plan.
#
# A plan has the longest possible run: repeated points, all permitted rounds, all tries of a search. If a run
# skips some of them, its later steps have lower ordinals than in the plan. So steps are found by verb and
# label.


class Whereabouts:
    """Finds the steps of a run in the plan, in the order in which they begin.

    Parameters
    ----------
    steps
        The steps of the plan, in order.
    """

    def __init__(self, steps: Sequence[PlannedStep]) -> None:
        self._steps = steps
        self._found: dict[int, int | None] = {}
        self.past = 0
        """So many steps of the plan are begun, or were left out."""

    def restart(self) -> None:
        """Search from the first step of the plan again."""
        self._found.clear()
        self.past = 0

    def find(self, step: Request | Step) -> int | None:
        """Return a step's index in the plan when it begins or is read back; None if it is not planned."""
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
        # A try of a search that takes another way than the longest.
        following = self._steps[self.past : self.past + 1]
        instead = any(_may_be_left_out(each) and each.verb == step.verb for each in following)
        return self.past if instead else None

    def _is(self, at: int, step: Request | Step) -> bool:
        return (self._steps[at].verb, self._steps[at].label) == (step.verb, step.label)


def _may_be_left_out(step: PlannedStep) -> bool:
    return not step.drive_seconds.lower


class Tracker:
    """Knows the plan and the present step of a run.

    Parameters
    ----------
    plan
        The plan of the whole run.
    observers
        Called in order; they must not raise.
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
        self._current = None
        self._ordinal = -1
        self._past = Past()
        self._whereabouts.restart()

    def began(self, request: Request) -> None:
        known = self._planned(request) if request.asked.planned_once else None
        self._begin_step(request, known or planned_step(request, self._plan.planning, self._past))
        if self._host is not None:
            self._host.look()
        self._outlook = request.outlook
        progress = self._progress(None)
        for observer in self._observers:
            observer.began(progress)

    def tick(self, snapshot: Any, *, phase: str = "") -> None:  # noqa: ANN401 - _core.Snapshot, or a test's
        """Record the progress of the present step; `phase` describes it if there is no snapshot."""
        if self._host is not None and snapshot is not None:
            self._host.look()
        elif self._host is not None:
            self._host.pause()
            self._elsewhere = True
        progress = self._progress(snapshot, phase)
        for observer in self._observers:
            observer.tick(progress)

    def finished(self, step: Step, *, read_back: bool) -> None:
        if self._ordinal != step.ordinal:
            self._begin_step(step, self._planned(step))
        if not read_back and (at := self._whereabouts.find(step)) is not None:
            self._left.finished(at, step, self._used_s())
        self._past = self._past.then(step)
        progress = self._progress(None)
        for observer in self._observers:
            observer.finished(step, progress, read_back=read_back)

    def ended(self, status: Status) -> None:
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
        """Return the time of the present step so far: CPU seconds for a simulation, else wall seconds."""
        elapsed = time.monotonic() - self._step_begun
        if self._host is None:
            return elapsed
        if self._elsewhere:  # computed by other threads or processes
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
            # The plan has the longest run without repeats; this corrects it by the steps more or less so far.
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
    """The layout of a new file, before the run begins; it is in no journal."""

    verb: ClassVar[str] = "layout"


def layout_watch(size_bytes: int, observers: Sequence[Observer]) -> Callable[[Any], None]:
    """Return a callback for the layout of a new file, before the run begins; it notifies the observers."""
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
    """Return the worst of the streams' percentiles, which cannot be averaged."""
    return max((tail[name] for tail in tails), default=None)
