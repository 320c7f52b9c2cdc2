"""The library's catalogue: one line for each run and one for each headline figure, in two Parquet files.

Everything in it comes from the manifests, so it can be made anew at any time (`ssdlab library rebuild`).
Rankings read it alone and open no series. It is written under a lock and put in place by a rename, so any
number of processes may read.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import Refused
from ssdlab.results import tables
from ssdlab.results.run_folder import read_manifest
from ssdlab.results.schema import Manifest
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
class Rebuilt:
    """What a rebuild found."""

    runs: int
    figures: int
    unreadable: tuple[str, ...]


def add(library: Path | HeldFolder, folder: Path) -> None:
    """Enter one run, in place of what was there of it.

    Raises
    ------
    HostError
        When the library cannot be written.
    """
    manifest = read_manifest(folder)
    with _locked(library) as place:
        runs, figures = _read(place)
        others = runs["run_id"] != manifest.run_id
        kept = {name: column[others] for name, column in runs.items()}
        stay = figures["run_id"] != manifest.run_id
        kept_figures = {name: column[stay] for name, column in figures.items()}
        new_runs, new_figures = _lines([(folder, manifest)])
        _write(
            place,
            tables.concatenate([kept, new_runs], RUN_COLUMNS),
            tables.concatenate([kept_figures, new_figures], FIGURE_COLUMNS),
        )


def rebuild(library: Path) -> Rebuilt:
    """Make the catalogue anew from all manifests; what cannot be read is named and left out.

    Raises
    ------
    HostError
        When the library cannot be written.
    """
    found: list[tuple[Path, Manifest]] = []
    unreadable = []
    for folder in run_folders(library):
        try:
            found.append((folder, read_manifest(folder)))
        except Refused:
            unreadable.append(folder.name)
    with _locked(library) as place:
        runs, figures = _lines(found)
        _write(place, runs, figures)
    return Rebuilt(len(found), len(figures["run_id"]), tuple(unreadable))


def rank(library: Path, figure: str, *, engine: str | None = None) -> list[Ranked]:
    """Rank finished runs by a figure, best first; quick runs never among full ones unless all are quick."""
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
    with (
        place.readable(RUNS) as runs,
        place.readable(FIGURES) as figures,
        duckdb.connect(config={"threads": 1}) as con,
    ):
        lines = con.execute(query, [str(figures), str(runs), figure, engine, engine]).fetchall()
    return [Ranked(*line) for line in lines]


@contextmanager
def _locked(library: Path | HeldFolder) -> Iterator[HeldFolder]:
    """Hold the catalogue, made if there is none, against other writers; give its folder."""
    with library_errors((library if isinstance(library, Path) else library.path) / FOLDER):
        if isinstance(library, Path):
            library.mkdir(parents=True, exist_ok=True)
            library = HeldFolder(library, follow=True)
        folder = library.folder(FOLDER, make=True)
        descriptor = folder.lock_file(_LOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(descriptor)


def _read(folder: HeldFolder) -> tuple[tables.Columns, tables.Columns]:
    found = [
        tables.read(folder, name, columns, order="run_id") if folder.exists(name) else tables.empty(columns)
        for name, columns in ((RUNS, RUN_COLUMNS), (FIGURES, FIGURE_COLUMNS))
    ]
    return found[0], found[1]


def _write(folder: HeldFolder, runs: tables.Columns, figures: tables.Columns) -> None:
    tables.write(folder, RUNS, runs, RUN_COLUMNS, "run_id")
    tables.write(folder, FIGURES, figures, FIGURE_COLUMNS, "name, run_id")


def _lines(found: list[tuple[Path, Manifest]]) -> tuple[tables.Columns, tables.Columns]:
    runs = [_run_line(folder, manifest) for folder, manifest in found]
    figures = [line for _, manifest in found for line in _figure_lines(manifest)]
    return _columns(runs, RUN_COLUMNS), _columns(figures, FIGURE_COLUMNS)


def _columns(lines: list[dict[str, Any]], columns: dict[str, str]) -> tables.Columns:
    if not lines:
        return tables.empty(columns)
    return {
        name: np.array([line[name] for line in lines], dtype=tables.dtype(columns[name])) for name in columns
    }


def _run_line(folder: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "run_id": manifest.run_id,
        "folder": folder.name,
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
