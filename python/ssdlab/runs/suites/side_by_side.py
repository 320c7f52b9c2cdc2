"""The runs of a suite on simulated drives: a few at a time, each in its own process.

A shared initial state is prepared once. The first run stops when it reaches that state, the other runs are
forked from it, and then all continue.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.host.programs import WORKING_FOLDER, fixed_environment, own_module
from ssdlab.model.errors import HostError, Interrupted, LabError, error_of
from ssdlab.results.progress import Progress, read_live
from ssdlab.results.store import run_words
from ssdlab.runs.stopping import StopFlag
from ssdlab.runs.suites.children import is_finished

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ssdlab.results.schema import Child
    from ssdlab.runs.suites.forks import Forks
    from ssdlab.runs.suites.session_of_runs import SuiteObserver

AT_ONCE = 2
"""Maximum simultaneous runs; each holds a drive in memory and keeps one CPU busy."""
_LOOK_S = 0.1
_SHOW_EVERY = 5
"""Number of checks of the processes between two progress reports."""


@dataclass
class _Task:
    """A process that executes a run; with `pause_after` it stops where other runs are forked."""

    child: Child
    process: subprocess.Popen[str]
    pause_after: int | None


def side_by_side(
    folder: Path,
    children: Sequence[Child],
    forks: Forks,
    observer: SuiteObserver,
    at_once: int | None = None,
) -> None:
    """Execute each unfinished run, a few at a time.

    Parameters
    ----------
    folder
        The suite's run folder.
    children
        The runs, in the order in which they start.
    forks
        Groups of runs that share an initial state.
    observer
        Observes the runs.
    at_once
        Number of processes; by default two, or the number of available CPUs if that is less.

    Raises
    ------
    LabError
        The error of the first run that failed. Runs beside it are finished first, and no other run starts.
    Interrupted
        A signal came; all runs were stopped and can be resumed.
    """
    _Pool(folder, children, forks, observer, at_once or processes()).run()


def processes() -> int:
    return min(AT_ONCE, len(os.sched_getaffinity(0)))


class _Pool:
    def __init__(
        self,
        folder: Path,
        children: Sequence[Child],
        forks: Forks,
        observer: SuiteObserver,
        max_processes: int,
    ) -> None:
        self._folder, self._children, self._forks = folder, children, forks
        self._observer, self._max_processes = observer, max_processes
        self._tasks: list[_Task] = []
        self._begun: set[str] = set()
        self._failed: LabError | None = None

    def run(self) -> None:
        for child in self._children:
            if is_finished(self._path(child)):
                self._begun.add(child.part)
                self._tell_end(child, found=True)
        with StopFlag() as stopped:
            try:
                self._until_done(stopped)
            finally:
                self._stop_all()
        stopped.hand_on()
        if self._failed is not None:
            raise self._failed

    def _until_done(self, stopped: StopFlag) -> None:
        looks = 0
        while True:
            if stopped():
                self._stop_all()
                raise Interrupted(
                    "stopped by a signal", f"continue with: ssdlab resume {run_words(self._folder)}"
                )
            self._reap()
            if self._failed is None:
                self._begin_more()
            if not self._tasks:
                return
            if looks % _SHOW_EVERY == 0:
                self._observer.look(dict(self._progress()))
            looks += 1
            time.sleep(_LOOK_S)

    def _begin_more(self) -> None:
        for child in self._children:
            if len(self._tasks) >= self._max_processes:
                return
            if child.part not in self._begun and not self._waits(child):
                self._forks.fork(child)  # a killed suite may have left followers that wait for this run
                self._begin(child, self._forks.pause_of(child))

    def _waits(self, child: Child) -> bool:
        """Whether a run needs a state that another run is still preparing."""
        leader = self._forks.leader_of(child)
        return leader is not None and any(
            task.child.part == leader.part and task.pause_after is not None for task in self._tasks
        )

    def _begin(self, child: Child, pause_after: int | None) -> None:
        words = [str(self._folder.absolute()), child.part]
        words += [] if pause_after is None else [str(pause_after)]
        process = subprocess.Popen(
            own_module("ssdlab.runs.suites.worker", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=fixed_environment(),
            cwd=WORKING_FOLDER,
            start_new_session=True,  # a Ctrl-C reaches only the suite, which stops its runs in order
        )
        if child.part not in self._begun:
            self._observer.began(child, self._number(child), len(self._children))
        self._begun.add(child.part)
        self._tasks.append(_Task(child, process, pause_after))

    def _reap(self) -> None:
        for task in [task for task in self._tasks if task.process.poll() is not None]:
            self._tasks.remove(task)
            out, stderr = task.process.communicate()
            if task.process.returncode != 0:
                self._failed = self._failed or _error_of(task, out, stderr)
            elif task.pause_after is not None and not is_finished(self._path(task.child)):
                self._forks.fork(task.child)
                self._begin(task.child, None)
            else:
                self._tell_end(task.child, found=False)

    def _stop_all(self) -> None:
        """Close the standard input of all runs, and wait until each has saved its state."""
        for task in self._tasks:
            if task.process.stdin is not None:
                task.process.stdin.close()
                task.process.stdin = None
        for task in self._tasks:
            task.process.communicate()
        self._tasks.clear()

    def _progress(self) -> Iterator[tuple[str, Progress]]:
        for task in self._tasks:
            live = read_live(self._path(task.child))
            if live is not None:
                yield task.child.part, Progress.of(live)

    def _tell_end(self, child: Child, *, found: bool) -> None:
        self._observer.ended(child, self._number(child), len(self._children), already_finished=found)

    def _number(self, child: Child) -> int:
        return 1 + [each.part for each in self._children].index(child.part)

    def _path(self, child: Child) -> Path:
        return self._folder.parent / child.run_id


def _error_of(task: _Task, out: str, stderr: str) -> LabError:
    try:
        error = error_of(json.loads(out.splitlines()[-1]))
    except (ValueError, LookupError):
        why = stderr.strip().splitlines()[-1] if stderr.strip() else f"status {task.process.returncode}"
        return HostError(
            f"{task.child.part} ended without an error message: {why}",
            "continue with ssdlab resume: finished work is kept",
            part=task.child.part,
        )
    error.what = f"{task.child.part}: {error.what}"
    error.facts["part"] = task.child.part
    return error
