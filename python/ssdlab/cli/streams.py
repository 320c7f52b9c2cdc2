"""The streams and the terminal that this process was given, made such that talk cannot end the work."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ssdlab.model.errors import HostError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WIDTHS = (20, 1000)
"""Columns that text is wrapped at: in fewer a word finds no room, and lines are padded to more."""
_LINES = (5, 1000)


class ReaderGone(Exception):
    """The reader of stdout has closed it (``ssdlab ... | head``): no error; nothing more can be printed."""


def prepare() -> None:
    """Make stdout, stderr and the size of the terminal usable, whatever they are.

    What cannot be written to stdout is a `HostError`, once; what cannot be written to stderr is nothing.
    """
    for name, own, kind in (("stdout", sys.__stdout__, _Strict), ("stderr", sys.__stderr__, _Forgiven)):
        stream = getattr(sys, name)
        if stream is None:  # started without (``>&-``)
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it stays open
        elif stream is own and isinstance(stream, io.TextIOWrapper):  # not that of a test
            stream.flush()
            raw = io.BufferedWriter(kind(stream.fileno()))
            by_line = name == "stderr" or stream.isatty()
            # An encoding without µ shows its number.
            made = io.TextIOWrapper(raw, stream.encoding, "backslashreplace", line_buffering=by_line)
            setattr(sys, name, made)
    for name, bounds in (("COLUMNS", _WIDTHS), ("LINES", _LINES)):
        _bound(name, *bounds)


def holds_any_text(stream: TextIO) -> bool:
    """Say whether a stream takes every character as it is."""
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")


class _Descriptor(io.RawIOBase):
    """A descriptor to write to, until it fails; from then on what is written is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._failed = False

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        if not self._failed:
            try:
                return os.write(self._descriptor, data)
            except OSError as error:
                self._failed = True
                self._tell(error)
        return memoryview(data).nbytes

    def _tell(self, error: OSError) -> None:
        """Raise what the failure means, if anything."""


class _Forgiven(_Descriptor):
    """Stderr: a log on a full disk is no reason to end a run."""


class _Strict(_Descriptor):
    """Stdout: a result that cannot be written is an error."""

    def _tell(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise HostError(
            f"the output could not be written: {error.strerror}",
            "make room, or send the output elsewhere",
            errno=error.errno,
        ) from error


def _bound(name: str, lower: int, upper: int) -> None:
    """Keep a size that the environment gives within bounds; what is no number there is left out.

    Libraries that lay out text take it as it stands. Of a terminal that says how small it is, too.
    """
    given = os.environ.get(name)
    if given is not None and not (given.isascii() and given.isdecimal()):
        del os.environ[name]
        given = None
    if given is None:
        size = _terminal()
        if size is None or (found := getattr(size, name.lower())) == 0 or lower <= found <= upper:
            return
        given = str(found)
    size_given = int(given) if len(given) < len(str(upper)) + 1 else upper
    if not lower <= size_given <= upper or given != str(size_given):
        os.environ[name] = str(min(max(size_given, lower), upper))


def _terminal() -> os.terminal_size | None:
    for descriptor in (1, 2, 0):
        try:
            return os.get_terminal_size(descriptor)
        except OSError:
            continue
    return None
