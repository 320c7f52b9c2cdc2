"""What commands print: plain lines, aligned tables and JSON; colours only on a terminal.

Data goes to stdout and talk to stderr, so that a pipe gets data only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from ssdlab.cli.streams import holds_any_text
from ssdlab.model.printable import advice_text, in_style, styled, visible_length

_CODES = {"bold": 1, "dim": 2, "good": 32, "bad": 31, "warn": 33, "accent": 36}


def on_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream (stdout by default) is a terminal that understands colours and cursor movement."""
    stream = sys.stdout if stream is None else stream
    return stream.isatty() and os.environ.get("TERM", "") != "dumb"


def paint(text: str, style: str, stream: TextIO | None = None) -> str:
    """Return text in a style (`bold dim good bad warn accent`) where it goes to a terminal."""
    if not on_terminal(stream) or os.environ.get("NO_COLOR"):
        return text
    return in_style(text, _CODES[style])


def print_json(value: object) -> None:
    """Print data for programs; what JSON does not know is printed as text."""
    plain = not holds_any_text(sys.stdout)
    print(json.dumps(value, ensure_ascii=plain, indent=2, default=str))


def print_line(text: str = "", style: str | None = None) -> None:
    """Print a line of a command's result."""
    print(styled(paint(text, style) if style else text))


def say(text: str) -> None:
    """Print a line of talk to stderr: what goes on, where something was written."""
    print(styled(text), file=sys.stderr, flush=True)


def warn(what: str, advice: str = "") -> None:
    """Print a warning and what to do about it, to stderr."""
    print(styled(f"{paint('warning:', 'warn', sys.stderr)} {what}"), file=sys.stderr)
    if advice:
        print(styled(f"         {advice_text(advice)}"), file=sys.stderr)


def table(
    rows: Iterable[Sequence[object]], headings: Sequence[str] = (), *, right: Iterable[int] = ()
) -> list[str]:
    """Return the lines of a table, columns two spaces apart; those in `right` are right-aligned."""
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
    """Print a table, its headings dimmed on a terminal."""
    for number, line in enumerate(table(rows, headings, right=right)):
        print_line(line, "dim" if headings and number == 0 else None)


def print_fields(fields: Iterable[tuple[str, object]], *, indent: int = 0) -> None:
    """Print names and values in two columns; those without a value are left out."""
    known = [(name, value) for name, value in fields if value not in (None, "", ())]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        print_line(f"{'':{indent}}{name:<{width}}  {one_line(str(value))}")


def one_line(text: str) -> str:
    """Return a cell or a value that cannot begin a line of its own."""
    return "\\n".join(text.split("\n"))
