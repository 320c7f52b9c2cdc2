"""Does the steps of a run on a drive, journals them, and reads finished ones back."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.conditions.keeper import ConditionKeeper
from ssdlab.conditions.ledger import Ledger
from ssdlab.drive_steps import purge_step, required_of, trim_step, variant_step
from ssdlab.errors import Interrupted, Refused
from ssdlab.hostload import host_load
from ssdlab.journal import now, step_hash
from ssdlab.remainder import remainder, totals
from ssdlab.results.durable import library_errors, sync_folder
from ssdlab.results.run_folder import STEPS, Step
from ssdlab.results.schema import BeginRecord, Departure, StepResult, Warned
from ssdlab.results.step_log import LogProgress, log_fault, log_name, read_progress, spread_of
from ssdlab.results.store import run_words
from ssdlab.surroundings import Observation, Surroundings
from ssdlab.traces.recording import in_folder, recording_of
from ssdlab.warnings import judge

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drive_state import StateKeeper
    from ssdlab.drives.base import Drive
    from ssdlab.journal import Journal, StepHistory
    from ssdlab.request import Request
    from ssdlab.results.schema import PartRecord
    from ssdlab.tracking import Tracker
    from ssdlab.workload import Workload

_IDLE_LOOK_S = 0.05
_SPACE_LOOK_S = 1.0
_SPACE_BYTES = 256 * 1024
"""What the library's file system must have left for rows and records of the next seconds."""


class Rewind(Exception):
    """A preparation was voided: the procedure must run again from its first line. Never leaves `session`."""


class Paused(Interrupted):
    """The run stopped where it was told to; see `Runner`'s `pause_after`."""


