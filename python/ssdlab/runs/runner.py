"""Does the steps of a run on a drive, journals them, and reads finished ones back."""

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
"""Times that a step is done again: a process that is stopped again and again would have no end."""
_RESTS = ("idle", "rest")
"""Verbs that leave the drive alone: what is measured after them cannot be done again without."""
_AGAIN_S = 900.0
"""The longest step that is done again unasked: more time than that is the user's to give."""
_REST_S = 0.5
"""Rest that a drive may get within what counts on its state: left alone for longer, drives tidy up.

It is the delay before idle work of the simulated drives, which is recalled from real ones.
"""


def can_be_done_again(request: Request, result: StepResult) -> bool:
    """Whether a step in which ssdlab was paused can be repeated, as `resume` would.

    Preparations are not repeated, as no figure comes from them; neither are steps that depend on a rested
    drive, or on all steps since the purge (`from-purge`).
    """
    summary = result.measurement
    if not result.pauses or summary is None or request.verb in PREPARING or result.seconds > _AGAIN_S:
        return False
    rested_s = sum(each.length_ns for each in result.pauses) / NS_PER_S
    return request.policy == "restart" or (request.policy == "re-precondition" and rested_s <= _REST_S)


class Rewind(BaseException):
    """A preparation was voided: the procedure must restart from its first line.

    Handled in `session`. Not an `Exception`, so that methods do not catch it.
    """


class Paused(Interrupted):
    """The run stopped at the requested step; see `Runner`'s `pause_after`."""


class Runner:
    """The executor of a real run.

    Parameters
    ----------
    drive
        Held by the caller during the run.
    journal
        Open; the caller holds the folder's lock.
    folder
        The run folder.
    tracker
        Called with the progress of the run.
    stopped
        Called about every 50 ms; True ends the run as interrupted.
    progress_of
        Reads the progress of a step log; replaced for drives without one.
    keeper
        Keeps the state of a simulated drive.
    written_by
        Run that has written the whole span before, which a device cannot tell.
    pause_after
        Ordinal of a step after which the run stops, with the drive's state kept, so that it can be forked.
    metering
        What meters the drive; by default nothing.
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
            sitting=journal.sessions if self._state_lost else 1,
            metering=metering or Metering(),
            heartbeat=heartbeat,
        )
        self._done_here: set[int] = set()
        # Read back, and not told yet: an interrupted step may void them, and then they are done again.
        self._untold: list[Step] = []
        self._reported: set[tuple[int, int]] = set()
        # The last preparation and the trims after it: together they make the state that is measured.
        self._prepared: list[int] = []
        # What is finished of the present stretch, its beginning included.
        self._stretch: list[int] = []
        # The last purge and all steps after it: what has happened to the drive since it was fresh.
        self._since_purge: list[int] = []
        # Whether the drive was made ready for what is measured next: by a rest, a trim or a purge.
        self._led_up_to = False
        self.steps: list[Step] = []

    @property
    def conditions(self) -> ConditionKeeper:
        """Settings of drive and host by the steps."""
        return self._executor.conditions

    def expect(self, requests: Sequence[Request]) -> None:
        """Compute points of a fork ahead, in parallel, except finished and started ones."""
        fresh = [each for each in requests if not self._journal.history(each.ordinal).begins]
        self._executor.expect(fresh)

    def restart(self) -> None:
        """Forget the visited steps, as the procedure runs again from its first line."""
        self.steps.clear()
        self._prepared.clear()
        self._stretch.clear()
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
        """Keep account of which steps have made the drive's state."""
        role = request.asked.state
        if role == "prepares":
            self._prepared = [request.ordinal]
        elif role == "amends" and self._prepared:
            self._prepared.append(request.ordinal)
        if role == "begins":
            self._stretch = [request.ordinal]
        elif role in ("prepares", "freshens"):
            self._stretch = []
        elif self._stretch:
            self._stretch.append(request.ordinal)
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
        """Report finished steps of earlier sessions; restore a drive whose state is kept."""
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

    # --- what an interruption left ---

    def _settle(self, request: Request, history: StepHistory) -> None:
        """Apply the step's policy to an interrupted attempt, and to a stale preparation."""
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
        # The first of them last: whatever is cut off here, it is then done again.
        for ordinal in sorted(stale, reverse=True):
            ended = self._journal.history(ordinal).ended
            assert ended is not None  # it was read back
            self._journal.void(ordinal, ended.attempt, stale[ordinal])
        if stale:
            raise Rewind

    def _stale(self, request: Request) -> dict[int, str]:
        """Return what of earlier sessions the step cannot build on, each with the reason."""
        if not self._state_lost:
            return {}
        makers = {"re-precondition": self._prepared, "from-purge": self._since_purge}.get(request.policy, [])
        belongs = request.policy == "re-precondition" and request.asked.state != "begins"
        groups = ((self._stretch if belongs else [], _BROKEN), (makers, _RESTED))
        return {
            ordinal: why
            for group, why in groups
            if group and group[0] not in self._done_here
            for ordinal in group
        }

    def _kept(self, request: Request, history: StepHistory, opened: BeginRecord) -> dict[str, int] | None:
        """Return what an attempt cut short has done if that counts, else None."""
        if request.policy != "continue" or not request.asked.keeps_parts:
            return None
        # What was written before a reboot may have been lost from a volatile cache.
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

    # --- doing a step ---

    def _undisturbed(self, request: Request, digest: str) -> Step:
        """Do a step; repeat it if ssdlab was paused and a repeat gives the same; else leave it."""
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
    """Refuse a step that is another one than was begun; after a void, a procedure may ask for another."""
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
