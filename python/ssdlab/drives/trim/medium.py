"""Plain reads and writes of a drive past the page cache: for marks and samples, never for measuring."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ssdlab.host.reach import reopen
from ssdlab.model.closing import Closing
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    import ssdlab._core as _core

_ALIGNMENT_BYTES = 4096


class Medium(Protocol):
    """What a drive holds, by byte offsets that are multiples of its logical block."""

    @property
    def size_bytes(self) -> int:
        """Bytes that can be addressed."""

    @property
    def block_bytes(self) -> int:
        """Logical block."""

    @property
    def in_file_system(self) -> bool:
        """Whether a file system stands between it and the device."""

    def read(self, at: int, length: int) -> bytes:
        """Return what the drive itself gives; raises `OSError` where it gives nothing."""

    def write(self, at: int, content: bytes) -> None:
        """Write past the page cache."""

    def discard(self, at: int, length: int) -> None:
        """Discard a range; raises `DriveError` where that is not possible."""

    def flush(self) -> None:
        """Make what was written durable."""


class DeviceMedium(Closing):
    """The medium behind a held target; use it as a context manager.

    Parameters
    ----------
    target
        Held, and claimed, for as long as this is used.
    """

    def __init__(self, target: _core.Target) -> None:
        self._target = target
        access, path = os.O_RDWR if target.writable else os.O_RDONLY, Path(target.path)
        try:
            self._descriptor = reopen(target.fileno(), access | os.O_DIRECT, path)
        except OSError as error:
            if error.errno != errno.EINVAL or target.kind != "file":
                raise
            # A file system that has nothing but its cache.
            self._descriptor = reopen(target.fileno(), access, path)

    @property
    def size_bytes(self) -> int:
        """Bytes that can be addressed."""
        return self._target.size_bytes

    @property
    def block_bytes(self) -> int:
        """Logical block."""
        return self._target.logical_block_bytes

    @property
    def in_file_system(self) -> bool:
        """See `Medium.in_file_system`."""
        return self._target.kind == "file"

    def read(self, at: int, length: int) -> bytes:
        """See `Medium.read`."""
        with mmap.mmap(-1, _whole(length)) as buffer, memoryview(buffer)[:length] as view:
            done = os.preadv(self._descriptor, [view], at)
            return bytes(view[:done])

    def write(self, at: int, content: bytes) -> None:
        """See `Medium.write`."""
        with mmap.mmap(-1, _whole(len(content))) as buffer:
            buffer[: len(content)] = content
            with memoryview(buffer)[: len(content)] as view:
                done = os.pwritev(self._descriptor, [view], at)
        if done != len(content):
            raise OSError(f"only {bytes_text(done)} of {bytes_text(len(content))} at byte {at} were taken")

    def discard(self, at: int, length: int) -> None:
        """See `Medium.discard`."""
        self._target.trim(at, length)

    def flush(self) -> None:
        """See `Medium.flush`."""
        self._target.flush()

    def close(self) -> None:
        """Close it; the target stays held."""
        os.close(self._descriptor)


def _whole(length: int) -> int:
    """Return a length of memory in whole pages, as direct I/O wants its buffers."""
    return -(-length // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
