"""Seals: checksums in the files of a run folder, so that damage is detected and never shown as data.

A *document* (`manifest.json` and other files that are replaced whole) ends with a seal over all bytes before
it. A *chain* (`journal.jsonl`, `notes.jsonl`) consists of lines that are only appended. Each line ends with a
seal over the line and the seal before it, so that the next line reveals any change, loss, duplicate or move.

Seals cover the bytes of a file, not their meaning: a changed blank is damage too. They detect damage and
careless edits, but are no signature, as an editor can reseal a file. The checksum is BLAKE2b (RFC 7693) of 16
bytes, so damage goes unseen with a chance of 2^-128.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ssdlab.host.held_folder import HeldFolder

_DIGEST_BYTES = 16
_LINE_END = re.compile(rb',"seal":"([0-9a-f]{32})"\}')
_LINE_END_BYTES = len(b',"seal":""}') + 2 * _DIGEST_BYTES
_DOCUMENT_END = re.compile(rb',\n "seal": "([0-9a-f]{32})"\n\}\n')
_DOCUMENT_END_BYTES = len(b',\n "seal": ""\n}\n') + 2 * _DIGEST_BYTES
_MAY_OVERFLOW = re.compile(rb"\d[eE]\+?0*[1-9]\d\d|\d{300}")
"""Matches numbers that may be too large for a float. Most texts have none, and are then parsed faster."""

_MAY_BE_NO_TEXT = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""Matches half of a UTF-16 surrogate pair, which JSON can hold and UTF-8 cannot."""


class Broken(ValueError):
    """Bytes do not match their seal; the text says how."""


class Chain:
    """A sequence of sealed lines, for writing or reading.

    Parameters
    ----------
    of
        Text that the first seal covers, such as the run's id, so that the chain of another run does not
        match.

    Attributes
    ----------
    seal
        The last seal, computed even for a line without one.
    lines
        Number of lines so far.
    sealed
        Whether the last line has its seal; after the first seal, every line must have one.
    """

    def __init__(self, of: str = "") -> None:
        self.seal = of
        self.lines = 0
        self.sealed = False

    def copy(self) -> Chain:
        same = Chain(self.seal)
        same.lines, same.sealed = self.lines, self.sealed
        return same

    def write(self, text: str) -> bytes:
        """Return a JSON object as the chain's next line, with its seal and a newline."""
        body = text.encode().removesuffix(b"}")
        self._go_on(body)
        self.sealed = True
        return body + f',"seal":"{self.seal}"}}\n'.encode()

    def read(self, line: bytes) -> bytes:
        """Read the next line, and return its JSON without newline and seal.

        Raises
        ------
        Broken
            The seal does not match, or is missing although earlier lines have one.
        """
        body, end = line[:-_LINE_END_BYTES], _LINE_END.fullmatch(line[-_LINE_END_BYTES:])
        if end is None:
            if self.sealed:
                raise Broken("it has no seal")
            self._go_on(line)
            return line
        self._go_on(body)
        self.sealed = True
        if end[1].decode() != self.seal:
            raise Broken("its seal does not match")
        return body + b"}"

    def _go_on(self, body: bytes) -> None:
        self.seal = _digest(self.seal.encode() + b"\n" + body)
        self.lines += 1


def seal_document(text: str) -> str:
    """Return the text of a JSON object with a seal as its last field."""
    body = text.rstrip().removesuffix("}").rstrip()
    return f'{body},\n "seal": "{_digest(body.encode())}"\n}}\n'


def open_document(data: bytes) -> tuple[bytes, str | None]:
    """Return the JSON of a document without its seal, and the seal; None: it has none.

    Raises
    ------
    Broken
        The seal does not match.
    """
    body, end = data[:-_DOCUMENT_END_BYTES], _DOCUMENT_END.fullmatch(data[-_DOCUMENT_END_BYTES:])
    if end is None:
        return data, None
    seal = end[1].decode()
    if _digest(body) != seal:
        raise Broken("its seal does not match")
    return body + b"\n}\n", seal


def canonical(content: Mapping[str, Any]) -> bytes:
    """Return fields as canonical JSON, over which a seal with a key is computed."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def read_document(data: bytes, schema: str, *, sealed_since: int = 0) -> tuple[dict[str, Any], str | None]:
    """Return the fields of a document and its seal; the seal is None in one from before seals.

    Parameters
    ----------
    data
        Content of the file.
    schema
        The current schema, such as `ssdlab.run/2`.
    sealed_since
        The first version with a seal; by default the current one.

    Raises
    ------
    Broken
        The seal does not match, is missing or unexpected; or a number is invalid.
    ValueError
        The content is not JSON.
    """
    text, seal = open_document(data)
    try:
        stored = finite_json(text)
    except RecursionError as error:
        raise Broken("it is nested too deeply") from error
    if not isinstance(stored, dict):
        raise Broken("it is not an object")
    family, _, now = schema.rpartition("/")
    found, _, version = str(stored.get("schema")).rpartition("/")
    if found == family and version.isdecimal():
        sealed = int(version) >= (sealed_since or int(now))
        if seal is None and sealed and int(version) <= int(now):
            raise Broken("it has no seal")
        if seal is not None and not sealed:
            raise Broken("it has a seal, which its schema does not have")
    return stored, seal


def finite_json(text: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Parse JSON; ``NaN`` and numbers beyond a float, which ssdlab never writes, are refused.

    Raises
    ------
    Broken
        A number is invalid, and the error names its field; or a text is not valid Unicode.
    ValueError, RecursionError
        The text is not JSON, or nested too deeply.
    """
    may_overflow = _MAY_OVERFLOW.search(text) is not None
    if _MAY_BE_NO_TEXT.search(text):
        try:
            json.dumps(json.loads(text), ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Broken("a text in it is not valid Unicode") from None
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite if may_overflow else None)
    except Broken:
        name, value = next(_not_finite(json.loads(text), ()))
        raise Broken(f"{name} is {value}, which is not a number") from None


def _no_number(text: str) -> float:
    raise Broken(text)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _not_finite(stored: object, place: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Yield each number that is not finite, with the path of its field."""
    if isinstance(stored, float) and not math.isfinite(stored):
        yield ".".join(place), stored
    elif isinstance(stored, dict | list):
        for name, value in stored.items() if isinstance(stored, dict) else enumerate(stored):
            yield from _not_finite(value, (*place, str(name)))


def file_digest(folder: HeldFolder, name: str) -> str:
    """Return the SHA-256 of a file's bytes.

    Raises
    ------
    OSError
        The file cannot be read.
    Refused
        It is not a regular file.
    """
    with folder.readable(name) as path:
        return digest_of(path)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
