"""A session that starts other runs: the runs of a suite, or the suites of a comparison.

Each run handles its own signals, keeps its own journal, and restores its settings. The session only records
its progress in its manifest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ssdlab.host.durable import library_errors
from ssdlab.model.errors import Interrupted
from ssdlab.results.run_folder import MANIFEST
from ssdlab.results.store import run_words
from ssdlab.runs.consent_record import Renewal
from ssdlab.runs.session import RunEnvironment
from ssdlab.runs.session_record import SessionRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.lease import RunLock
    from ssdlab.results.progress import Observer, Progress
    from ssdlab.results.schema import Child, Manifest, Status

_READ_ONLY = 0o444


class SessionOfRuns(ABC):
    """The work of a session: the remaining runs.

    Parameters
    ----------
    lock
        The session's lock of the folder whose manifest names the runs.
    manifest
        Has the status "running".
    environment, observer
        See `start_suite`.
    renewal
        Renewed consent.
    """

    record_type: type[SessionRecord] = SessionRecord

    def __init__(
        self,
        lock: RunLock,
        manifest: Manifest,
        environment: RunEnvironment | None,
        observer: SuiteObserver,
        renewal: Renewal | None = None,
    ) -> None:
        self._held = lock.folder
        self._folder, self._library = self._held.path, self._held.path.parent
        self._record = self.record_type(lock, manifest)
        self._environment, self._renewal = environment, renewal
        self._observer = observer

    def run(self) -> Path:
        """Execute the remaining runs, and return the folder.

        Raises
        ------
        Interrupted
            With advice to resume the whole session, not only the run that stopped.
        """
        try:
            self._record.carry_out(self)
        except Interrupted as error:
            error.advice = f"continue with: ssdlab resume {run_words(self._folder)}"
            raise
        return self._folder

    def attended(self) -> AbstractContextManager[None]:
        """Return an empty context: each run handles signals and its journal itself."""
        return nullcontext()

    @abstractmethod
    def do(self) -> dict[str, object]:
        """Execute the runs, and return changes for the manifest."""

    def leave(self, error: BaseException) -> dict[str, object]:
        """Return no changes: each run has already restored its settings."""
        del error
        return {}

    def ended(self, status: Status) -> None:
        """Do nothing: observers are notified of each run."""
        del status

    def seal(self) -> None:
        """Make the manifest read-only, and add the session to the catalogue."""
        entered(self._held)


def entered(folder: HeldFolder) -> None:
    """Make the manifest of finished work read-only, and add it to the catalogue.

    Raises
    ------
    Refused
        The manifest is damaged.
    HostError
        The library cannot be written.
    """
    from ssdlab.results import catalogue

    with library_errors(folder.path):
        folder.set_mode(MANIFEST, _READ_ONLY)
        library = folder.parent()
    catalogue.add(library, folder.path)


class SuiteObserver(Protocol):
    """Observes the runs of a suite; it must not raise."""

    def began(self, child: Child, number: int, total: int) -> Sequence[Observer]:
        """Report that a run starts or is resumed; return its observers if the run is in this process."""

    def look(self, running: Mapping[str, Progress]) -> None:
        """Show the progress of runs in other processes, by part name."""

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        """Report that a run has finished, or was already finished."""
