"""Starts or resumes a run and carries it through to its end.

A run joins a method's procedure, a guarded drive, and the run folder with its journal. The folder contains
everything that is needed to resume the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ssdlab import drives
from ssdlab.drives.guard.endurance import cap_of
from ssdlab.drives.spare import spare_of
from ssdlab.host.durable import library_errors
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import RunData, RunFacts
from ssdlab.lab.outcome import departures_of, warnings_of
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused
from ssdlab.results.evidence import qualified, unprepared
from ssdlab.results.finishing import explaining_stops
from ssdlab.results.journal import Journal
from ssdlab.results.lease import RunLock
from ssdlab.results.metered import meter_of, with_errors
from ssdlab.results.progress import LiveFile
from ssdlab.results.remarks import first_bytes, span_of
from ssdlab.results.run_folder import STEPS, RunFolder, step_logs
from ssdlab.results.schema import Departure, Manifest, Warned
from ssdlab.results.store import begin_run, hold_library, run_words
from ssdlab.runs.conditions.ledger import Ledger
from ssdlab.runs.conditions.variant import check_able, variant_info, varied, with_variant
from ssdlab.runs.consent_record import Renewal, consented, record_consent
from ssdlab.runs.drive_state import STATES, check_left, describe_state, discard_states, keeper_of
from ssdlab.runs.metering import Metering
from ssdlab.runs.meters import chosen_meter, kept_meter, open_metering, reopened_metering
from ssdlab.runs.observe import Heartbeat
from ssdlab.runs.order import Order, check_before_made, plan_on, with_endurance
from ssdlab.runs.pace import pace_of
from ssdlab.runs.plan import Plan
from ssdlab.runs.provenance import (
    drive_info,
    first_manifest,
    measured_under,
    metered_by,
    on_error_of,
    voided_writes,
    written_by_run,
)
from ssdlab.runs.recorded_power import marked
from ssdlab.runs.resume_checks import check_attached, check_drive, resumable_method
from ssdlab.runs.runner import Rewind, Runner
from ssdlab.runs.session_record import SessionRecord, nothing_left, resumed_manifest
from ssdlab.runs.stopping import StopFlag
from ssdlab.runs.tracking import Tracker, layout_watch

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.drives.guard.endurance import EnduranceCap
    from ssdlab.drives.opening import Look
    from ssdlab.lab.method import Method, Params
    from ssdlab.results.progress import Observer
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Status

__all__ = ["RunEnvironment", "resume", "start"]

Opener = Callable[..., "Drive"]
Finisher = Callable[[Path, Manifest, RunLock], Manifest]


class RunEnvironment:
    """A run's access to the outside world, which tests replace.

    Parameters
    ----------
    open_drive
        Replaces `ssdlab.drives.open_drive`.
    finish
        Compacts a finished run and returns its manifest.
    look
        Replaces `ssdlab.drives.look`.
    runner
        Options for `Runner`.
    """

    def __init__(
        self,
        open_drive: Opener | None = None,
        finish: Finisher | None = None,
        look: Callable[..., Look] | None = None,
        **runner: Any,  # noqa: ANN401 - those of Runner
    ) -> None:
        from ssdlab.results.finishing import finish_run

        self.open_drive = open_drive or drives.open_drive
        self.finish = finish or finish_run
        self.look = look or drives.look
        self.runner = runner


def start(
    order: Order, library: Path, observers: Sequence[Observer] = (), environment: RunEnvironment | None = None
) -> Path:
    """Run a method from the beginning and return the run folder.

    Raises
    ------
    UsageError, Refused
        Before anything was touched.
    Interrupted, DriveError, HostError
        During the run. The folder is kept, and the run can be resumed. `run` and `folder` are facts of the
        error.
    """
    environment = environment or RunEnvironment()
    with library_errors(library):
        hold_library(library).close()
    writing = order.method.writes(order.params) or order.variant.destroys
    check_before_made(order, environment.look, writing=writing)
    layout = layout_watch(order.size_bytes or 0, observers)
    with ExitStack() as held:
        drive = held.enter_context(
            environment.open_drive(
                order.drive,
                size=order.size_bytes,
                destroy=order.destroy,
                wipe_signatures=order.wipe_signatures,
                endurance=_cap(order),
                writing=writing,
                on_tick=layout,
                formats=order.variant.destroys,
                **_unwritten(order.method, order.drive),
            )
        )
        check_able(order.variant, drive.setting, made_to_order=drive.capabilities.made_to_order)
        variant = variant_info(order.variant, drive.identity, writing=writing)
        simulated = drive.capabilities.virtual_time
        meter = chosen_meter(order.meter, order.rig, simulated=simulated, in_suite=order.member is not None)
        order = replace(order, method=marked(varied(order.method, variant), meter), meter=meter)
        span_bytes = None if order.member is None else order.member.span_bytes
        pace = pace_of(drive.identity, library)
        plan = plan_on(order.method, order.params, drive, pace=pace, span_bytes=span_bytes)
        plan = with_endurance(plan, drive.identity, _cap(order))
        if plan.objection is not None:
            raise plan.objection
        metering = held.enter_context(open_metering(order.meter, drive))
        manifest = with_variant(first_manifest(order, drive, writing), variant)
        if order.begun_on is not None:
            suite = "" if order.member is None else order.member.suite
            check_attached(order.begun_on, manifest.drive, "suite", suite, resumed=False)
        folder = begin_run(library, manifest, lambda held: record_consent(held, manifest, manifest.drive))
        lock = RunLock(folder)
        try:
            work = _Run(
                folder,
                manifest,
                order.method,
                order.params,
                drive,
                environment,
                metering,
                lock=lock,
                new=True,
            )
            return work.run(plan, observers)
        finally:
            lock.release()


def resume(
    folder: Path,
    observers: Sequence[Observer] = (),
    environment: RunEnvironment | None = None,
    *,
    renewal: Renewal | None = None,
    on_wait: Callable[[str], object] | None = None,
) -> Path:
    """Resume a run where it stopped and return its folder.

    Parameters
    ----------
    folder, observers, environment
        The run folder, and the same parameters as for `start`.
    renewal
        Renewed consent, if the run's is no longer valid.
    on_wait
        Called with the reason for waiting, if a process on another host may still hold the run.

    Raises
    ------
    Refused
        The run is finished or running, or is from a newer ssdlab or another version of the method. Or the
        drive is not the one it started on.
    """
    environment = environment or RunEnvironment()
    manifest = RunFolder(folder).manifest
    lock = RunLock(folder, on_wait=on_wait)
    try:
        lock.folder.check_plain(STEPS, STATES)
        manifest = RunFolder(folder).manifest
        if manifest.status == "finished":
            return _finish_again(folder, manifest, lock, environment)
        chosen, params = resumable_method(manifest)
        text = str(_opened_with(manifest, folder)["text"])
        if manifest.drive.capabilities.on_file_system and not Path(text).exists():
            raise Refused(
                f"{text}, the file of this run, is missing",
                "restore it, or start a new run",
                path=text,
            )
        writes = chosen.writes(params)
        manifest, given = consented(lock.folder, manifest, renewal, writes=writes, words=run_words(folder))
        allowed = {**_consent_again(manifest, written_by_run(lock.folder)), **_unwritten(chosen, text)}
        variant = manifest.drive.variant
        allowed["formats"] = variant is not None and "lba_format" in variant.demands
        # Without a size, so that a missing file is not created.
        with environment.open_drive(text, size=None, on_tick=None, **allowed) as drive:
            formatted = Ledger(lock.folder).find("lba_format") is not None
            check_drive(manifest, drive, formatted=formatted, given=given)
            meter = kept_meter(manifest)
            chosen = marked(varied(chosen, manifest.drive.variant), meter)
            check_left(manifest.sessions[-1], drive)
            span_bytes = None if manifest.member is None else manifest.member.span_bytes
            pace = pace_of(drive.identity, folder.parent)
            plan = plan_on(chosen, params, drive, RunFolder(folder).steps(), pace, span_bytes=span_bytes)
            again = resumed_manifest(manifest)
            if renewal is not None:
                record_consent(lock.folder, again, drive_info(manifest.drive.text, drive))
            with reopened_metering(meter, drive) as metering:
                work = _Run(folder, again, chosen, params, drive, environment, metering, lock=lock, new=False)
                return work.run(plan, observers)
    finally:
        lock.release()


class _Run:
    """One session of a run: executes the remaining steps under the run's lock, and concludes the run."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        method: Method,
        params: Params,
        drive: Drive,
        environment: RunEnvironment,
        metering: Metering,
        *,
        lock: RunLock,
        new: bool,
    ) -> None:
        self._folder, self._method, self._params = folder, method, params
        self._drive, self._environment, self._lock, self._new = drive, environment, lock, new
        self._held, self._record = lock.folder, SessionRecord(lock, manifest)
        self._runner: Runner | None = None
        drive.deadline = lock.deadline
        drive.on_error = on_error_of(manifest)
        self._metering = metering
        self._left: list[Warned] = []

    @property
    def _manifest(self) -> Manifest:
        return self._record.manifest

    def run(self, plan: Plan, observers: Sequence[Observer]) -> Path:
        self._record.note(**describe_state(self._drive, "drive_found"))
        self._tracker = Tracker(plan, [*observers, LiveFile(self._held)])
        self._record.carry_out(self)
        return self._folder

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Handle signals, keep the journal, and detect pauses of ssdlab."""
        journal = Journal(
            self._held, self._manifest.run_id, check=self._lock.check, anew=self._lock.taken_over
        )
        beats = not self._drive.capabilities.virtual_time
        with StopFlag() as self._stop, journal as self._journal, Heartbeat(beats=beats) as self._heartbeat:
            yield

    def do(self) -> dict[str, object]:
        keeper = keeper_of(self._drive, self._held, new=self._new)
        found: dict[str, Any] = {"stopped": self._stopped, "keeper": keeper, "metering": self._metering}
        options = found | {"heartbeat": self._heartbeat} | self._environment.runner
        if (member := self._manifest.member) is not None:
            options["written_by"] = member.written_by
        self._runner = runner = Runner(self._drive, self._journal, self._held, self._tracker, **options)
        while True:
            try:
                self._method.procedure(self._lab(runner), self._params)
                break
            except Rewind:
                runner.restart()
        runner.catch_up(only_lasting=True)
        steps = self._metering.settled(runner.steps, self._held)
        self._settle()
        measured = measured_under(self._manifest, self._drive)
        self._record.manifest = metered_by(measured, self._drawn(steps))
        lost = runner.conditions.lost()
        self._left = runner.conditions.put_back(finished=True)
        return self._conclude(steps, lost)

    def _drawn(self, steps: Sequence[Step]) -> dict[str, JsonValue] | None:
        """Return the record of the meter, with the energy of all steps; None without a meter."""
        record = self._metering.record()
        if record is None:
            return None
        from ssdlab.results.step_log import energy_of

        with library_errors(self._folder), self._held.folder(STEPS, make=True) as folder:
            return {**record, **energy_of(folder, steps)}

    def _stopped(self) -> bool:
        """Whether a signal has come; it also detects a lost lease, as it is called several times a second."""
        self._lock.check()
        return self._stop()

    def leave(self, error: BaseException) -> dict[str, object]:
        """Restore changed settings, and record the drive's final state."""
        del error
        steps: Sequence[Step] = ()
        if self._runner is not None:
            self._left, steps = self._runner.conditions.put_back(finished=False), self._runner.steps
            self._record.manifest = metered_by(self._manifest, self._metering.record())
        self._record.note(**describe_state(self._drive, "drive_left"))
        return {"warnings": self._warnings(steps)}

    def seal(self) -> None:
        with explaining_stops(self._folder, self._manifest):
            self._stop.hand_on()
            discard_states(self._held)
            self._environment.finish(self._folder, self._manifest, self._lock)

    def ended(self, status: Status) -> None:
        self._tracker.ended(status)

    def _lab(self, runner: Runner) -> Lab:
        member = self._manifest.member
        return Lab(
            runner,
            capacity_bytes=self._manifest.drive.capacity_bytes,
            logical_block_bytes=self._manifest.drive.logical_block_bytes,
            forks=self._drive.state is not None,
            spare_of=partial(spare_of, self._drive.identity),
            seed=self._manifest.seed,
            preparation_seed=None if member is None else member.preparation_seed,
            span_bytes=None if member is None else member.span_bytes,
        )

    def _settle(self) -> None:
        """Save the state of a simulated drive with a state file before the run is finished.

        The manifest records the new state first, so `resume` recognises the file after a kill in between.
        """
        if self._drive.state is not None and self._drive.state.lasting:
            self._record.note(**describe_state(self._drive, "drive_left"))
            self._record.write()
            self._drive.state.settle()

    def _conclude(self, steps: Sequence[Step], lost: Sequence[Departure]) -> dict[str, object]:
        from ssdlab.results.compaction import buckets_of_logs, ios_of_logs, row_buckets_of_logs, rows_of_logs

        voided = tuple(RunFolder(self._folder).voided())
        data = RunData(
            tuple(steps),
            self._drive.capacity_bytes,
            self._drive.logical_block_bytes,
            self._manifest.quick,
            # A simulated drive has returned to its state before the voided attempts.
            voided=() if self._drive.state is not None else voided_writes(self._held, voided),
            rows=partial(rows_of_logs, self._held),
            buckets=partial(buckets_of_logs, self._held),
            row_buckets=partial(row_buckets_of_logs, self._held),
            ios=partial(ios_of_logs, self._held),
        )
        result = self._method.conclude(data, self._params)
        figures = with_errors(result.scalars, meter_of(self._manifest))
        result = qualified(result.model_copy(update={"scalars": figures}), steps)
        facts = RunFacts(self._manifest, data, voided, result)
        remarks = self._method.remarks(facts, self._params)
        self._left += remarks.warnings
        departures = (
            *departures_of(steps),
            *first_bytes(span_of(self._manifest)),
            *lost,
            *self._unknown_state(steps),
            *remarks.departures,
        )
        self._record.note(**describe_state(self._drive, "drive_left"))
        return {
            "warnings": self._warnings(steps),
            "result": result.model_dump(mode="json"),
            "departures": departures,
        }

    def _warnings(self, steps: Sequence[Step]) -> tuple[Warned, ...]:
        return (*warnings_of(steps), *self._left)

    def _unknown_state(self, steps: Sequence[Step]) -> list[Departure]:
        """Report if the method needs a written span, but nobody knows whether every block was written."""
        filled = any(step.verb == "fill" and not unprepared([step], step.ordinal + 1) for step in steps)
        known = self._drive.written(0, self._drive.capacity_bytes) is not None
        member = self._manifest.member
        known |= member is not None and member.written_by is not None
        if "span written" not in self._method.needs or filled or known:
            return []
        return [
            Departure(
                code="written-unknown",
                what="unknown whether every block was written before, which the method requires",
                why="fill it first: devices do not report this, and reads of unwritten blocks do not "
                "touch the flash",
            )
        ]


