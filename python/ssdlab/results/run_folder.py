"""Reads a run folder: manifest, steps, rows, histograms, notes.

Reading needs no lock and changes nothing, so that a report or `watch` can read a run while it is running.
Every file is first checked against its seal.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import Refused, check_schema, raise_shortage
from ssdlab.results import seal
from ssdlab.results.earlier import manifest_as_of_now
from ssdlab.results.lines import RESTORE, JournalText, parse_journal, parse_notes
from ssdlab.results.records import AnyRecord, BeginRecord, VoidRecord
from ssdlab.results.records import Step as Step
from ssdlab.results.records import VoidedAttempt as VoidedAttempt
from ssdlab.results.records import finished_steps as finished_steps
from ssdlab.results.schema import RUN_SCHEMA, Manifest, Note
from ssdlab.results.unwritten_tables import STEPS as STEPS
from ssdlab.results.unwritten_tables import lacks_tables, no_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ssdlab.results import tables
    from ssdlab.results.schema import SealState

MANIFEST = "manifest.json"
JOURNAL = "journal.jsonl"
LIVE = "live.json"
LIVE_SCHEMA = "ssdlab.live/2"
NOTES = "notes.jsonl"
CONDITIONS = "conditions.json"
CONDITIONS_SCHEMA = "ssdlab.conditions/2"
"""2: it carries a seal."""
CONSENT = "consent.json"
TAGS = "tags.jsonl"
_STEP_LOG = re.compile(r"\d{4,}-\d+\.log")
"""Names that `step_log.log_name` gives; the folder may also have unfinished files of a killed run."""
APART = frozenset({MANIFEST, JOURNAL, NOTES, TAGS, LIVE, CONDITIONS, CONSENT})
"""Files that the manifest's seals do not cover: they are sealed separately, or removed when the run is
finished."""


def read_manifest(folder: Path) -> Manifest:
    """Read `manifest.json`.

    Raises
    ------
    Refused
        The file is missing or damaged, or a newer ssdlab wrote it.
    """
    return read_sealed_manifest(folder)[0]


def read_sealed_manifest(folder: Path) -> tuple[Manifest, str | None]:
    """Read `manifest.json` and its seal; the seal is None in a manifest from before seals.

    Raises
    ------
    Refused
        As for `read_manifest`.
    """
    path = folder / MANIFEST
    try:
        with HeldFolder(folder) as held:
            data = held.read_bytes(MANIFEST)
    except FileNotFoundError as error:
        raise Refused(
            f"{folder} is not a run folder: it has no {MANIFEST}", "name a run by its folder or its id"
        ) from error
    except OSError as error:
        raise_shortage(error, path)
        raise Refused(f"cannot read {path}: {error.strerror}", "check that file system") from error
    return parse_manifest(data, path)


def parse_manifest(data: bytes, path: Path) -> tuple[Manifest, str | None]:
    """Parse the bytes of `manifest.json`, as `read_sealed_manifest` does; errors name `path`."""
    try:
        stored, found = seal.read_document(data, RUN_SCHEMA)
    except ValueError as error:
        raise Refused(f"{path} is damaged: {error}", RESTORE, path=str(path)) from error
    check_schema(stored.get("schema"), RUN_SCHEMA, path)
    try:
        return Manifest.model_validate(manifest_as_of_now(stored)), found
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Refused(f"{path} is damaged: {where}: {first['msg']}", RESTORE, path=str(path)) from error


class RunFolder:
    """Read access to one run.

    Raises
    ------
    Refused
        The path is no run folder, is damaged, or was written by a newer ssdlab.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest, self.seal = read_sealed_manifest(path)
        self._checked: set[str] = set()
        self._journal: JournalText | None = None

    def journal(self) -> list[AnyRecord]:
        """Return all complete records of the journal, in order.

        Raises
        ------
        Refused
            The journal is damaged, or incomplete in a finished run.
        """
        return self.read_journal().records

    def read_journal(self) -> JournalText:
        """Return the parsed journal; a finished run's is read only once. Errors are those of `journal`."""
        if self._journal is None or self.manifest.status != "finished":
            path = self.path / JOURNAL
            self._journal = parse_journal(self._content(JOURNAL), path, self.manifest.run_id)
            self._check_end(self._journal, path)
        return self._journal

    def _check_end(self, found: JournalText, path: Path) -> None:
        """Check that the journal of a finished run ends where the run did."""
        if self.manifest.status != "finished" or self.manifest.children:
            return
        sealed, lines = self.manifest.sealed, found.chain.lines
        if found.torn_bytes:
            why = f"line {lines + 1} is incomplete"
        elif sealed is not None and lines != sealed.journal_lines:
            why = f"it has {lines} lines, but the manifest records {sealed.journal_lines}"
        elif sealed is not None and found.chain.seal != sealed.journal_seal:
            why = f"line {lines} does not match the manifest"
        elif not lines:
            why = "it is empty"
        else:
            return
        raise Refused(
            f"{path} is damaged: the run is finished, but {why}", RESTORE, path=str(path), line=lines + 1
        )

    def read_table(self, name: str, columns: Mapping[str, str], where: str, order: str) -> tables.Columns:
        """Read lines of a table after checking its seal; `where` and `order` are SQL.

        Raises
        ------
        Refused
            The run has no such table, or it is damaged.
        """
        from ssdlab.results import tables  # imports numpy, which most readers do not need

        info = next((each for each in self.manifest.tables if each.name == name), None)
        if info is None:
            raise no_file(self.path, self.manifest, name)
        self._check_file(name, info.sha256)
        with HeldFolder(self.path) as held, self._undamaged(name):
            return tables.read(held, name, columns, where, order)

    def power_by_second(self) -> tables.Columns:
        """Return the mean power of each second, see `tables.power_by_second`; `verify` checks the seal.

        Raises
        ------
        Refused
            The table is damaged.
        """
        from ssdlab.results import tables

        with HeldFolder(self.path) as held, self._undamaged(tables.POWER):
            return tables.power_by_second(held, tables.POWER)

    @contextmanager
    def _undamaged(self, name: str) -> Iterator[None]:
        """Turn the error of a table that cannot be read into `Refused`."""
        from ssdlab.results import tables

        try:
            yield
        except tables.Unreadable as error:
            raise Refused(
                f"{name} of run {self.manifest.run_id} is damaged: {error}",
                "restore it from a copy, or run the method again",
                run=self.manifest.run_id,
                path=str(self.path / name),
            ) from error

    def verify(self) -> SealState:
        """Check all files of the run against their seals.

        Raises
        ------
        Refused
            A file is damaged; the error names it.
        """
        self.journal()
        self.notes()
        for table in self.manifest.tables:
            self._check_file(table.name, table.sha256)
        sealed = self.manifest.sealed
        self._check_conditions()
        for name, digest in ({} if sealed is None else sealed.files).items():
            if name not in APART:  # earlier manifests list some of these as well
                self._check_file(name, digest)
        redone = {child.run_id for child in self.manifest.redoing if child.suite}
        for run_id, digest in ({} if sealed is None else sealed.runs).items():
            if run_id in redone:
                continue  # this suite is being repeated in part, and has its own seal
            folder = self.path.parent / run_id
            if read_sealed_manifest(folder)[1] != digest:
                raise Refused(
                    f"{folder} is not the run that {self.manifest.run_id} was sealed with",
                    RESTORE,
                    path=str(folder),
                )
        return self.seal_state

    @property
    def seal_state(self) -> SealState:
        """State of the run's seals; a run without its tables is unfinished."""
        return "unfinished" if self.lacks_tables else self.manifest.seal_state

    @property
    def lacks_tables(self) -> bool:
        return lacks_tables(self.path, self.manifest)

    def _check_conditions(self) -> None:
        if data := self._content(CONDITIONS):
            path = self.path / CONDITIONS
            try:
                seal.read_document(data, CONDITIONS_SCHEMA)
            except ValueError as error:
                raise Refused(f"{path} is damaged: {error}", RESTORE, path=str(path)) from error

    def _check_file(self, name: str, digest: str | None) -> None:
        if name in self._checked:
            return
        path = self.path / name
        try:
            with HeldFolder(self.path) as held, held.opened(name):
                damaged = digest is not None and seal.file_digest(held, name) != digest
        except FileNotFoundError as error:
            raise no_file(self.path, self.manifest, name) from error
        except OSError as error:
            raise_shortage(error, path)
            raise Refused(f"cannot read {path}: {error.strerror}", "check that file system") from error
        if damaged:
            raise Refused(f"{path} is damaged: it does not match its seal", RESTORE, path=str(path))
        self._checked.add(name)

    def steps(self) -> list[Step]:
        """Return the finished steps that count, by ordinal."""
        return finished_steps(self.journal())

    def voided(self) -> list[VoidedAttempt]:
        """Return the attempts that do not count, in the order in which they were voided."""
        begun: dict[tuple[int, int], tuple[str, int]] = {}
        found = []
        for place, record in enumerate(self.journal()):
            if isinstance(record, BeginRecord):
                begun[record.ordinal, record.attempt] = record.label, place
            elif isinstance(record, VoidRecord):
                at = record.ordinal, record.attempt
                label, began = begun.get(at, ("", 0))
                found.append(VoidedAttempt(*at, label, record.why, began))
        return found

    def notes(self) -> list[Note]:
        """Return the dated notes of the run, oldest first.

        Raises
        ------
        Refused
            The notes are damaged.
        """
        return parse_notes(self._content(NOTES), self.path / NOTES).notes

    def _content(self, name: str) -> bytes:
        with HeldFolder(self.path) as held:
            try:
                return held.read_bytes(name)
            except FileNotFoundError:
                return b""

    def rows(self, ordinal: int, attempt: int | None = None) -> tables.Columns:
        """Return the interval rows of a step (`tables.SERIES_COLUMNS`), by default of attempts that count."""
        from ssdlab.results.tables import SERIES, SERIES_COLUMNS

        return self._lines(SERIES, SERIES_COLUMNS, ordinal, attempt, "true", "row, stream, direction")

    def histograms(self, ordinal: int, attempt: int | None = None, *, by_row: bool = False) -> tables.Columns:
        """Return the histogram buckets of a step (`tables.HIST_COLUMNS`), in total or by interval row."""
        from ssdlab.results.tables import HIST, HIST_COLUMNS, TOTAL_ROW

        chosen = "row >= 0" if by_row else f"row = {TOTAL_ROW}"
        order = "row, stream, direction, clock, low_ns"
        return self._lines(HIST, HIST_COLUMNS, ordinal, attempt, chosen, order)

    def telemetry(self, ordinal: int, attempt: int | None = None) -> tables.Columns:
        """Return the drive's samples of a step (`tables.TELEMETRY_COLUMNS`)."""
        from ssdlab.results.tables import TELEMETRY, TELEMETRY_COLUMNS

        return self._lines(TELEMETRY, TELEMETRY_COLUMNS, ordinal, attempt, "true", "at_ns")

    def _lines(
        self,
        table: str,
        columns: Mapping[str, str],
        ordinal: int,
        attempt: int | None,
        where: str,
        order: str,
    ) -> tables.Columns:
        from ssdlab.results.tables import empty

        if attempt is None:
            attempts = next(
                (s.result.segments or (s.attempt,) for s in self.steps() if s.ordinal == ordinal), ()
            )
        else:
            attempts = (attempt,)
        listed = ", ".join(str(a) for a in attempts) or "NULL"
        chosen = f"ordinal = {ordinal} AND attempt IN ({listed}) AND {where}"
        if not self.lacks_tables and table not in [each.name for each in self.manifest.tables]:
            return empty(columns)
        return self.read_table(table, columns, chosen, "attempt, " + order)


def step_logs(folder: Path | HeldFolder) -> list[str]:
    """Return the names of a run's step logs, sorted; none once the run is compacted."""
    try:
        with hold(folder).folder(STEPS) as steps:
            return [name for name in steps.names() if _STEP_LOG.fullmatch(name)]
    except FileNotFoundError:
        return []
