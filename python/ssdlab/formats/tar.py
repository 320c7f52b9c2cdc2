"""A strict reader of tar: plain files and folders, from a stream that is read once.

An archive may come from anyone, and readers of every tar dialect have spent hours and gigabytes on some
hundred bytes. This reader knows headers of POSIX.1-1988, extended headers of POSIX.1-2001 for `path` and
`size`, and GNU's long names. It refuses an archive with anything else. It never holds a whole file in memory.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ssdlab.model.errors import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

MAGIC_AT, MAGIC = 257, b"ustar"
"""Offset and value of the magic number in a header: of POSIX.1-1988 and later, and of GNU tar."""
MEMBERS = 200_000
_BLOCK = 512
_CHUNK = 1 << 20
_EXTENDED_BYTES = 1 << 16
_NAME, _SIZE, _SUM, _TYPE, _MAGIC, _PREFIX = (
    *(slice(0, 100), slice(124, 136), slice(148, 156), slice(156, 157), slice(257, 263), slice(345, 500)),
)
_POSIX, _GNU = b"ustar\0", b"ustar "
_FILES, _FOLDER, _EXTENDED, _LONG_NAME = (b"0", b"\0"), b"5", b"x", b"L"


class Broken(ValueError):
    """The bytes are not an archive that this module reads; the text says why."""


class Stream(Protocol):
    """The archive as bytes, already decompressed."""

    def read(self, count: int, /) -> bytes:
        """Return at most `count` bytes; none at the end of the stream."""


@dataclass(frozen=True)
class Member:
    path: str
    is_folder: bool
    size: int


class Members:
    """The members of an archive in order; `content` and `read` return the bytes of the current member.

    Parameters
    ----------
    stream
        The archive, at its beginning.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._left = self._padding = 0

    def __iter__(self) -> Iterator[Member]:
        """Read header after header; unread content of the previous member is skipped.

        Raises
        ------
        Broken
            It is not an archive that this module reads. Errors of the stream are passed on.
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
            if kind == _LONG_NAME:
                path = _text(self._short(stated).rstrip(b"\0"))
                continue
            if kind not in (*_FILES, _FOLDER):
                raise Broken(f"{excerpt(named)} is a link, a device, a pipe or an extension of tar")
            is_folder = kind == _FOLDER
            self._left = 0 if is_folder else stated
            self._padding = -self._left % _BLOCK
            named = named.removeprefix("./")  # GNU tar names members of the current folder so
            if not (is_folder and named in ("", ".")):
                yield Member(named.removesuffix("/") if is_folder else named, is_folder, self._left)
            path, size = None, None
        raise Broken(f"there are more than {MEMBERS} files in it")

    def content(self) -> Iterator[bytes]:
        """Yield the content of the current member."""
        while self._left:
            yield self.read(_CHUNK)

    def read(self, count: int) -> bytes:
        """Return at most `count` bytes of the current member; none at its end."""
        part = self._take(min(self._left, count))
        self._left -= len(part)
        return part

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
        """Read to the end, so that a compressed stream compares its checksum."""
        while part := self._stream.read(_CHUNK):
            if any(part):
                raise Broken("there is something behind its end")

    def _take(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            if not (more := self._stream.read(count - len(found))):
                raise Broken("it ends early")
            found += more
        return found

    def _name(self, header: bytes) -> str:
        name, prefix = (header[part].partition(b"\0")[0] for part in (_NAME, _PREFIX))
        return _text(prefix + b"/" + name if prefix and header[_MAGIC] == _POSIX else name)

    def _short(self, size: int) -> bytes:
        if size > _EXTENDED_BYTES:
            raise Broken(f"an extended header has more than {_EXTENDED_BYTES} bytes")
        self._left, self._padding = size, -size % _BLOCK
        return b"".join(self.content())

    def _extended(self, size: int) -> tuple[str | None, int | None]:
        """Return the path and the size that an extended header gives to the next member."""
        found, data = {}, self._short(size)
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
        path, stated = found.get(b"path"), found.get(b"size")
        return None if path is None else _text(path), None if stated is None else _number(stated, base=10)


class Content(io.RawIOBase):
    """The current member of an archive, as a file."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def readable(self) -> bool:
        """Return True, as `io.BufferedReader` requires."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill a buffer with the next bytes, and return their number; 0 at the end."""
        view = memoryview(buffer).cast("B")
        part = self._members.read(len(view))
        view[: len(part)] = part
        return len(part)


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise Broken("a name in it is no UTF-8") from None


def _number(field: bytes, base: int = 8) -> int:
    digits = field.strip(b" \0")
    if not digits.isdigit() or len(digits) > 20:
        raise Broken("a number in a header is none")
    try:
        return int(digits, base)
    except ValueError:
        raise Broken("a number in a header is none") from None
