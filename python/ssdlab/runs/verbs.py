"""What each verb does to the drive, and what it finds; the journal and the policies are the `Runner`'s.

Of a step that was cut short the rest is worked out, and the sum of its parts.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.durable import library_errors
from ssdlab.methods.steps import derived_seed
from ssdlab.methods.traces.recording import in_folder, recording_of
from ssdlab.model.errors import Interrupted
from ssdlab.model.host_load import HostContext, host_load
from ssdlab.model.pattern import Sequential
from ssdlab.model.warnings import judge
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import STEPS
from ssdlab.results.schema import Departure, Warned
from ssdlab.results.step_log import log_fault, log_name, spread_of
from ssdlab.results.store import run_words
from ssdlab.runs.conditions.keeper import ConditionKeeper
from ssdlab.runs.conditions.ledger import Ledger
from ssdlab.runs.drive_steps import purge_step, required_of, trim_step, variant_step
from ssdlab.runs.observe import Observation

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.methods.steps import Request
    from ssdlab.model.workload import Workload
    from ssdlab.results.records import PartRecord
    from ssdlab.runs.drive_state import StateKeeper
    from ssdlab.runs.tracking import Tracker


_OVERRUN = frozenset({"rate-not-reached", "dropped"})
"""Warnings of a load that was more than the drive could do."""
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
    ) -> None:
        self._drive = drive
        self._held = folder
        self._folder = folder.path
        with library_errors(folder.path):
            self._steps = folder.folder(STEPS, make=True)
        self._tracker = tracker
        self._stopped = stopped
        self._keeper = keeper
        self._written_by = written_by
        self._next_space_look = 0.0
        self.conditions = ConditionKeeper(drive, Ledger(folder))

    def act(self, request: Request, attempt: int, parts: list[PartRecord]) -> StepResult:
        """Do a step; `parts` are attempts at it that were cut short and count."""
        if request.workload is not None:
            return self._workload(request, request.workload, attempt, parts)
        if request.finding is not None:
            from ssdlab.results.compaction import tables_of_logs

            return StepResult(seconds=0.0, facts=request.finding.value(tables_of_logs(self._held)))
        if request.verb == "idle":
            self._drive.idle(float(str(request.args["seconds"])), on_look=self._look)
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

    def again(self, request: Request) -> None:
        """Do a finished step once more, for the state that it leaves."""
        if request.verb == "trace":
            return  # its file is there
        if request.workload is None:
            self.act(request, 0, [])
        elif not (request.args.get("unless_written") and self._all_written(request.workload)):
            until = request.until.holds if request.until is not None else None
            self._drive.run(
                self._with_files(request.workload), on_tick=lambda _: self.check_stop(), until=until
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
        with library_errors(self._folder / name), self._held.replacing(name) as descriptor:
            made = Path(f"/proc/self/fd/{descriptor}")
            return {"file": name, **recording_of(request.args, made, self._look)}

    def _with_files(self, workload: Workload) -> Workload:
        """Return the workload with its files of records where they are, in the held folder."""
        return in_folder(workload, self._held.existing_path)

    def _workload(
        self, request: Request, workload: Workload, attempt: int, parts: list[PartRecord]
    ) -> StepResult:
        if request.args.get("unless_written") and not parts and self._all_written(workload):
            facts: dict[str, JsonValue] = {"already_written": True}
            if self._written_by is not None:
                facts["written_by"] = self._written_by
            return StepResult(seconds=0.0, facts=facts)
        rest = resume_from(self._with_files(workload), parts)
        segments = tuple(part.attempt for part in parts)
        if rest is None:
            return StepResult(seconds=0.0, facts=totals(parts, None), segments=segments)
        threads = sum(stream.workers for stream in workload.streams)
        observed = Observation(self._drive)
        with self._steps.by_name(), self._held.by_name():
            measured = self._drive.run(
                rest,
                log_path=self.log_path(request.ordinal, attempt),
                on_tick=self._on_tick,
                until=request.until.holds if request.until is not None else None,
            )
        _check_log(self._steps, log_name(request.ordinal, attempt), log_fault(measured))
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
        """Report on a step that has no workload; `phase` says how far it is."""
        self.check_stop()
        self._tracker.tick(None, phase=phase)

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
        room = os.statvfs(self._held.fileno())
        if room.f_bfree * room.f_frsize < _SPACE_BYTES:
            with library_errors(self._folder):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def log_path(self, ordinal: int, attempt: int) -> Path:
        """Return the file of a step's rows, by a path that nobody can lead elsewhere."""
        return self._steps.new_path(log_name(ordinal, attempt))


