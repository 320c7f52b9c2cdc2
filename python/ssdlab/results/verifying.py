"""Verifies a run, or every run of a library, against its seals."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import LabError, Refused, raise_shortage
from ssdlab.results.lines import RESTORE
from ssdlab.results.run_folder import (
    APART,
    CONSENT,
    JOURNAL,
    LIVE,
    LIVE_SCHEMA,
    MANIFEST,
    STEPS,
    RunFolder,
    read_manifest,
)
from ssdlab.results.seal import read_document
from ssdlab.results.tags import read_tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ssdlab.results.schema import SealState

CONSENT_SCHEMA = "ssdlab.consent/2"
"""2: the file has a seal over its whole content, besides the host's seal over each act of consent."""
_DOCUMENTS = {LIVE: LIVE_SCHEMA, CONSENT: CONSENT_SCHEMA}
"""Documents that only `verify_run` checks: `live.json` is no record, and damaged consent counts for nothing
anyway."""
_FOLDERS = (STEPS, "states")


@dataclass(frozen=True)
class Verified:
    """The result for one run folder.

    Attributes
    ----------
    seal
        State of the run's seals; None: it is damaged.
    damage
        What is wrong with the run; None: nothing.
    torn_bytes
        Length of an incomplete last record after a kill, which is not damage.
    unknown
        Names in the folder of a finished run that its seals do not cover.
    tables_written
        Whether the run has its tables, or does not need them yet; see `unwritten_tables`.
    """

    folder: Path
    seal: SealState | None
    damage: str | None = None
    torn_bytes: int = 0
    unknown: tuple[str, ...] = ()
    tables_written: bool = True


def verify_library(library: Path) -> Iterator[Verified]:
    """Yield the result for each run folder of a library, oldest first by id.

    Damaged runs are removed from the catalogue, and repaired ones are entered again.
    """
    from ssdlab.results.catalogue import verified  # imports the models of a row
    from ssdlab.results.tables import HIST, SERIES  # imports numpy, which most readers do not need

    for folder in sorted(library.iterdir()):
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        if any((folder / name).exists() for name in (MANIFEST, JOURNAL, SERIES, HIST)):
            found = verify_run(folder)
            verified(folder, damaged=found.seal is None)
            yield found


def verify_run(folder: Path) -> Verified:
    """Check all files of a run against their seals.

    Raises
    ------
    HostError
        The process or host lacks resources, which proves nothing about the run.
    """
    try:
        run = RunFolder(folder)
        seal = check_run(run)
        with HeldFolder(folder) as held:
            held.check_plain(*_FOLDERS)
            for name, schema in _DOCUMENTS.items():
                _check_document(held, name, schema)
            unknown = _unknown(held, run)
        read_tags(folder)
        from ssdlab.results.lease import is_running

        # While a run is running, its last record may be half written.
        torn = 0 if is_running(folder) else run.read_journal().torn_bytes
        return Verified(folder, seal, torn_bytes=torn, unknown=unknown, tables_written=not run.lacks_tables)
    except (Refused, OSError) as error:
        raise_shortage(error)
        return Verified(folder, None, error.what if isinstance(error, Refused) else str(error))


def check_run(run: RunFolder) -> SealState:
    """Check all files behind a run's figures against its seals, including step logs.

    Raises
    ------
    Refused
        A file is damaged; the error names it.
    """
    seal = run.verify()
    if run.manifest.status == "finished" and (run.manifest.tables or run.manifest.children):
        return seal
    from ssdlab.results.lease import is_running

    if not is_running(run.path):
        from ssdlab.results.compaction import check_logs  # imports numpy, which most readers do not need

        check_logs(run)
    return seal


def _check_document(folder: HeldFolder, name: str, schema: str) -> None:
    """Refuse a damaged document; a power cut can leave an empty or zeroed one, which is no damage."""
    try:
        data = folder.read_bytes(name)
    except FileNotFoundError:
        return
    if not data.strip(b"\0"):
        return
    try:
        read_document(data, schema)
    except ValueError as error:
        path = folder.path / name
        raise Refused(f"{path} is damaged: {error}", RESTORE, path=str(path)) from error


def _unknown(folder: HeldFolder, run: RunFolder) -> tuple[str, ...]:
    """Return the names in a finished run's folder that its seals do not cover."""
    sealed = run.manifest.sealed
    if sealed is None or run.manifest.status != "finished" or run.lacks_tables:
        return ()
    known = {*APART - {LIVE}, *sealed.files}
    known |= {table.name for table in run.manifest.tables}
    if STEPS not in known and _is_empty(folder, STEPS):
        known.add(STEPS)  # made with every run; a suite has no steps of its own
    return tuple(name for name in folder.names() if name not in known and not name.startswith("."))


def _is_empty(folder: HeldFolder, name: str) -> bool:
    try:
        with folder.folder(name) as held:
            return not held.names()
    except OSError as error:
        raise_shortage(error)
        return False


_UNLIKE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""Errors that a record of unexpected content causes, such as a missing key, or text for a number."""


@contextmanager
def doubting(folders: Sequence[Path]) -> Iterator[None]:
    """Report an unsealed run as damaged, not this program as faulty, if its content cannot be interpreted.

    Parameters
    ----------
    folders
        The runs that the block reads.

    Raises
    ------
    Refused
        The block failed on the content of an unsealed run.
    """
    try:
        yield
    except LabError:
        raise
    except _UNLIKE as error:
        unsealed = next(
            (folder for folder in folders if read_manifest(folder).seal_state == "not sealed"), None
        )
        if unsealed is None:
            raise
        raise Refused(
            f"{unsealed} cannot be interpreted ({type(error).__name__}: {error}); it is from before seals, "
            "and probably damaged",
            "restore it from a copy",
            path=str(unsealed),
        ) from error
