"""The runs of a library, newest first: finished ones by the catalogue, others by their folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.library.index import RUN_COLUMNS, Columns, Index, catalogue_of
from ssdlab.model.errors import Refused, raise_shortage, unknown
from ssdlab.results.catalogue import OPEN

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.library.choosing import Choice


@dataclass(frozen=True)
class Listing:
    """Runs of a library.

    Attributes
    ----------
    runs
        The newest that were asked for, newest first: `RUN_COLUMNS` of each.
    total
        How many there are of them in all.
    unreadable
        Folders of runs without an end that are damaged, or that a newer ssdlab wrote, with why.
    """

    runs: tuple[Columns, ...]
    total: int
    unreadable: tuple[tuple[str, str], ...]


def list_runs(library: Path, choice: Choice, limit: int | None = None) -> Listing:
    """Return the runs that are meant.

    Raises
    ------
    UsageError
        No run has that method or tag; the nearest is named.
    Refused
        The catalogue is damaged.
    """
    unfinished, unreadable = _unfinished(library)
    with Index(library) as index:
        _check(choice, index, unfinished)
        where, values = choice.where(index)
        (total,) = index.ask(f"SELECT count(*) FROM runs WHERE {where}", values)[0]
        names = ", ".join(RUN_COLUMNS)
        cut = "" if limit is None else f"LIMIT {limit}"
        found = index.ask(
            f"SELECT {names} FROM runs WHERE {where} ORDER BY created DESC, folder DESC {cut}", values
        )
    finished = [dict(zip(RUN_COLUMNS, line, strict=True)) for line in found]
    entered = {line["folder"] for line in finished}
    chosen = [line for line in unfinished if choice.fits(line) and line["folder"] not in entered]
    both = sorted([*finished, *chosen], key=lambda line: (line["created"], line["folder"]), reverse=True)
    return Listing(tuple(both[:limit]), total + len(chosen), tuple(unreadable))


def _check(choice: Choice, index: Index, unfinished: list[Columns]) -> None:
    """Refuse a method or a tag that no run has."""
    if choice.tag is not None:
        tags = {*index.tags(), *(tag for line in unfinished for tag in line["tags"])}
        if choice.tag not in tags:
            elsewhere = "" if tags else "no run has a tag yet: ssdlab tag RUN WORD"
            raise unknown("tag", choice.tag, sorted(tags), elsewhere=elsewhere)
    if choice.method is not None:
        methods = {name for (name,) in index.ask("SELECT DISTINCT method FROM runs")}
        methods |= {line["method"] for line in unfinished}
        if choice.method not in methods:
            elsewhere = "" if methods else "the library has no run yet"
            raise unknown("method", choice.method, sorted(methods), elsewhere=elsewhere)


def _unfinished(library: Path) -> tuple[list[Columns], list[tuple[str, str]]]:
    """Return the runs that the catalogue knows as begun, as they are now, and those that cannot be read."""
    held = catalogue_of(library)
    if held is None:
        return [], []
    try:
        with held, held.folder(OPEN) as unfinished:
            names = [name for name in unfinished.names() if not name.startswith(".")]
    except FileNotFoundError:
        return [], []
    if not names:
        return [], []
    from ssdlab.results.run_folder import MANIFEST  # with the models of a run: most listings do without

    found, unreadable = [], []
    for name in names:
        folder = library / name
        if not (folder / MANIFEST).is_file():  # removed by hand
            continue
        try:
            found.append(_line(folder))
        except (Refused, OSError) as error:
            raise_shortage(error)
            unreadable.append((name, error.what if isinstance(error, Refused) else str(error)))
    return found, unreadable


def _line(folder: Path) -> Columns:
    from ssdlab.results.catalogue_row import row_of
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import actual_status

    run = RunFolder(folder)
    row = row_of(run, run.manifest.seal_state).model_dump(include=set(RUN_COLUMNS))
    return row | {"status": actual_status(folder, run.manifest), "tags": list(row["tags"])}
