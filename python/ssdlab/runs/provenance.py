"""Where a run comes from: method, drive, host and tool, as its manifest keeps them.

One session of a run or of a suite, as its manifest tells it.

    start, resume -> running -> finished
                             -> interrupted   by a signal, the host or a refusal; resume goes on
                             -> failed        the drive failed, or this program; resume tries again

Runs and suites go through it by one function, `SessionRecord.carry_out`, and end by the same rules, so the
same error has the same status and the same exit status in both. They differ in their work (`Work`): a run
does steps under a journal and puts back what it has set; a suite starts runs, which do that themselves.
"""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from ssdlab.drives.ratings import rated_values
from ssdlab.host.held_folder import hold
from ssdlab.model.errors import HostError, Interrupted, LabError, LeaseLost, Refused
from ssdlab.results.journal import boot_id, now
from ssdlab.results.records import VoidedWrites
from ssdlab.results.run_folder import STEPS, RunFolder, step_logs
from ssdlab.results.schema import DriveInfo, Failure, Manifest, Session
from ssdlab.results.step_log import log_name, log_written
from ssdlab.results.store import new_run_id, run_words, write_manifest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.host.identity import Identity
    from ssdlab.model.failed_ios import OnError
    from ssdlab.results.lease import RunLock
    from ssdlab.results.records import VoidedAttempt
    from ssdlab.results.schema import Status
    from ssdlab.runs.order import Order


def written_by_run(folder: Path | HeldFolder) -> int:
    """Return the bytes that the attempts of a run have written: from its tables, before those from its logs.

    Parameters
    ----------
    folder
        The run folder.

    Raises
    ------
    Refused
        The run is damaged.
    """
    held = hold(folder)
    run = RunFolder(held.path)
    if run.manifest.tables:  # of the logs some may be gone by now
        return _by_table(run)
    if not (names := step_logs(held)):
        return 0
    with held.folder(STEPS) as steps:
        return sum(_by_log(steps, name) for name in names)


def voided_writes(folder: HeldFolder, voided: Sequence[VoidedAttempt]) -> tuple[VoidedWrites, ...]:
    """Return what the attempts that do not count have written, by their logs, which are still there.

    Parameters
    ----------
    folder
        The run folder, before its tables are written.
    voided
        Those attempts.
    """
    there = set(step_logs(folder))
    names = [(each, log_name(each.ordinal, each.attempt)) for each in voided]
    if not any(name in there for _, name in names):
        return ()
    with folder.folder(STEPS) as steps:
        return tuple(VoidedWrites(each.place, _by_log(steps, name)) for each, name in names if name in there)


def _by_table(run: RunFolder) -> int:
    from ssdlab.results.tables import SERIES  # numpy, which most readers of a run do without

    if SERIES not in [table.name for table in run.manifest.tables]:
        return 0
    return int(run.read_table(SERIES, {"bytes": "BIGINT"}, "direction = 'write'", "bytes")["bytes"].sum())


def _by_log(steps: HeldFolder, name: str) -> int:
    with steps.readable(name) as path:
        return log_written(path)


class Work(Protocol):
    """What a session does: the steps of a run, or the runs of a suite."""

    def attended(self) -> AbstractContextManager[object]:
        """Give what has to be held, from before the manifest says "running" to after it tells the end."""

    def do(self) -> dict[str, object]:
        """Do all that is left, and return what the manifest says of it beside its end."""

    def leave(self, error: BaseException) -> dict[str, object]:
        """Leave all in order after an error, and return what the manifest says of it beside the error."""

    def seal(self) -> None:
        """Make what is finished lasting; if this fails, a resume does it again."""

    def ended(self, status: Status) -> None:
        """Tell the watchers."""


