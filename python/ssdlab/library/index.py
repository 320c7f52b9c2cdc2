"""The catalogue as SQL tables in DuckDB.

`runs` has a row for each finished run (`results.catalogue_row.COLUMNS`, without figures). `entries` has a row
for each headline figure, with the columns of its run. A command queries the files directly. For repeated
queries, an `Index` keeps both tables in memory and updates them when the catalogue changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.closing import Closing
from ssdlab.model.errors import HostError, LabError, Refused, UsageError, raise_shortage, unknown
from ssdlab.results.catalogue_files import (
    ANEW,
    CURRENT,
    FOLDER,
    OPEN,
    ROWS,
    OlderCatalogue,
    Snapshot,
    current,
    table_of,
)
from ssdlab.results.catalogue_row import COLUMNS, FIGURE_COLUMNS
from ssdlab.results.kin import ALIKE, MARKS, OF_AN_ENTRY, OF_FIGURES, OF_RUNS, UNFIT, VARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

Line = dict[str, Any]
"""A row of the catalogue or of a query, by column name."""
RUN_COLUMNS = tuple(name for name in COLUMNS if name != "gone" and not name.startswith("figure_"))
_ALL_NAMED, _CLOSE_NAMED = 8, 3
"""If no name fits, an error lists up to `_ALL_NAMED` names, or else the `_CLOSE_NAMED` closest ones."""
_WORDS = ("label", "unit", "better")
_NUMBERS = f"hash({', '.join(ALIKE)}) AS kin, hash({', '.join(('drive_id', *OF_AN_ENTRY))}) AS drive"
"""SQL for two hashes. `kin` covers all properties that runs must share to be ranked together; two kinds
collide with a chance of 2^-64. `drive` identifies an entry: the drive in its variant."""
_STANDINGS = (
    "SELECT name, kin, drive, any_value(drive_id) AS drive_id, any_value(drive_name) AS drive_name, "
    "median(value) AS middle, count(*) AS runs, count(value) AS valued, min(value) AS low, "
    "max(value) AS high, "
    f"greatest(max({VARIES}), CASE WHEN count(value) > 1 THEN max(value) - min(value) END) AS {VARIES}, "
    "max(created) AS newest, arg_max(folder, created) AS folder, any_value(spare) AS spare, "
    "list_distinct([min(software), max(software)]) AS software, "
    f"{', '.join(f'any_value({name}) AS {name}' for name in OF_FIGURES)}, "
    f"list({MARKS}) FILTER ({MARKS} IS NOT NULL AND value IS NOT NULL) AS {MARKS} "
    f"FROM {{source}} WHERE coalesce(isfinite(value), {UNFIT} IS NOT NULL) AND {{where}} "
    "GROUP BY name, kin, drive"
)
"""SQL for the rows that rankings are made of: one for each figure, entry and kind of runs. Withheld figures
are included; the qualifier that withholds them keeps them in a group of their own."""
_ONE_FIGURE = (
    f"(SELECT *, {_NUMBERS} FROM (SELECT *, ?::VARCHAR AS name, "
    f"{', '.join(f'figure_{each}[place] AS {each}' for each in FIGURE_COLUMNS if each != 'name')} "
    "FROM (SELECT *, list_position(figure_name, ?) AS place FROM live) WHERE place > 0))"
)
"""SQL for the entries of one figure, read from the files. Both placeholders take the figure's name."""
FINISHED = "true AND status = ?", ["finished"]
"""The condition for all finished runs, with its values."""


