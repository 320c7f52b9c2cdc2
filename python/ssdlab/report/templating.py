"""Templates of the page, and tables on paper; values in templates are escaped."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from jinja2 import Template
    from jinja2.bccache import Bucket

    from ssdlab.report.runs import Entry, Shown
    from ssdlab.results.cells import Cell, Table

FOLDER = Path(__file__).parent / "templates"
_FIGURE = re.compile(r"(?<=\d)([kMG]?) (?=[%°µA-Za-z])")
"""The space between a number and its unit or noun."""
_TIED = "\\1\N{NO-BREAK SPACE}"
_CODE = re.compile(r"(`+)([^`]+)\1")
"""Code in texts and Markdown, marked by backticks."""


class Compiled(FileSystemBytecodeCache):
    """Cache of compiled templates beside their sources, as Python caches modules.

    Compiling takes a tenth of the time of a page. The cache is valid for one source, Python and Jinja.
    """

    def __init__(self) -> None:
        super().__init__(str(FOLDER / "__pycache__"))

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Cache a template, unless the folder cannot be written or Python writes no bytecode."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


def template(name: str = "page.html.j2") -> Template:
    return _environment().get_template(name)


def compile_all() -> None:
    """Compile all templates; `make setup` does so for users who may not write to the folder."""
    environment = _environment()
    for name in environment.list_templates(extensions=["j2"]):
        environment.get_template(name)


def tied(prose: str) -> Markup:
    """Keep numbers and units on one line, and mark up code. Code stays as it is, so that it can be copied."""
    return _with_code(prose, lambda words: _FIGURE.sub(_TIED, words))


def coded(prose: str) -> Markup:
    """Mark up text between backticks as code; a single backtick is kept."""
    return _with_code(prose, lambda words: words) if "`" in prose else escape(prose)


def _with_code(prose: str, others: Callable[[str], str]) -> Markup:
    # The split alternates between text, backticks and code.
    words, *rest = _CODE.split(prose)
    found = [escape(others(words))]
    for code, after in zip(rest[1::3], rest[2::3], strict=True):
        found += [Markup("<code>{}</code>").format(code), escape(others(after))]
    return Markup("").join(found)


def in_parts(
    table: Table, named: Sequence[Shown | Entry], printed: bool, small: bool = False
) -> tuple[Table, ...]:
    """Return a table whole, or for paper in parts that fit on a sheet."""
    if not printed:
        return (table,)
    sheet = SHEET_SMALL if small else SHEET
    return parts(table, [one.style.short for one in named], sheet)


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
    made.filters |= {"tied": tied, "coded": coded, "in_parts": in_parts, "long_word": long_word}
    return made


SHEET = 96
"""Letters across a sheet of A4, in the font size of tables and a wide typeface."""
SHEET_SMALL = 116
"""Letters in the smaller font size of chart tables and of the part on how runs were measured."""
LONG_WORD = 24
"""Letters above which a word may be broken. Digests are longer; names rarely are."""
_EASY = 20
"""Letters of a text that fit into a column. In a narrower one, each line would be a single word."""
_MARKER = 4
"""Width of a run's marker, in letters."""
_BETWEEN = 1
_OF_KEYS = 2 / 3
"""Maximum share of a sheet for the columns that name the rows."""


def parts(table: Table, names: Sequence[str], sheet: int = SHEET) -> tuple[Table, ...]:
    """Return a table in parts whose columns fit on a sheet; each repeats the columns that name the rows.

    Parameters
    ----------
    table
        Table as on the page.
    names
        Names of runs, as printed in cells.
    sheet
        Letters across a sheet.
    """
    rows = [_spread(row, len(table.head)) for row in table.rows]
    widths = [_width(table.head[at], [row[at] for row in rows], names) for at in range(len(table.head))]
    if sum(widths) <= sheet:
        return (table,)
    keys = _keys(rows, widths, sheet)
    groups = [(*range(keys), *group) for group in _groups(widths, keys, sheet)]
    return tuple(
        replace(
            table,
            caption=f"{table.caption}, part {at} of {len(groups)}" if len(groups) > 1 else table.caption,
            head=tuple(table.head[column] for column in group),
            rows=tuple(_gathered([row[column] for column in group]) for row in rows),
            brief=(),
        )
        for at, group in enumerate(groups, 1)
    )


def long_word(text: str) -> bool:
    return max(map(len, text.split()), default=0) > LONG_WORD


def _spread(row: Sequence[Cell], columns: int) -> list[Cell]:
    """Return a row with one cell per column; a cell that spans columns is repeated in each."""
    cells = [cell for cell in row for _ in range(cell.span)]
    return cells[:columns]


def _gathered(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return a row in which repeated cells span their columns again."""
    found: list[Cell] = []
    last: Cell | None = None
    for cell in cells:
        if cell.span > 1 and cell is last:
            found[-1] = replace(found[-1], span=found[-1].span + 1)
        else:
            found.append(replace(cell, span=1))
        last = cell
    return tuple(found)


def _width(title: str, cells: Sequence[Cell], names: Sequence[str]) -> int:
    own = [_MARKER + len(names[cell.run]) for cell in cells if cell.run is not None]
    texts = [cell.text for cell in cells if cell.run is None and cell.span == 1]
    whole = [len(cell.text) for cell in cells if cell.numeric and cell.span == 1]
    words = [min(len(word), LONG_WORD) for text in (title, *texts) for word in text.split()]
    easy = min(_EASY, max(map(len, texts), default=0))
    return max(easy, *own, *whole, *words, 0) + _BETWEEN


def _keys(rows: Sequence[Sequence[Cell]], widths: Sequence[int], sheet: int) -> int:
    """Return how many leading columns identify each row; 1 if they would take too much of the sheet."""
    for count in range(1, len(widths)):
        if sum(widths[:count]) > sheet * _OF_KEYS:
            break
        if len({tuple((cell.text, cell.run) for cell in row[:count]) for row in rows}) == len(rows):
            return count
    return 1


def _groups(widths: Sequence[int], keys: int, sheet: int) -> Iterator[tuple[int, ...]]:
    """Yield the other columns in groups that fit on a sheet, of about equal width."""
    room = max(1, sheet - sum(widths[:keys]))
    even = sum(widths[keys:]) / ceil(sum(widths[keys:]) / room)
    group: list[int] = []
    used = 0
    for column in range(keys, len(widths)):
        own = widths[column]
        if group and (used + own > room or used + own / 2 > even):
            yield tuple(group)
            group, used = [], 0
        group.append(column)
        used += own
    if group:
        yield tuple(group)
