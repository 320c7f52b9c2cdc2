"""Templates of the page: what they are given is escaped, and they are compiled once."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from ssdlab.report import paper_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Template
    from jinja2.bccache import Bucket

    from ssdlab.report.runs import Entry, Shown
    from ssdlab.results.cells import Table

FOLDER = Path(__file__).parent / "templates"
_FIGURE = re.compile(r"(?<=\d)([kMG]?) (?=[%°µA-Za-z])")
"""The space between a figure and its unit or noun."""
_TIED = "\\1\N{NO-BREAK SPACE}"
_CODE = re.compile(r"(`+)([^`]+)\1")
"""Words of a command, as our prose and Markdown mark them."""


class Compiled(FileSystemBytecodeCache):
    """Templates compiled beside their sources, as Python keeps its modules: there, and where it may write.

    It takes a tenth of the time of a page to compile them. What is kept is of one source, Python and Jinja.
    """

    def __init__(self) -> None:
        super().__init__(str(FOLDER / "__pycache__"))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take up what was kept of a template, if it can be read."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless the folder is somebody else's."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


def template(name: str = "page.html.j2") -> Template:
    """Return a template of the page's folder."""
    return _environment().get_template(name)


def compile_all() -> None:
    """Compile what is not compiled yet: `make setup` does, for those who may not write beside the sources."""
    environment = _environment()
    for name in environment.list_templates(extensions=["j2"]):
        environment.get_template(name)


def tied(prose: str) -> Markup:
    """Tie figures to what they are of, so that no line ends between `99.9` and `%`; and set code as code.

    Not in code, which readers copy.
    """
    return _with_code(prose, lambda words: _FIGURE.sub(_TIED, words))


def coded(prose: str) -> Markup:
    """Set what stands between backticks as code; one alone is a letter as others are."""
    return _with_code(prose, lambda words: words) if "`" in prose else escape(prose)


def _with_code(prose: str, others: Callable[[str], str]) -> Markup:
    # Words, backticks and code by turns.
    words, *rest = _CODE.split(prose)
    found = [escape(others(words))]
    for code, after in zip(rest[1::3], rest[2::3], strict=True):
        found += [Markup("<code>{}</code>").format(code), escape(others(after))]
    return Markup("").join(found)


def in_parts(
    table: Table, named: Sequence[Shown | Entry], printed: bool, small: bool = False
) -> tuple[Table, ...]:
    """Return a table as it stands on the page: whole, or on paper in parts that fit on a sheet."""
    if not printed:
        return (table,)
    sheet = paper_tables.SHEET_SMALL if small else paper_tables.SHEET
    return paper_tables.parts(table, [one.style.short for one in named], sheet)


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
    made.filters |= {"tied": tied, "coded": coded, "in_parts": in_parts, "long_word": paper_tables.long_word}
    return made
