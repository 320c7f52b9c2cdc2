"""Runs points of a fork in parallel, each on its own copy of the simulated drive.

Every point starts in the fork's state, independent of the others, so other CPUs compute the next ones
meanwhile. They are taken and journalled in the procedure's order, and equal a sequential run to the bit.
Results not taken, because the run stopped, are discarded and computed again.
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
"""How the log of a point begins that nobody has taken yet."""


class SideBySide:
    """Works points of a fork out ahead.

    Parameters
    ----------
    drive
        The drive of the run, of which copies are made.
    steps
        Folder of the step logs.
    look
        Called about every 50 ms while a point is waited for; what it raises ends the waiting.
    placed
        Gives a workload its files of records.
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
        """Remove what a run left that was killed."""
        for name in self._steps.names():
            if name.startswith(_AHEAD):
                self._steps.remove(name)

    def expect(self, requests: Iterable[Request]) -> None:
        """Take note of points that will be asked for, each in the state of the fork."""
        self.forget()
        if processors() < 2 or self._drive.state is None:
            return
        self._asked = {
            request.ordinal: request.workload
            for request in requests
            if request.workload is not None and request.verb == "run" and request.args.get("until") is None
        }

    def forget(self) -> None:
        """End what is being worked on, and throw away what nobody took."""
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
        """Return what a point gave that was worked out ahead, the drive then being as it left it.

        None where it was not expected, or as another one.
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
        assert state is not None  # `expect` has seen to it
        state.adopt(copy)
        self._submit_next(ordinal)
        return measurement

    def _begin(self) -> None:
        """Begin with the first point that is asked for: the drive is in the state of the fork now."""
        state = self._drive.state
        assert state is not None
        self._mark = state.mark()
        self._pool = ThreadPoolExecutor(processors(), thread_name_prefix="point")

    def _submit_next(self, first: int) -> None:
        """Give out points from one on, in their order: as many as processors, with those not taken yet.

        So memory is held for few, and never by a later one while an earlier one waits for it.
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
    """Return on how many processors points may be worked on."""
    return len(os.sched_getaffinity(0))


def _log(ordinal: int) -> str:
    return f"{_AHEAD}{ordinal:04d}.log"
