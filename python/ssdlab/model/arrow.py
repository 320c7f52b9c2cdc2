"""Numpy columns of equal length by name, which Arrow readers accept as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class ArrowColumns(dict[str, "NDArray[Any]"]):
    """A dictionary of numpy arrays that is also an Arrow table (PyCapsule interface).

    Masked values and NaN become null.

    Parameters
    ----------
    columns
        The arrays by name.
    types
        Their SQL types, if different from numpy's, such as text that is all masked.
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