class SessionRecord:
    """The manifest of a run or suite while a session of it is at work.

    Parameters
    ----------
    lock
        The session's, of the run folder.
    manifest
        Says "running"; its last session is this one.
    """

    def __init__(self, lock: RunLock, manifest: Manifest) -> None:
        self._lock, self._held, self.manifest = lock, lock.folder, manifest

    def carry_out(self, work: Work) -> None:
        """Do the work of the session, with what the manifest says at each moment: the one way through it.

        Raises
        ------
        BaseException
            What ended the session before its end, which the manifest tells by then.
        """
        with work.attended():
            self.write()
            try:
                self.finish(**work.do())
            except BaseException as error:
                self._leave_to_successor(work, error)
                work.ended(self.stop(error, **work.leave(error)))
                raise
        work.seal()
        work.ended("finished")

    def _leave_to_successor(self, work: Work, error: BaseException) -> None:
        """Where the lease was lost, end as by a kill: folder and drive may be another process's by now."""
        try:
            self._lock.check()
        except LeaseLost as lost:
            lost.facts |= {"run": self.manifest.run_id, "folder": str(self._held.path)}
            work.ended("interrupted")
            raise lost from error

    def write(self) -> None:
        """Put the manifest into the folder as it is now.

        Raises
        ------
        HostError
            When the library cannot be written; `LeaseLost` when the run is not ours any more.
        """
        self._lock.check()
        self.manifest = write_manifest(self._held, self.manifest)

    def note(self, **facts: str) -> None:
        """Say something of this session in the manifest, which is not written yet."""
        *earlier, session = self.manifest.sessions
        described = session.model_copy(update=facts)
        self.manifest = self.manifest.model_copy(update={"sessions": (*earlier, described)})

    def finish(self, **changes: object) -> None:
        """Put the end on record: all was done.

        Raises
        ------
        HostError
            When the library cannot be written.
        """
        self._end("finished", changes)

    def stop(self, error: BaseException, **changes: object) -> Status:
        """Put on record that an error ended the session, and return the status.

        A full disk keeps the old manifest. The error then names run and folder among its facts; what a part
        of a suite has said of itself there stands as `part_run`.
        """
        status = status_after(error)
        with contextlib.suppress(HostError):
            self._end(status, {"failure": failure_of(error), **changes})
        if isinstance(error, LabError):
            if self.manifest.children:
                error.facts["part_run"] = error.facts.get("run")
            error.facts |= {"run": self.manifest.run_id, "folder": str(self._held.path)}
        return status

    def _end(self, status: Status, changes: dict[str, object]) -> None:
        self.note(ended=now(), status=status)
        self.manifest = self.manifest.model_copy(update={"status": status, **changes})
        self.write()


def status_after(error: BaseException) -> Status:
    """Return what a run or a suite is after an error ended its session."""
    stopped = isinstance(error, HostError | Refused | Interrupted | KeyboardInterrupt)
    return "interrupted" if stopped else "failed"


def failure_of(error: BaseException) -> Failure:
    """Return an error as a manifest keeps it."""
    described = error if isinstance(error, LabError) else LabError(str(error), "")
    kind = error.kind if isinstance(error, LabError) else type(error).__name__
    return Failure(
        kind=kind, what=described.what, advice=described.advice, facts=described.as_dict()["facts"]
    )


def resumed_manifest(manifest: Manifest) -> Manifest:
    """Return the manifest of a run or suite that a new session begins to work on."""
    sessions = (*manifest.sessions, first_session())
    return manifest.model_copy(update={"status": "running", "sessions": sessions, "failure": None})


def first_session(started: str | None = None) -> Session:
    """Return the record of a session that begins now, or that began at the time given."""
    return Session(started=started or now(), boot_id=boot_id())


def nothing_left(manifest: Manifest, folder: Path) -> Refused:
    """Return the refusal to resume what is finished."""
    noun, again = ("suite", "run it again") if manifest.children else ("run", "run the method again")
    return Refused(
        f"{noun} {manifest.run_id} is finished; there is nothing to resume",
        f"see it with ssdlab show {run_words(folder)}, or {again}",
        run=manifest.run_id,
    )


