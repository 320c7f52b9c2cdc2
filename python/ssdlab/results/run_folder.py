"""A run folder as its readers see it: manifest, steps, rows, histograms, notes.

Reading needs no lock and changes nothing, so a report or `watch` may look at a run that is still going on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import Refused
from ssdlab.results import tables
from ssdlab.results.records import (
    BeginRecord,
    EndRecord,
    JournalRecord,
    OpenRecord,
    PartRecord,
    StepResult,
    VoidRecord,
)
from ssdlab.results.schema import RUN_SCHEMA, Manifest, Note

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
STEPS = "steps"
LIVE = "live.json"
NOTES = "notes.jsonl"

AnyRecord = OpenRecord | BeginRecord | EndRecord | VoidRecord | PartRecord
_RECORD: TypeAdapter[AnyRecord] = TypeAdapter(JournalRecord)


@dataclass(frozen=True)
class Step:
    """A finished step that counts: what was asked and what came of it."""

    ordinal: int
    attempt: int
    verb: str
    label: str
    args: dict[str, object]
    result: StepResult


@dataclass(frozen=True)
class VoidedAttempt:
    """An attempt that does not count, with the reason."""

    ordinal: int
    attempt: int
    label: str
    why: str


def check_schema(found: object, known: str, path: Path) -> None:
    """Refuse a file of another or a newer schema than `known`, which is like `ssdlab.run/1`.

    Raises
    ------
    Refused
        With the schema found and the one known as facts.
    """
    family, _, ours = known.rpartition("/")
    theirs = str(found).removeprefix(family + "/")
    if not str(found).startswith(family + "/") or not theirs.isdigit():
        raise Refused(
            f"{path} is not a {family} file: its schema is {found!r}",
            "name a run folder that ssdlab wrote",
            path=str(path),
            schema=str(found),
        )
    if int(theirs) > int(ours):
        raise Refused(
            f"{path} was written by a newer ssdlab: schema {found}, this one knows up to {known}",
            "use that ssdlab, or a newer one",
            path=str(path),
            schema=str(found),
            known=known,
        )


def read_manifest(folder: Path) -> Manifest:
    """Read `manifest.json`.

    Raises
    ------
    Refused
        When there is none, it is damaged, or a newer ssdlab wrote it.
    """
    path = folder / MANIFEST
    try:
        with HeldFolder(folder) as held:
            stored = json.loads(held.read_bytes(MANIFEST).decode())
    except FileNotFoundError as error:
        raise Refused(
            f"{folder} is not a run folder: it has no {MANIFEST}", "name a run by its folder or its id"
        ) from error
    except (OSError, ValueError) as error:
        raise Refused(
            f"cannot read {path}: {error}", "the folder is damaged; restore it from a copy"
        ) from error
    check_schema(stored.get("schema") if isinstance(stored, dict) else None, RUN_SCHEMA, path)
    try:
        return Manifest.model_validate(stored)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Refused(
            f"{path} is damaged: {where}: {first['msg']}", "restore it from a copy", path=str(path)
        ) from error


def parse_journal(text: str, path: Path) -> tuple[list[AnyRecord], int]:
    """Parse journal text; give the records and the length in bytes of the whole lines.

    A last line without its newline, or one that is not a record, is the torn end of a write that a crash
    cut short: it was never promised to anybody and is left out. Anywhere else it is damage.

    Raises
    ------
    Refused
        When a line before the last is not a record.
    """
    records: list[AnyRecord] = []
    good = 0
    lines = text.split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            stored = json.loads(line)
            if isinstance(stored, dict) and stored.get("t") == "open":
                check_schema(stored.get("schema"), "ssdlab.journal/1", path)
            records.append(_RECORD.validate_python(stored))
        except ValueError as error:
            if number == len(lines) - 1 and lines[-1] == "":
                break
            raise Refused(
                f"{path} is damaged at line {number}", "restore it from a copy", path=str(path), line=number
            ) from error
        good += len(line.encode()) + 1
    return records, good


class RunFolder:
    """Read access to one run.

    Parameters
    ----------
    path
        The folder.

    Raises
    ------
    Refused
        When it is no run folder, is damaged, or was written by a newer ssdlab.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = read_manifest(path)

    def journal(self) -> list[AnyRecord]:
        """Every whole record of the journal, in order."""
        content = self._content(JOURNAL)
        return parse_journal(content.decode("utf-8", errors="replace"), self.path / JOURNAL)[0]

    def steps(self) -> list[Step]:
        """Return the finished steps that count, by ordinal."""
        return finished_steps(self.journal())

    def voided(self) -> list[VoidedAttempt]:
        """Return the attempts that do not count, in the order they were voided."""
        labels: dict[int, str] = {}
        found = []
        for record in self.journal():
            if isinstance(record, BeginRecord):
                labels[record.ordinal] = record.label
            elif isinstance(record, VoidRecord):
                label = labels.get(record.ordinal, "")
                found.append(VoidedAttempt(record.ordinal, record.attempt, label, record.why))
        return found

    def notes(self) -> list[Note]:
        """Return the dated notes that stand beside the run, oldest first."""
        lines = self._content(NOTES).decode().splitlines()
        return [Note.model_validate_json(line) for line in lines if line]

    def _content(self, name: str) -> bytes:
        """Return what is in a file; nothing if there is none."""
        with HeldFolder(self.path) as held:
            try:
                return held.read_bytes(name)
            except FileNotFoundError:
                return b""

    def rows(self, ordinal: int, attempt: int | None = None) -> tables.Columns:
        """Return the interval rows of a step (`tables.SERIES_COLUMNS`), for the attempt that counts."""
        return self._lines(tables.SERIES, ordinal, attempt, "true")

    def histograms(self, ordinal: int, attempt: int | None = None, *, by_row: bool = False) -> tables.Columns:
        """Return histogram buckets of a step (`tables.HIST_COLUMNS`): of all of it or by row."""
        chosen = f"row {'>=' if by_row else '='} {0 if by_row else tables.TOTAL_ROW}"
        return self._lines(tables.HIST, ordinal, attempt, chosen)

    def _lines(self, table: str, ordinal: int, attempt: int | None, where: str) -> tables.Columns:
        columns = tables.SERIES_COLUMNS if table == tables.SERIES else tables.HIST_COLUMNS
        order = (
            "row, stream, direction" if table == tables.SERIES else "row, stream, direction, clock, low_ns"
        )
        if attempt is None:
            attempts = next(
                (s.result.segments or (s.attempt,) for s in self.steps() if s.ordinal == ordinal), ()
            )
        else:
            attempts = (attempt,)
        listed = ", ".join(str(a) for a in attempts) or "NULL"
        chosen = f"ordinal = {ordinal} AND attempt IN ({listed}) AND {where}"
        with HeldFolder(self.path) as held:
            if not held.exists(table):
                return tables.empty(columns)
            return tables.read(held, table, columns, chosen, "attempt, " + order)


def step_logs(folder: Path | HeldFolder) -> list[str]:
    """Return the names of the step logs of a run, sorted; none once it is compacted."""
    try:
        with hold(folder).folder(STEPS) as steps:
            return [name for name in steps.names() if name.endswith(".log")]
    except FileNotFoundError:
        return []


def finished_steps(records: list[AnyRecord]) -> list[Step]:
    """Work out from journal records which steps are finished and count."""
    begun: dict[tuple[int, int], BeginRecord] = {}
    ended: dict[int, Step] = {}
    for record in records:
        if isinstance(record, BeginRecord):
            begun[record.ordinal, record.attempt] = record
        elif isinstance(record, EndRecord):
            begin = begun[record.ordinal, record.attempt]
            ended[record.ordinal] = Step(
                record.ordinal, record.attempt, begin.verb, begin.label, dict(begin.args), record.result
            )
        elif isinstance(record, VoidRecord):
            step = ended.get(record.ordinal)
            if step is not None and step.attempt == record.attempt:
                del ended[record.ordinal]
    return [ended[ordinal] for ordinal in sorted(ended)]
