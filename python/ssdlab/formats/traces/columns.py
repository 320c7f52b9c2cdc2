"""Traces in columns: what a CSV file means, described once for each format.

MSR Cambridge and Alibaba are descriptions like any other; another one comes from a TOML file.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ssdlab.formats.traces.events import READ, TRIM, WRITE, BadLine, Event, nanoseconds, whole
from ssdlab.host.documents import read_toml, with_name
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import Frozen

TIME_UNITS_NS = {"s": 10**9, "ms": 10**6, "us": 1000, "100ns": 100, "ns": 1}
SIZE_UNITS_BYTES = {"bytes": 1, "sectors": 512, "KiB": 1024}

Column = int | str
"""A column by its number, from 1, or by its name in the first line."""
TimeUnit = Literal["s", "ms", "us", "100ns", "ns"]
SizeUnit = Literal["bytes", "sectors", "KiB"]


def _plain(value: object) -> object:
    """Let ``offset = 3`` stand for ``offset = {column = 3}``."""
    return {"column": value} if isinstance(value, int | str) else value


class TimeColumn(Frozen):
    """Where the time of an I/O stands."""

    column: Column = Field(description="number from 1, or name in the first line")
    unit: TimeUnit = Field(description="s, ms, us, 100ns or ns")


class SizeColumn(Frozen):
    """Where an offset or a length stands."""

    column: Column = Field(description="number from 1, or name in the first line")
    unit: SizeUnit = Field("bytes", description="bytes, sectors (of 512) or KiB")


class OpColumn(Frozen):
    """Where the operation stands, and its words, which are compared without regard to case."""

    column: Column = Field(description="number from 1, or name in the first line")
    read: tuple[str, ...] = Field(("R", "read", "0"), description="words for a read")
    write: tuple[str, ...] = Field(("W", "write", "1"), description="words for a write")
    trim: tuple[str, ...] = Field(("D", "T", "trim", "discard"), description="words for a trim")


class Columns(Frozen):
    """What the columns of a file mean."""

    separator: str = Field(",", min_length=1, max_length=1, description="between two columns")
    header: bool = Field(False, description="the first line names the columns")
    time: TimeColumn = Field(description="when the I/O was issued")
    op: Annotated[OpColumn, BeforeValidator(_plain)] = Field(description="read, write or trim")
    offset: Annotated[SizeColumn, BeforeValidator(_plain)] = Field(description="first byte")
    length: Annotated[SizeColumn, BeforeValidator(_plain)] = Field(description="bytes")
    device: tuple[Column, ...] = Field((), description="columns that together name the device")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for column in self.all_columns:
            if isinstance(column, str) and not self.header:
                raise UsageError(
                    f"column {column!r} is named, but the file has no first line with names",
                    "set header = true, or give the column's number, from 1",
                )
            if isinstance(column, int) and column < 1:
                raise UsageError(f"there is no column {column}", "columns are numbered from 1")
        return self

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Every column that is looked at."""
        return (self.time.column, self.op.column, self.offset.column, self.length.column, *self.device)


MSR = Columns(
    time=TimeColumn(column=1, unit="100ns"),
    device=(2, 3),
    op=OpColumn(column=4),
    offset=SizeColumn(column=5),
    length=SizeColumn(column=6),
)
"""MSR Cambridge (2007), SNIA IOTTA: Timestamp (Windows file time), Hostname, DiskNumber, Type, Offset, Size,
ResponseTime."""
ALIBABA = Columns(
    device=(1,),
    op=OpColumn(column=2),
    offset=SizeColumn(column=3),
    length=SizeColumn(column=4),
    time=TimeColumn(column=5, unit="us"),
)
"""Alibaba block traces (2020): device_id, opcode, offset, length, timestamp."""


def read_columns(path: Path) -> Columns:
    """Return the description that a TOML file holds.

    Raises
    ------
    UsageError
        The file is not there, is no TOML or describes no columns.
    """
    described = read_toml(path, "description of columns", "give a TOML file; docs/traces.md has an example")
    try:
        return Columns.model_validate(described)
    except UsageError as error:
        raise with_name(error, path) from None


def parse_columns(text: str) -> Columns:
    """Return the description that text such as ``time:1:us,op:2,offset:3:sectors,length:4`` means.

    Raises
    ------
    UsageError
        A part of it is not understood, or one is missing.
    """
    described: dict[str, object] = {}
    for part in text.split(","):
        name, *rest = (word.strip() for word in part.split(":"))
        if not 1 <= len(rest) <= 2 or not rest[0]:
            raise UsageError(
                f"{part!r} in the columns {text!r} is not understood",
                "give parts such as time:1:us,op:2,offset:3:sectors,length:4, or the name of a TOML file",
            )
        column: object = int(rest[0]) if rest[0].isdecimal() and len(rest[0]) < 7 else rest[0]
        described["header"] = described.get("header", False) or isinstance(column, str)
        if name == "device":
            described[name] = (column,)
        else:
            described[name] = {"column": column, **({"unit": rest[1]} if len(rest) == 2 else {})}
    return Columns.model_validate(described)


class InColumns:
    """Reads the lines of a file in columns."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._named = columns.header
        self._time_ns = TIME_UNITS_NS[columns.time.unit]
        self._offset_bytes = SIZE_UNITS_BYTES[columns.offset.unit]
        self._length_bytes = SIZE_UNITS_BYTES[columns.length.unit]
        op = columns.op
        named = ((READ, op.read), (WRITE, op.write), (TRIM, op.trim))
        self._ops = {word.casefold(): number for number, words in named for word in words}
        if not self._named:
            self._find([])

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for the first one, if it names the columns, and for empty ones.

        Raises
        ------
        BadLine
            It has too few columns, or something else in them.
        UsageError
            The first line does not have a column that was named.
        """
        text = text.rstrip("\r\n")
        if not text.strip():
            return None
        if '"' in text:
            try:
                fields = next(csv.reader([text], delimiter=self._columns.separator))
            except (csv.Error, StopIteration) as error:
                raise BadLine(f"has quotation marks that do not match: {error}") from error
        else:
            fields = text.split(self._columns.separator)
        if self._named:
            self._named = False
            self._find([field.strip() for field in fields])
            return None
        if len(fields) < self._min_columns:
            raise BadLine(f"has {len(fields)} columns, not {self._min_columns}")
        op = self._ops.get(fields[self._op].strip().casefold())
        if op is None:
            raise BadLine(
                f"has the operation {excerpt(fields[self._op].strip())!r}, which is none that was named"
            )
        return Event(
            nanoseconds(fields[self._time], self._time_ns),
            op,
            whole(fields[self._offset], "offset", self._offset_bytes),
            whole(fields[self._length], "length", self._length_bytes),
            ".".join(fields[each].strip() for each in self._device),
        )

    def _find(self, names: list[str]) -> None:
        """Turn columns into places in a line."""

        def place(column: Column) -> int:
            if isinstance(column, int):
                return column - 1
            if column not in names:
                raise UsageError(
                    f"there is no column {column!r}",
                    f"the first line names {', '.join(names)}",
                    column=column,
                )
            return names.index(column)

        columns = self._columns
        self._time, self._op = place(columns.time.column), place(columns.op.column)
        self._offset, self._length = place(columns.offset.column), place(columns.length.column)
        self._device = tuple(place(column) for column in columns.device)
        self._min_columns = 1 + max(self._time, self._op, self._offset, self._length, *self._device)
