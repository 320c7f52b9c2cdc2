"""Traces in columns: the meaning of a CSV file's columns, described once for each format.

The descriptions of MSR Cambridge and Alibaba traces are built in. Others come from a TOML file or a short
text.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, model_validator

from ssdlab.formats.traces.events import READ, TRIM, WRITE, BadLine, Event, NotItsTime, nanoseconds, whole
from ssdlab.host.documents import read_toml, with_name
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import Frozen
from ssdlab.model.limits import NUMBER_CHARACTERS
from ssdlab.model.units import parse_bytes

TIME_UNITS_NS = {"s": 10**9, "ms": 10**6, "us": 1000, "100ns": 100, "ns": 1}
SIZE_UNITS_BYTES = {"bytes": 1, "sectors": 512}
_SEPARATORS = {"blanks": " ", "tab": "\t"}

Column = int | str
"""A column by its number, from 1, or by its name in the first line."""
TimeUnit = Literal["s", "ms", "us", "100ns", "ns"]


def _plain(value: object) -> object:
    """Accept ``offset = 3`` for ``offset = {column = 3}``."""
    return {"column": value} if isinstance(value, int | str) else value


def _unit_bytes(value: object) -> object:
    """Accept ``sectors`` for 512, and sizes such as ``KiB`` or ``4k``."""
    if not isinstance(value, str) or not value.strip():
        return value
    unit = value.strip()
    if unit.startswith("block"):
        raise UsageError(
            f"the unit {unit!r} does not give the size of a block",
            "give it in bytes: 4096, 4k, or sectors (512)",
        )
    return SIZE_UNITS_BYTES.get(unit) or parse_bytes(unit if unit[0].isdecimal() else f"1{unit}", noun="unit")


def _separator(value: object) -> object:
    return _SEPARATORS.get(value, value) if isinstance(value, str) else value


SizeUnit = Annotated[int, BeforeValidator(_unit_bytes), Field(ge=1, le=1 << 30)]


class TimeColumn(Frozen):
    """The column with the time of an I/O."""

    column: Column = Field(description="number from 1, or name in the first line")
    unit: TimeUnit = Field(description="s, ms, us, 100ns or ns")


class SizeColumn(Frozen):
    """The column with an offset or a length."""

    column: Column = Field(description="number from 1, or name in the first line")
    unit: SizeUnit = Field(1, description="bytes, sectors (of 512), KiB, or the bytes of a block: 4096, 4k")


class OpColumn(Frozen):
    """The column with the operation, and its words, which are compared without regard to case."""

    column: Column = Field(description="number from 1, or name in the first line")
    read: tuple[str, ...] = Field(("R", "read"), description="words for a read")
    write: tuple[str, ...] = Field(("W", "write"), description="words for a write")
    trim: tuple[str, ...] = Field(("D", "T", "trim", "discard"), description="words for a trim")


class Columns(Frozen):
    """The meaning of a file's columns."""

    separator: Annotated[str, BeforeValidator(_separator)] = Field(
        ",",
        min_length=1,
        max_length=1,
        description="between two columns; a blank: any number of them, or of tabs",
    )
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
                    f"column {column!r} is named, but the file has no header line",
                    "set header = true, or give the column's number, from 1",
                )
            if isinstance(column, int) and column < 1:
                raise UsageError(f"there is no column {column}", "columns are numbered from 1")
        return self

    @property
    def all_columns(self) -> tuple[Column, ...]:
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


class Clock(NamedTuple):
    """The times of a format with a fixed unit, so that a first time in another unit is detected."""

    ticks: str
    dates: range
    """Times that are dates in the format's unit."""
    mistaken: tuple[range, ...]
    """Times that are dates in other units, but could also count from a start."""
    columns: str
    """The same columns as a user would describe them, but with times in ms."""

    def wrong_first(self, time: int) -> bool:
        """Return whether the first time of a trace is neither a date nor shortly after the trace's start."""
        return time not in self.dates and (
            time >= _FROM_START or any(time in dates for dates in self.mistaken)
        )


_FROM_START = 10**13
"""Limit of ticks from a trace's own start: 11 days of 100 ns, or 115 days of 1 us. MSR's traces last a week,
Alibaba's a month.
"""
_UNIX_DATES = (range(10**9, 2 * 10**9), range(10**12, 2 * 10**12))
"""Dates in s and ms, from 2001 to 2033. In finer units, dates are too large for times from a start."""
MSR_CLOCK = Clock(
    "whole ticks of 100 ns since 1601 (18 digits)",
    range(10**17, 2 * 10**17),
    (*_UNIX_DATES, range(10**10, 2 * 10**10)),  # Windows dates in s
    "time:1:ms,device:3,op:4,offset:5,length:6",
)
"""Its dates are from 1917 to 2234."""
ALIBABA_CLOCK = Clock(
    "whole µs since 1970 (16 digits)",
    range(10**15, 2 * 10**15),
    _UNIX_DATES,
    "device:1,op:2,offset:3,length:4,time:5:ms",
)
"""Its dates are from 2001 to 2033."""
_WHOLE = re.compile(r"\d+(\.0*)?", re.ASCII)


