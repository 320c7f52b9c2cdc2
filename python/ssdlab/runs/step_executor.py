"""Gives the verbs drive, run folder and observers during a step, and measures their workloads.

The verb defines the step (`lab.verbs`); the `Runner` has the journal and the policies.
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
"""Warnings of a load beyond the drive's capability."""
_OF_A_STATE = frozenset({"re-precondition", "from-purge"})
"""Policies of steps whose drive must not have rested before them, as they say of an interruption."""
_SPACE_LOOK_S = 1.0
_SPACE_BYTES = 256 * 1024
"""What the library's file system must have left for rows and records of the next seconds."""


class StepExecutor:
    """Does single steps; the parameters are those of `Runner`."""

    def __init__(
        self,
        drive: Drive,
        folder: HeldFolder,
        tracker: Tracker,
        *,
        stopped: Callable[[], bool],
        keeper: StateKeeper | None,
        written_by: str | None,
        sitting: int,
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
        self.sitting = sitting
        self._next_space_look = 0.0
        self.conditions = ConditionKeeper(drive, Ledger(folder))
        self._witness = Witness(drive)
        self._ahead = SideBySide(drive, self._steps, look=self._wait, placed=self._placed)

    def expect(self, requests: Sequence[Request]) -> None:
        """Work out points of a fork ahead, side by side; of none: forget what was not asked for."""
        self._ahead.expect(requests)

    def act(self, request: Request, attempt: int, parts: Sequence[PartRecord]) -> StepResult:
        """Execute a step; `parts` are interrupted attempts that count."""
        name = power_name(request.ordinal, attempt)
        began_ns = time.monotonic_ns()
        with library_errors(self._steps.path / name), self.metering.step(self._steps, name):
            result = do_checked(request.asked, _StepAtWork(self, request, attempt, parts))
        return result if result.measurement is not None else self._waited(request.ordinal, result, began_ns)

    def _waited(self, ordinal: int, result: StepResult, began_ns: int) -> StepResult:
        """Return a step that measured nothing with its pauses, and keep those that made a rest longer."""
        found, ended_ns = self._pauses(), time.monotonic_ns()
        own = tuple(each for each in found if each.end_ns > began_ns)
        self._rested += tuple(each for each in found if each.start_ns < began_ns or each.lasts_to(ended_ns))
        warnings = (*_kept(ordinal, judge_pauses(own, began_ns)), *result.warnings)
        return result.model_copy(update={"pauses": own, "warnings": warnings}) if own else result

    def _pauses(self) -> tuple[Pause, ...]:
        return () if self._heartbeat is None else self._heartbeat.pauses()

    def again(self, request: Request) -> None:
        """Repeat a finished step, for its drive state."""
        request.asked.redo(_StepAtWork(self, request, 0, ()))

    def caught_up(self, last: StepTelemetry | None) -> None:
        """Count no work that was done again as that of the step that follows; `last` was watched last."""
        if last is not None:
            self._witness.follow(last)

    def read_back(self, request: Request, result: StepResult) -> None:
        """Bring about what of a finished step does not outlive the session that did it."""
        request.asked.read_back(_StepAtWork(self, request, 0, ()), result)

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        """Make a file of the run folder: whole at the end of the block, or not at all."""
        with library_errors(self._folder / name), self.folder.replacing(name) as descriptor:
            yield Path(f"/proc/self/fd/{descriptor}")

    def run(self, workload: Workload, until: Until | None) -> Measurement:
        """Run a workload for the state that it leaves: nothing is kept, of single I/Os neither."""
        streams = tuple(each.model_copy(update={"log_ios": False}) for each in workload.streams)
        workload = workload.model_copy(update={"streams": streams})
        return self.drive.run(self._placed(workload), on_tick=lambda _: self.check_stop(), until=until)

    def rest(self, step: _StepAtWork, seconds: float) -> StepResult:
        """Leave the drive alone, and meter it."""
        clock = self.drive.telemetry.clock_ns
        start_ns = clock()
        self.drive.idle(seconds, on_look=step.look)
        rest, found = self.metering.rested(start_ns, clock())
        return StepResult(seconds=0.0, rest=rest, warnings=_kept(step.ordinal, found))

    def _requests(self, workload: Workload) -> AbstractContextManager[BlockWatch | None]:
        """Return what watches the block layer's requests: of a replay on a device, and of nothing else."""
        replayed = any(isinstance(stream.pattern, Recording) for stream in workload.streams)
        if not replayed or not self.drive.capabilities.block_device:
            return nullcontext()
        from ssdlab.runs.block_layer import watching  # which other runs do not load

        return watching(self.drive)

    def measure(
        self, step: _StepAtWork, workload: Workload, until: Until | None, *, overload: bool
    ) -> StepResult:
        """Run a workload, what is left of it, and keep what was measured."""
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
            self._steps.sync()  # the name of the rows' file too, before the journal says that they are kept
        measured, metered = self.metering.measured(measured, workload.ramp_ns, watched)
        stored = json.loads(json.dumps(measured.as_dict()))  # as the journal will give it back
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
        """Return the workload with its files of records where they are, in the held folder."""
        return _in_folder(workload, self.folder.existing_path)

    def look(self, phase: str = "") -> None:
        """Report on a step that has no workload; `phase` says how far it is."""
        self.check_stop()
        self._tracker.tick(None, phase=phase)

    def _wait(self) -> None:
        """Look after the run while a point is worked on elsewhere."""
        self.check_stop()
        self._check_space()
        self._tracker.tick(None, phase="side by side")

    def _on_tick(self, snapshot: Any) -> None:  # noqa: ANN401 - _core.Snapshot, or a test's
        self.check_stop()
        self._check_space()
        self._tracker.tick(snapshot)

    def check_stop(self) -> None:
        """End the step if that was asked for."""
        if self._stopped():
            raise Interrupted(
                "stopped by a signal",
                f"continue with: ssdlab resume {run_words(self._folder)}",
                run=self._folder.name,
            )

    def _check_space(self) -> None:
        """End a step whose rows cannot be kept any more, and not only after its hours."""
        moment = time.monotonic()
        if moment < self._next_space_look:
            return
        self._next_space_look = moment + _SPACE_LOOK_S
        room = os.statvfs(self.folder.fileno())
        if room.f_bfree * room.f_frsize < _SPACE_BYTES:
            with library_errors(self._folder):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def log_path(self, ordinal: int, attempt: int) -> Path:
        """Return the file of a step's rows, by a path safe from links."""
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
        """The drive under test."""
        return self.executor.drive

    @property
    def span(self) -> Span:
        """The part of the drive in use."""
        return self._ground.span

    @property
    def ordinal(self) -> int:
        """Number of the step."""
        return self.request.ordinal

    @property
    def seed(self) -> int:
        """Seed of the step."""
        return self._ground.seed

    @property
    def written_by(self) -> str | None:
        """Run that has written the whole span before."""
        return self.executor.written_by

    @property
    def sitting(self) -> int:
        """How often the drive's state was at the mercy of an interruption, from 1."""
        return self.executor.sitting

    @property
    def settings(self) -> ConditionKeeper:
        """What sets the drive and its host."""
        return self.executor.conditions

    @property
    def forks(self) -> StateKeeper | None:
        """What keeps the drive's state."""
        return self.executor.keeper

    def look(self, phase: str = "") -> None:
        """Report how far the step is."""
        self.executor.look(phase)

    def tables(self) -> Tables:
        """Return what the steps so far have measured."""
        from ssdlab.results.compaction import tables_of_logs

        return tables_of_logs(self.executor.folder)

    def new_file(self, name: str) -> AbstractContextManager[Path]:
        """Make a file of the run folder."""
        return self.executor.new_file(name)

    def run(self, workload: Workload, until: Until | None) -> Measurement:
        """Run a workload for the state that it leaves."""
        return self.executor.run(self._laid(workload), until)

    def rest(self, seconds: float) -> StepResult:
        """Leave the drive alone, and return what it drew meanwhile."""
        return self.executor.rest(self, seconds)

    def measure(self, workload: Workload, until: Until | None, *, overload: bool) -> StepResult:
        """Run a workload and keep what was measured."""
        return self.executor.measure(self, self._laid(workload), until, overload=overload)

    def _laid(self, workload: Workload) -> Workload:
        """Return a workload that the verb may have made itself, within the part of the drive in use."""
        return self._ground.laid(workload, self.request.label)

    @property
    def _ground(self) -> Ground:
        assert self.request.ground is not None  # a lab has made it
        return self.request.ground


def _times_of(block: BlockWatch, measured: Measurement) -> dict[str, JsonValue]:
    """Return the facts of a replay that the block layer tells."""
    return {BLOCK_TIMES_FACT: block.ended(measured.summary().moved_bytes).model_dump(mode="json")}


def _written(parts: Sequence[PartRecord], workload: Workload, measured: Measurement) -> int | None:
    """Return what a step has written, of one that wrote more than it measured."""
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
    """Judge a step's measurement by the catalogue; what an overload was to find out is no warning."""
    found = judge(summary, workload, around)
    if overload and not _OVERRUN.isdisjoint(each.code for each in found):
        # Late because the drive was, and not because the host was.
        found = [each for each in found if each.code not in (*_OVERRUN, "late")]
    found += judge_telemetry(telemetry, [each.code for each in found])
    return _kept(ordinal, (*found, *metered), simulated=summary.engine == "sim")


def _kept(ordinal: int, found: Sequence[Warning], *, simulated: bool = False) -> tuple[Warned, ...]:
    return tuple(
        Warned(code=each.code, what=each.what, advice=each.in_step(simulated=simulated), ordinal=ordinal)
        for each in found
    )


def _in_folder(workload: Workload, place: Callable[[str], Path]) -> Workload:
    """Return the workload with its files of records at their places; `place` tells that of a name.

    In a journal they stand without it, so that a run is the same run wherever its folder lies.
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
