"""Reads a trace from a file: finds its format, counts bad lines, and selects a device."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import IO, Annotated, Literal, Protocol, cast

from pydantic import BeforeValidator, Field

from ssdlab.formats import tar
from ssdlab.formats.traces import blkparse, example
from ssdlab.formats.traces.columns import (
    ALIBABA,
    ALIBABA_CLOCK,
    MSR,
    MSR_CLOCK,
    TIME_UNITS_NS,
    InColumns,
    TimeUnit,
    parse_columns,
    read_columns,
)
from ssdlab.formats.traces.events import BadLine, Event, NotItsTime
from ssdlab.host.documents import open_regular, peekable, text_lines, user_path
from ssdlab.model.errors import HostError, UsageError, of_os
from ssdlab.model.frozen import Frozen, Metavar
from ssdlab.model.limits import DEVICES, EMPTY_LINES, PATH_BYTES


def _absolute(value: object) -> object:
    if not isinstance(value, str) or value in ("", example.NAME):
        return value
    return str(user_path(value).absolute())


def _description(value: object) -> object:
    """Leave columns described in place unchanged, and make the path of a file absolute."""
    return value if isinstance(value, str) and ":" in value else _absolute(value)


TraceFile = Annotated[str, BeforeValidator(_absolute), Metavar("FILE")]
"""A trace file, or the name of the synthetic example."""
Description = Annotated[str, BeforeValidator(_description), Metavar("FILE")]
"""Columns described in place, or the file that describes them."""
Format = Literal["auto", "iolog", "blkparse", "msr", "alibaba", "columns"]
ALL = "all"
"""Selects every device of a trace, merged."""
BAD_LINES_KEPT = 5
"""Bad lines that are listed with their reason; the others are only counted."""

_BINARY = b"tae"  # the last bytes of BLK_IO_TRACE_MAGIC, 0x65617407, on little-endian hosts
_GZIP = b"\x1f\x8b"
_PACKED_TWICE = 3
"""Maximum levels of packing: a gzip with a tar of gzips."""
_UNPACKED_BY = (
    (b"\xfd7zXZ\0", "xz -dk"),
    (b"BZh", "bzip2 -dk"),
    (b"\x28\xb5\x2f\xfd", "zstd -d"),
    (b"\x04\x22\x4d\x18", "lz4 -d"),
    (b"LZIP", "lzip -dk"),
    (b"\x1f\x9d", "gzip -dk"),
    (b"PK\x03\x04", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z x"),
    (b"Rar!", "unrar x"),
)
"""Packings that are not read: their first bytes, and the command that unpacks them."""
_TARS = (".tar", ".txz", ".tbz", ".tbz2", ".tzst", ".tlz")


class Source(Frozen):
    """Which trace to read, and how."""

    file: str = Field(description="the trace; .gz and .tar are unpacked")
    format: Format = Field("auto", description="auto finds out which")
    columns: str = Field(
        "", description="what the columns mean: a TOML file, or time:1:us,op:2,offset:3,length:4"
    )
    device: str = Field("", description="one of the trace's devices, or all; may be left out if there is one")
    action: blkparse.Action = Field("Q", description="of blkparse: Q queued, D issued to the driver")
    unit: TimeUnit = Field("us", description="of the times of a fio iolog version 3")
    waits: blkparse.Waits = Field("", description="of a fio iolog version 2: ms from the start, or us more")
    bad_lines: Literal["stop", "skip"] = Field("stop", description="what a line that cannot be read means")


@dataclass
class Tally:
    """What reading finds in a trace in addition to its I/Os."""

    format: str = ""
    lines: int = 0
    bad_lines: int = 0
    first_bad: list[tuple[int, str]] = field(default_factory=list)
    devices: Counter[str] = field(default_factory=Counter)
    backwards: int = 0
    first_backwards: int | None = None
    """Line of the first I/O whose time is before that of the previous I/O."""
    lost: int = 0
    """Events lost while recording, as far as the trace says."""
    files: list[str] = field(default_factory=list)
    """Names of the files in a tar, which are read one after another as one trace."""

    def bad(self, line: int, why: str) -> None:
        self.bad_lines += 1
        if len(self.first_bad) < BAD_LINES_KEPT:
            self.first_bad.append((line, why))

    @property
    def bad_text(self) -> str:
        """The bad lines in words: the first ones with their reasons, then the number of others."""
        listed = "; ".join(f"line {line} {why}" for line, why in self.first_bad)
        more = self.bad_lines - len(self.first_bad)
        return listed + (f"; and {more} more" if more else "")


class _Parser(Protocol):
    def line(self, text: str) -> Event | None: ...


def events(source: Source, tally: Tally) -> Iterator[Event]:
    """Yield the I/Os of a trace in the order of its lines.

    Raises
    ------
    UsageError
        The file is missing or its format is unknown; its first time is not in the format's unit; it has
        several devices and none is chosen; or, at the end, there were bad lines and `bad_lines` is `stop`.
    HostError
        The file cannot be read to its end.
    """
    with _opened(source, tally) as lines:
        head, rest = _peek(lines, source.file)
        parser = _parser(source, head, tally)
        last_ns = -1
        for text in rest:
            tally.lines += 1
            try:
                event = parser.line(text)
                if event is not None and len(event.device) > PATH_BYTES:
                    raise BadLine("has a device with a name longer than any path")  # noqa: TRY301
            except NotItsTime as wrong:
                raise _not_its_time(source, tally, wrong) from wrong
            except BadLine as bad:
                tally.bad(tally.lines, str(bad))
                continue
            if event is None:
                continue
            tally.devices[event.device] += 1
            if len(tally.devices) > DEVICES:
                raise UsageError(
                    f"{source.file} names more than {DEVICES} devices, up to line {tally.lines}",
                    "check the columns that name the device",
                    file=source.file,
                    line=tally.lines,
                )
            if source.device != ALL and event.device != source.device:
                if source.device:
                    continue
                _check_single(source, tally)
            if event.time_ns < last_ns:
                tally.backwards += 1
                if tally.first_backwards is None:
                    tally.first_backwards = tally.lines
            last_ns = event.time_ns
            yield event
        if isinstance(parser, blkparse.Blkparse):
            tally.lost = parser.lost
            parser.check(source.file)
    if tally.bad_lines and source.bad_lines == "stop":
        raise UsageError(
            f"{tally.bad_lines} of {tally.lines} lines of {source.file} cannot be read: {tally.bad_text}",
            "correct them, or skip them with --set bad_lines=skip; the result then says how many",
            file=source.file,
            bad_lines=tally.bad_lines,
            lines=[line for line, _ in tally.first_bad],
        )


def _not_its_time(source: Source, tally: Tally, wrong: NotItsTime) -> UsageError:
    columns = (MSR_CLOCK if tally.format == "msr" else ALIBABA_CLOCK).columns
    return UsageError(
        f"{source.file} is read as {tally.format}, but line {tally.lines} {wrong}",
        "give the times as they were recorded, or say their unit, such as ms: --set format=columns "
        f"--set columns={columns}",
        file=source.file,
        line=tally.lines,
    )


def _check_single(source: Source, tally: Tally) -> None:
    """Refuse a second device if none was chosen, because offsets on different devices are unrelated."""
    if len(tally.devices) > 1:
        first, second, *_ = tally.devices
        raise UsageError(
            f"{source.file} has the I/O of more than one device: {first}, {second} (line {tally.lines})",
            f"choose one with --set device={first}, or merge all with --set device=all; "
            "ssdlab trace show FILE lists them",
            devices=[first, second],
        )


@contextmanager
def _opened(source: Source, tally: Tally) -> Iterator[Iterator[str]]:
    if source.file == example.NAME:
        yield example.lines()
        return
    path = user_path(source.file)
    try:
        file = open_regular(path, "trace")
    except OSError as error:
        advice = "give the path of a trace, or example for a made-up one"
        raise of_os(error, str(path), advice, file=str(path)) from error
    try:
        with file:
            yield _unpacked(file, path, tally)
    except tar.Broken as error:
        raise UsageError(
            f"the tar {path} cannot be read: {error}",
            f"unpack it first, and give the trace in it: tar -xf {path.name}",
            file=str(path),
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise HostError(
            f"{path} cannot be read to its end: {error}", "check that the file is complete", file=str(path)
        ) from error


def _unpacked(file: IO[bytes], path: Path, tally: Tally, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a file, of the content of a gzip, or of all files in a tar one after another.

    Raises
    ------
    UsageError
        The file is packed otherwise (the error names the command that unpacks it), or is not text.
    """
    held = peekable(file)
    head = held.peek(tar.MAGIC_AT + len(tar.MAGIC))
    if head[1:4] == _BINARY or head[:3] == _BINARY[::-1]:
        raise UsageError(
            f"{path} is a binary file of blktrace",
            f"make text of it first: blkparse -i {path.name} > trace.txt",
            file=str(path),
        )
    command = next((command for begin, command in _UNPACKED_BY if head.startswith(begin)), None)
    if command is not None or depth > _PACKED_TWICE:
        if any(suffix in _TARS for suffix in path.suffixes):
            command = "tar -xf"
        raise UsageError(
            f"{path} is packed in a format that is not supported: gzip and tar are",
            f"unpack it first: {command or 'tar -xf'} {path.name}",
            file=str(path),
        )
    if head.startswith(_GZIP):
        yield from _unpacked(cast("IO[bytes]", gzip.GzipFile(fileobj=held)), path, tally, depth + 1)
    elif head[tar.MAGIC_AT :].startswith(tar.MAGIC):
        members = tar.Members(held)
        for member in members:
            name = Path(member.path).name
            if not member.is_folder and not name.startswith("._"):  # metadata files of macOS
                tally.files.append(name)
                inside = cast("IO[bytes]", tar.Content(members))
                yield from _unpacked(inside, path, tally, depth + 1)
    else:
        yield from text_lines(held, path, "trace")