def read_columns(path: Path) -> Columns:
    """Return the description of columns in a TOML file.

    Raises
    ------
    UsageError
        The file is missing, is not TOML, or describes no columns.
    """
    described = read_toml(path, "description of columns", "give a TOML file; docs/traces.md has an example")
    try:
        return Columns.model_validate(described)
    except UsageError as error:
        raise with_name(error, path) from None


def parse_columns(text: str) -> Columns:
    """Return the description in a text such as ``time:1:us,op:2,offset:3:sectors,length:4``.

    Raises
    ------
    UsageError
        A part of the text is not understood, or one is missing.
    """
    described: dict[str, object] = {}
    for part in text.split(","):
        name, *rest = (word.strip() for word in part.split(":"))
        if not rest or not rest[0]:
            raise _not_understood(part, text)
        if name == "separator":
            described[name] = rest[0]
            continue
        column: object = int(rest[0]) if rest[0].isdecimal() and len(rest[0]) < 7 else rest[0]
        described["header"] = described.get("header", False) or isinstance(column, str)
        if name == "device":
            described[name] = (column,)
            continue
        fields: dict[str, object] = {"column": column}
        for word in rest[1:]:
            key, equals, words = word.partition("=")
            key, value = (key, tuple(words.split("|"))) if equals else ("unit", word)
            if key in fields:
                raise _not_understood(part, text)
            fields[key] = value
        described[name] = fields
    return Columns.model_validate(described)


def _not_understood(part: str, text: str) -> UsageError:
    return UsageError(
        f"{part!r} in the columns {text!r} is not understood",
        "give parts such as time:1:us,op:2:read=1:write=0,offset:3:sectors,length:4:4k,separator:blanks, or "
        "the name of a TOML file",
    )


class InColumns:
    """Parses lines in columns; `clock` is given for formats whose time unit is fixed."""

    def __init__(self, columns: Columns, clock: Clock | None = None) -> None:
        self._columns = columns
        self._clock, self._first = clock, True
        self._named = columns.header
        self._time_ns = TIME_UNITS_NS[columns.time.unit]
        self._blanks = columns.separator == " "
        self._header = ""
        op = columns.op
        named = ((READ, op.read), (WRITE, op.write), (TRIM, op.trim))
        self._ops = {word.casefold(): number for number, words in named for word in words}
        if not self._named:
            self._find([])

    def line(self, text: str) -> Event | None:
        """Return the I/O of a line; None for a header line and for empty lines.

        Raises
        ------
        BadLine
            The line has too few columns, or an invalid value in one.
        NotItsTime
            The first time is not in the format's unit.
        UsageError
            The header line lacks a column that the description names.
        """
        text = " ".join(text.split()) if self._blanks else text.rstrip("\r\n")
        if not text.strip() or text == self._header:  # concatenated files repeat it
            return None
        if '"' in text:
            try:
                fields = next(csv.reader([text], delimiter=self._columns.separator))
            except (csv.Error, StopIteration) as error:
                raise BadLine(f"has quotation marks that do not match: {error}") from error
        else:
            fields = text.split(self._columns.separator)
        if self._named:
            self._named, self._header = False, text
            self._find([field.strip() for field in fields])
            return None
        if len(fields) < self._min_columns:
            raise BadLine(f"has {len(fields)} columns, not {self._min_columns}")
        op = self._ops.get(fields[self._op].strip().casefold())
        if op is None:
            raise self._no_operation(fields[self._op].strip())
        if self._clock is not None:
            self._check_time(self._clock, fields[self._time].strip())
        return Event(
            nanoseconds(fields[self._time], self._time_ns),
            op,
            whole(fields[self._offset], "offset", self._columns.offset.unit),
            whole(fields[self._length], "length", self._columns.length.unit),
            ".".join(fields[each].strip() for each in self._device),
        )

    def _check_time(self, clock: Clock, time: str) -> None:
        """Refuse a time that was truncated, or rounded as by spreadsheets, or a first one in another unit."""
        rounded = not time.isdecimal() and _WHOLE.fullmatch(time) is None
        if rounded or len(time) > NUMBER_CHARACTERS:
            nanoseconds(time, self._time_ns)  # raises if it is not a number
        if self._first and (rounded or clock.wrong_first(int(time.partition(".")[0]))):
            raise NotItsTime(f"has the time {excerpt(time)}, not {clock.ticks}")
        if rounded:
            raise BadLine(f"has the time {excerpt(time)}, which is not whole")
        self._first = False

    def _no_operation(self, word: str) -> Exception:
        """Return the error for an unknown operation; the meaning of digits differs between traces."""
        if word.isdecimal() and not any(each.isdecimal() for each in self._ops):
            return UsageError(
                f"the operations are digits, such as {excerpt(word)!r}: in some traces 0 is a read, "
                "in others a write",
                "define them: op:5:read=1:write=0 in place, or in TOML "
                'op = {column = 5, read = ["1"], write = ["0"]}',
            )
        return BadLine(f"has the operation {excerpt(word)!r}, which is not one of those named")

    def _find(self, names: list[str]) -> None:
        """Turn columns into indices of a line's fields."""

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
