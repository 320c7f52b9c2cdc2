"""Writing of all files whose path the user gives: `-o`, `--log-ios`, ``state=``.

The path of such a file is followed once, by the rule of `host.reach`: a link of another user leads only into
folders of that user. An existing file is replaced only if the caller recognises it as one of its own kind.
Anything else with that name, also a link, is left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ssdlab.host.documents import user_path
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.plain_files import check_file
from ssdlab.host.reach import find
from ssdlab.model.closing import Closing
from ssdlab.model.errors import Refused, UsageError, of_os

Ours = Callable[[bytes], bool]
"""Returns, from the beginning of a file, whether the file is of the kind that may be replaced."""
HEAD_BYTES = 1 << 13
"""Number of bytes that are checked, at the beginning and, if asked for, at the end of a file."""
_MAX_LINKS = 40
"""The kernel's own limit."""


def _none(head: bytes) -> bool:
    return False


class OutputFile(Closing):
    """The name of a file to be written, in a folder that is held open; a context manager.

    Parameters
    ----------
    path
        As the user gave it.
    ours
        Says what may be replaced; by default nothing.
    noun
        What is written, for messages: ``page``, ``log of single I/Os``.
    ends
        Whether `ours` gets the beginning and the end of a file, joined.

    Raises
    ------
    UsageError
        The folder does not exist, or no file can have that name.
    Refused
        Something else has the name (`reason` is ``exists`` or ``not-plain``), or a link of another user
        leads elsewhere (``foreign-link``).
    """

    def __init__(
        self, path: str | os.PathLike[str], *, ours: Ours = _none, noun: str = "file", ends: bool = False
    ) -> None:
        self.given = user_path(path)
        self._ours, self._noun, self._ends = ours, noun, ends
        self.name = self.given.name
        if self.name in {"", ".."}:
            raise UsageError(
                f"{self.given} does not name a file", "name a file to write", path=str(self.given)
            )
        self.folder = _held(self.given)
        try:
            self.check()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """Absolute path, with its folder resolved."""
        return self.folder.path / self.name

    @property
    def exists(self) -> bool:
        """Whether there already is a file, which may be replaced."""
        return self.folder.exists(self.name)

    def check(self) -> None:
        """Refuse a file with this name that is not of the kind that may be replaced."""
        try:
            status = os.stat(self.name, dir_fd=self.folder.fileno(), follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._cannot(error) from error
        try:
            check_file(status, self.given, own=False, single=False)
        except Refused as error:
            error.advice = f"name another file for the {self._noun}"
            raise
        try:
            with self.folder.opened(self.name) as descriptor:
                known = os.read(descriptor, HEAD_BYTES)
                if self._ends:
                    known += os.pread(descriptor, HEAD_BYTES, max(len(known), status.st_size - HEAD_BYTES))
                ours = self._ours(known)
        except OSError as error:
            raise self._cannot(error) from error
        if not ours:
            raise Refused(
                f"{self.given} exists and would be overwritten",
                f"name a new file for the {self._noun}, or move that one away",
                reason="exists",
                path=str(self.given),
            )

    def replace(self, content: str | bytes) -> None:
        """Write the content, atomically."""
        with self._errors():
            self.check()
            self.folder.replace(self.name, content, durable=False)

    @contextmanager
    def replacing(self) -> Iterator[int]:
        """Yield the descriptor of a new file, which replaces the old one if the block succeeds."""
        with self._errors():
            self.check()
            with self.folder.replacing(self.name, durable=False) as descriptor:
                yield descriptor

    @contextmanager
    def new(self, mode: int = 0o666) -> Iterator[IO[bytes]]:
        """Open the file for writing; an old one that may be replaced is removed first."""
        with self._errors():
            self.check()
            self.folder.remove(self.name)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.name, flags, mode, dir_fd=self.folder.fileno())
        with os.fdopen(descriptor, "wb") as out:
            yield out

    def new_path(self) -> Path:
        """Return a path by which other code can create the file, which it must do with O_EXCL."""
        return self.folder.new_path(self.name)

    def remove(self) -> None:
        """Remove the file, if there is one; operating-system errors are ignored."""
        with suppress(OSError):
            self.folder.remove(self.name)

    def close(self) -> None:
        self.folder.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._cannot(error) from error

    def _cannot(self, error: OSError) -> Exception:
        return of_os(
            error, f"cannot write the {self._noun} {self.given}", "name another file", path=str(self.given)
        )


def write_new(
    path: str | os.PathLike[str], content: str | bytes, noun: str = "file", mode: int = 0o666
) -> None:
    """Write a file that does not exist yet; see `OutputFile`."""
    with OutputFile(path, noun=noun) as file, file.new(mode) as out:
        out.write(content.encode() if isinstance(content, str) else content)


def followed(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads; its last part is followed too, if it is a link of this user or of root.

    Raises
    ------
    Refused
        The path follows a link of another user.
    """
    place = user_path(path).absolute()
    for _ in range(_MAX_LINKS):
        with find(place) as found:
            place = found.path
        try:
            status = place.lstat()
            target = place.readlink()
        except OSError:
            return place
        if status.st_uid not in {0, os.geteuid()}:
            raise Refused(
                f"{place} is a link that belongs to user {status.st_uid}",
                f"if you mean its target, name that: {target}",
                reason="foreign-link",
                path=str(place),
                owner=status.st_uid,
            )
        place = place.parent / target
    return place


def _held(path: Path) -> HeldFolder:
    with find(path) as place:
        if place.folder is not None:
            try:
                descriptor = place.folder.open(os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                raise of_os(
                    error, f"cannot write {path}", "name a file in another folder", path=str(path)
                ) from error
            return HeldFolder.of_descriptor(descriptor, place.folder.path)
        if place.device is not None:
            raise Refused(
                f"{path} is a device, not a file",
                "name a file",
                reason="not-plain",
                path=str(path),
                kind="a device",
            )
    raise UsageError(f"there is no folder {path.parent}", "create it, or name another file", path=str(path))