class Runner:
    """The executor of a real run.

    Parameters
    ----------
    drive
        Held by the caller for as long as the run goes on.
    journal
        Open; the caller holds the folder's lock.
    folder
        The run folder.
    tracker
        Told how far the run is.
    stopped
        Asked about every 50 ms; True ends the run as interrupted.
    progress_of
        Reads how far a step log came; another one for drives that write none.
    keeper
        Keeps the state of a drive that has one which can be kept.
    written_by
        Run that has written the whole span before, which a device cannot tell.
    pause_after
        Ordinal of a step after which the run stops, with the drive's state kept, so that it can be forked.
    """

    def __init__(
        self,
        drive: Drive,
        journal: Journal,
        folder: Path,
        tracker: Tracker,
        *,
        stopped: Callable[[], bool] = lambda: False,
        progress_of: Callable[[Path], LogProgress | None] = read_progress,
        keeper: StateKeeper | None = None,
        written_by: str | None = None,
        pause_after: int | None = None,
    ) -> None:
        self._drive = drive
        self._journal = journal
        self._folder = folder
        self._tracker = tracker
        self._stopped = stopped
        self._progress_of = progress_of
        self._keeper = keeper
        self._written_by = written_by
        self._pause_after = pause_after
        self._next_space_look = 0.0
        self._done_here: set[int] = set()
        # The last preparation and the trims after it: together they make the state that is measured.
        self._prepared: list[int] = []
        self.conditions = ConditionKeeper(drive, Ledger(folder))
        self.steps: list[Step] = []

    def restart(self) -> None:
        """Forget which steps were walked through: the procedure runs again from its first line."""
        self.steps.clear()
        self._prepared.clear()
        self._tracker.restart()

    def perform(self, request: Request) -> Step:
        """Do a step, or read it back.

        Raises
        ------
        Refused
            The journal holds another step at this place: the method or its parameters are not those of the
            run.
        Rewind
            The last preparation does not hold any more and was voided.
        Interrupted, DriveError, HostError
            From the step itself.
        """
        history = self._journal.history(request.ordinal)
        digest = step_hash(request.verb, request.args)
        _check_same(request, digest, history)
        if history.ended is not None:
            if self._keeper is not None:
                self._keeper.read_back(request, history.ended)
            step = _step(request, history.ended.attempt, history.ended.result)
            if request.verb in ("conditions", "variant"):
                self.conditions.again(step.result.facts, firm=request.verb == "variant")
            self._tracker.finished(step, read_back=True)
        else:
            self._check_stop()
            self._settle(request, history)
            self.catch_up()
            step = self._do(request, digest)
            self._done_here.add(request.ordinal)
            self._tracker.finished(step, read_back=False)
            self._pause(request)
        self.steps.append(step)
        if request.verb == "precondition":
            self._prepared = [request.ordinal]
        elif request.verb == "trim" and self._prepared:
            self._prepared.append(request.ordinal)
        return step

    def _pause(self, request: Request) -> None:
        if request.ordinal == self._pause_after:
            if self._keeper is not None:
                self._keeper.keep(request.ordinal)
            raise Paused("paused as asked", f"go on with: ssdlab resume {run_words(self._folder)}")

    def catch_up(self, *, only_lasting: bool = False) -> None:
        """Bring a drive whose state can be kept to where the last finished step left it."""
        if self._keeper is not None and (self._keeper.lasting or not only_lasting):
            self._keeper.catch_up(self._again)

    # --- what an interruption left ---

    def _settle(self, request: Request, history: StepHistory) -> None:
        """Apply the step's policy to an attempt that was cut short, and to a preparation gone stale."""
        opened = history.open_attempt
        if opened is not None:
            done = None if self._keeper is not None else self._kept(request, history, opened)
            if done is not None:
                self._journal.part(request.ordinal, opened.attempt, done)
            else:
                rule = f"its policy is {request.policy}"
                why = f"interrupted; {'the drive goes back to its beginning' if self._keeper else rule}"
                for attempt in (*[part.attempt for part in history.standing_parts], opened.attempt):
                    self._journal.void(request.ordinal, attempt, why)
        if request.policy != "re-precondition" or not self._prepared or self._keeper is not None:
            return
        if self._prepared[0] not in self._done_here:
            why = "an interruption let the drive rest, so the state it had brought about is gone"
            # The preparation last: whatever is cut off here, it is then done again.
            for ordinal in reversed(self._prepared):
                ended = self._journal.history(ordinal).ended
                assert ended is not None  # it was read back
                self._journal.void(ordinal, ended.attempt, why)
            raise Rewind

    def _kept(
        self, request: Request, history: StepHistory, opened: BeginRecord
    ) -> dict[str, JsonValue] | None:
        """Return what an attempt cut short has done if that counts, else None."""
        if request.policy != "continue" or request.workload is None:
            return None
        # What was written before a reboot may have been lost from a volatile cache.
        attempts = {opened.attempt, *(part.attempt for part in history.standing_parts)}
        if any(history.boots.get(attempt) != self._journal.boot for attempt in attempts):
            return None
        progress = self._progress_of(self._log_path(request.ordinal, opened.attempt))
        if progress is None:
            return None
        return {"bytes": progress.bytes, "ios": progress.ios, "ns": progress.ns}

    # --- doing a step ---

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
        )
        self._journal.begin(begin)
        self._tracker.began(request)
        started = time.monotonic()
        result = self._act(request, attempt, history.standing_parts)
        seconds = time.monotonic() - started
        result = result.model_copy(update={"seconds": seconds})
        state = None if self._keeper is None else self._keeper.digest()
        ended = self._journal.end(request.ordinal, attempt, result, state)
        if self._keeper is not None:
            self._keeper.finished(request.ordinal, seconds)
        return _step(request, attempt, ended.result)

    def _act(self, request: Request, attempt: int, parts: list[PartRecord]) -> StepResult:
        if request.workload is not None:
            return self._workload(request, request.workload, attempt, parts)
        if request.finding is not None:
            from ssdlab.results.compaction import tables_of_logs

            return StepResult(seconds=0.0, facts=request.finding.value(tables_of_logs(self._folder)))
        if request.verb == "idle":
            self._idle(float(str(request.args["seconds"])))
        elif request.verb == "trim":
            return trim_step(self._drive, request.args, self._look)
        elif request.verb == "flush":
            self._drive.flush()
        elif request.verb == "conditions":
            return self.conditions.bring_about(required_of(request.args))
        elif request.verb == "variant":
            return variant_step(self._drive, self.conditions, request.args, self._look)
        elif request.verb == "purge":
            return purge_step(self._drive, request.args, self._look)
        elif request.verb == "trace":
            return StepResult(seconds=0.0, facts=self._trace(request))
        elif request.verb == "health":
            return StepResult(seconds=0.0, facts={"health": self._drive.health()})
        elif request.verb in ("fork", "back"):
            return self._fork(request)
        return StepResult(seconds=0.0)

    def _again(self, request: Request) -> None:
        """Do a finished step once more, for the state that it leaves."""
        if request.verb == "trace":
            return  # its file is there
        if request.workload is None:
            self._act(request, 0, [])
        elif not (request.args.get("unless_written") and self._all_written(request.workload)):
            until = request.until.holds if request.until is not None else None
            self._drive.run(
                in_folder(request.workload, self._folder), on_tick=lambda _: self._check_stop(), until=until
            )

    def _fork(self, request: Request) -> StepResult:
        """Keep the drive's state, or go back to it; where that cannot be, order tells on what follows."""
        if self._keeper is None:
            facts: dict[str, JsonValue] = {"forked": False}
            if request.verb == "fork":
                facts["departures"] = [_order_effects().model_dump()]
            return StepResult(seconds=0.0, facts=facts)
        if request.verb == "fork":
            self._keeper.fork(request.ordinal)
        else:
            self._keeper.back(int(str(request.args["to"])), end=bool(request.args["end"]))
        return StepResult(seconds=0.0, facts={"forked": True})

    def _trace(self, request: Request) -> dict[str, JsonValue]:
        """Make a file of records in the run folder; a workload names it without the folder."""
        name = f"trace-{request.ordinal:04d}.records"
        return {"file": name, **recording_of(request.args, self._folder / name, self._look)}

    def _idle(self, seconds: float) -> None:
        from ssdlab.drives.simulated import SimulatedDrive

        if isinstance(self._drive, SimulatedDrive):
            self._drive.idle(seconds)
            return
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._check_stop()
            self._tracker.tick(None)
            time.sleep(min(left, _IDLE_LOOK_S))

    def _workload(
        self, request: Request, workload: Workload, attempt: int, parts: list[PartRecord]
    ) -> StepResult:
        if request.args.get("unless_written") and not parts and self._all_written(workload):
            facts: dict[str, JsonValue] = {"already_written": True}
            if self._written_by is not None:
                facts["written_by"] = self._written_by
            return StepResult(seconds=0.0, facts=facts)
        rest = remainder(in_folder(workload, self._folder), parts)
        segments = tuple(part.attempt for part in parts)
        if rest is None:
            return StepResult(seconds=0.0, facts=totals(parts, None), segments=segments)
        threads = sum(stream.workers for stream in workload.streams)
        observed = Observation(self._drive)
        path = self._log_path(request.ordinal, attempt)
        measured = self._drive.run(
            rest,
            log_path=path,
            on_tick=self._on_tick,
            until=request.until.holds if request.until is not None else None,
        )
        _check_log(path, log_fault(measured))
        summary = json.loads(json.dumps(measured.summary()))  # as the journal will give it back
        around = observed.around(summary)
        return StepResult(
            seconds=0.0,
            measurement=summary,
            spread_iops=spread_of(measured),
            host=host_load(threads, summary, around),
            facts=totals(parts, summary) if parts else {},
            warnings=_warned(request, workload, summary, around),
            segments=(*segments, attempt) if parts else (),
        )

    def _all_written(self, workload: Workload) -> bool:
        if self._written_by is not None:
            return True
        spans = [
            s.span_bytes(self._drive.capacity_bytes, self._drive.logical_block_bytes)
            for s in workload.streams
        ]
        return all(self._drive.written(start, length) is True for start, length in spans)

    def _look(self, phase: str = "") -> None:
        """Look on at a step that has no workload; `phase` says how far it is."""
        self._check_stop()
        self._tracker.tick(None, phase=phase)

    def _on_tick(self, snapshot: Any) -> None:  # noqa: ANN401 - _core.Snapshot, or a test's
        self._check_stop()
        self._check_space()
        self._tracker.tick(snapshot)

    def _check_stop(self) -> None:
        if self._stopped():
            raise Interrupted(
                "stopped by a signal",
                f"go on with: ssdlab resume {run_words(self._folder)}",
                run=self._folder.name,
            )

    def _check_space(self) -> None:
        """End a step whose rows cannot be kept any more, and not only after its hours."""
        moment = time.monotonic()
        if moment < self._next_space_look:
            return
        self._next_space_look = moment + _SPACE_LOOK_S
        room = os.statvfs(self._folder)
        if room.f_bfree * room.f_frsize < _SPACE_BYTES:
            with library_errors(self._folder):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _log_path(self, ordinal: int, attempt: int) -> Path:
        return self._folder / STEPS / log_name(ordinal, attempt)


