"""Runs points of a fork in parallel, each on its own copy of the simulated drive.

Each point starts in the fork's state, independent of the others, so other CPUs can compute the next points.
The results are used and journalled in the procedure's order, and are bit-identical to a sequential run. If
the run stops, unused results are discarded and computed again later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Event
from typing import TYPE_CHECKING, Any

from ssdlab.model.errors import Interrupted

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.lab.verbs.steps import Request
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.workload import Workload

_LOOK_S = 0.05
_AHEAD = "ahead-"
"""Prefix of the log of a point whose result is not used yet."""


class SideBySide:
    """Computes points of a fork ahead.

    Parameters
    ----------
    drive
        The drive of the run, which is copied for each point.
    steps
        Folder of the step logs.
    look
        Called about every 50 ms while waiting for a point; an exception from it ends the waiting.
    placed
        Returns a workload with the paths of its record files.
    """

    def __init__(
        self,
        drive: Drive,
        steps: HeldFolder,
        *,
        look: Callable[[], object],
        placed: Callable[[Workload], Workload],
    ) -> None:
        self._drive, self._steps, self._look, self._placed = drive, steps, look, placed
        self._asked: dict[int, Workload] = {}
        self._futures: dict[int, Future[tuple[Measurement, Drive]]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._ended = Event()
        self._mark: object = None
        self._clear()

    def _clear(self) -> None:
        """Remove the logs that a killed session left."""
        for name in self._steps.names():
            if name.startswith(_AHEAD):
                self._steps.remove(name)

    def expect(self, requests: Iterable[Request]) -> None:
        """Set the points to compute ahead, each in the fork's state."""
        self.forget()
        if processors() < 2 or self._drive.state is None:
            return
        self._asked = {
            request.ordinal: request.workload
            for request in requests
            if request.workload is not None and request.verb == "run" and request.args.get("until") is None
        }

    def forget(self) -> None:
        """Stop all computations, and discard unused results."""
        self._asked.clear()
        if self._pool is None:
            return
        self._ended.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for ordinal in self._futures:
            self._steps.remove(_log(ordinal))
        self._futures.clear()
        self._pool, self._ended, self._mark = None, Event(), None

    def measured(self, ordinal: int, workload: Workload, log_name: str) -> Measurement | None:
        """Return the result of a point that was computed ahead, and bring the drive into the state after it.

        None if the point was not expected, or with another workload.
        """
        if self._asked.get(ordinal) != workload:
            return None
        if self._pool is None:
            self._begin()
        self._submit_next(ordinal)
        future = self._futures[ordinal]
        while True:
            self._look()
            try:
                measurement, copy = future.result(timeout=_LOOK_S)
                break
            except NotYet:
                if future.done():
                    raise
        del self._futures[ordinal], self._asked[ordinal]
        self._steps.rename(_log(ordinal), self._steps, log_name)
        state = self._drive.state
        assert state is not None  # `expect` has checked it
        state.adopt(copy)
        self._submit_next(ordinal)
        return measurement

    def _begin(self) -> None:
        """Start the pool; called for the first point, when the drive is in the fork's state."""
        state = self._drive.state
        assert state is not None
        self._mark = state.mark()
        self._pool = ThreadPoolExecutor(processors(), thread_name_prefix="point")

    def _submit_next(self, first: int) -> None:
        """Submit the next points from `first` on, up to the number of CPUs, including results not used yet.

        This limits the memory, and an early point never waits for memory that a later one holds.
        """
        assert self._pool is not None
        coming = sorted(each for each in self._asked if each >= first)
        for ordinal in coming[: processors()]:
            if ordinal not in self._futures:
                path = self._steps.new_path(_log(ordinal))
                args = (self._mark, self._placed(self._asked[ordinal]), path, self._ended)
                self._futures[ordinal] = self._pool.submit(self._work, *args)

    def _work(
        self, mark: object, workload: Workload, log_path: Path, ended: Event
    ) -> tuple[Measurement, Drive]:
        state = self._drive.state
        assert state is not None

        def check(_: Any) -> None:  # noqa: ANN401 - a snapshot
            if ended.is_set():
                raise Interrupted("not needed any more", "nothing to do")

        check(None)
        copy = state.copy(mark)
        return copy.run(workload, log_path=log_path, on_tick=check), copy


def processors() -> int:
    """Return the number of points that may be computed at the same time."""
    return len(os.sched_getaffinity(0))


def _log(ordinal: int) -> str:
    return f"{_AHEAD}{ordinal:04d}.log"
