"""Reads an archive of runs as a stream, up to the size that ssdlab's archives can have."""

from __future__ import annotations

import gzip
import os
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from ssdlab.formats.tar import Broken, Members
from ssdlab.host.documents import open_regular
from ssdlab.model.errors import Refused, of_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FREE_BYTES = 1 << 29
RATIO = 50
"""Maximum content of an archive: `FREE_BYTES` plus `RATIO` times its size, as tables are already
compressed."""
_EMPTY_BYTES = 4 << 20


class _Unpacked:
    """What a gzip holds.

    Parameters
    ----------
    file
        The archive, open for reading.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._limit = FREE_BYTES + RATIO * os.fstat(file.fileno()).st_size
        self._packed = _Packed(file)
        self._file: gzip.GzipFile = gzip.GzipFile(fileobj=self._packed)  # type: ignore[call-overload]

    def read(self, count: int, /) -> bytes:
        """Return at most so many bytes; empty at the end."""
        found = self._file.read(count)
        self._packed.unpacked += len(found)
        if self._packed.unpacked > self._limit:
            raise Broken(f"it unpacks to more than {FREE_BYTES >> 20} MiB and {RATIO} times its size")
        return found


class _Packed:
    """The archive itself, as gzip reads it, which would go through any number of empty parts."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._read = file, 0
        self.unpacked = 0

    def read(self, count: int, /) -> bytes:
        found = self._file.read(count)
        self._read += len(found)
        if self._read > 2 * self.unpacked + _EMPTY_BYTES:
            raise Broken("it is larger than its contents")
        return found


@contextmanager
def opened(archive: Path) -> Iterator[Members]:
    """Read an archive from its start.

    Raises
    ------
    Refused
        It is not an archive of ssdlab.
    UsageError
        It is not a file.
    """
    try:
        file = open_regular(archive, "archive")
    except OSError as error:
        raise of_os(error, f"cannot read {archive}", "name an archive of `library pack`") from error
    with file:
        try:
            yield Members(_Unpacked(file))
        except (Broken, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Refused(
                f"{archive} is not an archive of runs: {error}",
                "name one that `ssdlab library pack` wrote; fetch it again if it was cut short",
                path=str(archive),
            ) from error
