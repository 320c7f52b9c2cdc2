"""The library from Python: runs, figures and series as tables of pandas, polars, Arrow or numpy."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.host.documents import user_path
from ssdlab.host.state_folder import default_library
from ssdlab.library.index import RUN_COLUMNS, Index
from ssdlab.model.errors import HostError, UsageError
from ssdlab.results.catalogue_row import FIGURE_COLUMNS
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import find_run
from ssdlab.results.verifying import check_run

if TYPE_CHECKING:
    import duckdb

Form = Literal["pandas", "polars", "arrow", "numpy"]
_PACKAGES: dict[str, tuple[str, ...]] = {
    "pandas": ("pandas",),
    "polars": ("polars", "pyarrow"),
    "arrow": ("pyarrow",),
    "numpy": (),
}


class Library:
    """The finished runs of a library, on one connection that is kept.

    Parameters
    ----------
    path
        The folder of runs; by default ssdlab/runs in the XDG data folder.
    form
        What tables come as; by default the first of pandas, polars and Arrow that is installed, else numpy
        columns by their names.

    Raises
    ------
    UsageError
        There is no such form, or no such folder.
    HostError
        Its package is not installed.
    """

    def __init__(self, path: str | Path | None = None, form: Form | None = None) -> None:
        self.path = default_library() if path is None else user_path(path).absolute()
        self.form = _form(form)
        # The default one is there from the first run on; a folder that is named is there, or misspelt.
        if path is not None and not self.path.is_dir():
            raise UsageError(
                f"there is no library at {self.path}", "give the folder that was named with --library"
            )
        self._index = Index(self.path, kept=True)

    def runs(self) -> Any:  # noqa: ANN401 - of whatever package is there
        """Return one row for each run, oldest first; the columns are those of `ssdlab runs --json`."""
        return self.sql(f"SELECT {', '.join(RUN_COLUMNS)} FROM runs ORDER BY created, folder")

    def figures(self, *names: str) -> Any:  # noqa: ANN401 - as above
        """Return one row for each headline figure of each run, with the run's columns.

        Parameters
        ----------
        names
            Only figures of these names; by default all.

        Raises
        ------
        UsageError
            There is no such figure; the nearest is named.
        """
        chosen = [self._index.figure(name) for name in names]
        where = f"name IN ({', '.join('?' for _ in chosen)})" if chosen else "true"
        columns = ", ".join((*RUN_COLUMNS, *FIGURE_COLUMNS))
        return self.sql(
            f"SELECT {columns} FROM entries WHERE {where} ORDER BY created, folder, name", *chosen
        )

    def series(self, run: str) -> Any:  # noqa: ANN401 - as above
        """Return the interval rows of all steps of a run, held against their seal.

        Raises
        ------
        UsageError, Refused
            There is no such run, it is damaged, or has no tables.
        """
        from ssdlab.results.tables import SERIES, SERIES_COLUMNS

        folder = RunFolder(find_run(run, self.path))
        check_run(folder)
        found = folder.read_table(SERIES, SERIES_COLUMNS, "true", "ordinal, attempt, row, stream, direction")
        connection = self._index.connection
        connection.register("series_of_run", found)
        try:
            return self._as_form(connection.sql("SELECT * FROM series_of_run"))
        finally:
            connection.unregister("series_of_run")

    def sql(self, query: str, *values: object) -> Any:  # noqa: ANN401 - as above
        """Ask the tables `runs` and `entries` (each figure with its run) anything that DuckDB understands.

        Raises
        ------
        UsageError
            The statement does more than ask: a library is changed by its runs alone.
        """
        _require_question(query)
        self._index.refresh()
        return self._as_form(self._index.connection.sql(query, params=list(values)))

    def close(self) -> None:
        """Close connection and files."""
        self._index.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _as_form(self, found: duckdb.DuckDBPyRelation) -> Any:  # noqa: ANN401 - as above
        if self.form == "pandas":
            return found.df()
        if self.form == "polars":
            return import_module("polars").from_arrow(found.to_arrow_table())
        if self.form == "arrow":
            return found.to_arrow_table()
        return found.fetchnumpy()


def _require_question(query: str) -> None:
    import duckdb

    questions = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error:
        return  # no SQL at all: DuckDB says where, when it is asked
    for statement in statements:
        if statement.type not in questions:
            raise UsageError(
                f"{statement.type.name} is not a query, and the library is read-only",
                "use SELECT; remove runs with ssdlab rm",
            )


def _form(asked: str | None) -> str:
    """Return the form that is asked for, or the first that can be had."""
    if asked is None:
        return next(name for name, packages in _PACKAGES.items() if all(map(find_spec, packages)))
    if asked not in _PACKAGES:
        raise UsageError(f"there is no table form {asked!r}", f"give one of {', '.join(_PACKAGES)}")
    missing = [package for package in _PACKAGES[asked] if find_spec(package) is None]
    if missing:
        raise HostError(f"{missing[0]} is not installed", f"pip install {' '.join(missing)}")
    return asked
