"""Enters runs into the library's catalogue, removes them, and rebuilds the catalogue.

Everything in the catalogue comes from the run folders, so it can be rebuilt at any time (`ssdlab library
rebuild`). A run is checked against its seals before it is entered, and queries (`ssdlab.library`) rely on
that. Entering a run writes one small file, a *row*, and renames it into place. The cost is constant, and any
number of processes may do it at once. `catalogue_files` merges rows from time to time. An unfinished run has
only an empty file in the folder `open`, because its state changes.
"""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.documents import Document
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.model.errors import LabError, Refused, raise_shortage
from ssdlab.results.catalogue_files import (
    FOLDER,
    OPEN,
    ROWS,
    compact_if_due,
    locked,
    replace_all,
)
from ssdlab.results.catalogue_row import (
    Row,
    row_of,
)
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.results.seal import seal_document

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Rebuilt:
    """Result of a rebuild: numbers of runs and figures, and names of run folders that cannot be read."""

    runs: int
    figures: int
    unreadable: tuple[str, ...]


def add(library: Path | HeldFolder, folder: Path) -> None:
    """Check a finished run against its seals, and enter it in place of its old row.

    Raises
    ------
    Refused
        The run is damaged.
    HostError
        The library cannot be written.
    """
    run = RunFolder(folder)
    row = row_of(run, run.verify())
    with _written(library) as catalogue:
        _put(catalogue, row)
        with catalogue.folder(OPEN, make=True) as unfinished:
            unfinished.remove(folder.name)


def remove(library: Path, name: str) -> None:
    """Remove a run folder from the catalogue.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    with _written(library) as catalogue:
        _put(catalogue, Row(folder=name, entered=time.time_ns(), gone=True))
        with catalogue.folder(OPEN, make=True) as unfinished:
            unfinished.remove(name)


def begun(library: Path, name: str) -> None:
    """Mark a run as unfinished. A library that cannot be written is ignored: the run itself reports it."""
    with suppress(LabError, OSError), _written(library) as catalogue:
        mark_open(catalogue, name)


def mark_open(catalogue: HeldFolder, name: str) -> None:
    with catalogue.folder(OPEN, make=True) as unfinished:
        unfinished.replace(name, b"", durable=False)


def enter(folder: Path) -> None:
    """Enter a run into its library's catalogue in its present state, finished or not.

    Raises
    ------
    Refused
        The run is damaged.
    HostError
        The library cannot be written.
    """
    if _is_whole(RunFolder(folder)):
        add(folder.parent, folder)
    else:
        begun(folder.parent, folder.name)


def verified(folder: Path, *, damaged: bool) -> None:
    """Update the catalogue after a run was verified.

    A damaged run is marked as unfinished: it is listed from its folder, and not ranked. A run that is intact
    again is entered. If the library cannot be written, or has no catalogue yet, nothing changes.
    """
    library = folder.parent
    if not (library / FOLDER).is_dir():
        return
    with suppress(LabError, OSError):
        if damaged:
            remove(library, folder.name)
            begun(library, folder.name)
        elif (library / FOLDER / OPEN / folder.name).exists():
            enter(folder)


def rebuild(library: Path) -> Rebuilt:
    """Rebuild the catalogue from all runs, each checked against its seals; damaged runs are left out.

    Runs that other processes enter meanwhile stay.

    Raises
    ------
    HostError
        The library cannot be written, or resources for reading a run are missing. The old catalogue then
        stays.
    """
    found: list[Document] = []
    unreadable: list[str] = []
    with _written(library) as catalogue, locked(catalogue, wait=True):
        with catalogue.folder(ROWS, make=True) as rows:
            superseded = [name for name in rows.names() if not name.startswith(".")]
        unfinished = []
        for folder in sorted(path for path in library.iterdir() if (path / MANIFEST).is_file()):
            try:
                run = RunFolder(folder)
                row = row_of(run, run.verify())
            except (Refused, OSError) as error:
                raise_shortage(error)
                unreadable.append(folder.name)
                continue
            if _is_whole(run):
                found.append(row.model_dump(mode="json", by_alias=True))
            else:
                unfinished.append(folder.name)
        replace_all(catalogue, found, superseded)
        _replace_open(catalogue, unfinished)
    figures = sum(len(row["figures"]) for row in found)
    return Rebuilt(len(found) + len(unfinished), figures, tuple(unreadable))


def _is_whole(run: RunFolder) -> bool:
    """Whether a run gets a row in the catalogue: it is finished and has its tables."""
    return run.manifest.status == "finished" and not run.lacks_tables


def _replace_open(catalogue: HeldFolder, names: list[str]) -> None:
    with catalogue.folder(OPEN, make=True) as unfinished:
        for name in set(unfinished.names()) - set(names):
            unfinished.remove(name)
    for name in names:
        mark_open(catalogue, name)


def _put(catalogue: HeldFolder, row: Row) -> None:
    name = f"{row.entered:020d}-{secrets.token_hex(4)}.json"
    with catalogue.folder(ROWS, make=True) as rows:
        rows.replace(name, seal_document(row.model_dump_json(by_alias=True)))
    compact_if_due(catalogue)


@contextmanager
def _written(library: Path | HeldFolder) -> Iterator[HeldFolder]:
    """Open the catalogue of a library for writing; create it if there is none."""
    with library_errors((library if isinstance(library, Path) else library.path) / FOLDER):
        if isinstance(library, Path):
            library = HeldFolder(library, make=FOLDER_MODE)
        with library.folder(FOLDER, make=True) as catalogue:
            yield catalogue
