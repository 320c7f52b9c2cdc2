"""The files of the catalogue: newly entered rows, and the segments they are merged into.

    rows/STAMP-TOKEN.json    one run each, under a unique name; entering a run renames it into place
    SEGMENT.parquet          many rows; never changed, only replaced by larger ones
    current.json             which segments count, oldest first, and their digests; replaced by a rename
    open/FOLDER              an empty file for each run that is not finished
    changes/TOKEN            an unfinished change of several runs (`settling`)
    lock                     held, opened for writing, by the process that merges rows (on NFS a lock on a
    folder does not exclude another client, but one on such a file does)

Of several rows of a folder the last one counts. A reader takes the rows first and then `current`, so that a
row that vanished meanwhile is in a segment. A segment has a folder once, and marks rows that replace older
ones in earlier segments with `again`, so that queries need not look for duplicates. Rows and `current` are
sealed like documents (`seal`), and `current` has the digest of each segment; every reader checks them.

Segments grow in tiers, as in a log-structured merge tree (O'Neil et al., 1996): `FAN` of about one size
become one of the next, so a row is written again only log(n) times.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import secrets
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.documents import Document
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.closing import Closing
from ssdlab.model.errors import Refused, check_schema
from ssdlab.results.catalogue_row import (
    COLUMNS,
    ROW_SCHEMA,
    ROW_SEALED_SINCE,
    columns_of,
    is_row,
)
from ssdlab.results.seal import digest_of, read_document, seal_document

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import duckdb

FOLDER = ".catalogue"
"""Its name in a library."""
ROWS = "rows"
OPEN = "open"
CURRENT = "current.json"
CURRENT_SCHEMA = "ssdlab.catalogue/11"
"""1 were two tables that each run rewrote; 2 and 3 had the figures of a run as records, 2 without what was
not shown; 4 has them as columns; 5 with the meter of each, 6 with the load that it was taken at.
7 is sealed. 8 has the workload of a measurement that was saved. 9 has codes of what was not shown.
10 has by how much figures vary, 11 host, rack, firmware and profile."""
CURRENT_SEALED_SINCE = 7
LOCK = "lock"
COMPACT_AT = 256
"""Rows before they are merged: reading so many takes about 10 ms, and so does merging."""
FAN = 8
ANEW = "rebuild it from the runs: ssdlab library rebuild"
_TRIES = 20
_CHUNK = 2000
_STRUCT = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in COLUMNS.items()}])


class OlderCatalogue(Refused):
    """The catalogue was written by an older ssdlab, with another layout of segments."""


@dataclass(frozen=True)
class Segment:
    """A Parquet file of rows, as `current` names it."""

    name: str
    rows: int
    digest: str = ""
    """SHA-256 of its bytes."""

    @property
    def tier(self) -> int:
        """How often its rows have multiplied by `FAN`."""
        return max(0, int(math.log(max(self.rows, 1) / COMPACT_AT, FAN) + 1e-9))


class Snapshot(Closing):
    """The catalogue at one moment: rows as JSON, segments open for reading.

    Parameters
    ----------
    catalogue
        Where it is.
    checked
        Digests of already checked segments, which never change.

    Attributes
    ----------
    rows
        A JSON object for each row outside segments, oldest first, one for each folder.
    paths
        Paths for reading the segments, oldest first.
    mark
        Equal for two snapshots with the same content.
    """

    def __init__(self, catalogue: HeldFolder, checked: Collection[str] = ()) -> None:
        pending = pending_rows(catalogue)
        self.rows = list(newest(pending).values())
        self._stack = ExitStack()
        self.paths: list[str] = []
        for left in reversed(range(_TRIES)):
            segments = current(catalogue)
            try:
                self.paths = [
                    self._stack.enter_context(_readable(catalogue, each, checked)) for each in segments
                ]
                break
            except FileNotFoundError as error:  # put into a larger one meanwhile
                self._stack.close()
                if not left:
                    raise damaged(catalogue, f"{error.filename} is missing") from error
        self.segments = segments
        self.mark = (tuple(s.name for s in segments), tuple(pending))

    @property
    def digests(self) -> frozenset[str]:
        """Those of its segments."""
        return frozenset(each.digest for each in self.segments)

    def close(self) -> None:
        """Close the segments."""
        self._stack.close()


@contextmanager
def _readable(catalogue: HeldFolder, segment: Segment, checked: Collection[str] = ()) -> Iterator[str]:
    """Give the path by which DuckDB reads a segment, checked against its digest.

    Raises
    ------
    FileNotFoundError
        It is gone.
    Refused
        It is damaged.
    """
    with catalogue.readable(segment.name) as path:
        if segment.digest not in checked and digest_of(path) != segment.digest:
            raise damaged(catalogue, f"{segment.name} does not match its checksum")
        yield str(path)


def damaged(catalogue: HeldFolder, why: str) -> Refused:
    """Return the error for a catalogue that cannot be read."""
    return Refused(f"the catalogue {catalogue.path} is damaged: {why}", ANEW, path=str(catalogue.path))


def _older(catalogue: HeldFolder, schema: str) -> OlderCatalogue:
    what = f"the catalogue {catalogue.path} was written by an older ssdlab"
    return OlderCatalogue(what, ANEW, path=str(catalogue.path), schema=schema)


def current(catalogue: HeldFolder) -> list[Segment]:
    """Return the valid segments, oldest first.

    Raises
    ------
    OlderCatalogue
        An older ssdlab wrote it.
    Refused
        The file is damaged, or a newer ssdlab wrote it.
    """
    try:
        data = catalogue.read_bytes(CURRENT)
    except FileNotFoundError:
        return []
    try:
        stored, _ = read_document(data, CURRENT_SCHEMA, sealed_since=CURRENT_SEALED_SINCE)
        check_schema(stored["schema"], CURRENT_SCHEMA, catalogue.path / CURRENT)
        if stored["schema"] != CURRENT_SCHEMA:
            raise _older(catalogue, stored["schema"])
        return [
            Segment(str(each["name"]), int(each["rows"]), str(each["digest"])) for each in stored["segments"]
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(catalogue, f"{CURRENT} does not match its seal") from error


def pending_rows(catalogue: HeldFolder) -> dict[str, Document]:
    """Return the rows outside segments, by file name, oldest first.

    Raises
    ------
    OlderCatalogue
        An older ssdlab wrote one.
    Refused
        One is damaged, or a newer ssdlab wrote it.
    """
    try:
        folder = catalogue.folder(ROWS)
    except FileNotFoundError:
        return {}
    found: dict[str, Document] = {}
    with folder:
        for name in folder.names():
            if name.startswith("."):  # being written
                continue
            try:
                data = folder.read_bytes(name)
            except FileNotFoundError:  # put into a segment meanwhile
                continue
            try:
                stored, _ = read_document(data, ROW_SCHEMA, sealed_since=ROW_SEALED_SINCE)
                check_schema(stored["schema"], ROW_SCHEMA, folder.path / name)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise damaged(catalogue, f"{ROWS}/{name} does not match its seal") from error
            if stored["schema"] != ROW_SCHEMA:
                raise _older(catalogue, stored["schema"])
            if not is_row(stored):
                raise damaged(catalogue, f"{ROWS}/{name} does not match its seal")
            found[name] = stored
    return found


def newest(rows: dict[str, Document]) -> dict[str, Document]:
    """Return the last entered row of each folder."""
    return {row["folder"]: row for row in sorted(rows.values(), key=lambda row: row["entered"])}


def table_of(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Document], types: str = ""
) -> None:
    """Create a temporary table of rows; `types` are further columns, as SQL."""
    listed = ", ".join(f'"{column}" {kind}' for column, kind in COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({listed}{types})")
    insert(connection, name, rows)


def insert(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Document]) -> None:
    """Insert rows into a table."""
    names = ", ".join(f'"{column}"' for column in COLUMNS)
    for start in range(0, len(rows), _CHUNK):
        text = json.dumps([columns_of(row) for row in rows[start : start + _CHUNK]])
        connection.execute(
            f"INSERT INTO {name} ({names}) SELECT {', '.join(f'r.{c}' for c in COLUMNS)} "
            f"FROM (SELECT unnest(from_json(?::JSON, '{_STRUCT}')) AS r)",
            [text],
        )


def compact_if_due(catalogue: HeldFolder) -> None:
    """Merge rows if there are many, unless another process does; raises as `compact`."""
    try:
        with catalogue.folder(ROWS) as rows:
            due = len(rows.names()) > COMPACT_AT
    except FileNotFoundError:
        return
    if due:
        with locked(catalogue, wait=False) as held:
            if held:
                with suppress(OlderCatalogue):  # whoever asks next makes it anew
                    compact(catalogue)


@contextmanager
def locked(catalogue: HeldFolder, *, wait: bool) -> Iterator[bool]:
    """Lock the catalogue for merging; yield whether the lock was taken."""
    descriptor = catalogue.lock_file(LOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def compact(catalogue: HeldFolder) -> None:
    """Merge the pending rows into a segment, and segments of one size into a larger one, under the lock."""
    import duckdb

    pending = pending_rows(catalogue)
    segments = current(catalogue)
    with duckdb.connect(config={"threads": 1}) as connection, ExitStack() as stack:
        table_of(connection, "fresh", list(newest(pending).values()), ", again BOOLEAN")
        parts = [*segments, Segment("", len(pending))]
        first = _first_to_merge(parts)
        merged, kept = parts[first:-1], segments[:first]
        query = "SELECT * FROM fresh"
        for each in merged:
            path = stack.enter_context(_readable(catalogue, each))
            query += f" UNION ALL BY NAME SELECT * FROM read_parquet('{path}')"
        older = [str(stack.enter_context(catalogue.readable(each.name))) for each in kept]
        made = _write_segment(connection, catalogue, query, older)
        _put_current(catalogue, [*kept, *made])
    for each in merged:
        catalogue.remove(each.name)
    with catalogue.folder(ROWS) as rows:
        for name in pending:
            rows.remove(name)


def replace_all(catalogue: HeldFolder, rows: Sequence[Document], superseded: Sequence[str]) -> None:
    """Replace the catalogue by these rows, under the lock; rows entered meanwhile stay.

    Parameters
    ----------
    catalogue, rows
        The catalogue, and its new rows.
    superseded
        Files of rows that these replace.
    """
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        table_of(connection, "fresh", rows, ", again BOOLEAN")
        made = _write_segment(connection, catalogue, "SELECT * FROM fresh", [])
    _put_current(catalogue, made)
    with catalogue.folder(ROWS, make=True) as folder:
        for name in superseded:
            folder.remove(name)
    for name in catalogue.names():
        if name.endswith(".parquet") and name not in [each.name for each in made]:
            catalogue.remove(name)


def _first_to_merge(parts: Sequence[Segment]) -> int:
    """Return from where on segments become one with the last: tiers before it that are full go with it."""
    first = len(parts) - 1
    while True:
        rows = sum(each.rows for each in parts[first:])
        tier = Segment("", rows).tier
        alike = 0
        while alike < first and parts[first - 1 - alike].tier <= tier:
            alike += 1
        if alike < FAN - 1:
            return first
        first -= alike


def _write_segment(
    connection: duckdb.DuckDBPyConnection, catalogue: HeldFolder, query: str, older: Sequence[str]
) -> list[Segment]:
    """Write the newest row of each folder; what is gone stays as long as an older segment may have it."""
    before = f"SELECT folder FROM read_parquet({list(older)})" if older else "SELECT '' WHERE false"
    name = f"{secrets.token_hex(8)}.parquet"
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    with catalogue.replacing(name) as descriptor:
        path = f"/proc/self/fd/{descriptor}"
        connection.execute(
            f"COPY (SELECT {columns}, coalesce(again, false) OR folder IN ({before}) AS again "
            f"FROM (SELECT * FROM ({query}) QUALIFY row_number() OVER "
            "(PARTITION BY folder ORDER BY entered DESC) = 1) "
            f"WHERE NOT gone OR {str(bool(older)).lower()} ORDER BY folder) "
            f"TO '{path}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
        )
        counted = connection.execute(f"SELECT count(*) FROM read_parquet('{path}')").fetchone()
        digest = digest_of(Path(path))
    rows = int(counted[0]) if counted else 0
    if not rows:
        catalogue.remove(name)
        return []
    return [Segment(name, rows, digest)]


def _put_current(catalogue: HeldFolder, segments: Sequence[Segment]) -> None:
    content: dict[str, Any] = {
        "schema": CURRENT_SCHEMA,
        "segments": [asdict(each) for each in segments],
    }
    catalogue.replace(CURRENT, seal_document(json.dumps(content)))
