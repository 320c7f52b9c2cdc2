"""Changes the runs of a library: all or nothing, even if the command is killed.

Before folders are moved, or tags change, a note is written to the library (`.catalogue/changes`) and locked.
A note without a lock was left by a killed command. The next command that uses the library completes that
change: it moves the folders, removes half-unpacked data, and updates the catalogue from the folders.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.host.defaults import CHANGES
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import HostError, LabError, Refused, raise_shortage
from ssdlab.results import catalogue
from ssdlab.results.run_folder import MANIFEST
from ssdlab.results.seal import Chain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Noted:
    """What a change is going to do.

    Attributes
    ----------
    moves
        Folders to move, as pairs of source and target: a name in the library, or in one of its folders.
    runs
        Names of runs to update in the catalogue, or to remove from it.
    scratch
        Folder of the library to remove; empty: none.
    """

    moves: tuple[tuple[str, str], ...] = ()
    runs: tuple[str, ...] = ()
    scratch: str = ""


class Settling:
    """A change that is under way."""

    def __init__(self, library: HeldFolder, descriptor: int, noted: Noted) -> None:
        self._library, self._descriptor, self._chain = library, descriptor, Chain()
        self.noted = noted
        self._write(noted)

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        """Register folders to move at the end of the change; their runs enter or leave the catalogue."""
        runs = [name for move in moves for name in move if "/" not in name]
        self._write(Noted(tuple(moves), tuple(dict.fromkeys(runs)), self.noted.scratch))

    def _write(self, noted: Noted) -> None:
        os.write(self._descriptor, self._chain.write(json.dumps(vars(noted))))
        os.fsync(self._descriptor)
        self.noted = noted


@contextmanager
def settling(library: HeldFolder, *, runs: Sequence[str] = (), scratch: str = "") -> Iterator[Settling]:
    """Change a library: at the end of the block, or by a later command after a kill.

    Parameters
    ----------
    runs
        Names of runs that change in the block, to update in the catalogue.
    scratch
        Name of a folder that the block creates, and that is removed in any case.

    Raises
    ------
    Refused
        There is something at a folder's target; no folder was moved.
    HostError
        The library cannot be written. The catalogue includes all moves up to then.
    """
    outer, inner = CHANGES.parts
    with library.folder(outer, make=True) as place, place.folder(inner, make=True) as changes:
        name, descriptor = _new_note(changes)
        try:
            change = Settling(library, descriptor, Noted(runs=tuple(runs), scratch=scratch))
            changes.sync()
            try:
                yield change
            except BaseException:
                change.noted = Noted(runs=tuple(runs), scratch=scratch)
                raise
            finally:
                _carry_out(library, change.noted)
                changes.remove(name)
        finally:
            os.close(descriptor)


def take_up(library: Path) -> None:
    """Complete changes of killed commands; an unwritable library stays as it is."""
    try:
        left = [path.name for path in (library / CHANGES).iterdir()]
    except OSError:
        return
    outer, inner = CHANGES.parts
    for name in left:
        with (
            suppress(OSError, LabError),
            HeldFolder(library, follow=True) as held,
            held.folder(outer) as place,
            place.folder(inner) as changes,
        ):
            _take_up(held, changes, name)


def _take_up(library: HeldFolder, changes: HeldFolder, name: str) -> None:
    if not changes.is_file(name):
        return
    descriptor = changes.lock_file(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a living command still has the lock
        if (noted := _read(changes.read_bytes(name))) is not None:
            _carry_out(library, noted)
        changes.remove(name)
    finally:
        os.close(descriptor)


def _new_note(changes: HeldFolder) -> tuple[str, int]:
    """Create a note and lock it; repeat if another command took it for one that was left."""
    while True:
        name = secrets.token_hex(6)
        descriptor = changes.lock_file(name)
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return name, descriptor
        os.close(descriptor)


def _read(data: bytes) -> Noted | None:
    """Return the content of a note's last complete line; None: there is none, so nothing was begun."""
    chain, noted = Chain(), None
    for line in data.split(b"\n")[:-1]:
        try:
            stored = json.loads(chain.read(line))
            moves = tuple((str(each[0]), str(each[1])) for each in stored["moves"])
            noted = Noted(moves, tuple(map(str, stored["runs"])), str(stored["scratch"]))
        except (ValueError, KeyError, TypeError, IndexError):
            break
    return noted


def _carry_out(library: HeldFolder, noted: Noted) -> None:
    with library_errors(library.path):
        try:
            waiting = [move for move in noted.moves if _can_move(library, *move)]
            for move in waiting:
                _move(library, *move)
        finally:
            for name in noted.runs:
                _settle(library.path, name)
            if noted.scratch:
                library.remove_tree(noted.scratch)


def _can_move(library: HeldFolder, source: str, to: str) -> bool:
    """Whether a folder has not been moved yet.

    Raises
    ------
    Refused
        It has not, and there is something at its target.
    """
    with _place(library, source) as (here, name), _place(library, to) as (there, new):
        if here.exists(name) and there.exists(new):
            path = str(there.path / new)
            raise Refused(f"{path} exists", "move one of them elsewhere", path=path)
        return here.exists(name)


def _move(library: HeldFolder, source: str, to: str) -> None:
    with _place(library, source) as (here, name), _place(library, to) as (there, new):
        try:
            here.rename(name, there, new)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EACCES):
                raise
            raise HostError(
                f"cannot move {here.path / name} to {there.path}: {error.strerror}",
                "move it as its owner",
                errno=error.errno,
            ) from error
        here.sync()
        there.sync()


@contextmanager
def _place(library: HeldFolder, name: str) -> Iterator[tuple[HeldFolder, str]]:
    """Yield the folder that contains a name, and the name within it."""
    folder, _, within = name.rpartition("/")
    if not folder:
        yield library, within
    else:
        with library.folder(folder, make=True) as held:
            yield held, within


def _settle(library: Path, name: str) -> None:
    """Update the catalogue's row for a run from the run's folder."""
    folder = library / name
    if not (folder / MANIFEST).is_file():
        catalogue.remove(library, name)
        return
    try:
        catalogue.enter(folder)
    except Refused as error:
        raise_shortage(error)
        catalogue.verified(folder, damaged=True)  # listed from its folder, and in no ranking
