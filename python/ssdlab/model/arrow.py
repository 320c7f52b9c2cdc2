"""Numpy columns of equal length by their names, which any reader of Arrow takes for a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class ArrowColumns(dict[str, "NDArray[Any]"]):
    """A dictionary of numpy arrays, and a table of Arrow (its PyCapsule interface).

    A masked value is null there, and so is NaN.

    Parameters
    ----------
    columns
        The arrays by their names.
    types
        What they are in SQL, where that is not what numpy says: text of which all is masked is text all the
        same.
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]], types: Mapping[str, str] | None = None) -> None:
        """Keep arrays."""
        super().__init__(columns)
        self.types = types or {}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a capsule with a stream of Arrow; it needs nothing but DuckDB."""
        import duckdb

        # A database of its own: it lives as long as the stream is read, and no other waits for that.
        connection = duckdb.connect(config={"threads": 1})
        connection.execute("SET TimeZone='UTC'")  # of times, else the zone of the process
        connection.register("columns", dict(self))
        chosen = []
        for name in self:
            quoted = f'"{name.replace(chr(34), 2 * chr(34))}"'
            chosen.append(f"{quoted}::{self.types[name]} AS {quoted}" if name in self.types else quoted)
        return connection.sql(f"SELECT {', '.join(chosen)} FROM columns").__arrow_c_stream__(requested_schema)
