"""Tables: cells with three digits for display, and the full value for CSV."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ssdlab.model.units import (
    block_text,
    count_text,
    figure_text,
    latency_text,
    share_text,
    significant,
    span_text,
)

Quantity = Literal["iops", "mb_s", "ns", "s", "bytes", "capacity", "count", "plain", "text"]
"""The quantity of a value, which sets its format."""
NOTHING = "—"
"""Printed for a missing value."""
_EMPTY = ("", NOTHING)
THIN_SPACE = "\u2009"


@dataclass(frozen=True)
class Cell:
    """One cell: the text to show, and the exact value if it differs."""

    text: str
    value: str | None = None
    numeric: bool = True
    run: int | None = None
    """Number of the run whose marker is shown before the text."""
    span: int = 1
    """Number of columns that the cell covers; a reason for missing values covers all of them."""
    link: str | None = None
    """Address that the text links to."""


@dataclass(frozen=True)
class Table:
    """A table for the page and the terminal."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    brief: tuple[str, ...] = ()
    """Titles of the columns shown in a terminal; empty: all."""
    marked: int | None = None
    """Index of the reported row. It is marked in a terminal; on the page, the chart marks it."""

    @property
    def filled(self) -> Table:
        """The table without empty columns; without rows if only the first column has values."""
        if any(cell.span > 1 for row in self.rows for cell in row):
            return self
        kept = [at for at in range(len(self.head)) if any(row[at].text not in _EMPTY for row in self.rows)]
        if len(kept) == len(self.head):
            return self
        head = tuple(self.head[at] for at in kept)
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows) if len(kept) > 1 else ()
        return replace(self, head=head, rows=rows)


def words(text: str) -> Cell:
    """Return a cell with text."""
    return Cell(text, numeric=False)


def of_run(text: str, run: int) -> Cell:
    """Return a cell that names a run, with the run's marker."""
    return Cell(text, numeric=False, run=run)


def count(value: int | None) -> Cell:
    """Return a cell with a whole number in full, its thousands apart: ``1 048 576``."""
    if value is None:
        return Cell(NOTHING, "")
    return Cell(f"{value:,}".replace(",", THIN_SPACE), str(value))


def iops(value: float | None) -> Cell:
    """Return a cell with I/Os per second: ``64.3k``."""
    return Cell(NOTHING, "") if value is None else Cell(count_text(value), repr(value))


def throughput(mb_s: float | None) -> Cell:
    """Return a cell with decimal megabytes per second; the column's title names the unit."""
    return Cell(NOTHING, "") if mb_s is None else Cell(significant(mb_s), repr(mb_s))


def latency(value_ns: float | None) -> Cell:
    """Return a cell with a latency in a fitting unit: ``388 µs``."""
    return Cell(NOTHING, "") if value_ns is None else Cell(latency_text(value_ns), repr(value_ns))


def plain(value: float | None) -> Cell:
    """Return a cell with a number to three digits."""
    return Cell(NOTHING, "") if value is None else Cell(significant(value), repr(value))


def share(value: float | None) -> Cell:
    """Return a cell with a share as a percentage."""
    return Cell(NOTHING, "") if value is None else Cell(share_text(value), repr(value))


def seconds(value: float | None) -> Cell:
    """Return a cell with a duration."""
    return Cell(NOTHING, "") if value is None else Cell(span_text(value), repr(value))


def block(value_bytes: int) -> Cell:
    """Return a cell with a block size: ``4 KiB``."""
    return Cell(block_text(value_bytes), str(value_bytes))


def of_unit(value: float | None, unit: str) -> str:
    """Return a headline figure with its unit, as text."""
    return figure_text(value, unit)