def _peek(lines: Iterator[str], file: str) -> tuple[str, Iterator[str]]:
    """Return the first line that is not empty, and an iterator over all lines."""
    empty, head = 0, ""
    for line in lines:
        if line.strip():
            head = line
            break
        empty += 1
        if empty > EMPTY_LINES:
            raise UsageError(
                f"{file} begins with more than {EMPTY_LINES} empty lines", "give a trace", file=file
            )
    return head, chain(repeat("\n", empty), (head,) if head else (), lines)


def _parser(source: Source, head: str, tally: Tally) -> _Parser:
    name = source.format
    if name == "auto":
        name = "columns" if source.columns else _format_of(source, head)
    tally.format = name
    if name == "iolog":
        version = blkparse.version_of(head)
        if version not in (2, 3):
            raise UsageError(
                f"{source.file} begins with {head.strip()[:60]!r}: it is not a fio iolog of version 2 or 3",
                "write one with fio --write_iolog, or name another --set format",
            )
        tally.format = f"iolog v{version}"
        return blkparse.Iolog(version, TIME_UNITS_NS[source.unit], source.waits)
    if name == "blkparse":
        return blkparse.Blkparse(source.action)
    if name == "columns":
        if not source.columns:
            raise UsageError("format columns needs to know them", "give --set columns=FILE.toml")
        inline = ":" in source.columns and not os.path.exists(source.columns)  # noqa: PTH110 - takes any text
        return InColumns(parse_columns(source.columns) if inline else read_columns(user_path(source.columns)))
    return InColumns(MSR, MSR_CLOCK) if name == "msr" else InColumns(ALIBABA, ALIBABA_CLOCK)


def _format_of(source: Source, head: str) -> Format:
    """Find the format by the first line.

    Raises
    ------
    UsageError
        The file is empty, or its format is unknown.
    """
    if not head:
        raise UsageError(f"{source.file} is empty", "give a trace with at least one I/O", file=source.file)
    if blkparse.version_of(head) is not None:
        return "iolog"
    if blkparse.looks_like(head):
        return "blkparse"
    fields = [field.strip() for field in head.split(",")]
    if len(fields) == 7 and fields[3].casefold() in ("read", "write"):
        return "msr"
    if len(fields) == 5 and fields[1] in ("R", "W"):
        return "alibaba"
    raise UsageError(
        f"{source.file} begins with {head.strip()[:60]!r}, which is not a known format",
        "set format to iolog, blkparse, msr or alibaba, or describe it with columns=FILE.toml",
        file=source.file,
    )
