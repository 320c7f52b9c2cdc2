"""Holding every run of a library against its seals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.errors import Refused
from ssdlab.results.journal import is_running
from ssdlab.results.run_folder import JOURNAL, MANIFEST, RunFolder
from ssdlab.results.tables import HIST, SERIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ssdlab.results.schema import SealState


@dataclass(frozen=True)
class Verified:
    """What became of one run folder.

    Attributes
    ----------
    folder
        Where it is.
    seal
        State of its seal; None if it is damaged.
    damage
        What is wrong with it.
    torn_bytes
        Length of what a kill left of a last record, which is no damage.
    """

    folder: Path
    seal: SealState | None
    damage: str | None = None
    torn_bytes: int = 0


def verify_library(library: Path) -> Iterator[Verified]:
    """Yield what becomes of each run folder of a library, oldest first by their ids."""
    for folder in sorted(library.iterdir()):
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        if any((folder / name).exists() for name in (MANIFEST, JOURNAL, SERIES, HIST)):
            yield verify_run(folder)


def verify_run(folder: Path) -> Verified:
    """Read one run whole, each file held against its seal."""
    try:
        run = RunFolder(folder)
        seal = run.verify()
        # Of a run that goes on, the last record is being written.
        torn = 0 if is_running(folder) else run.read_journal().torn_bytes
        return Verified(folder, seal, torn_bytes=torn)
    except Refused as error:
        return Verified(folder, None, error.what)
