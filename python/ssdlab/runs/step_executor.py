"""Executes single steps: gives verbs the drive, run folder and observers, and measures their workloads.

The verb defines the step (`lab.verbs`); `Runner` has the journal and the policies.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.durable import library_errors
from ssdlab.lab.verbs.verb import do_checked
from ssdlab.lab.verbs.workload import totals, written_in
from ssdlab.model.errors import Interrupted
from ssdlab.model.host_load import HostContext, host_load
from ssdlab.model.pattern import Recording
from ssdlab.model.summary import BLOCK_TIMES_FACT, Summary
from ssdlab.model.warnings import Warning, judge, judge_pauses, judge_telemetry
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import STEPS
from ssdlab.results.schema import Warned
from ssdlab.results.step_log import (
    kept_as_taken,
    log_name,
    power_name,
    rows_written,
    samples_name,
    spread_of,
    write_samples,
)
from ssdlab.results.store import run_words
from ssdlab.runs.conditions.keeper import ConditionKeeper
from ssdlab.runs.conditions.ledger import Ledger
from ssdlab.runs.metering import Metering
from ssdlab.runs.observe import Observation, Witness
from ssdlab.runs.side_by_side import SideBySide

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive, Until
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.lab.verbs.steps import Ground, Request
    from ssdlab.lab.verbs.verb import Tables
    from ssdlab.model.measurement import Measurement
    from ssdlab.model.pattern import Span
    from ssdlab.model.summary import Pause
    from ssdlab.model.telemetry import StepTelemetry
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import PartRecord
    from ssdlab.runs.block_layer import BlockWatch
    from ssdlab.runs.drive_state import StateKeeper
    from ssdlab.runs.observe import Heartbeat
    from ssdlab.runs.tracking import Tracker


_OVERRUN = frozenset({"rate-not-reached", "dropped", "undone"})
"""Warnings for a load that exceeds the drive's capability."""
_OF_A_STATE = frozenset({"re-precondition", "from-purge"})
"""Policies of steps whose drive must not have idled before them, be it by a pause or an interruption."""
_SPACE_LOOK_S = 1.0
_SPACE_BYTES = 256 * 1024
"""Free space needed in the library for rows and records of the next seconds."""


