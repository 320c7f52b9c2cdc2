"""The tables of a finished run: their columns, writing and reading.

`ROW_IS` and `MEANING` say what a row and a column are. A run has the tables `ios`, `flushes`, `power` and
`telemetry` only if its steps logged single I/Os, flushed, were metered or were sampled.

Only this module, the catalogue and `model.notebook` import duckdb, and only when called, to keep the runner
small. Readers import only duckdb's native module, as its Python layer takes twice as long to load.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ssdlab.model.errors import raise_shortage
from ssdlab.model.telemetry import FIGURES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from _duckdb import DuckDBPyConnection

    from ssdlab.host.held_folder import HeldFolder

Columns = dict[str, npt.NDArray[Any]]

SERIES = "series.parquet"
HIST = "hist.parquet"
IOS = "ios.parquet"
FLUSHES = "flushes.parquet"
POWER = "power.parquet"
TELEMETRY = "telemetry.parquet"
TOTAL_ROW = -1

_KEY = {
    "ordinal": "INTEGER",
    "attempt": "INTEGER",
    "row": "INTEGER",
    "stream": "VARCHAR",
    "direction": "VARCHAR",
}
SERIES_COLUMNS: Mapping[str, str] = {
    **_KEY,
    "start_ns": "BIGINT",
    "end_ns": "BIGINT",
    "ramp": "BOOLEAN",
    "partial": "BOOLEAN",
    "paused": "BOOLEAN",
    "ios": "BIGINT",
    "bytes": "BIGINT",
    "failed": "BIGINT",
    "dropped": "BIGINT",
    "late": "BIGINT",
    "service_p50_ns": "DOUBLE",
    "service_p99_ns": "DOUBLE",
    "service_p999_ns": "DOUBLE",
    "service_max_ns": "DOUBLE",
    "response_p50_ns": "DOUBLE",
    "response_p99_ns": "DOUBLE",
    "response_p999_ns": "DOUBLE",
    "response_max_ns": "DOUBLE",
    "in_flight_mean": "DOUBLE",
    "in_flight_max": "BIGINT",
}
HIST_COLUMNS: Mapping[str, str] = {
    **_KEY,
    "clock": "VARCHAR",
    "low_ns": "BIGINT",
    "high_ns": "BIGINT",
    "count": "BIGINT",
}
TELEMETRY_COLUMNS: Mapping[str, str] = {
    "ordinal": "INTEGER",
    "attempt": "INTEGER",
    "at_ns": "BIGINT",
    **dict.fromkeys(FIGURES, "DOUBLE"),
}
IO_COLUMNS: Mapping[str, str] = {
    "ordinal": "INTEGER",
    "attempt": "INTEGER",
    "stream": "VARCHAR",
    "direction": "VARCHAR",
    "intended_ns": "BIGINT",
    "submit_ns": "BIGINT",
    "latency_ns": "BIGINT",
    "offset": "BIGINT",
    "length": "BIGINT",
}
FLUSH_COLUMNS: Mapping[str, str] = {
    "ordinal": "INTEGER",
    "attempt": "INTEGER",
    "row": "INTEGER",
    "stream": "VARCHAR",
    "start_ns": "BIGINT",
    "end_ns": "BIGINT",
    "ramp": "BOOLEAN",
    "partial": "BOOLEAN",
    "flushes": "BIGINT",
    "failed": "BIGINT",
    "p50_ns": "DOUBLE",
    "p99_ns": "DOUBLE",
    "p999_ns": "DOUBLE",
    "max_ns": "DOUBLE",
}
POWER_COLUMNS: Mapping[str, str] = {
    "ordinal": "INTEGER",
    "attempt": "INTEGER",
    "rail": "VARCHAR",
    "start_ns": "BIGINT",
    "end_ns": "BIGINT",
    "mean_w": "DOUBLE",
}
TABLES: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "series": (SERIES, SERIES_COLUMNS, "ordinal, attempt, row, stream, direction"),
    "hist": (HIST, HIST_COLUMNS, "ordinal, attempt, row, stream, direction, clock, low_ns"),
    "ios": (IOS, IO_COLUMNS, "ordinal, attempt, submit_ns"),
    "flushes": (FLUSHES, FLUSH_COLUMNS, "ordinal, attempt, row, stream"),
    "power": (POWER, POWER_COLUMNS, "ordinal, attempt, rail, start_ns"),
    "telemetry": (TELEMETRY, TELEMETRY_COLUMNS, "ordinal, attempt, at_ns"),
}
"""The tables by name: file, columns, and order of lines in SQL."""
ROW_IS: Mapping[str, str] = {
    "series": "an interval of one stream and direction",
    "hist": "a non-empty bucket of a histogram",
    "ios": "an I/O, of streams that log each I/O",
    "flushes": "the flushes of one interval and stream",
    "power": "a sample of one rail of a meter",
    "telemetry": "a sample of what the drive reports",
}
"""Meaning of a row of each table."""
MEANING: Mapping[str, str] = {
    "ordinal": "number of the step in the run, from 0",
    "attempt": "number of the attempt at the step, from 1",
    "row": "number of the interval in the step, from 0; in `hist` -1 for the whole step",
    "stream": "name of the stream",
    "direction": "`read`, `write` or `trim`; in `hist` also `flush`",
    "start_ns": "start, since the start of the step",
    "end_ns": "end, since the start of the step",
    "ramp": "in the ramp, which no figure counts",
    "partial": "shorter than the interval, as the step ended",
    "paused": "the process was paused meanwhile",
    "ios": "completed I/Os",
    "bytes": "bytes that these I/Os moved",
    "failed": "failed I/Os or flushes, which no rate or latency counts",
    "dropped": "I/Os of an open loop that were due, but not issued",
    "late": "I/Os of an open loop issued over 1 ms after they were due",
    "service_p50_ns": "median service time",
    "service_p99_ns": "99th percentile of the service time",
    "service_p999_ns": "99.9th percentile of the service time",
    "service_max_ns": "maximum service time",
    "response_p50_ns": "median response time",
    "response_p99_ns": "99th percentile of the response time",
    "response_p999_ns": "99.9th percentile of the response time",
    "response_max_ns": "maximum response time",
    "in_flight_mean": "mean number of I/Os in flight",
    "in_flight_max": "maximum number of I/Os in flight",
    "clock": "`service` (from submission) or `response` (from the intended start) to completion",
    "low_ns": "lower bound of the bucket",
    "high_ns": "upper bound of the bucket",
    "count": "I/Os in the bucket",
    "at_ns": "time of the sample, since the start of the step",
    "temperature_c": "composite temperature in °C",
    "hottest_c": "temperature of the hottest sensor in °C",
    "drawn_w": "mean power since the last sample in W",
    "limit_w": "power limit due to heat in W",
    "throttle_events": "times that heat began to throttle the drive",
    "throttled_s": "total time of thermal throttling in s",
    "media_errors": "unrecovered errors",
    "host_read_bytes": "bytes that the host read",
    "host_written_bytes": "bytes that the host wrote",
    "nand_written_bytes": "bytes programmed to the medium",
    "link_retrains": "times that the link was trained again",
    "link_mb_s": "throughput of the link in MB/s",
    "cpu_busy_share": "busy share of the host's CPUs since the last sample, 0 to 1",
    "intended_ns": "time at which the I/O was due, since the start of the step",
    "submit_ns": "time of submission, since the start of the step",
    "latency_ns": "from submission to completion",
    "offset": "first byte on the drive",
    "length": "number of bytes",
    "flushes": "completed flushes",
    "p50_ns": "median latency of the flushes",
    "p99_ns": "99th percentile of their latency",
    "p999_ns": "99.9th percentile of their latency",
    "max_ns": "their maximum latency",
    "rail": "name of the rail",
    "mean_w": "mean power in W",
}
"""Meaning of each column; `docs/reference/tables.md` is made from it."""
_ADDED = frozenset({"paused"})
"""Columns of flags that tables of earlier versions lack; they are read as false."""
_COUNTS = frozenset({"ios", "bytes", "failed", "dropped", "late", "low_ns", "high_ns", "count", "flushes"})
"""Columns whose values are never negative."""


class Unreadable(Exception):
    """A table is damaged; the text is the database's message."""


