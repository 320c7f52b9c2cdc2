"""A session whose work are runs of their own: those of a suite, or the suites of a comparison.

Each run takes its own signals, keeps its own journal, and puts back what it has set; the session only says
in its manifest how far it came.
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
    """The work of a session: the runs that are left.

    Parameters
    ----------
    lock
        The session's, of the folder whose manifest names the runs.
    manifest
        Says "running".
    environment, observer
        As of `start_suite`.
    renewal
        Consent given anew.
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
        """Do what is left, and return the folder.

        Raises
        ------
        Interrupted
            With the words that continue the whole, where its run said how that goes on.
        """
        try:
            self._record.carry_out(self)
        except Interrupted as error:
            error.advice = f"continue with: ssdlab resume {run_words(self._folder)}"
            raise
        return self._folder

    def attended(self) -> AbstractContextManager[None]:
        """Hold nothing: each run takes its own signals, and keeps its own journal."""
        return nullcontext()

    @abstractmethod
    def do(self) -> dict[str, object]:
        """Do the runs, and return what the manifest says of them beside its end."""

    def leave(self, error: BaseException) -> dict[str, object]:
        """Leave nothing: its run has put back what it set."""
        del error
        return {}

    def ended(self, status: Status) -> None:
        """Tell nobody: watchers are told of each run."""
        del status

    def seal(self) -> None:
        """Make the manifest lasting, and enter it into the catalogue."""
        entered(self._held)


def entered(folder: HeldFolder) -> None:
    """Make the manifest of what is finished lasting, and enter it into the catalogue.

    Raises
    ------
    Refused
        It is damaged.
    HostError
        The library cannot be written.
    """
    from ssdlab.results import catalogue

    with library_errors(folder.path):
        folder.set_mode(MANIFEST, _READ_ONLY)
        library = folder.parent()
    catalogue.add(library, folder.path)


class SuiteObserver(Protocol):
    """Observes the runs of a suite; it must not fail them."""

    def began(self, child: Child, number: int, total: int) -> Sequence[Observer]:
        """Take note that a run starts or is resumed; return its observer if the run is in this process."""

    def look(self, running: Mapping[str, Progress]) -> None:
        """Take a look at the runs that go on in other processes, by their parts."""

    def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
        """Take note that a run is finished, or was found to be."""
