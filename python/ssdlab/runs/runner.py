"""Executes the steps of a run on a drive, journals them, and reads finished steps back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.model.errors import DriveError, Interrupted, Refused
from ssdlab.model.failed_ios import TOO_MANY
from ssdlab.model.units import NS_PER_S
from ssdlab.results.evidence import PREPARING
from ssdlab.results.journal import now, step_hash
from ssdlab.results.records import BeginRecord
from ssdlab.results.run_folder import Step
from ssdlab.results.step_log import LogProgress, read_progress
from ssdlab.results.store import run_words
from ssdlab.runs.metering import Metering
from ssdlab.runs.step_executor import StepExecutor

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.lab.verbs.steps import Request
    from ssdlab.results.journal import Journal, StepHistory
    from ssdlab.results.records import StepResult
    from ssdlab.runs.conditions.keeper import ConditionKeeper
    from ssdlab.runs.drive_state import StateKeeper
    from ssdlab.runs.observe import Heartbeat
    from ssdlab.runs.tracking import Tracker


_RESTED = "the drive idled during an interruption: the state from this step is lost"
_STOOD_STILL = "ssdlab was paused: the step is repeated"
_BROKEN = "interrupted within a group of steps: the group is repeated from its start"
_AGAIN = 2
"""Maximum repeats of a step: a process that is paused again and again would never end."""
_RESTS = ("idle", "rest")
"""Verbs that leave the drive idle: a measurement after them cannot be repeated without them."""
_AGAIN_S = 900.0
"""Longest step that is repeated without asking: the user decides about more time."""
_REST_S = 0.5
"""Idle time tolerated in steps whose figures depend on the drive's state: after more, drives tidy up.

