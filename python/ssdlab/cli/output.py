"""Prints lines, aligned tables and JSON. A stream that fails does not stop the work.

Data goes to stdout and messages go to stderr, so that a pipe gets only data.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ssdlab.model.errors import HostError
from ssdlab.model.printable import advice_text, in_style, styled, visible_length

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WIDTHS = (20, 1000)
"""Bounds of the line width, in characters: the lower leaves room for words, the upper limits padding."""
_LINES = (5, 1000)


class ReaderGone(Exception):
    """The reader closed stdout (``ssdlab ... | head``): not an error, but nothing more can be printed."""


def prepare() -> None:
    """Make stdout, stderr and the terminal size usable in any environment.

    A failed write to stdout raises `HostError`, once; a failed write to stderr is ignored.
    """
    for name, own, kind in (("stdout", sys.__stdout__, _Strict), ("stderr", sys.__stderr__, _Forgiven)):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller (``>&-``)
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it stays open
        elif stream is own and isinstance(stream, io.TextIOWrapper):  # not replaced by a test
            stream.flush()
            raw = io.BufferedWriter(kind(stream.fileno()))
            by_line = name == "stderr" or stream.isatty()
            # A character that the encoding lacks, such as µ, is escaped.
            made = io.TextIOWrapper(raw, stream.encoding, "backslashreplace", line_buffering=by_line)
            setattr(sys, name, made)
    for name, bounds in (("COLUMNS", _WIDTHS), ("LINES", _LINES)):
        _bound(name, *bounds)


def holds_any_text(stream: TextIO) -> bool:
    """Return whether a stream can encode every character."""
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")


class _Descriptor(io.RawIOBase):
    """A descriptor that discards everything once a write fails."""

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
        """Raise an error for a failed write, unless it is to be ignored."""


class _Forgiven(_Descriptor):
    """Stderr: a failed write is ignored, since a log on a full disk must not end a run."""


class _Strict(_Descriptor):
    """Stdout: a result that cannot be written is an error."""

    def _tell(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise HostError(
            f"the output could not be written: {error.strerror}",
            "free some space, or redirect the output",
            errno=error.errno,
        ) from error


def _bound(name: str, lower: int, upper: int) -> None:
    """Limit a terminal size in the environment, COLUMNS or LINES, and drop it if it is not a number.

    If it is not set, the terminal's own size is limited. Layout libraries use both without a check.
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


_CODES = {"bold": 1, "dim": 2, "good": 32, "bad": 31, "warn": 33, "accent": 36}


def on_terminal(stream: TextIO | None = None) -> bool:
    """Return whether a stream (stdout by default) is a terminal with colours and cursor movement."""
    stream = sys.stdout if stream is None else stream
    return stream.isatty() and os.environ.get("TERM", "") != "dumb"


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return text in a style (`bold dim good bad warn accent`) if the stream is a terminal."""
    if not on_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return in_style(text, _CODES[style])


def print_json(value: object) -> None:
    """Print data as JSON; types that JSON lacks become text."""
    plain = not holds_any_text(sys.stdout)
    print(json.dumps(value, ensure_ascii=plain, indent=2, default=str))


def print_line(text: str = "", style: str | None = None) -> None:
    """Print a line of a command's result."""
    print(styled(paint(text, style) if style else text))


def say(text: str) -> None:
    """Print a message to stderr: progress, or where something was written."""
    print(styled(text), file=sys.stderr, flush=True)


def warn(what: str, advice: str = "") -> None:
    """Print a warning and its advice to stderr."""
    print(styled(f"{paint('warning:', 'warn', sys.stderr)} {what}"), file=sys.stderr)
    if advice:
        print(styled(f"         {advice_text(advice)}"), file=sys.stderr)


def table(
    rows: Iterable[Sequence[object]], headings: Sequence[str] = (), *, right: Iterable[int] = ()
) -> list[str]:
    """Return the lines of a table, with columns two spaces apart; columns in `right` are right-aligned."""
    cells = [["" if cell is None else one_line(str(cell)) for cell in row] for row in rows]
    every = [list(headings), *cells] if headings else cells
    if not every:
        return []
    columns = max(len(row) for row in every)
    widths = [
        max(visible_length(row[index]) for row in every if index < len(row)) for index in range(columns)
    ]
    to_right = set(right)
    lines = []
    for row in every:
        padded = []
        for index, cell in enumerate(row):
            room = " " * (widths[index] - visible_length(cell))
            padded.append(room + cell if index in to_right else cell + room)
        lines.append("  ".join(padded).rstrip())
    return lines


def print_table(
    rows: Iterable[Sequence[object]], headings: Sequence[str] = (), *, right: Iterable[int] = ()
) -> None:
    """Print a table, with dimmed headings on a terminal."""
    for number, line in enumerate(table(rows, headings, right=right)):
        print_line(line, "dim" if headings and number == 0 else None)


def print_fields(fields: Iterable[tuple[str, object]], *, indent: int = 0) -> None:
    """Print names and values in two columns, without empty values."""
    known = [(name, value) for name, value in fields if value not in (None, "", ())]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        print_line(f"{'':{indent}}{name:<{width}}  {one_line(str(value))}")


def one_line(text: str) -> str:
    """Return text on one line, with each line break printed as backslash and n."""
    return "\\n".join(text.split("\n"))
