"""The files of the catalogue: newly entered rows, and the segments they are merged into.

    rows/STAMP-TOKEN.json    one run each, under a unique name; entering a run renames it into place
    SEGMENT.parquet          many rows; never changed, only replaced by larger ones
    current.json             the valid segments, oldest first, and their digests; replaced by a rename
    open/FOLDER              an empty file for each run that is not finished
    changes/TOKEN            an unfinished change of several runs (`settling`)
    lock                     locked, opened for writing, by the process that merges rows

The lock is on a file, because on NFS a lock on a folder does not exclude another client.

If a run folder has several rows, the last one counts. A reader reads the rows first and then `current`: a row
that has vanished in between is in a segment. A segment has one row for each run folder. The column `again`
marks rows that replace rows of earlier segments, so that queries need not look for duplicates. Rows and
`current` are sealed like documents (`seal`), and `current` has the digest of each segment. Every reader
checks them.

Segments grow in tiers, as in a log-structured merge tree (O'Neil et al., 1996): `FAN` segments of about one
size are merged into one of the next tier. A row is therefore rewritten only log(n) times.
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
ROWS = "rows"
OPEN = "open"
CURRENT = "current.json"
CURRENT_SCHEMA = "ssdlab.catalogue/11"
"""1 had two tables that each run rewrote. 2 and 3 had the figures of a run as records; 3 added what was not
proven. 4 has figures as columns. Later versions added: 5 the meter of a figure, 6 its load, 7 seals, 8 the
workload of a saved measurement, 9 codes of qualifiers, 10 the variation of figures, 11 host, rack, firmware
and profile."""
CURRENT_SEALED_SINCE = 7
LOCK = "lock"
COMPACT_AT = 256
"""Number of rows above which they are merged: reading so many takes about 10 ms, and so does merging."""
FAN = 8
ANEW = "rebuild it from the runs: ssdlab library rebuild"
_TRIES = 20
_CHUNK = 2000
_STRUCT = json.dumps([{name: [kind[:-2]] if kind.endswith("[]") else kind for name, kind in COLUMNS.items()}])


class OlderCatalogue(Refused):
    """The catalogue was written by an older ssdlab, with another layout of segments."""


@dataclass(frozen=True)
class Segment:
    """A Parquet file of rows, as listed in `current`."""

    name: str
    rows: int
    digest: str = ""
    """SHA-256 of its bytes."""

    @property
    def tier(self) -> int:
        """Tier by size: how often the number of rows, from `COMPACT_AT`, has multiplied by `FAN`."""
        return max(0, int(math.log(max(self.rows, 1) / COMPACT_AT, FAN) + 1e-9))


class Snapshot(Closing):
    """The catalogue at one moment: rows as JSON, and segments open for reading.

    Parameters
    ----------
    checked
        Digests of segments that were checked before; a segment never changes.

    Attributes
    ----------
    rows
        The rows outside segments as JSON objects, oldest first, one for each run folder.
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
            except FileNotFoundError as error:  # merged into a larger segment meanwhile
                self._stack.close()
                if not left:
                    raise damaged(catalogue, f"{error.filename} is missing") from error
        self.segments = segments
        self.mark = (tuple(s.name for s in segments), tuple(pending))

    @property
    def digests(self) -> frozenset[str]:
        return frozenset(each.digest for each in self.segments)

    def close(self) -> None:
        self._stack.close()


@contextmanager
def _readable(catalogue: HeldFolder, segment: Segment, checked: Collection[str] = ()) -> Iterator[str]:
    """Yield the path by which DuckDB reads a segment, after checking its digest.

    Raises
    ------
    FileNotFoundError
        The segment is gone.
    Refused
        The segment is damaged.
    """
    with catalogue.readable(segment.name) as path:
        if segment.digest not in checked and digest_of(path) != segment.digest:
            raise damaged(catalogue, f"{segment.name} does not match its checksum")
        yield str(path)


def damaged(catalogue: HeldFolder, why: str) -> Refused:
    return Refused(f"the catalogue {catalogue.path} is damaged: {why}", ANEW, path=str(catalogue.path))


def _older(catalogue: HeldFolder, schema: str) -> OlderCatalogue:
    what = f"the catalogue {catalogue.path} was written by an older ssdlab"
    return OlderCatalogue(what, ANEW, path=str(catalogue.path), schema=schema)


def current(catalogue: HeldFolder) -> list[Segment]:
    """Return the valid segments, oldest first.

    Raises
    ------
    OlderCatalogue
        An older ssdlab wrote the catalogue.
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
        An older ssdlab wrote a row.
    Refused
        A row is damaged, or a newer ssdlab wrote it.
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
            except FileNotFoundError:  # merged into a segment meanwhile
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
    """Return the last entered row of each run folder."""
    return {row["folder"]: row for row in sorted(rows.values(), key=lambda row: row["entered"])}


def table_of(
    connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Document], types: str = ""
) -> None:
    """Create a temporary table of rows.

    `types` declares further columns in SQL, with a comma before each.
    """
    listed = ", ".join(f'"{column}" {kind}' for column, kind in COLUMNS.items())
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({listed}{types})")
    insert(connection, name, rows)


def insert(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Document]) -> None:
    names = ", ".join(f'"{column}"' for column in COLUMNS)
    for start in range(0, len(rows), _CHUNK):
        text = json.dumps([columns_of(row) for row in rows[start : start + _CHUNK]])
        connection.execute(
            f"INSERT INTO {name} ({names}) SELECT {', '.join(f'r.{c}' for c in COLUMNS)} "
            f"FROM (SELECT unnest(from_json(?::JSON, '{_STRUCT}')) AS r)",
            [text],
        )


def compact_if_due(catalogue: HeldFolder) -> None:
    """Merge rows if there are more than `COMPACT_AT` and no other process is merging."""
    try:
        with catalogue.folder(ROWS) as rows:
            due = len(rows.names()) > COMPACT_AT
    except FileNotFoundError:
        return
    if due:
        with locked(catalogue, wait=False) as held:
            if held:
                with suppress(OlderCatalogue):  # the next query rebuilds the catalogue
                    compact(catalogue)


@contextmanager
def locked(catalogue: HeldFolder, *, wait: bool) -> Iterator[bool]:
    """Lock the catalogue for merging; yield whether the lock was obtained."""
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
    """Merge the pending rows into a segment, and full tiers into larger segments.

    The caller holds the lock.
    """
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
    """Replace the content of the catalogue; rows entered meanwhile stay.

    The caller holds the lock.

    Parameters
    ----------
    superseded
        Names of the row files that the new rows replace.
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
    """Return the index of the first segment to merge: all segments from there to the last become one.

    Each full tier before the last segment is merged with it.
    """
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
    """Write a segment with the newest row of each run folder.

    A row that marks a removed folder stays as long as an older segment may have that folder.
    """
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