def _order_effects() -> Departure:
    return Departure(
        code="order-effects",
        what="each point began in the state in which the one before had left the drive",
        why="only a simulated drive can go back to the state that it was in before",
    )


def _check_log(steps: HeldFolder, name: str, fault: str | None) -> None:
    """See that a step's rows are kept, and the name of their file too, before the journal says so."""
    with library_errors(steps.path / name):
        if fault is not None:
            fault = steps.in_words(fault)
            full = "No space left" in fault or "os error 28" in fault
            raise OSError(errno.ENOSPC if full else errno.EIO, fault)
        steps.sync()


def _warned(
    request: Request, workload: Workload, summary: dict[str, Any], around: HostContext
) -> tuple[Warned, ...]:
    """Judge a step's measurement by the catalogue; what an overload was to find out is no warning."""
    found = judge(summary, workload, around)
    if request.args.get("overload") and not _OVERRUN.isdisjoint(each.code for each in found):
        # Late because the drive was, and not because the host was.
        found = [each for each in found if each.code not in (*_OVERRUN, "late")]
    return tuple(
        Warned(code=each.code, what=each.what, advice=each.advice, ordinal=request.ordinal) for each in found
    )


def resume_from(workload: Workload, parts: Iterable[PartRecord]) -> Workload | None:
    """Return what is left to do of a one-stream workload after its parts; None if nothing is.

    The generator is keyed by the seed, so the rest of a random pattern draws from a seed of its own; a
    sequential one goes on at its cursor.
    """
    listed = list(parts)
    if not listed:
        return workload
    (stream,) = workload.streams
    done = {key: sum(int(str(part.done[key])) for part in listed) for key in ("bytes", "ios", "ns")}
    left = {
        "bytes": None if stream.stop.bytes is None else stream.stop.bytes - done["bytes"],
        "ios": None if stream.stop.ios is None else stream.stop.ios - done["ios"],
        "time_ns": None if stream.stop.time_ns is None else stream.stop.time_ns - done["ns"],
    }
    if any(value is not None and value <= 0 for value in left.values()):
        return None
    changes: dict[str, Any] = {"stop": stream.stop.model_copy(update=left)}
    if isinstance(stream.pattern, Sequential):
        start, length = stream.span.start, stream.span.length
        assert isinstance(start, int)  # the lab resolves spans to bytes
        assert isinstance(length, int)
        cursor = start + done["bytes"] % length
        changes["pattern"] = Sequential(cursors=(cursor,))
    return workload.model_copy(
        update={
            "seed": derived_seed(workload.seed, len(listed)),
            "ramp_ns": 0,
            "streams": (stream.model_copy(update=changes),),
        }
    )


def totals(parts: Iterable[PartRecord], summary: dict[str, Any] | None) -> dict[str, JsonValue]:
    """Add up the segments of a continued step."""
    totals: dict[str, int] = {"bytes": 0, "ios": 0, "ns": 0}
    for part in parts:
        for key in totals:
            totals[key] += int(str(part.done[key]))
    if summary is not None:
        sides = [summary[side] for side in ("read", "write", "trim") if summary.get(side)]
        totals["bytes"] += sum(side["bytes"] for side in sides)
        totals["ios"] += sum(side["ios"] for side in sides)
        totals["ns"] += int(summary["elapsed_s"] * 1e9)
    return dict(totals)