def first_manifest(order: Order, drive: Drive, writing: bool) -> Manifest:
    """Return the manifest that a run begins with."""
    started = now()
    info = drive_info(order.drive, drive)
    engine = str(getattr(order.params, "engine", order.method.engine))
    options: dict[str, JsonValue] = {
        "text": lasting_text(order.drive, info),
        "size_bytes": order.size_bytes,
        "destroy": order.destroy,
        "writing": writing,
        "wipe_signatures": order.wipe_signatures,
        "endurance_cap": order.endurance_cap,
        "on_error": order.on_error,
        **({} if order.meter is None else {"meter": str(order.meter)}),
    }
    return Manifest(
        run_id=order.run_id or new_run_id(order.method.name),
        status="running",
        method=order.method.info(order.params),
        quick=order.quick,
        params=order.params.model_dump(mode="json"),
        drive=info,
        open_options=options,
        engine="sim" if info.capabilities.virtual_time else engine,
        seed=order.seed if order.seed is not None else secrets.randbits(63),
        environment=host_context(drive, order.rig),
        tool={**tool(), **({"plugin": order.method.package} if order.method.package else {})},
        created=started,
        sessions=(first_session(started),),
        member=order.member,
        ratings=rated_values(drive.identity),
    )


def on_error_of(manifest: Manifest) -> OnError:
    """Return what becomes of a run where too many I/Os fail; one of an older version stops."""
    return "continue" if manifest.open_options.get("on_error") == "continue" else "stop"


def lasting_text(text: str, info: DriveInfo) -> str:
    """Return a text that means the same drive from any working directory."""
    from ssdlab.drives.simulated.text import SimulatedText

    if info.capabilities.on_file_system:
        return info.id
    if info.capabilities.made_to_order:
        return str(SimulatedText.parse(text).anchored())
    return str(Path(text).absolute()) if "/" in text else text


def measured_under(manifest: Manifest, drive: Drive) -> Manifest:
    """Return a manifest that tells the queue settings as they are now, at the end of the last step.

    The environment is read before the first, when the settings of the run are still to be made.
    """
    found = drive.conditions()
    storage = manifest.environment.get("storage")
    if found is None or not isinstance(storage, dict):
        return manifest
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(found).items()}
    changed = {**storage, "conditions": cast("JsonValue", plain)}
    return manifest.model_copy(update={"environment": {**manifest.environment, "storage": changed}})


def metered_by(manifest: Manifest, record: dict[str, JsonValue] | None) -> Manifest:
    """Return a manifest that tells what metered the drive; the same where nothing did."""
    if record is None:
        return manifest
    return manifest.model_copy(update={"environment": {**manifest.environment, "meter": record}})


def drive_info(text: str, drive: Drive) -> DriveInfo:
    """Return a drive's identity as a manifest keeps it."""
    return identity_info(text, drive.identity)


def identity_info(text: str, identity: Identity) -> DriveInfo:
    """Return an identity as a manifest keeps it."""
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(identity).items()}
    can = identity.capabilities
    return DriveInfo(
        text=text,
        kind=can.stored_as,
        id=identity.path if can.on_file_system else identity.consent_id,
        name=identity.model or identity.name,
        capacity_bytes=identity.capacity_bytes,
        logical_block_bytes=identity.logical_block_bytes,
        identity=cast("dict[str, JsonValue]", plain),
    )


def tool() -> dict[str, JsonValue]:
    """Return version and build of this ssdlab."""
    from ssdlab.host.environment import tool_facts

    return dict(tool_facts())


def host_context(drive: Drive, rig: Path | None = None) -> dict[str, JsonValue]:
    """Return the facts of host, kernel and drive settings that the figures depend on."""
    from ssdlab.drives.environment import environment_facts

    return environment_facts(drive, rig)