def empty(columns: Mapping[str, str]) -> Columns:
    return {name: np.empty(0, dtype=dtype(kind)) for name, kind in columns.items()}


def concatenate(parts: list[Columns], columns: Mapping[str, str]) -> Columns:
    """Concatenate parts and convert them to the columns' types; a missing column raises KeyError."""
    if not parts:
        return empty(columns)
    return {
        name: np.concatenate([np.asarray(part[name], dtype=dtype(kind)) for part in parts])
        for name, kind in columns.items()
    }


def write(folder: HeldFolder, name: str, data: Columns, columns: Mapping[str, str], order: str) -> int:
    """Write a table durably (new file, fsync, rename), and return the number of readable lines.

    Raises
    ------
    OSError
        The file system is full or fails.
    """
    casts = ", ".join(f'"{each}"::{kind} AS "{each}"' for each, kind in columns.items())
    with folder.replacing(name) as descriptor:
        return put(descriptor, folder.path / name, data, f"SELECT {casts} FROM data ORDER BY {order}")


def put(descriptor: int, path: Path, data: Columns, query: str, mark: str = "") -> int:
    """Write the result of a query to an open file, and return the number of readable lines.

    Parameters
    ----------
    descriptor
        Descriptor of the empty file.
    path
        Path of the file, for errors.
    data
        Columns of the table that the query calls ``data``.
    query
        The query, in SQL.
    mark
        Writer's mark for the end of the file; empty: none.

    Raises
    ------
    OSError
        The file system is full or fails.
    """
    import duckdb

    marked = f", KV_METADATA {{mark: '{mark}'}}" if mark else ""
    with duckdb.connect(config={"threads": 1}) as con:
        held = f"/proc/self/fd/{descriptor}"
        con.register("data", data)
        try:
            con.execute(
                f"COPY ({query}) TO '{held}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false{marked})"
            )
        except duckdb.Error as error:
            raise_shortage(error, path)
            if isinstance(error, duckdb.IOException):
                raise OSError(str(error)) from error
            raise
        counted = con.execute(f"SELECT count(*) FROM read_parquet('{held}')").fetchone()
    return int(counted[0]) if counted else 0


