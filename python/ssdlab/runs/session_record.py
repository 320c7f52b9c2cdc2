"""One session of a run or of a suite, as its manifest tells it; and what a run has written to its drive.

    start, resume -> running -> finished
                             -> interrupted   by a signal, the host or a refusal; resume goes on
                             -> failed        the drive failed, or this program; resume tries again

Runs and suites go through it by one function, `SessionRecord.carry_out`, and end by the same rules, so the
same error has the same status and the same exit status in both. They differ in their work (`Work`): a run
does steps under a journal and puts back what it has set; a suite starts runs, which do that themselves.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ssdlab.model.errors import HostError, Interrupted, LabError, LeaseLost, Refused
from ssdlab.results.journal import boot_id, now
from ssdlab.results.schema import Failure, Manifest, Session
from ssdlab.results.store import run_words, write_manifest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ssdlab.results.lease import RunLock
    from ssdlab.results.schema import Status


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
    noun, again = "run", "or run the method again"
    if manifest.children:
        noun, again = "suite", "do a part again with --redo PART, or run it again"
    return Refused(
        f"{noun} {manifest.run_id} is finished: there is nothing to resume",
        f"see it with ssdlab show {run_words(folder)}, {again}",
        run=manifest.run_id,
    )
