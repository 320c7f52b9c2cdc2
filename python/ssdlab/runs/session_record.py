"""One session of a run or a suite in its manifest, with its status.

    start, resume -> running -> finished
                             -> interrupted   by a signal, the host or a refusal; `resume` continues
                             -> failed        the drive or ssdlab failed; `resume` tries again

Runs and suites both use `SessionRecord.carry_out` and end by the same rules. So the same error gives the same
status and exit status in both. They differ in their work (`Work`): a run executes steps under a journal and
restores settings. A suite starts runs, which do this themselves.
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
    """The work of a session: the steps of a run, or the runs of a suite."""

    def attended(self) -> AbstractContextManager[object]:
        """Hold resources during the session, such as the journal."""

    def do(self) -> dict[str, object]:
        """Do the remaining work, and return changes for the manifest."""

    def leave(self, error: BaseException) -> dict[str, object]:
        """Clean up after an error, and return changes for the manifest."""

    def seal(self) -> None:
        """Finalise finished work; if this fails, `resume` repeats it."""

    def ended(self, status: Status) -> None: ...


class SessionRecord:
    """The manifest of a run or suite during a session.

    Parameters
    ----------
    lock
        The session's lock of the run folder.
    manifest
        Has the status "running"; its last session is the present one.
    """

    def __init__(self, lock: RunLock, manifest: Manifest) -> None:
        self._lock, self._held, self.manifest = lock, lock.folder, manifest

    def carry_out(self, work: Work) -> None:
        """Do the work of the session, keeping the manifest up to date.

        Raises
        ------
        BaseException
            The error that ended the session; the manifest already records it.
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
        """If the lease was lost, end as if killed: another process may own the folder and the drive."""
        try:
            self._lock.check()
        except LeaseLost as lost:
            lost.facts |= {"run": self.manifest.run_id, "folder": str(self._held.path)}
            work.ended("interrupted")
            raise lost from error

    def write(self) -> None:
        """Write the manifest to the folder.

        Raises
        ------
        HostError
            The library cannot be written; `LeaseLost` if another process now owns the run.
        """
        self._lock.check()
        self.manifest = write_manifest(self._held, self.manifest)

    def note(self, **facts: str) -> None:
        """Change facts of this session in the manifest, without writing it yet."""
        *earlier, session = self.manifest.sessions
        described = session.model_copy(update=facts)
        self.manifest = self.manifest.model_copy(update={"sessions": (*earlier, described)})

    def finish(self, **changes: object) -> None:
        """Record that the session finished its work.

        Raises
        ------
        HostError
            The library cannot be written.
        """
        self._end("finished", changes)

    def stop(self, error: BaseException, **changes: object) -> Status:
        """Record that an error ended the session, and return the status.

        If the disk is full, the old manifest stays. Run and folder are added to the error's facts. For a
        suite, `part_run` is the run of the part that failed.
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
    stopped = isinstance(error, HostError | Refused | Interrupted | KeyboardInterrupt)
    return "interrupted" if stopped else "failed"


def failure_of(error: BaseException) -> Failure:
    described = error if isinstance(error, LabError) else LabError(str(error), "")
    kind = error.kind if isinstance(error, LabError) else type(error).__name__
    return Failure(
        kind=kind, what=described.what, advice=described.advice, facts=described.as_dict()["facts"]
    )


def resumed_manifest(manifest: Manifest) -> Manifest:
    """Return the manifest of a run or suite at the start of another session."""
    sessions = (*manifest.sessions, first_session())
    return manifest.model_copy(update={"status": "running", "sessions": sessions, "failure": None})


def first_session(started: str | None = None) -> Session:
    """Return the record of a session that starts at `started`; None: now."""
    return Session(started=started or now(), boot_id=boot_id())


def nothing_left(manifest: Manifest, folder: Path) -> Refused:
    noun, again = "run", "or run the method again"
    if manifest.children:
        noun, again = "suite", "repeat a part with --redo PART, or run it again"
    return Refused(
        f"{noun} {manifest.run_id} is finished: there is nothing to resume",
        f"see it with ssdlab show {run_words(folder)}, {again}",
        run=manifest.run_id,
    )
