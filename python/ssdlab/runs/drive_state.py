"""Keeps the state of a simulated drive with its run; its virtual time stops while ssdlab does not run.

A real drive idles during an interruption, which each step's policy handles (see `lab`). The state of a
simulated drive is known, so a resumed run continues exactly. Steps after the last snapshot are simulated
again, and each must end in the journalled state. Then the interrupted step starts again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive, DriveState
    from ssdlab.lab.verbs.steps import Request
    from ssdlab.results.records import EndRecord
    from ssdlab.results.schema import Session

STATES = "states"
"""Folder of the snapshots in the run folder; removed when the run is finished."""
_FIRST = "begin"
COST_SHARE = 0.05
"""Maximum share of a run's time to spend on snapshots."""
_FIRST_COST_S_PER_BYTE = 4 / 4096 / 100e6
"""Estimated cost of the first snapshot: 4 bytes per 4 KiB of capacity, written to a slow disk."""


@dataclass(frozen=True)
class _Done:
    """A finished step that was not yet applied to the drive in this session."""

    request: Request
    ended: EndRecord


class StateKeeper:
    """Restores a simulated drive's state in its run, and saves it.

    Parameters
    ----------
    state
        Gives access to the state of the drive.
    folder
        The run folder.
    capacity_bytes
        Capacity of the drive, to estimate the cost of the first snapshot.
    """

    def __init__(self, state: DriveState, folder: Path | HeldFolder, capacity_bytes: int) -> None:
        self._state = state
        self._run = hold(folder, writing=True)
        self._cost_s = capacity_bytes * _FIRST_COST_S_PER_BYTE
        self._worked_s = 0.0
        self._behind: list[_Done] = []
        self._marks: dict[int, object] = {}
        self._there = False
        """Whether the drive is in the run's state."""

    def begin(self) -> None:
        """Save a new run's initial state, unless the drive starts in it whenever it is opened."""
        if self._state.lasting:
            self._save(_FIRST)
        self._there = True

    @property
    def lasting(self) -> bool:
        """Whether a state file keeps the state after the run."""
        return self._state.lasting

    def digest(self) -> str:
        return self._state.digest()

    def read_back(self, request: Request, ended: EndRecord) -> None:
        """Record that a step was finished in an earlier session."""
        self._behind.append(_Done(request, ended))

    def catch_up(self, redo: Callable[[Request], object]) -> bool:
        """Restore the state after the last finished step; return whether that was necessary.

        Parameters
        ----------
        redo
            Repeats a finished step without keeping figures.

        Raises
        ------
        Refused
            A repeated step does not end in the journalled state: the simulator differs.
        """
        if self._there:
            return False
        started = time.monotonic()
        behind, self._behind = self._behind, []
        last = behind[-1].request.ordinal if behind else None
        for done in _needed(self._from_snapshot(behind)):
            redo(done.request)
            self._check(done)
        self._there = True
        if last is not None:
            self.finished(last, time.monotonic() - started)
        return True

    def finished(self, ordinal: int, seconds: float) -> None:
        """Save the state after a step if enough work was done since the last snapshot; see `COST_SHARE`."""
        self._worked_s += seconds
        # Within a fork a snapshot is not enough: the fork's state, to which the drive returns, is in memory.
        forked = any(fork != ordinal for fork in self._marks)
        if not forked and self._worked_s * COST_SHARE >= self._cost_s:
            self._save(ordinal)

    def keep(self, ordinal: int) -> None:
        """Save the state after a step, whatever the cost."""
        self._save(ordinal)

    def fork(self, ordinal: int) -> None:
        """Remember the state in memory, so that `back` can return to it."""
        self._marks[ordinal] = self._state.mark()

    def back(self, ordinal: int, *, end: bool) -> None:
        """Return the drive to the state of a fork; `end` also forgets that state."""
        self._state.back(self._marks.pop(ordinal) if end else self._marks[ordinal])

    def _from_snapshot(self, behind: list[_Done]) -> list[_Done]:
        """Load the last snapshot, and return the finished steps after it."""
        for at in range(len(behind) - 1, -1, -1):
            done = behind[at]
            if self._load(state_name(done.request.ordinal)):
                self._check(done)
                if done.request.asked.marks:
                    self.fork(done.request.ordinal)
                return behind[at + 1 :]
        if self._state.lasting and not self._load(state_name(_FIRST)):
            self._save(_FIRST)  # the first session was killed before it did anything
        return behind

    def _load(self, name: str) -> bool:
        try:
            with self._run.folder(STATES) as states, states.readable(name) as path:
                self._state.load(path)
        except FileNotFoundError:
            return False
        return True

    def _check(self, done: _Done) -> None:
        found, then = self._state.digest(), done.ended.drive_state
        if found != then:
            raise Refused(
                f"step {done.request.ordinal + 1} ({done.request.label}) of this run, simulated "
                "again, does not end in the recorded drive state",
                "resume with the ssdlab and the profile that started it, or start a new run",
                reason="state-differs",
                ordinal=done.request.ordinal,
                then=then,
                found=found,
            )

    def _save(self, of: int | str) -> None:
        started = time.monotonic()
        with library_errors(self._run.path / STATES), self._run.folder(STATES, make=True) as states:
            with states.by_name():
                self._state.save(states.new_path(state_name(of)))
            for name in states.names():
                if name not in (state_name(of), state_name(_FIRST)):
                    states.remove(name)
        self._cost_s, self._worked_s = time.monotonic() - started, 0.0


def keeper_of(drive: Drive, folder: Path | HeldFolder, *, new: bool) -> StateKeeper | None:
    """Return the state keeper of a run; None for a real drive. `new`: the run has not started before."""
    if drive.state is None:
        return None
    keeper = StateKeeper(drive.state, folder, drive.capacity_bytes)
    if new:
        keeper.begin()
    return keeper


def describe_state(drive: Drive, name: str) -> dict[str, str]:
    """Return `{name: digest}` for a drive state that outlives the run, else an empty dict."""
    state = drive.state
    return {name: state.digest()} if state is not None and state.lasting else {}


def check_left(session: Session, drive: Drive) -> None:
    """Refuse to resume if the state file differs from what the run left.

    Raises
    ------
    Refused
        The drive was used in between.
    """
    known = [digest for digest in (session.drive_left, session.drive_found) if digest is not None]
    if not known:  # the session was killed before it read the drive's state, so it did nothing to the drive
        return
    if drive.state is not None and drive.state.lasting and drive.state.digest() not in known:
        raise Refused(
            "the simulated drive was used since this run stopped: its file holds another state",
            "restore the old file, or start a new run",
            reason="state-differs",
        )


def discard_states(folder: HeldFolder) -> None:
    with library_errors(folder.path):
        folder.remove_folder(STATES)


def _needed(behind: Iterable[_Done]) -> list[_Done]:
    """Return the steps without those that a return to a fork undoes."""
    needed: list[_Done] = []
    forks: dict[int, int] = {}
    for done in behind:
        to = done.request.asked.returns_to
        if to is not None:
            # If the snapshot was taken at the fork, the fork comes before all these steps.
            del needed[forks.get(to, 0) :]
        needed.append(done)
        if done.request.asked.marks:
            forks[done.request.ordinal] = len(needed)
    return needed


def state_name(of: int | str) -> str:
    """Return the name of the snapshot taken after a step, or of the first one."""
    return f"{of:04d}.state" if isinstance(of, int) else f"{of}.state"
