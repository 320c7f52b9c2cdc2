"""The append-only files of a run: its journal and its notes.

Both are chains of seals. A crash can leave a torn last line; any other deviation from the seals is damage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from ssdlab.model.errors import Refused, check_schema
from ssdlab.results import seal
from ssdlab.results.records import (
    JOURNAL_SCHEMA,
    AnyRecord,
    BeginRecord,
    EndRecord,
    JournalRecord,
    OpenRecord,
    PartRecord,
)
from ssdlab.results.schema import Note

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RESTORE = "restore it from a copy"
"""Advice for a damaged file."""
_SECTOR_BYTES = 512
_UNWRITTEN = b"\0" * _SECTOR_BYTES
"""A sector that was not written before a power cut; no record contains one."""

_RECORD: TypeAdapter[AnyRecord] = TypeAdapter(JournalRecord)


@dataclass(frozen=True)
class JournalText:
    """The content of a journal.

    Attributes
    ----------
    records
        The complete records, in order.
    chain
        The records' chain of seals, which the next record continues.
    good_bytes
        Length of the complete records.
    torn_bytes
        Length of an incomplete record left by a crash.
    """

    records: list[AnyRecord]
    chain: seal.Chain
    good_bytes: int
    torn_bytes: int


def parse_journal(data: bytes, path: Path, run_id: str = "") -> JournalText:
    """Parse a journal and check its seals.

    A crash can leave an incomplete last line, which is left out: it has no newline, or an unwritten sector.
    In a journal from before seals, a last line that is no record is left out as well. Any other deviation
    from the seals is damage.

    Raises
    ------
    Refused
        The journal is damaged; the error names file and line.
    """
    records: list[AnyRecord] = []
    begun: set[tuple[int, int]] = set()
    chain, good = seal.Chain(run_id), 0
    *lines, _ = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        before = chain.copy()
        try:
            records.append(_record(chain.read(line), path, begun, sealed=chain.sealed))
        except (ValueError, RecursionError) as error:
            last = number == len(lines) and good + len(line) + 1 == len(data)
            if last and (_UNWRITTEN in line or (not before.sealed and number > 1)):
                chain = before
                break
            why = f": {error}" if isinstance(error, seal.Broken) else ""
            raise Refused(
                f"{path} is damaged at line {number}{why}", RESTORE, path=str(path), line=number
            ) from error
        good += len(line) + 1
    return JournalText(records, chain, good, len(data) - good)


@dataclass(frozen=True)
class NotesText:
    """The content of a notes file; the next note continues `chain`, after `good_bytes`."""

    notes: list[Note]
    chain: seal.Chain
    good_bytes: int


def parse_notes(data: bytes, path: Path) -> NotesText:
    """Parse notes and check their seals; an incomplete note left by a crash is left out.

    Raises
    ------
    Refused
        The notes are damaged; the error names file and line.
    """
    notes: list[Note] = []
    chain, good = seal.Chain(), 0
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            notes.append(Note.model_validate_json(chain.read(line)))
        except ValueError as error:
            why = f": {error}" if isinstance(error, seal.Broken) else ""
            raise Refused(
                f"{path} is damaged at line {number}{why}", RESTORE, path=str(path), line=number
            ) from error
        good += len(line) + 1
    return NotesText(notes, chain, good)


def journal_bytes(records: Iterable[AnyRecord], run_id: str) -> bytes:
    chain = seal.Chain(run_id)
    return b"".join(chain.write(_now(record).model_dump_json(by_alias=True)) for record in records)


def _now(record: AnyRecord) -> AnyRecord:
    """Return a record with the current schema version."""
    if isinstance(record, OpenRecord):
        return record.model_copy(update={"schema_version": JOURNAL_SCHEMA})
    return record


def _record(text: bytes, path: Path, begun: set[tuple[int, int]], *, sealed: bool) -> AnyRecord:
    stored = seal.finite_json(text)
    if isinstance(stored, dict) and stored.get("t") == "open":
        check_schema(stored.get("schema"), JOURNAL_SCHEMA, path)
        if stored["schema"] == JOURNAL_SCHEMA and not sealed:
            raise seal.Broken("it has no seal")
    record = _RECORD.validate_python(stored)
    if isinstance(record, BeginRecord):
        begun.add((record.ordinal, record.attempt))
    elif isinstance(record, EndRecord | PartRecord) and (record.ordinal, record.attempt) not in begun:
        raise seal.Broken(
            f"it ends attempt {record.attempt} of step {record.ordinal + 1}, which was not started"
        )
    return record