def read(
    folder: HeldFolder, name: str, columns: Mapping[str, str], where: str = "true", order: str = "row"
) -> Columns:
    """Read the lines of a table for which `where` (SQL) holds, as numpy columns.

    Raises
    ------
    Unreadable
        The table is damaged.
    """
    lacks = _ADDED.intersection(columns) - _names(folder, name) if _ADDED.intersection(columns) else ()
    chosen = ", ".join(
        f'false AS "{each}"' if each in lacks else _selected(each, kind) for each, kind in columns.items()
    )
    return _found(folder, name, f"SELECT {chosen} FROM read_parquet(?) WHERE {where} ORDER BY {order}")


def power_by_second(folder: HeldFolder, name: str) -> Columns:
    """Return the mean power of all rails in W, for each second of each step.

    It is for charts, which cannot show 100,000 samples a second. The columns are ``ordinal attempt end_ns
    mean_w``, in order; `end_ns` is the end of the second's last sample.

    Raises
    ------
    Unreadable
        The table is damaged.
    """
    return _found(
        folder,
        name,
        "SELECT ordinal, attempt, max(end_ns) AS end_ns, coalesce(sum(mean_w * (end_ns - start_ns)) "
        "/ (sum(end_ns - start_ns) / count(DISTINCT rail)), 'NaN') AS mean_w "
        "FROM read_parquet(?) WHERE end_ns > start_ns "
        "GROUP BY ordinal, attempt, (end_ns - 1) // 1000000000 ORDER BY ordinal, attempt, end_ns",
    )


def _names(folder: HeldFolder, name: str) -> frozenset[str]:
    return frozenset(_found(folder, name, "SELECT name FROM parquet_schema(?)")["name"].tolist())


def ready() -> None:
    """Start opening the database connection for `read`, in the background."""
    _made(os.getpid())


def _selected(name: str, kind: str) -> str:
    """Return SQL that reads a column as its type; NULL becomes NaN in columns of measured values."""
    cast = f'"{name}"::{kind}'
    return f"""coalesce({cast}, 'NaN') AS "{name}\"""" if kind == "DOUBLE" else f'{cast} AS "{name}"'


def _found(folder: HeldFolder, name: str, query: str) -> Columns:
    """Return the result of a query on a table, and refuse missing or negative values."""
    with folder.readable(name) as path, _reading().cursor() as con:
        try:
            found = con.execute(query, [str(path)]).fetchnumpy()
        except _database().Error as error:
            raise_shortage(error, folder.path / name)
            why = str(error).splitlines()[0].replace(str(path), name)
            raise Unreadable(why) from error
    for name, column in found.items():
        if type(column) is not np.ndarray:  # a masked array: values are missing
            raise Unreadable(f"a value of {name} is missing")
        if name in _COUNTS and len(column) and column.min() < 0:
            raise Unreadable(f"a value of {name} is negative")
    return dict(found)


def _reading() -> DuckDBPyConnection:
    """Return the database connection for reading files; opening one takes longer than a read.

    It caches nothing of a file: a path in `/proc/self/fd` means another file the next time.
    """
    return _made(os.getpid()).result()


@cache
def _database() -> Any:  # noqa: ANN401 - a module
    """Return duckdb's native module, or all of duckdb if that module has another name."""
    try:
        return import_module("_duckdb")
    except ModuleNotFoundError:
        return import_module("duckdb")


@cache
def _made(process: int) -> Future[DuckDBPyConnection]:
    """Start opening the connection of a process, once for each process id.

    A forked process would wait for ever on its parent's connection.
    """
    del process
    from concurrent.futures import ThreadPoolExecutor

    thread = ThreadPoolExecutor(1, "tables")
    made = thread.submit(_database().connect, config={"threads": 1, "enable_external_file_cache": False})
    thread.shutdown(wait=False)
    return made


def dtype(kind: str) -> npt.DTypeLike:
    return {"INTEGER": np.int32, "BIGINT": np.int64, "DOUBLE": np.float64, "BOOLEAN": np.bool_}.get(
        kind, np.object_
    )
