"""Moves runs of a library to its trash folder, and back.

A suite is removed together with its runs. A run of a suite is not removed alone, as the suite's seal covers
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import Refused, UsageError
from ssdlab.results.catalogue_files import FOLDER
from ssdlab.results.lease import is_running
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.results.settling import settling
from ssdlab.results.store import run_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TRASH = ".trash"


def remove_runs(folders: Sequence[Path]) -> list[Path]:
    """Move runs to the trash of their libraries; return the folders that were moved.

    Raises
    ------
    Refused
        A run is running, or part of a suite that stays. Nothing was moved.
    HostError
        The library cannot be written.
    """
    chosen = list(dict.fromkeys(each for folder in folders for each in (folder, *_parts(folder))))
    for folder in chosen:
        _check(folder, chosen)
    for library in dict.fromkeys(folder.parent for folder in chosen):
        names = [folder.name for folder in chosen if folder.parent == library]
        _move(library, [(name, f"{TRASH}/{name}") for name in names])
    return chosen


def restore_runs(library: Path, folders: Sequence[Path]) -> list[Path]:
    """Move runs out of the trash, suites with their runs; return their folders in the library.

    Raises
    ------
    Refused
        The library has a run with the same id. Nothing was moved.
    HostError
        The library cannot be written.
    """
    chosen = list(dict.fromkeys(each for folder in folders for each in (folder, *_parts(folder))))
    taken = [folder.name for folder in chosen if (library / folder.name).exists()]
    if taken:
        raise Refused(f"{library / taken[0]} exists", "move one of them elsewhere", runs=taken)
    _move(library, [(f"{TRASH}/{folder.name}", folder.name) for folder in chosen])
    return [library / folder.name for folder in chosen]


def _parts(folder: Path) -> list[Path]:
    """Return the runs of a suite that exist, over all levels; none if the suite cannot be read."""
    try:
        manifest = RunFolder(folder).manifest
    except Refused:
        return []
    own = (child.run_id for child in manifest.children if not child.standing)
    found = [
        folder.parent / name
        for name in dict.fromkeys((*own, *manifest.kept_beside))
        if name[:1] not in ("", ".") and "/" not in name
    ]
    there = [each for each in found if (each / MANIFEST).is_file()]
    return [*there, *(part for each in there if each != folder for part in _parts(each))]


def _check(folder: Path, chosen: Sequence[Path]) -> None:
    """Refuse to remove a run that is running, or is part of a suite that stays."""
    if folder.parent.name == TRASH or not (folder.parent / FOLDER).is_dir():
        raise UsageError(f"{folder} is in no library", "remove it by hand if it is not wanted")
    try:
        manifest = RunFolder(folder).manifest
    except Refused:
        return
    if is_running(folder):
        raise Refused(f"run {manifest.run_id} is running", "stop it first", run=manifest.run_id)
    whole = _whole(folder)
    if whole != folder and whole not in chosen:
        advice = f"remove that: ssdlab rm {run_words(whole)}"
        raise Refused(f"run {manifest.run_id} is part of {whole.name}", advice, suite=whole.name)


def _whole(folder: Path) -> Path:
    """Return the outermost suite or review that a run is part of; the run itself if there is none."""
    seen = {folder}
    while True:
        try:
            member = RunFolder(folder).manifest.member
        except Refused:
            return folder
        above = folder if member is None else folder.parent / member.suite
        if above in seen or not (above / MANIFEST).is_file():
            return folder
        seen.add(folder := above)


def _move(library: Path, moves: Sequence[tuple[str, str]]) -> None:
    with library_errors(library), HeldFolder(library, follow=True) as held, settling(held) as change:
        change.move(moves)
