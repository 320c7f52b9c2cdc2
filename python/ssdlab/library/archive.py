"""A strict reader of archives: a gzipped tar of plain files and folders, in the form that `packing` writes.

An archive may come from anybody, and readers of every dialect of tar have cost hours and gigabytes for some
hundred bytes. This one knows headers of POSIX.1-1988 with the two extended ones of POSIX.1-2001 that we need,
`path` and `size`; whatever else there is refuses the archive. It holds no more than a block at a time.
"""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from ssdlab.host.documents import open_regular
from ssdlab.model.errors import Refused, excerpt, of_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MEMBERS = 200_000
FREE_BYTES = 1 << 29
RATIO = 50
"""So much may be in an archive: `FREE_BYTES`, and `RATIO` times its size. Ours are of compressed tables."""
_BLOCK = 512
_CHUNK = 1 << 20
_EXTENDED_BYTES = 1 << 16
_EMPTY_BYTES = 4 << 20
_NAME, _SIZE, _SUM, _TYPE, _MAGIC, _PREFIX = (
    *(slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(257, 263), slice(345, 500)),
)
_POSIX, _GNU = b"ustar\0", b"ustar "
_FILES, _FOLDER, _EXTENDED = (b"0", b"\0"), b"5", b"x"


class Broken(ValueError):
    """The bytes are no such archive; the text says why."""


@dataclass(frozen=True)
class Member:
    """A file or folder in an archive."""

    path: str
    is_folder: bool
    size: int


class Members:
    """The members of an archive in their order, each with what is in it.

    Parameters
    ----------
    file
        The archive, open for reading.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._packed, self._packed_read = file, 0
        self._file: gzip.GzipFile = gzip.GzipFile(fileobj=self)  # type: ignore[call-overload]
        self._read = 0
        self._limit = FREE_BYTES + RATIO * os.fstat(file.fileno()).st_size
        self._left = self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        """Read header after header; what is left of the content before is passed over.

        Raises
        ------
        Broken, gzip.BadGzipFile, EOFError, zlib.error
            It is no archive of ours.
        """
        path, size = None, None
        for _ in range(MEMBERS):
            header = self._header()
            if header is None:
                return
            kind = header[_TYPE]
            named = self._name(header) if path is None else path
            stated = _number(header[_SIZE]) if size is None else size
            if kind == _EXTENDED:
                path, size = self._extended(stated)
                continue
            if kind not in (*_FILES, _FOLDER):
                raise Broken(f"{excerpt(named)} is a link, a device, a pipe or an extension of tar")
            is_folder = kind == _FOLDER
            self._left = 0 if is_folder else stated
            self._padding = -self._left % _BLOCK
            named = named.removeprefix("./")  # as tar names what is in the folder that it stands in
            if not (is_folder and named in ("", ".")):
                yield Member(named.removesuffix("/") if is_folder else named, is_folder, self._left)
            path, size = None, None
        raise Broken(f"there are more than {MEMBERS} files in it")

    def read(self, count: int) -> bytes:
        """Read the packed file, for gzip, which would go through any number of empty parts."""
        found: bytes = self._packed.read(count)
        self._packed_read += len(found)
        if self._packed_read > 2 * self._read + _EMPTY_BYTES:
            raise Broken("it is larger than what is in it")
        return found

    def content(self) -> Iterator[bytes]:
        """Yield what is in the member that was read last."""
        while self._left:
            part = self._take(min(self._left, _CHUNK))
            self._left -= len(part)
            yield part

    def _header(self) -> bytes | None:
        for _ in self.content():
            pass
        self._take(self._padding)
        self._padding = 0
        block = self._take(_BLOCK)
        if not any(block):
            self._end()
            return None
        if block[_MAGIC] not in (_POSIX, _GNU):
            raise Broken("a header of another kind of tar is in it")
        blanked = block[: _SUM.start] + b" " * 8 + block[_SUM.stop :]
        if sum(blanked) != _number(block[_SUM]):
            raise Broken("the checksum of a header does not fit")
        return block

    def _end(self) -> None:
        """Read to the end, for gzip's own checksum stands there."""
        while part := self._file.read(_CHUNK):
            self._count(len(part))
            if any(part):
                raise Broken("there is something behind its end")

    def _take(self, count: int) -> bytes:
        self._count(count)
        found = self._file.read(count)
        while len(found) < count:
            if not (more := self._file.read(count - len(found))):
                raise Broken("it ends early")
            found += more
        return found

    def _count(self, count: int) -> None:
        self._read += count
        if self._read > self._limit:
            raise Broken(f"more is in it than {FREE_BYTES >> 20} MiB and {RATIO} times its size")

    def _name(self, header: bytes) -> str:
        name, prefix = (header[part].partition(b"\0")[0] for part in (_NAME, _PREFIX))
        return (prefix + b"/" + name if prefix and header[_MAGIC] == _POSIX else name).decode()

    def _extended(self, size: int) -> tuple[str | None, int | None]:
        """Return the path and the size that an extended header gives the member behind it."""
        if size > _EXTENDED_BYTES:
            raise Broken(f"an extended header has more than {_EXTENDED_BYTES} bytes")
        self._left, self._padding = size, -size % _BLOCK
        found, data = {}, b"".join(self.content())
        while data:
            digits = data[: data.find(b" ") + 1]
            length = _number(digits, base=10)
            record, data = data[len(digits) : length], data[length:]
            key, equals, value = record.removesuffix(b"\n").partition(b"=")
            if not (digits and equals and record.endswith(b"\n") and len(digits) + len(record) == length):
                raise Broken("an extended header is not whole")
            if key.startswith(b"GNU."):
                raise Broken("a sparse file is in it")
            found[key] = value
        stated = found.get(b"size")
        path = found.get(b"path")
        return None if path is None else path.decode(), None if stated is None else _number(stated, base=10)


def _number(field: bytes, base: int = 8) -> int:
    digits = field.strip(b" \0")
    if not digits.isdigit() or len(digits) > 20:
        raise Broken("a number in a header is none")
    try:
        return int(digits, base)
    except ValueError:
        raise Broken("a number in a header is none") from None


@contextmanager
def opened(archive: Path) -> Iterator[Members]:
    """Read an archive from its beginning.

    Raises
    ------
    Refused
        It is none, or none of ours.
    UsageError
        It is no file.
    """
    try:
        file = open_regular(archive, "archive")
    except OSError as error:
        raise of_os(error, f"cannot read {archive}", "name an archive of `library pack`") from error
    with file:
        try:
            yield Members(file)
        except (Broken, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
            raise Refused(
                f"{archive} is no archive of runs: {error}",
                "name one that `ssdlab library pack` wrote; fetch it again if it was cut short",
                path=str(archive),
            ) from error