def _order_effects() -> Departure:
    return Departure(
        code="order-effects",
        what="each point began in the state in which the one before had left the drive",
        why="only a simulated drive can go back to the state that it was in before",
    )


def _check_same(request: Request, digest: str, history: StepHistory) -> None:
    if not history.begins:
        return
    begun = history.begins[-1]
    if begun.hash != digest:
        raise Refused(
            f"step {request.ordinal} of this run was {begun.verb} ({begun.label}), and the method now asks "
            f"for {request.verb} ({request.label}) with other arguments",
            "resume with the ssdlab and the parameters that began it, or start a new run",
            ordinal=request.ordinal,
            begun=begun.hash,
            asked=digest,
        )


def _step(request: Request, attempt: int, result: StepResult) -> Step:
    return Step(request.ordinal, attempt, request.verb, request.label, dict(request.args), result)


def _check_log(path: Path, fault: str | None) -> None:
    """See that a step's rows are kept, and the name of their file too, before the journal says so."""
    with library_errors(path):
        if fault is not None:
            full = "No space left" in fault or "os error 28" in fault
            raise OSError(errno.ENOSPC if full else errno.EIO, fault)
        sync_folder(path.parent)


def _warned(
    request: Request, workload: Workload, summary: dict[str, Any], around: Surroundings
) -> tuple[Warned, ...]:
    """Judge a step's measurement by the catalogue."""
    return tuple(
        Warned(code=found.code, what=found.what, advice=found.advice, ordinal=request.ordinal)
        for found in judge(summary, workload, around)
    )
