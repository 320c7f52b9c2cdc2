"""The library from Python: runs, figures and series as tables of pandas, polars, Arrow or numpy."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.host.defaults import library_folder
from ssdlab.library.index import RUN_COLUMNS, Index
from ssdlab.model.errors import HostError, UsageError, unknown
from ssdlab.model.notebook import ArrowColumns
from ssdlab.model.units import share_text
from ssdlab.results.catalogue_row import FIGURE_COLUMNS
from ssdlab.results.kin import meanings
from ssdlab.results.metric import Metric, united, varies_by
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.results.store import find_run, require_finished
from ssdlab.results.verifying import check_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from ssdlab.library.comparison import Comparison
    from ssdlab.library.ranking import Ranking


Form = Literal["pandas", "polars", "arrow", "numpy"]
Table = Literal["series", "hist", "ios", "flushes", "power", "telemetry"]
_PACKAGES: dict[str, tuple[str, ...]] = {
    "pandas": ("pandas",),
    "polars": ("polars",),
    "arrow": ("pyarrow",),
    "numpy": (),
}
_FIGURES = (
    f"SELECT {', '.join((*RUN_COLUMNS, *FIGURE_COLUMNS))} FROM entries WHERE {{where}} "
    "ORDER BY created, folder, name"
)


class Library:
    """The finished runs of a library as tables; close it, or use it in a `with` block.

    Parameters
    ----------
    path
        The folder of runs; by default as for commands (`SSDLAB_LIBRARY`, `config.toml`).
    form
        Form of tables; by default the first installed of pandas, polars and Arrow. Without these, tables are
        numpy columns by name, which Arrow readers accept too.

    Raises
    ------
    UsageError
        There is no such form, or no such folder.
    HostError
        The package of the form is not installed.
    """

    def __init__(self, path: str | Path | None = None, form: Form | None = None) -> None:
        self.path = library_folder(path)
        self.form = _form(form)
        # The first run creates the default library; a named folder that is missing is misspelt.
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
            Names of the figures to return; by default all.

        Raises
        ------
        UsageError
            There is no such figure; the error names the nearest.
        """
        chosen = [self._index.figure(name) for name in names]
        where = f"name IN ({', '.join('?' for _ in chosen)})" if chosen else "true"
        return self.sql(_FIGURES.format(where=where), *chosen)

    def series(self, run: str, table: Table = "series") -> Any:  # noqa: ANN401 - as above
        """Return a table of all steps of a run, checked against its seal.

        Parameters
        ----------
        run
            The run, as in commands: its folder, `last`, or a part of its id.
        table
            ``series`` (interval rows), ``hist`` (histograms), ``ios`` (logged single I/Os), ``flushes``,
            ``power`` or ``telemetry``.

        Raises
        ------
        UsageError, Refused
            There is no such run or table, or it is damaged.
        """
        from ssdlab.results import tables

        if table not in tables.TABLES:
            raise unknown("table", table, tables.TABLES)
        name, columns, order = tables.TABLES[table]
        folder = RunFolder(find_run(run, self.path))
        check_run(folder)
        found = folder.read_table(name, columns, "true", order)
        connection = self._index.connection
        connection.register("series_of_run", found)
        try:
            return self._as_form(connection.sql("SELECT * FROM series_of_run"))
        finally:
            connection.unregister("series_of_run")

    def result(self, run: str) -> RunResult:
        """Return the headline figures of a finished run with their evidence; for a review, of its parts.

        Raises
        ------
        UsageError, Refused
            There is no such run, it is damaged, or not finished.
        """
        return result_of(run, self.path)

    def rank(
        self,
        figure: str,
        *,
        drive: str | None = None,
        method: str | None = None,
        since: str | None = None,
        tag: str | None = None,
        like: str | None = None,
        limit: int | None = None,
    ) -> Ranking:
        """Rank drives by a headline figure, as ``ssdlab rank`` does; the arguments are its options.

        Raises
        ------
        UsageError
            There is no such figure, tag or run, or no matching run can be ranked.
        """
        from ssdlab.library.choosing import Choice, since_of
        from ssdlab.library.ranking import rank

        self._index.refresh()
        choice = Choice(drive, method, tag, None if since is None else since_of(since), "finished")
        run = None if like is None else find_run(like, self.path).name
        return rank(self._index, figure, choice, like=run, limit=limit)

    def compare(self, base: str, new: str, *fail_if: str) -> Comparison:
        """Compare two sets of runs, as ``ssdlab compare`` does; `fail_if` are rules such as ``p99 > +5%``.

        Raises
        ------
        UsageError, Refused
            There is no such run, tag or figure, the sets have none in common, or a run is damaged.
        """
        from ssdlab.library.comparing import compare, rule_of

        return compare(self.path, base, new, [rule_of(text) for text in fail_if])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return all figures with their runs as an Arrow stream, for Arrow readers.

        The column `created` is a timestamp.
        """
        self._index.refresh()
        found = _columns(self._index.connection.sql(_FIGURES.format(where="true")))
        return ArrowColumns(found, {**found.types, "created": "TIMESTAMPTZ"}).__arrow_c_stream__(
            requested_schema
        )

    def sql(self, query: str, *values: object) -> Any:  # noqa: ANN401 - as above
        """Run an SQL query of DuckDB on the tables `runs` and `entries`; `values` fill its placeholders.

        `entries` has one row for each figure, with the columns of its run.

        Raises
        ------
        UsageError
            The statement is not a query; the library is read-only.
        """
        _require_question(query)
        self._index.refresh()
        return self._as_form(self._index.connection.sql(query, params=list(values)))

    def close(self) -> None:
        self._index.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _as_form(self, found: duckdb.DuckDBPyRelation) -> Any:  # noqa: ANN401 - as above
        if self.form == "pandas":
            return found.df()
        if self.form == "polars":
            return import_module("polars").DataFrame(found)
        if self.form == "arrow":
            return found.to_arrow_table()
        return _columns(found)


def _columns(found: duckdb.DuckDBPyRelation) -> ArrowColumns:
    """Return a query's result as numpy columns.

    Text columns are declared, because a column with only missing values does not show that it is text.
    """
    kinds = zip(found.columns, map(str, found.types), strict=True)
    return ArrowColumns(
        found.fetchnumpy(), {name: kind for name, kind in kinds if kind.startswith("VARCHAR")}
    )


def _require_question(query: str) -> None:
    import duckdb

    questions = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error:
        return  # not SQL: DuckDB reports the place when the query runs
    for statement in statements:
        if statement.type not in questions:
            raise UsageError(
                f"{statement.type.name} is not a query, and the library is read-only",
                "use SELECT; remove runs with ssdlab rm",
            )


def _form(asked: str | None) -> str:
    if asked is None:
        return next(name for name, packages in _PACKAGES.items() if all(map(find_spec, packages)))
    if asked not in _PACKAGES:
        raise UsageError(f"there is no table form {asked!r}", f"give one of {', '.join(_PACKAGES)}")
    missing = [package for package in _PACKAGES[asked] if find_spec(package) is None]
    if missing:
        raise HostError(f"{missing[0]} is not installed", f"pip install {' '.join(missing)}")
    return asked


@dataclass(frozen=True)
class RunResult:
    """The headline figures of a run.

    Attributes
    ----------
    run, title, drive
        Name of the run folder, title of the method, and name of the drive.
    figures
        Pairs of a part of the review, empty for a single run, and a figure.
    """

    run: str
    title: str
    drive: str
    figures: tuple[tuple[str, Metric], ...]

    def _repr_html_(self) -> str:
        from ssdlab.model.notebook import table_html

        head = ("part", "figure", "value", "load", "varies", "qualifiers")
        rows = [
            (part, each.label, each.words, each.load.words if each.load else "", _varies(each), each.state)
            for part, each in self.figures
        ]
        kept = [at for at in range(len(head)) if at in (1, 2) or any(row[at] for row in rows)]
        found = united(each for _, figure in self.figures for each in figure.qualifiers)
        below = meanings([each.code for each in found], {each.code: each.why for each in found})
        return table_html(
            f"{self.title}: {self.drive}",
            [self.run],
            [head[at] for at in kept],
            [[row[at] for at in kept] for row in rows],
            below,
            words=[place for place, at in enumerate(kept) if head[at] != "value"],
        )


def result_of(text: str, library: Path) -> RunResult:
    """Return the result of a finished run, checked against its seals; for a review, of its parts.

    Raises
    ------
    UsageError, Refused
        There is no such run, it is damaged, or not finished.
    """
    folder = find_run(text, library)
    run = require_finished(folder)
    title, drive = run.manifest.method.title, run.manifest.drive_names
    return RunResult(run.path.name, title, drive, tuple(_figures("", run)))


def _figures(part: str, run: RunFolder) -> Iterator[tuple[str, Metric]]:
    check_run(run)
    for child in run.manifest.children:
        folder = run.path.parent / child.run_id
        if child.left_out is None and (folder / MANIFEST).is_file():
            found = RunFolder(folder)
            if found.manifest.status == "finished":
                yield from _figures(", ".join(filter(None, (part, child.part))), found)
    if not run.manifest.children:
        scalars = (run.manifest.result or {}).get("scalars")
        for each in scalars if isinstance(scalars, list) else ():
            figure = Metric.model_validate(each)
            if figure.value is not None or figure.qualifiers:
                yield part, figure


def _varies(figure: Metric) -> str:
    """Return a figure's variation as a share of its value, in words; empty: unknown."""
    varies = varies_by(figure)
    if varies is None or not figure.value:
        return ""
    return varies.words(share_text(varies.amount / abs(figure.value)))