class StepExecutor:
    """Executes single steps; `Runner` documents the parameters."""

    def __init__(
        self,
        drive: Drive,
        folder: HeldFolder,
        tracker: Tracker,
        *,
        stopped: Callable[[], bool],
        keeper: StateKeeper | None,
        written_by: str | None,
        epoch: int,
        metering: Metering,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self.metering = metering
        self._heartbeat = heartbeat
        self._rested: tuple[Pause, ...] = ()
        """Pauses by which the drive rested longer than it was to since it was last measured."""
        self.drive = drive
        self.folder = folder
        self._folder = folder.path
        with library_errors(folder.path):
            self._steps = folder.folder(STEPS, make=True)
        self._tracker = tracker
        self._stopped = stopped
        self.keeper = keeper
        self.written_by = written_by
        self.epoch = epoch
        self._next_space_look = 0.0
        self.conditions = ConditionKeeper(drive, Ledger(folder))
        self._witness = Witness(drive)
        self._ahead = SideBySide(drive, self._steps, look=self._wait, placed=self._placed)

    def expect(self, requests: Sequence[Request]) -> None:
        """Set the points of a fork to compute ahead, in parallel; an empty list discards unused ones."""
        self._ahead.expect(requests)

    def act(self, request: Request, attempt: int, parts: Sequence[PartRecord]) -> StepResult:
        """Execute a step; `parts` are its interrupted attempts that count."""
        name = power_name(request.ordinal, attempt)
        began_ns = time.monotonic_ns()
        with library_errors(self._steps.path / name), self.metering.step(self._steps, name):
            result = do_checked(request.asked, _StepAtWork(self, request, attempt, parts))
        return result if result.measurement is not None else self._waited(request.ordinal, result, began_ns)

    def _waited(self, ordinal: int, result: StepResult, began_ns: int) -> StepResult:
        """Add the pauses to a step that measured nothing; keep those that prolonged the drive's rest."""
        found, ended_ns = self._pauses(), time.monotonic_ns()
        own = tuple(each for each in found if each.end_ns > began_ns)
        self._rested += tuple(each for each in found if each.start_ns < began_ns or each.lasts_to(ended_ns))
        warnings = (*_kept(ordinal, judge_pauses(own, began_ns)), *result.warnings)
        return result.model_copy(update={"pauses": own, "warnings": warnings}) if own else result

    def _pauses(self) -> tuple[Pause, ...]:
        return () if self._heartbeat is None else self._heartbeat.pauses()

    def again(self, request: Request) -> None:
        """Repeat a finished step for its effect on the drive's state."""
        request.asked.redo(_StepAtWork(self, request, 0, ()))

    def caught_up(self, last: StepTelemetry | None) -> None:
        """After repeated steps, count telemetry changes from the end of the last watched step."""
        if last is not None:
            self._witness.follow(last)

    def read_back(self, request: Request, result: StepResult) -> None:
        """Restore what a finished step of an earlier session has set for the session only."""
        request.asked.read_back(_StepAtWork(self, request, 0, ()), result)

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        """Create a file in the run folder, complete at the end of the block or not at all."""
        with library_errors(self._folder / name), self.folder.replacing(name) as descriptor:
            yield Path(f"/proc/self/fd/{descriptor}")

    def run(self, workload: Workload, until: Until | None) -> Measurement:
        """Run a workload for its effect on the drive's state; no log is kept, not even of single I/Os."""
        streams = tuple(each.model_copy(update={"log_ios": False}) for each in workload.streams)
        workload = workload.model_copy(update={"streams": streams})
        return self.drive.run(self._placed(workload), on_tick=lambda _: self.check_stop(), until=until)

    def rest(self, step: _StepAtWork, seconds: float) -> StepResult:
        clock = self.drive.telemetry.clock_ns
        start_ns = clock()
        self.drive.idle(seconds, on_look=step.look)
        rest, found = self.metering.rested(start_ns, clock())
        return StepResult(seconds=0.0, rest=rest, warnings=_kept(step.ordinal, found))

    def _requests(self, workload: Workload) -> AbstractContextManager[BlockWatch | None]:
        """Return the block-layer watch for a replay on a device, else a context with None."""
        replayed = any(isinstance(stream.pattern, Recording) for stream in workload.streams)
        if not replayed or not self.drive.capabilities.block_device:
            return nullcontext()
        from ssdlab.runs.block_layer import watching  # only replays load this module

        return watching(self.drive)

    def measure(
        self, step: _StepAtWork, workload: Workload, until: Until | None, *, overload: bool
    ) -> StepResult:
        """Run a workload, or its rest after interrupted parts; keep log, telemetry and measurement."""
        threads = sum(stream.workers for stream in workload.streams)
        before, self._rested = (*self._rested, *self._pauses()), ()
        observed = Observation(self.drive)
        kept = samples_name(step.ordinal, step.attempt)
        with (
            self._steps.by_name(),
            self.folder.by_name(),
            kept_as_taken(self._steps, kept) as keep,
            self._witness.watching(keep) as watched,
            self._requests(workload) as block,
        ):
            name = log_name(step.ordinal, step.attempt)
            measured = None if until else self._ahead.measured(step.ordinal, workload, name)
            if measured is None:
                measured = self.drive.run(
                    self._placed(workload),
                    log_path=self.log_path(step.ordinal, step.attempt),
                    on_tick=self._on_tick,
                    until=until,
                )
            pauses = self._pauses()
            telemetry = watched.ended(measured)
            facts = {} if block is None else _times_of(block, measured)
        if watched.samples:
            with library_errors(self._folder):
                write_samples(self._steps, kept, watched.samples)
        with library_errors(self._steps.path / log_name(step.ordinal, step.attempt)):
            self._steps.sync()  # the log's directory entry must be on disk before the journal refers to it
        measured, metered = self.metering.measured(measured, workload.ramp_ns, watched)
        stored = json.loads(json.dumps(measured.as_dict()))  # the same as after reading the journal back
        summary = Summary.model_validate(stored)
        around = observed.around(summary)
        if step.request.policy in _OF_A_STATE:
            pauses = (*before, *pauses)
        metered = [*judge_pauses(pauses, summary.zero_ns), *metered]
        whole = step.request.workload or workload
        segments = tuple(part.attempt for part in step.parts)
        return StepResult(
            seconds=0.0,
            measurement=stored,
            spread_iops=spread_of(measured),
            host=host_load(threads, summary, around),
            facts={**facts, **(totals(step.parts, summary) if step.parts else {})},
            warnings=_warned(step.ordinal, whole, summary, around, telemetry, metered, overload=overload),
            segments=(*segments, step.attempt) if step.parts else (),
            written_bytes=_written(step.parts, workload, measured),
            pauses=pauses,
            telemetry=telemetry,
        )

    def _placed(self, workload: Workload) -> Workload:
        return _in_folder(workload, self.folder.existing_path)

    def look(self, phase: str = "") -> None:
        """Report progress of a step without a workload; `phase` says how far it is."""
        self.check_stop()
        self._tracker.tick(None, phase=phase)

    def _wait(self) -> None:
        """Check and report while another process or thread computes a point."""
        self.check_stop()
        self._check_space()
        self._tracker.tick(None, phase="side by side")

    def _on_tick(self, snapshot: Any) -> None:  # noqa: ANN401 - _core.Snapshot, or a test's
        self.check_stop()
        self._check_space()
        self._tracker.tick(snapshot)

    def check_stop(self) -> None:
        """End the step if a signal has come."""
        if self._stopped():
            raise Interrupted(
                "stopped by a signal",
                f"continue with: ssdlab resume {run_words(self._folder)}",
                run=self._folder.name,
            )

    def _check_space(self) -> None:
        """End a step as soon as the library has no space for its rows, not only at the step's end."""
        moment = time.monotonic()
        if moment < self._next_space_look:
            return
        self._next_space_look = moment + _SPACE_LOOK_S
        room = os.statvfs(self.folder.fileno())
        if room.f_bfree * room.f_frsize < _SPACE_BYTES:
            with library_errors(self._folder):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def log_path(self, ordinal: int, attempt: int) -> Path:
        """Return the path of a step's log, safe from symbolic links."""
        return self._steps.new_path(log_name(ordinal, attempt))


@dataclass(frozen=True)
class _StepAtWork:
    """One attempt at a step, as its verb sees it; see `lab.verbs.verb.StepContext`."""

    executor: StepExecutor
    request: Request
    attempt: int
    parts: Sequence[PartRecord]

    @property
    def drive(self) -> Drive:
        return self.executor.drive

    @property
    def span(self) -> Span:
        return self._ground.span

    @property
    def ordinal(self) -> int:
        return self.request.ordinal

    @property
    def seed(self) -> int:
        return self._ground.seed

    @property
    def written_by(self) -> str | None:
        return self.executor.written_by

    @property
    def epoch(self) -> int:
        return self.executor.epoch

    @property
    def settings(self) -> ConditionKeeper:
        return self.executor.conditions

    @property
    def forks(self) -> StateKeeper | None:
        return self.executor.keeper

    def look(self, phase: str = "") -> None:
        self.executor.look(phase)

    def tables(self) -> Tables:
        from ssdlab.results.compaction import tables_of_logs

        return tables_of_logs(self.executor.folder)

    def new_file(self, name: str) -> AbstractContextManager[Path]:
        return self.executor.new_file(name)

    def run(self, workload: Workload, until: Until | None) -> Measurement:
        return self.executor.run(self._laid(workload), until)

    def rest(self, seconds: float) -> StepResult:
        return self.executor.rest(self, seconds)

    def measure(self, workload: Workload, until: Until | None, *, overload: bool) -> StepResult:
        return self.executor.measure(self, self._laid(workload), until, overload=overload)

    def _laid(self, workload: Workload) -> Workload:
        """Return a workload of the verb, restricted to the part of the drive in use."""
        return self._ground.laid(workload, self.request.label)

    @property
    def _ground(self) -> Ground:
        assert self.request.ground is not None  # a lab always sets it
        return self.request.ground


def _times_of(block: BlockWatch, measured: Measurement) -> dict[str, JsonValue]:
    return {BLOCK_TIMES_FACT: block.ended(measured.summary().moved_bytes).model_dump(mode="json")}


def _written(parts: Sequence[PartRecord], workload: Workload, measured: Measurement) -> int | None:
    """Return the bytes that a step wrote, if more than it measured; else None."""
    if not (workload.ramp_ns or parts) or not any(stream.writes for stream in workload.streams):
        return None
    return written_in(parts) + rows_written(measured)


def _warned(
    ordinal: int,
    workload: Workload,
    summary: Summary,
    around: HostContext,
    telemetry: StepTelemetry | None,
    metered: Sequence[Warning],
    *,
    overload: bool,
) -> tuple[Warned, ...]:
    """Return a step's warnings; an intended overload does not warn of being too much."""
    found = judge(summary, workload, around)
    if overload and not _OVERRUN.isdisjoint(each.code for each in found):
        # I/Os were late because of the drive, not because of the host.
        found = [each for each in found if each.code not in (*_OVERRUN, "late")]
    found += judge_telemetry(telemetry, [each.code for each in found])
    return _kept(ordinal, (*found, *metered), simulated=summary.engine == "sim")


def _kept(ordinal: int, found: Sequence[Warning], *, simulated: bool = False) -> tuple[Warned, ...]:
    return tuple(
        Warned(code=each.code, what=each.what, advice=each.in_step(simulated=simulated), ordinal=ordinal)
        for each in found
    )


def _in_folder(workload: Workload, place: Callable[[str], Path]) -> Workload:
    """Return the workload with the paths of its record files; `place` gives the path of a name.

    Journals have names only, so that a run stays the same wherever its folder is.
    """
    streams = tuple(
        stream.model_copy(
            update={"pattern": stream.pattern.model_copy(update={"file": str(place(stream.pattern.file))})}
        )
        if isinstance(stream.pattern, Recording)
        else stream
        for stream in workload.streams
    )
    return workload.model_copy(update={"streams": streams})