It is the delay before background work of the simulated drives, an estimate from real drives.
"""


def can_be_done_again(request: Request, result: StepResult) -> bool:
    """Whether a step in which ssdlab was paused can be repeated, as `resume` would.

    Preparations are not repeated, as no figure comes from them. Neither are steps that need a drive which was
    idle before, nor steps that depend on all steps since the purge (`from-purge`).
    """
    summary = result.measurement
    if not result.pauses or summary is None or request.verb in PREPARING or result.seconds > _AGAIN_S:
        return False
    rested_s = sum(each.length_ns for each in result.pauses) / NS_PER_S
    return request.policy == "restart" or (request.policy == "re-precondition" and rested_s <= _REST_S)


class Rewind(BaseException):
    """A preparation was voided: the procedure must restart from its first line.

    `session` catches it. It is not an `Exception`, so that methods do not catch it.
    """


class Paused(Interrupted):
    """The run stopped after the requested step; see `pause_after` of `Runner`."""


class Runner:
    """The executor of a real run.

    Parameters
    ----------
    drive
        Open while the run lasts; the caller closes it.
    journal
        Open; the caller holds the folder's lock.
    folder
        The run folder.
    tracker
        Receives the progress of the run.
    stopped
        Called about every 50 ms; True ends the run as interrupted.
    progress_of
        Reads the progress from a step's log; replaced for drives without logs.
    keeper
        Keeps the state of a simulated drive; None for a real drive.
    written_by
        Id of a run that has written the whole span before; a device cannot report this.
    pause_after
        Ordinal of a step after which the run stops, with the drive's state saved, so that it can be forked.
    metering
        Meters the drive; by default nothing does.
    heartbeat
        Detects pauses of ssdlab; by default nothing does.
    """

    def __init__(
        self,
        drive: Drive,
        journal: Journal,
        folder: HeldFolder,
        tracker: Tracker,
        *,
        stopped: Callable[[], bool] = lambda: False,
        progress_of: Callable[[Path], LogProgress | None] = read_progress,
        keeper: StateKeeper | None = None,
        written_by: str | None = None,
        pause_after: int | None = None,
        metering: Metering | None = None,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._journal = journal
        self._folder = folder.path
        self._tracker = tracker
        self._progress_of = progress_of
        self._keeper = keeper
        self._pause_after = pause_after
        self._state_lost = keeper is None
        """Whether an interruption lets the drive's state change: it rests, and nobody knows what it does.

        Else the state is kept with the run, and a resumed one goes on to the bit: the one place that says so.
        """
        self._executor = StepExecutor(
            drive,
            folder,
            tracker,
            stopped=stopped,
            keeper=keeper,
            written_by=written_by,
            epoch=journal.sessions if self._state_lost else 1,
            metering=metering or Metering(),
            heartbeat=heartbeat,
        )
        self._done_here: set[int] = set()
        # Read back, but not reported yet: an interrupted step may void these steps, which are then repeated.
        self._untold: list[Step] = []
        self._reported: set[tuple[int, int]] = set()
        # The last preparation and the trims after it: together they make the drive state that is measured.
        self._prepared: list[int] = []
        # Finished steps of the current group, including its first step.
        self._group: list[int] = []
        # The last purge and all steps after it: the drive's history since it was fresh.
        self._since_purge: list[int] = []
        # Whether a rest, trim or purge has prepared the drive for the next measurement.
        self._led_up_to = False
        self.steps: list[Step] = []

    @property
    def conditions(self) -> ConditionKeeper:
        return self._executor.conditions

    def expect(self, requests: Sequence[Request]) -> None:
        """Compute points of a fork ahead, in parallel; points that were started before are left out."""
        fresh = [each for each in requests if not self._journal.history(each.ordinal).begins]
        self._executor.expect(fresh)

    def restart(self) -> None:
        """Forget the visited steps, before the procedure runs again from its first line."""
        self.steps.clear()
        self._prepared.clear()
        self._group.clear()
        self._since_purge.clear()
        self._led_up_to = False
        self._untold.clear()
        self._tracker.restart()

    def perform(self, request: Request) -> Step:
        """Execute a step, or read it back.

        Raises
        ------
        Refused
            The journal has another step at this place: the method or its parameters have changed.
        Rewind
            The last preparation is no longer valid and was voided.
        Interrupted, DriveError, HostError
            From the step itself.
        """
        history = self._journal.history(request.ordinal)
        digest = step_hash(request.verb, request.args)
        _check_same(request, digest, history)
        if history.ended is not None:
            if self._keeper is not None:
                self._keeper.read_back(request, history.ended)
            step = request.done(history.ended.result, history.ended.attempt, history.place)
            self._executor.read_back(request, step.result)
            self._untold.append(step)
        else:
            self._executor.check_stop()
            self._settle(request, history)
            self.catch_up()
            step = self._undisturbed(request, digest)
            self._done_here.add(request.ordinal)
            self._reported.add((step.ordinal, step.attempt))
            self._tracker.finished(step, read_back=False)
            self._pause(request)
        self.steps.append(step)
        self._remember(request)
        return step

    def _remember(self, request: Request) -> None:
        """Record how a step affects the drive's state."""
        role = request.asked.state
        if role == "prepares":
            self._prepared = [request.ordinal]
        elif role == "amends" and self._prepared:
            self._prepared.append(request.ordinal)
        if role == "begins":
            self._group = [request.ordinal]
        elif role in ("prepares", "freshens"):
            self._group = []
        elif self._group:
            self._group.append(request.ordinal)
        if role == "freshens":
            self._since_purge = [request.ordinal]
        elif self._since_purge:
            self._since_purge.append(request.ordinal)
        if request.asked.work is not None:
            self._led_up_to = False
        elif role in ("amends", "freshens") or request.verb in _RESTS:
            self._led_up_to = True

    def _pause(self, request: Request) -> None:
        if request.ordinal == self._pause_after:
            if self._keeper is not None:
                self._keeper.keep(request.ordinal)
            raise Paused("paused as asked", f"continue with: ssdlab resume {run_words(self._folder)}")

    def catch_up(self, *, only_lasting: bool = False) -> None:
        """Report finished steps of earlier sessions, and restore the state of a simulated drive.

        `only_lasting`: restore it only if a state file keeps it after the run.
        """
        for step in self._untold:
            if (step.ordinal, step.attempt) not in self._reported:
                self._tracker.finished(step, read_back=True)
                self._reported.add((step.ordinal, step.attempt))
        self._untold.clear()
        keeper = self._keeper
        if keeper is None or (only_lasting and not keeper.lasting):
            return
        if keeper.catch_up(self._executor.again):
            watched = (step.result.telemetry for step in reversed(self.steps))
            self._executor.caught_up(next((each for each in watched if each is not None), None))

    # --- after an interruption ---

    def _settle(self, request: Request, history: StepHistory) -> None:
        """Apply the step's policy to an interrupted attempt, and void stale preparations."""
        opened = history.open_attempt
        if opened is not None:
            done = None if self._keeper is not None else self._kept(request, history, opened)
            if done is not None:
                self._journal.part(request.ordinal, opened.attempt, done)
            else:
                rule = f"its policy is {request.policy}"
                why = (
                    "interrupted; "
                    f"{'the drive returns to its state before the step' if self._keeper else rule}"
                )
                for attempt in (*[part.attempt for part in history.standing_parts], opened.attempt):
                    self._journal.void(request.ordinal, attempt, why)
        stale = self._stale(request)
        # Void the first step last: after an interruption here, it still shows that the group is stale.
        for ordinal in sorted(stale, reverse=True):
            ended = self._journal.history(ordinal).ended
            assert ended is not None  # it was read back
            self._journal.void(ordinal, ended.attempt, stale[ordinal])
        if stale:
            raise Rewind

    def _stale(self, request: Request) -> dict[int, str]:
        """Return the steps of earlier sessions that this step cannot build on, each with the reason."""
        if not self._state_lost:
            return {}
        makers = {"re-precondition": self._prepared, "from-purge": self._since_purge}.get(request.policy, [])
        belongs = request.policy == "re-precondition" and request.asked.state != "begins"
        groups = ((self._group if belongs else [], _BROKEN), (makers, _RESTED))
        return {
            ordinal: why
            for group, why in groups
            if group and group[0] not in self._done_here
            for ordinal in group
        }

    def _kept(self, request: Request, history: StepHistory, opened: BeginRecord) -> dict[str, int] | None:
        """Return the work of an interrupted attempt if it counts; else None."""
        if request.policy != "continue" or not request.asked.keeps_parts:
            return None
        # A reboot may have lost earlier writes from a volatile cache.
        attempts = {opened.attempt, *(part.attempt for part in history.standing_parts)}
        if any(history.boots.get(attempt) != self._journal.boot for attempt in attempts):
            return None
        progress = self._progress_of(self._executor.log_path(request.ordinal, opened.attempt))
        if progress is None:
            return None
        return {
            "bytes": progress.bytes,
            "ios": progress.ios,
            "ns": progress.ns,
            "written": progress.written,
            **({"failed": progress.failed} if progress.failed else {}),
        }

    # --- executing a step ---

    def _undisturbed(self, request: Request, digest: str) -> Step:
        """Execute a step; repeat it if ssdlab was paused in it and a repeat gives the same."""
        step = self._do(request, digest)
        for _ in range(_AGAIN):
            if self._led_up_to or not can_be_done_again(request, step.result):
                break
            self._journal.void(step.ordinal, step.attempt, _STOOD_STILL)
            step = self._do(request, digest)
        return step

    def _do(self, request: Request, digest: str) -> Step:
        history = self._journal.history(request.ordinal)
        attempt = history.next_attempt
        begin = BeginRecord(
            ordinal=request.ordinal,
            attempt=attempt,
            verb=request.verb,
            label=request.label,
            args=request.args,
            hash=digest,
            policy=request.policy,
            at=now(),
            tried=request.tried,
        )
        self._journal.begin(begin)
        self._tracker.began(request)
        started = time.monotonic()
        try:
            result = self._executor.act(request, attempt, history.standing_parts)
        except DriveError as error:
            if "operation" in error.facts or error.facts.get("reason") == TOO_MANY:  # of an I/O
                error.what = f"step {request.ordinal + 1}, {request.label}: {error.what}"
                if error.facts.get("reason") == TOO_MANY:
                    error.advice = (
                        "check the kernel log and the drive's health, then: ssdlab resume "
                        f"{run_words(self._folder)}; or start again with --on-error continue, "
                        "which marks the figures"
                    )
                error.facts |= {"ordinal": request.ordinal, "step": request.label}
            raise
        seconds = time.monotonic() - started
        result = result.model_copy(update={"seconds": seconds})
        state = None if self._keeper is None else self._keeper.digest()
        ended = self._journal.end(request.ordinal, attempt, result, state)
        if self._keeper is not None:
            self._keeper.finished(request.ordinal, seconds)
        return request.done(ended.result, ended.attempt, self._journal.history(request.ordinal).place)


def _check_same(request: Request, digest: str, history: StepHistory) -> None:
    """Refuse a step that differs from the begun one; a voided step may be replaced by another."""
    standing = [begun for begun in history.begins if begun.attempt not in history.voided]
    if not standing:
        return
    begun = standing[-1]
    if begun.hash != digest:
        raise Refused(
            f"step {request.ordinal + 1} of this run was {begun.verb} ({begun.label}), but the "
            f"method now requests {request.verb} ({request.label}) with other arguments",
            "resume with the ssdlab and the parameters that started it, or start a new run",
            ordinal=request.ordinal,
            begun=begun.hash,
            asked=digest,
        )