def _opened_with(manifest: Manifest, folder: Path) -> dict[str, JsonValue]:
    """Return the options with which the drive of a run was opened; refuse an incomplete record."""
    options = manifest.open_options
    lacking = [name for name in ("text", "size_bytes", "destroy", "writing") if name not in options]
    if lacking or not isinstance(options["text"], str):
        raise Refused(
            f"the manifest of {folder} does not record how its drive was opened: "
            f"{', '.join(lacking) or 'text'}",
            "restore it from a copy, or start a new run",
            path=str(folder),
        )
    return options


def _consent_again(manifest: Manifest, written_bytes: int) -> dict[str, Any]:
    """Return the run's consent as options for `open_drive`, with the bytes that it has already written."""
    options = manifest.open_options
    share = cast("float | None", options.get("endurance_cap"))
    writing = bool(options["writing"])
    bytes_written = 0 if manifest.member is None else manifest.member.spent_bytes
    if writing and manifest.drive.capabilities.block_device:
        bytes_written += written_bytes
    return {
        "destroy": cast("str | None", options["destroy"]),
        "wipe_signatures": bool(options.get("wipe_signatures")),
        "endurance": cap_of(share, bytes_written),
        "writing": writing,
        "token": cast("str | None", manifest.drive.identity.get("token")),
    }


def _unwritten(method: Method, drive: str) -> dict[str, Any]:
    """Return the option to read unwritten blocks; only a simulated drive needs this permission."""
    return {"allow_unwritten": True} if method.reads_unwritten and drive.startswith(SIMULATED_PREFIX) else {}


def _cap(order: Order) -> EnduranceCap:
    """Return the endurance cap of a run, less what its suite has written before."""
    return cap_of(order.endurance_cap, 0 if order.member is None else order.member.spent_bytes)


def _finish_again(folder: Path, manifest: Manifest, lock: RunLock, environment: RunEnvironment) -> Path:
    if manifest.tables and not step_logs(lock.folder):
        raise nothing_left(manifest, folder)
    discard_states(lock.folder)
    environment.finish(folder, manifest, lock)
    return folder
