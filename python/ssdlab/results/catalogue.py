"""The library's catalogue: one line for each run and one for each headline figure, in two Parquet files.

Everything in it comes from the runs, so it can be made anew at any time (`ssdlab library rebuild`). A run is
entered after it was held against its seals, and queries trust that.
Rankings read it alone and open no series. It is written under a lock and put in place by a rename, so any
number of processes may read.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.model.errors import Refused
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Manifest, SealState, TableInfo
from ssdlab.results.store import run_folders

FOLDER = ".catalogue"
RUNS = "runs.parquet"
FIGURES = "figures.parquet"
_LOCK = "lock"

RUN_COLUMNS = {
    "run_id": "VARCHAR",
    "folder": "VARCHAR",
    "status": "VARCHAR",
    "method": "VARCHAR",
    "version": "INTEGER",
    "quick": "BOOLEAN",
    "engine": "VARCHAR",
    "drive_id": "VARCHAR",
    "drive_name": "VARCHAR",
    "drive_kind": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "seed": "VARCHAR",
    "tool": "VARCHAR",
    "created": "VARCHAR",
    "departures": "INTEGER",
    "warnings": "INTEGER",
    "seal": "VARCHAR",
}
FIGURE_COLUMNS = {
    "run_id": "VARCHAR",
    "name": "VARCHAR",
    "label": "VARCHAR",
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "better": "VARCHAR",
}


@dataclass(frozen=True)
class Ranked:
    """One line of a ranking."""

    run_id: str
    drive_name: str
    engine: str
    quick: bool
    value: float
    unit: str


@dataclass(frozen=True)
class _Entry:
    """A run to enter, with the state of the seal that it was just held against."""

    folder: Path
    manifest: Manifest
    seal: SealState


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild found."""

    runs: int
    figures: int
    unreadable: tuple[str, ...]


def add(library: Path | HeldFolder, folder: Path, tables_now: tuple[TableInfo, ...] = ()) -> None:
    """Enter one run, checked against its seals, in place of what was there of it.

    Parameters
    ----------
    library, folder
        Where it is.
    tables_now
        Tables that were just written; the run's manifest does not name them yet.

    Raises
    ------
    Refused
        The run is damaged.
    Refused
        The run is damaged.
    HostError
        When the library cannot be written.
    """
    run = RunFolder(folder)
    if tables_now:
        run.manifest = run.manifest.model_copy(update={"tables": tables_now})
    manifest, entry = run.manifest, _Entry(folder, run.manifest, run.verify())
    with _locked(library) as place:
        runs, figures = _read(place, folder.parent)
        others = runs["run_id"] != manifest.run_id
        kept = {name: column[others] for name, column in runs.items()}
        stay = figures["run_id"] != manifest.run_id
        kept_figures = {name: column[stay] for name, column in figures.items()}
        new_runs, new_figures = _lines([entry])
        _write(
            place,
            tables.concatenate([kept, new_runs], RUN_COLUMNS),
            tables.concatenate([kept_figures, new_figures], FIGURE_COLUMNS),
        )


def rebuild(library: Path) -> Rebuilt:
    """Make the catalogue anew from all runs, each checked against its seals; what is damaged is left out.

    Raises
    ------
    HostError
        When the library cannot be written.
    """
    found, unreadable = _entries(run_folders(library))
    with _locked(library) as place:
        runs, figures = _lines(found)
        _write(place, runs, figures)
    return Rebuilt(len(found), len(figures["run_id"]), tuple(unreadable))


def _entries(folders: Iterable[Path]) -> tuple[list[_Entry], list[str]]:
    """Return the runs that can be entered, and the names of those that are damaged."""
    found: list[_Entry] = []
    unreadable = []
    for folder in folders:
        try:
            run = RunFolder(folder)
            found.append(_Entry(folder, run.manifest, run.verify()))
        except Refused:
            unreadable.append(folder.name)
    return found, unreadable


