"""Reading of all text files that users write: jobs, profiles, records, columns, configurations.

A file is refused if it is not regular, too large, not text, or nested too deeply. The error names the file
and, if there is one, the line. Traces and power recordings may have any size and are read by line:
`text_lines`. Text is UTF-8, with or without the byte-order mark of Excel and Notepad.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from ssdlab.model.errors import LabError, UsageError, excerpt, of_os
from ssdlab.model.limits import DOCUMENT_BYTES, LINE_CHARACTERS, NESTING, PATH_BYTES

Document = Mapping[str, Any]
"""A table of a document, with values of any type."""
_KEY = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"""(?<![\w-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{NESTING}}}""")
_LONG_NUMBER = re.compile(r"[\d_]{4300,}")
"""Python reads no whole number with more digits, and its error names no line."""
_NOT_FINITE = re.compile(r"^[^\n#\"']*=[ \t]*([+-]?(?:inf|nan))[ \t]*(?:#.*)?$", re.MULTILINE)
"""Infinity and NaN, which TOML allows; the models refuse those inside a list."""
_UTF_8 = "utf-8-sig"
_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_HEAD_BYTES = 512


def user_path(text: str | os.PathLike[str]) -> Path:
    """Return a path as a user gave it, with ``~`` expanded to a home folder.

    Raises
    ------
    UsageError
        No file can have such a name.
    """
    given = os.fspath(text)
    try:
        encoded = given.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the path {given!r} is not text in UTF-8", "rename it, or go by a link") from error
    if b"\0" in encoded:
        raise UsageError(f"the path {given!r} holds a zero byte", "a file name cannot contain it")
    if len(encoded) > PATH_BYTES:
        raise UsageError(
            f"a path of {len(encoded)} bytes is longer than any can be, {PATH_BYTES}: {excerpt(given)}",
            "use a shorter, relative path",
        )
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        user = Path(given).parts[0]
        raise UsageError(
            f"{given}: there is no home folder for {user}",
            "write the path out, or ./~ for a file of that name",
        ) from error


def check_regular(file: IO[bytes], path: Path, noun: str) -> None:
    """Refuse a file that is not regular: a device or a pipe may have no end.

    Raises
    ------
    UsageError
        The file is a folder, pipe, device or socket.
    """
    mode = os.fstat(file.fileno()).st_mode
    kinds = (
        ("a folder", stat.S_ISDIR),
        ("a pipe", stat.S_ISFIFO),
        ("a device", lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode)),
        ("a socket", stat.S_ISSOCK),
    )
    if kind := next((kind for kind, matches in kinds if matches(mode)), None):
        raise UsageError(
            f"cannot read the {noun} {path}: it is {kind}", "name a regular file", path=str(path)
        )


def open_regular(path: Path, noun: str) -> IO[bytes]:
    """Open a regular file for reading, without blocking if it turns out to be something else.

    Raises
    ------
    OSError
        The file cannot be opened.
    UsageError
        The file is not regular.
    """
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb")
    try:
        check_regular(file, path, noun)
    except UsageError:
        file.close()
        raise
    return file


def read_document(path: Path, noun: str, advice: str, *, max_bytes: int = DOCUMENT_BYTES) -> str:
    """Return the text of a file.

    Parameters
    ----------
    path
        As returned by `user_path`.
    noun
        Kind of file, for errors: ``job``, ``rig file``.
    advice
        Advice for errors.
    max_bytes
        Maximum size.

    Raises
    ------
    UsageError, HostError
        The file does not exist, is not regular, is too large, or is not UTF-8 text.
    """
    try:
        with open_regular(path, noun) as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise of_os(error, f"cannot read the {noun} {path}", advice, path=str(path)) from error
    if len(content) > max_bytes:
        raise UsageError(f"the {noun} {path} is larger than {max_bytes >> 20} MiB", advice, path=str(path))
    _check_encoding(content[:_HEAD_BYTES], path, noun)
    try:
        return content.decode(_UTF_8)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(
            f"cannot read the {noun} {path}: it is not text in UTF-8, from line {line} on",
            advice,
            path=str(path),
            line=line,
        ) from error


def peekable(file: IO[bytes]) -> io.BufferedReader:
    """Return a file, or a decompressor of it, as a reader that can peek at its start."""
    return io.BufferedReader(cast("io.RawIOBase", file))  # BufferedReader uses only its methods for reading


def text_lines(file: IO[bytes], path: Path, noun: str) -> Iterator[str]:
    """Yield the lines of a file of any size, with bounded memory.

    Parameters
    ----------
    file
        File at its start; invalid UTF-8 in it is replaced.
    path, noun
        For errors, as in `read_document`.

    Raises
    ------
    UsageError
        The file is not UTF-8 text, or a line is too long.
    """
    held = peekable(file)
    _check_encoding(held.peek(_HEAD_BYTES)[:_HEAD_BYTES], path, noun)
    lines = io.TextIOWrapper(held, encoding=_UTF_8, errors="replace")
    number = 0
    while line := lines.readline(LINE_CHARACTERS + 1):
        number += 1
        if len(line) > LINE_CHARACTERS:
            raise UsageError(
                f"line {number} of {path} is longer than {LINE_CHARACTERS} characters",
                f"give a {noun} as text in lines",
                path=str(path),
                line=number,
            )
        yield line


def _check_encoding(head: bytes, path: Path, noun: str) -> None:
    """Refuse text that is not UTF-8 by its first bytes: UTF-16 and UTF-32 have a mark or zeros there."""
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if not encoding and head[:2].strip(b"\0") and b"\0" in head[:2]:  # no mark, but a letter and a zero byte
        encoding = "UTF-16LE" if head[1:2] == b"\0" else "UTF-16BE"
    if encoding:
        raise UsageError(
            f"the {noun} {path} is {encoding} text, not UTF-8",
            f"make it UTF-8: iconv -f {encoding} -t UTF-8 {path.name} > new-{path.name}",
            path=str(path),
        )
    if b"\0" in head:
        raise UsageError(
            f"the {noun} {path} has zero bytes: it is not text", f"give a {noun} as text", path=str(path)
        )


def read_toml(path: Path, noun: str, advice: str) -> dict[str, Any]:
    """Return the content of a TOML file; parameters and errors as in `read_document`."""
    return parse_toml(read_document(path, noun, advice), str(path))


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    text
        Text no longer than `read_document` allows.
    name
        Name of the file, for errors.

    Raises
    ------
    UsageError
        The text is not TOML, or is nested too deeply; the error names the place.
    """
    import tomllib  # only needed to read a document

    text = text.replace("\r\n", "\n")
    if deep := _DEEP_KEY.search(text):
        raise _too_deep(f"line {_line(text, deep.start())} of {name}")
    try:
        found = tomllib.loads(text)
    except RecursionError as error:
        raise _too_deep(name) from error
    except ValueError as error:
        why = str(error)
        if not isinstance(error, tomllib.TOMLDecodeError) and (number := _LONG_NUMBER.search(text)):
            why = f"a number of {len(number[0])} digits (at line {_line(text, number.start())})"
        raise UsageError(f"{name} is not TOML: {why}", "correct that line") from error
    for key, value in found.items():
        if not _shallow(value):
            raise _too_deep(f"{key} in {name}")
    if odd := _NOT_FINITE.search(text):
        where = f"line {_line(text, odd.start(1))} of {name}"
        raise UsageError(f"{where} has {odd[1]}, not a number", "give a number")
    return found


def with_name(error: LabError, path: Path) -> LabError:
    """Add the path of a file to an error about its content."""
    error.what = f"{path}: {error.what}"
    error.facts["path"] = str(path)
    return error


def _too_deep(where: str) -> UsageError:
    return UsageError(
        f"{where} has tables or lists more than {NESTING} deep inside one another",
        "write it as tables of options, as in the documentation",
    )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _shallow(value: object) -> bool:
    """Return whether a value is nested no deeper than allowed; not recursive, as it may be very deep."""
    layer: list[object] = [value]
    for _ in range(NESTING):
        inner: list[object] = []
        for each in layer:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if not inner:
            return True
        layer = inner
    return False