class Index(Closing):
    """The catalogue of a library, open for queries.

    Parameters
    ----------
    library
        The folder of runs.
    kept
        Whether to keep the tables in memory, which pays from the second query on.

    Raises
    ------
    Refused
        The catalogue is damaged, or a newer ssdlab wrote it.
    """

    def __init__(self, library: Path, *, kept: bool = False) -> None:
        import duckdb

        self.library = library
        self._kept = kept
        self._closed = False
        self._mark: object = None
        self._snapshot: Snapshot | None = None
        self._held = catalogue_of(library)
        self._alike: dict[str, Line] = {}
        self._words: dict[tuple[str, str], Line] = {}
        self.source = "entries"
        """The table for the figure of `narrow`."""
        self.connection = duckdb.connect(config={"threads": 1})
        self.refresh()

    def close(self) -> None:
        self._closed = True
        self.connection.close()
        if self._snapshot is not None:
            self._snapshot.close()
        if self._held is not None:
            self._held.close()

    def refresh(self) -> None:
        """Update the tables if the catalogue has changed.

        Raises
        ------
        UsageError
            The index is closed.
        """
        if self._closed:
            raise UsageError("the library is closed", f"open it again: ssdlab.library({str(self.library)!r})")
        if self._held is None:
            self._held = catalogue_of(self.library)
        snapshot = None if self._held is None else self._taken(self._held)
        mark = None if snapshot is None else snapshot.mark
        if self._snapshot is not None and mark == self._mark:
            assert snapshot is not None
            snapshot.close()
            return
        if self._snapshot is not None:
            self._snapshot.close()
        self._snapshot, self._mark = snapshot, mark
        self._alike.clear()
        self._words.clear()
        rows = [] if snapshot is None else snapshot.rows
        self._define(rows, [] if snapshot is None else snapshot.paths)

    def _taken(self, held: HeldFolder) -> Snapshot:
        """Return the catalogue's current state. If an older ssdlab has written to it, rebuild it first."""
        checked = frozenset() if self._snapshot is None else self._snapshot.digests
        try:
            return Snapshot(held, checked)
        except OlderCatalogue:
            _made_anew(self.library)
            return Snapshot(held, checked)

    def ask(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query's result.

        Raises
        ------
        Refused
            The catalogue is damaged.
        """
        import duckdb

        try:
            return self.connection.execute(query, list(values)).fetchall()
        except duckdb.Error as error:
            raise_shortage(error, self.library / FOLDER)
            raise self._damaged() from error

    def narrow(self, figure: str) -> None:
        """Copy one figure's entries from the files into a table for later queries.

        An index in memory does not need this.
        """
        if self._kept:
            return
        columns = ", ".join((*RUN_COLUMNS, *FIGURE_COLUMNS, "kin", "drive"))
        query = f"CREATE OR REPLACE TEMP TABLE narrowed AS SELECT {columns} FROM {_ONE_FIGURE}"
        self.ask(query, [figure, figure])
        self.source = "narrowed"

    def standings(self, figure: str, where: str, values: Sequence[object]) -> str:
        """Return the name of a table with one figure's standings (`_STANDINGS`) among the chosen runs.

        An index in memory already has the table for all finished runs.
        """
        if self._kept and (where, list(values)) == FINISHED:
            return "standings"
        source, named = ("entries", []) if self._kept else (_ONE_FIGURE, [figure, figure])
        query = _STANDINGS.format(source=source, where=f"name = ? AND {where}")
        self.ask(f"CREATE OR REPLACE TEMP TABLE chosen AS {query}", [*named, figure, *values])
        return "chosen"

    def what_is_alike(self, folders: Sequence[str]) -> dict[str, Line]:
        """Return the `OF_RUNS` properties of runs, by folder."""
        if missing := [folder for folder in folders if folder not in self._alike]:
            listed = ", ".join("?" * len(missing))
            query = f"SELECT folder, {', '.join(OF_RUNS)} FROM runs WHERE folder IN ({listed})"
            for folder, *line in self.ask(query, missing):
                self._alike[folder] = dict(zip(OF_RUNS, line, strict=True))
        return {folder: self._alike[folder] for folder in folders}

    def what_it_is(self, figure: str, folder: str) -> Line:
        """Return label, unit and direction of a figure, read from one run."""
        if known := self._words.get((figure, folder)):
            return known
        if self._kept:
            query = f"SELECT {', '.join(_WORDS)} FROM entries WHERE folder = ? AND name = ?"
            found = self.ask(query, [folder, figure])
        else:  # querying `entries` would read the figures of all runs
            parts = ", ".join(f"figure_{each}[list_position(figure_name, ?)]" for each in _WORDS)
            found = self.ask(f"SELECT {parts} FROM live WHERE folder = ?", [*[figure] * len(_WORDS), folder])
        self._words[figure, folder] = words = dict(zip(_WORDS, found[0], strict=True))
        return words

    def figures(self) -> list[str]:
        return [name for (name,) in self.ask("SELECT DISTINCT name FROM entries ORDER BY name")]

    def figure(self, text: str) -> str:
        """Return the name of the figure that a text means: a name, or a part of only one name.

        Raises
        ------
        UsageError
            No figure fits, or several do; the error lists the nearest.
        """
        names = self.figures()
        if not names:
            raise UsageError(
                f"no finished run in {self.library} has figures",
                "make one with ssdlab run, or name another library with --library",
            )
        return figure_among(text, names)

    def tags(self) -> list[str]:
        return [tag for (tag,) in self.ask("SELECT DISTINCT unnest(tags) AS tag FROM runs ORDER BY tag")]

    def tag(self, text: str) -> str:
        """Return a tag if a run has it.

        Raises
        ------
        UsageError
            No run has the tag; the error names the nearest.
        """
        tags = self.tags()
        if text not in tags:
            elsewhere = "" if tags else "no run has a tag yet: ssdlab tag RUN WORD"
            raise unknown("tag", text, tags, elsewhere=elsewhere)
        return text

    def _define(self, rows: Sequence[Any], paths: Sequence[str]) -> None:
        """Create the tables `runs` and `entries` from pending rows and segments."""
        import duckdb

        what = "TEMP TABLE" if self._kept else "TEMP VIEW"
        columns = ", ".join(f'"{name}"' for name in RUN_COLUMNS)
        figures = ", ".join(f"unnest(figure_{name}) AS {name}" for name in FIGURE_COLUMNS)
        order = "ORDER BY name" if self._kept else ""  # queries then skip row groups of other figures
        try:
            table_of(self.connection, "pending", rows)
            live = _live(list(paths), pending=bool(rows), entered_again=self._entered_again(paths))
            self.connection.execute(f"CREATE OR REPLACE TEMP VIEW live AS {live}")
            self.connection.execute(f"CREATE OR REPLACE {what} runs AS SELECT {columns} FROM live")
            self.connection.execute(
                f"CREATE OR REPLACE {what} entries AS "
                f"SELECT *, {_NUMBERS} FROM (SELECT {columns}, {figures} FROM live) {order}"
            )
            if self._kept:
                query = _STANDINGS.format(source="entries", where="status = 'finished'")
                self.connection.execute(f"CREATE OR REPLACE TEMP TABLE standings AS {query} ORDER BY name")
        except duckdb.Error as error:
            raise_shortage(error, self.library / FOLDER)
            raise self._damaged() from error

    def _entered_again(self, paths: Sequence[str]) -> bool:
        """Create the table `newer` of rows that replace earlier segments' rows; return whether it has any."""
        if len(paths) < 2:
            return False
        self.connection.execute(
            "CREATE OR REPLACE TEMP TABLE newer AS SELECT folder, max(entered) AS entered "
            f"FROM read_parquet({list(paths)}) WHERE again GROUP BY folder"
        )
        return bool(self.connection.execute("SELECT 1 FROM newer LIMIT 1").fetchall())

    def _damaged(self) -> Refused:
        path = self.library / FOLDER
        return Refused(f"the catalogue {path} is damaged", ANEW, path=str(path))


def _live(paths: list[str], *, pending: bool, entered_again: bool) -> str:
    """Return SQL for the valid rows: pending ones, and those of segments that no newer row replaces."""
    if not paths:
        return "SELECT * FROM pending WHERE NOT gone"
    newer = unless = more = ""
    if entered_again:  # an empty join would take a third of a ranking's time
        newer = "ANTI JOIN newer ON newer.folder = s.folder AND newer.entered > s.entered "
    if pending:
        unless = "ANTI JOIN pending p ON p.folder = s.folder "
        more = "UNION ALL BY NAME SELECT * FROM pending WHERE NOT gone"
    return f"SELECT s.* EXCLUDE (again) FROM read_parquet({paths}) s {newer}{unless}WHERE NOT s.gone {more}"


def catalogue_of(library: Path) -> HeldFolder | None:
    """Open the catalogue of a library; None: the library has no runs.

    A missing or older catalogue is rebuilt from the runs.

    Raises
    ------
    Refused
        The catalogue is not a folder, or cannot be created.
    """
    found = _open(library)
    if found is not None:
        if _is_of_now(found):
            return found
        found.close()
    from ssdlab.results.run_folder import MANIFEST

    if not library.is_dir() or not any((path / MANIFEST).is_file() for path in library.iterdir()):
        return None
    _made_anew(library)
    return _open(library)


def _made_anew(library: Path) -> None:
    from ssdlab.results.catalogue import rebuild  # imports the models of a run, which queries do not need

    try:
        rebuild(library)
    except HostError as error:
        raise_shortage(error)
        raise Refused(
            f"{library} has runs but no catalogue, and none can be created there: {error.what}",
            "ask its owner to run: ssdlab library rebuild",
            path=str(library),
        ) from error


def _is_of_now(catalogue: HeldFolder) -> bool:
    """Whether there is a catalogue of this version; a damaged one counts, as its reader will report it."""
    try:
        current(catalogue)
    except OlderCatalogue:
        return False
    except Refused:
        return True
    return any(catalogue.exists(name) for name in (CURRENT, ROWS, OPEN))


def _open(library: Path) -> HeldFolder | None:
    try:
        with HeldFolder(library, follow=True) as held:
            return held.folder(FOLDER)
    except FileNotFoundError:
        return None
    except LabError:
        raise
    except OSError as error:
        path = library / FOLDER
        raise_shortage(error, path)
        raise Refused(f"cannot read {path}: {error.strerror}", "check that file system") from error


def figure_among(
    text: str, names: Sequence[str], *, elsewhere: str = "ssdlab rank, without a figure,"
) -> str:
    """Return the one of `names` that a text means: a name, or a part of only one name.

    Raises
    ------
    UsageError
        No name fits, or several do; the error lists the nearest, or all if they are few.
    """
    if text in names:
        return text
    parts = [name for name in names if f"_{text}_" in f"_{name}_"]
    if len(parts) == 1:
        return parts[0]
    if parts:
        listed = ", ".join(parts[:12]) + (" ..." if len(parts) > 12 else "")
        raise UsageError(f"{len(parts)} figures have {text!r} in their names", f"give one of: {listed}")
    error = unknown("figure", text, names)
    if len(names) > _ALL_NAMED:
        from difflib import get_close_matches  # only an error needs it

        close = get_close_matches(text, names, n=_CLOSE_NAMED, cutoff=0.4)
        like = f"did you mean {' or '.join(close)}? " if close else ""
        error.advice = f"{like}{elsewhere} lists all {len(names)}"
    raise error