def rank(library: Path, figure: str, *, engine: str | None = None) -> list[Ranked]:
    """Rank finished runs by a figure, best first; quick runs never among full ones unless all are quick.

    Trusts the seals that were checked when the runs were entered.

    Raises
    ------
    Refused
        The catalogue is damaged.
    """
    import duckdb

    try:
        with HeldFolder(library, follow=True) as held:
            place = held.folder(FOLDER)
    except FileNotFoundError:
        return []
    query = (
        "SELECT r.run_id, r.drive_name, r.engine, r.quick, f.value, f.unit "
        "FROM read_parquet(?) f JOIN read_parquet(?) r USING (run_id) "
        "WHERE f.name = ? AND NOT isnan(f.value) AND r.status = 'finished' AND (? IS NULL OR r.engine = ?) "
        "ORDER BY r.quick, CASE f.better WHEN 'higher' THEN -f.value ELSE f.value END, r.run_id"
    )
    if not place.exists(RUNS):
        return []
    try:
        with (
            place.readable(RUNS) as runs,
            place.readable(FIGURES) as figures,
            duckdb.connect(config={"threads": 1}) as con,
        ):
            lines = con.execute(query, [str(figures), str(runs), figure, engine, engine]).fetchall()
    except duckdb.Error as error:
        raise Refused(
            f"the catalogue {library / FOLDER} is damaged",
            "make it anew from the runs: ssdlab library rebuild",
            path=str(library / FOLDER),
        ) from error
    return [Ranked(*line) for line in lines]


@contextmanager
def _locked(library: Path | HeldFolder) -> Iterator[HeldFolder]:
    """Hold the catalogue, made if there is none, against other writers; give its folder."""
    with library_errors((library if isinstance(library, Path) else library.path) / FOLDER):
        if isinstance(library, Path):
            library = HeldFolder(library, make=FOLDER_MODE)
        folder = library.folder(FOLDER, make=True)
        descriptor = folder.lock_file(_LOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(descriptor)


def _read(folder: HeldFolder, library: Path) -> tuple[tables.Columns, tables.Columns]:
    """Read both tables; where one is damaged, or of an older ssdlab, they are made anew from the runs."""
    import duckdb

    try:
        found = [
            tables.read(folder, name, columns, order="run_id")
            if folder.exists(name)
            else tables.empty(columns)
            for name, columns in ((RUNS, RUN_COLUMNS), (FIGURES, FIGURE_COLUMNS))
        ]
    except duckdb.Error:
        return _lines(_entries(run_folders(library))[0])
    return found[0], found[1]


def _write(folder: HeldFolder, runs: tables.Columns, figures: tables.Columns) -> None:
    tables.write(folder, RUNS, runs, RUN_COLUMNS, "run_id")
    tables.write(folder, FIGURES, figures, FIGURE_COLUMNS, "name, run_id")


def _lines(found: list[_Entry]) -> tuple[tables.Columns, tables.Columns]:
    runs = [_run_line(entry) for entry in found]
    figures = [line for entry in found for line in _figure_lines(entry.manifest)]
    return _columns(runs, RUN_COLUMNS), _columns(figures, FIGURE_COLUMNS)


def _columns(lines: list[dict[str, Any]], columns: dict[str, str]) -> tables.Columns:
    if not lines:
        return tables.empty(columns)
    return {
        name: np.array([line[name] for line in lines], dtype=tables.dtype(columns[name])) for name in columns
    }


def _run_line(entry: _Entry) -> dict[str, Any]:
    manifest = entry.manifest
    return {
        "run_id": manifest.run_id,
        "folder": entry.folder.name,
        "status": manifest.status,
        "method": manifest.method.name,
        "version": manifest.method.version,
        "quick": manifest.quick,
        "engine": manifest.engine,
        "drive_id": manifest.drive.id,
        "drive_name": manifest.drive.name,
        "drive_kind": manifest.drive.kind,
        "capacity_bytes": manifest.drive.capacity_bytes,
        "seed": str(manifest.seed),
        "tool": str(manifest.tool.get("version", "")),
        "created": manifest.created,
        "departures": len(manifest.departures),
        "warnings": len(manifest.warnings),
        "seal": entry.seal,
    }


def _figure_lines(manifest: Manifest) -> list[dict[str, Any]]:
    scalars: Any = (manifest.result or {}).get("scalars") or []
    return [
        {
            "run_id": manifest.run_id,
            "name": scalar["name"],
            "label": scalar["label"],
            "value": float("nan") if scalar["value"] is None else scalar["value"],
            "unit": scalar["unit"],
            "better": scalar["better"],
        }
        for scalar in scalars
    ]
