"""Fits text and tables to the terminal: wraps text, splits tables, or drops columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from ssdlab.cli.output import one_line, paint, print_line, table
from ssdlab.model.printable import plain_drive, visible_length

if TYPE_CHECKING:
    from ssdlab.results.cells import Table

GAP = 2
"""Spaces between two columns."""
SHORTEST = 8
"""Minimum width of a shortened column, in characters."""
NAME = 24
"""Maximum width of a drive's name, in characters."""
NARROWEST, PIPED = 60, 100
"""Minimum line width, and the line width where the terminal's is unknown."""
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def line_width() -> int:
    """Return the maximum width of a line, in columns."""
    return max(NARROWEST, get_terminal_size((PIPED, 24)).columns)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap text to `width` characters. Indent all lines but the first, and break words that are too long."""
    lines: list[str] = []
    line: str | None = None
    for word in text.split(" "):
        longer = word if line is None else f"{line} {word}"
        if line is not None and visible_length(longer) > width:
            lines.append(line.rstrip())
            line = None
        if line is None and lines:
            if not word:
                continue
            longer = indent + word
        while visible_length(longer) > width:
            head = _head(longer, width)
            lines.append(head)
            longer = indent + longer.removeprefix(head)
        line = longer
    return [*lines, line or ""]


def print_text(text: str, style: str | None = None, indent: str = "") -> None:
    """Print text wrapped to the terminal's width; indent all lines but the first."""
    for line in wrapped(one_line(text), line_width(), indent):
        print_line(line, style)


def print_parted(
    rows: Iterable[Sequence[object]], headings: Sequence[str], *, right: Iterable[int] = ()
) -> None:
    """Print a table; if it is too wide, as several tables that each repeat the first column."""
    cells = [[one_line(str(cell)) for cell in row] for row in rows]
    to_right = set(right)
    for columns in by_columns(cells, headings, line_width()):
        shown = [row for row in cells if columns[:2] in ([0], [0, 1]) or any(row[at] for at in columns[1:])]
        print_lines(
            table(
                [[row[at] for at in columns] for row in shown],
                [headings[at] for at in columns],
                right=[place for place, at in enumerate(columns) if at in to_right],
            )
        )


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a table, with dimmed headings on a terminal."""
    for number, line in enumerate(lines):
        print_text(line, None if number else "dim", " " * 4)


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values as `print_fields` does; long values wrap."""
    known = [(name, one_line(str(value))) for name, value in facts if value not in (None, "", ())]
    lengths = [visible_length(name) for name, _ in known]
    width = max((length for length in lengths if length <= line_width() // 2), default=0)
    for (name, value), length in zip(known, lengths, strict=True):
        print_text(f"{name}{'':{max(width - length, 0)}}  {value}", indent=" " * (width + 2))


def short_drive(name: str) -> str:
    """Return a drive's name, short and without its size, for a table with a separate column for the size."""
    return cut(plain_drive(name), NAME)


def by_columns(rows: Sequence[Sequence[str]], titles: Sequence[str], width: int) -> list[list[int]]:
    """Group a table's columns into tables that fit `width`; each begins with the first column.

    Returns the indexes of each group.
    """
    first, *others = _widths(rows, titles, range(len(titles)))
    tables, taken = [[0]], first
    for at, own in enumerate(others, start=1):
        if len(tables[-1]) > 1 and taken + GAP + own > width:
            tables.append([0])
            taken = first
        tables[-1].append(at)
        taken += GAP + own
    return tables


def fitted(
    rows: Sequence[Sequence[str]],
    titles: Sequence[str],
    width: int,
    *,
    spared: Iterable[str] = (),
    shortened: Sequence[str],
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Drop and shorten columns until a table fits the terminal, if it can; return its rows and titles.

    Parameters
    ----------
    rows, titles
        The table, as printable text.
    width
        Width of the terminal, in characters.
    spared
        Titles of columns to drop, in order, until the table fits; empty columns go first.
    shortened
        Titles of columns whose cells may be truncated.
    """
    kept = list(range(len(titles)))
    empty = [title for at, title in enumerate(titles) if not any(row[at] for row in rows)]
    for title in (*empty, *spared):
        if sum(_widths(rows, titles, kept)) + GAP * (len(kept) - 1) <= width:
            break
        kept = [at for at in kept if titles[at] != title]
    lengths = dict(zip(kept, _widths(rows, titles, kept), strict=True))
    excess = sum(lengths.values()) + GAP * (len(kept) - 1) - width
    ends = [at for at in kept if titles[at] in shortened]
    while excess > 0 and (longest := max(ends, key=lengths.__getitem__, default=None)) is not None:
        if lengths[longest] <= max(SHORTEST, visible_length(titles[longest])):
            break
        lengths[longest] -= 1
        excess -= 1
    cells = [tuple(cut(row[at], lengths[at]) for at in kept) for row in rows]
    return cells, tuple(titles[at] for at in kept)


def _widths(rows: Sequence[Sequence[str]], titles: Sequence[str], kept: Sequence[int]) -> list[int]:
    return [max(visible_length(each) for each in (titles[at], *(row[at] for row in rows))) for at in kept]


def cut(text: str, width: int) -> str:
    """Truncate text to a width, with an ellipsis."""
    return text if visible_length(text) <= width else _head(text, width - 1).rstrip() + _ELLIPSIS


def _head(text: str, width: int) -> str:
    """Return the longest beginning of a text that fits `width`."""
    kept = len(text)
    while visible_length(text[:kept]) > width:
        kept -= 1
    return text[:kept]


def print_tables(tables: Iterable[Table]) -> None:
    """Print tables, each below its caption. A table with `brief` columns shows only these.

    Empty columns and tables are left out.
    """
    for filled in (each.filled for each in tables):
        if filled.rows:
            print_line()
            print_text(filled.caption, "dim")
            _print_table(filled)


def _print_table(shown: Table) -> None:
    chosen = [at for at, title in enumerate(shown.head) if not shown.brief or title in shown.brief]
    reasons = any(cell.span > 1 for row in shown.rows for cell in row)
    rows, numeric = [], set(range(len(chosen)))
    for number, row in enumerate(shown.rows):
        texts = [""] * len(shown.head)
        why, at = "", 0
        for cell in row:
            if cell.span > 1:
                why = cell.text
            else:
                texts[at] = cell.text
                if not cell.numeric and cell.text and at in chosen:
                    numeric.discard(chosen.index(at))
            at += cell.span
        cells = [texts[each] for each in chosen]
        if number == shown.marked:
            cells[0] += f" {paint('<', 'accent')}"
        rows.append((*cells, why) if reasons else tuple(cells))
    heads = [shown.head[each] for each in chosen] + ([""] if reasons else [])
    print_parted(rows, heads, right=numeric)
