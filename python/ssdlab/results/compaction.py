"""Turns the step logs of a finished run into its tables, and makes the run immutable.

`finishing` starts this module as a separate process, because duckdb and whole tables would more than double
the runner's memory. The logs are deleted only when the tables were read back and counted, and the manifest
lists them. Until then no reader uses a table (`unwritten_tables`), and a crash costs only another compaction.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import HostError, LabError, Refused, raise_shortage
from ssdlab.model.summary import COMMANDS, DIRECTIONS, FLUSH, NO_SIDE, paused_rows
from ssdlab.model.telemetry import FIGURES
from ssdlab.results import tables
from ssdlab.results.lines import RESTORE
from ssdlab.results.records import pauses_of
from ssdlab.results.run_folder import JOURNAL, LIVE, MANIFEST, STEPS, RunFolder, read_manifest, step_logs
from ssdlab.results.schema import TableInfo
from ssdlab.results.seal import file_digest
from ssdlab.results.step_log import (
    log_name,
    power_columns,
    power_name,
    read_power,
    read_samples,
    sample_files,
    samples_name,
)
from ssdlab.results.store import write_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import ssdlab._core as _core
    from ssdlab.model.summary import Pause
    from ssdlab.model.telemetry import Sample
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Manifest

_CLOCKS: tuple[Literal["service", "response"], ...] = ("service", "response")
_READ_ONLY = 0o444
_SUB_BUCKET_BITS = 6
"""64 buckets an octave, as in `metrics::histogram`; a test compares every bucket."""


def compact(folder: Path | HeldFolder) -> list[TableInfo]:
    """Write the tables of a run from its step logs, and return their descriptions.

    Raises
    ------
    HostError
        A table could not be written, or does not match the logs.
    Refused
        The logs are gone: the run is already compacted, or damaged.
    """
    held = hold(folder, writing=True)
    path = held.path
    if not held.exists(STEPS):
        if not read_manifest(path).tables:
            raise _no_rows(path)
        raise Refused(f"{path.name} is already compacted", "its tables are in the folder", path=str(path))
    attempts = _attempts(held, pauses_of(RunFolder(path).journal()))
    series = tables.concatenate([part for each in attempts for part in _series(each)], tables.SERIES_COLUMNS)
    hist = tables.concatenate([part for each in attempts for part in _hist(each)], tables.HIST_COLUMNS)
    ios = tables.concatenate([part for each in attempts for part in _ios(each)], tables.IO_COLUMNS)
    _check_steps(held, attempts, series)
    found = {
        "series": series,
        "hist": hist,
        "ios": ios,
        "flushes": tables.concatenate(
            [part for each in attempts for part in _flushes(each)], tables.FLUSH_COLUMNS
        ),
        "power": tables.concatenate(power_columns(held.folder(STEPS)), tables.POWER_COLUMNS),
        "telemetry": telemetry_of_logs(held),
    }
    return [
        write_table(held, name, found[table], columns, order)
        for table, (name, columns, order) in tables.TABLES.items()
        if table in ("series", "hist") or len(found[table]["ordinal"])
    ]


def write_table(
    folder: HeldFolder, name: str, data: tables.Columns, columns: Mapping[str, str], order: str
) -> TableInfo:
    """Write one table of a run, and check that it can be read.

    Raises
    ------
    HostError
        The table cannot be written, or has a wrong number of lines.
    """
    path = folder.path / name
    with library_errors(path):
        rows = tables.write(folder, name, data, columns, order)
    if rows != len(data["ordinal"]):
        raise HostError(
            f"{path} has {rows} lines, not {len(data['ordinal'])}", "check that disk", path=str(path)
        )
    return TableInfo(name=name, rows=rows, sha256=file_digest(folder, name))


def rows_of_logs(folder: Path | HeldFolder, step: Step) -> tables.Columns:
    """Return the interval rows of a step from its logs, in order, as in the series table.

    Raises
    ------
    LabError
        A log of the step is missing or damaged.
    """
    parts = [part for attempt in _attempts_of(folder, step) for part in _series(attempt)]
    found = tables.concatenate(parts, tables.SERIES_COLUMNS)
    order = np.lexsort((found["row"], found["attempt"]))
    return {name: column[order] for name, column in found.items()}


def buckets_of_logs(folder: Path | HeldFolder, step: Step) -> tables.Columns:
    """Return the histogram buckets of a whole step from its logs; errors are those of `rows_of_logs`."""
    parts = [part for attempt in _attempts_of(folder, step) for part in _hist(attempt)]
    return tables.concatenate(parts, tables.HIST_COLUMNS)


def row_buckets_of_logs(folder: Path | HeldFolder, step: Step) -> tables.Columns:
    """Return the histogram buckets of each interval row of a step, from its logs.

    The extra column `sum_ns` has a histogram's sum in its first bucket and 0 in the others, so that adding up
    all lines gives the sum of all samples. Errors are those of `rows_of_logs`.
    """
    attempts = _attempts_of(folder, step, histograms=True)
    columns = {**tables.HIST_COLUMNS, "sum_ns": "DOUBLE"}
    return tables.concatenate([part for each in attempts for part in _row_hist(each)], columns)


def ios_of_logs(folder: Path | HeldFolder, step: Step) -> tables.Columns:
    """Return the logged single I/Os of a step, in order of submission."""
    parts = [part for attempt in _attempts_of(folder, step) for part in _ios(attempt)]
    found = tables.concatenate(parts, tables.IO_COLUMNS)
    order = np.lexsort((found["submit_ns"], found["attempt"]))
    return {name: column[order] for name, column in found.items()}


def telemetry_of_logs(folder: Path | HeldFolder) -> tables.Columns:
    """Return the telemetry samples of all attempts, as in the telemetry table."""
    steps = hold(folder).folder(STEPS)
    found: list[tuple[int, int, Sample]] = [
        (ordinal, attempt, sample)
        for ordinal, attempt, name in sample_files(steps)
        for sample in read_samples(steps, name)
    ]
    columns: dict[str, list[Any]] = {
        "ordinal": [ordinal for ordinal, _, _ in found],
        "attempt": [attempt for _, attempt, _ in found],
        "at_ns": [sample.at_ns for _, _, sample in found],
    }
    for name in FIGURES:
        values = [getattr(sample, name) for _, _, sample in found]
        columns[name] = [np.nan if value is None else float(value) for value in values]
    kinds = tables.TELEMETRY_COLUMNS
    return {name: np.asarray(columns[name], dtype=tables.dtype(kind)) for name, kind in kinds.items()}


@dataclass(frozen=True)
class LogTables:
    """Functions that read tables of a finished step while its run is unfinished."""

    rows: Callable[[Step], tables.Columns]
    row_buckets: Callable[[Step], tables.Columns]


def tables_of_logs(folder: Path | HeldFolder) -> LogTables:
    return LogTables(partial(rows_of_logs, folder), partial(row_buckets_of_logs, folder))


def _attempts_of(folder: Path | HeldFolder, step: Step, *, histograms: bool = False) -> list[_Attempt]:
    attempts = step.result.segments or (step.attempt,)
    steps = hold(folder).folder(STEPS)
    read = [_Attempt(steps, log_name(step.ordinal, attempt), histograms=histograms) for attempt in attempts]
    for each in read:
        if each.attempt == step.attempt:
            each.pauses = step.result.pauses
            each.check_whole()
    return read


class _Attempt:
    """The log of one attempt at a step, read whole."""

    def __init__(self, steps: HeldFolder, name: str, *, histograms: bool = True) -> None:
        import ssdlab._core as _core

        ordinal, _, attempt = name.removesuffix(".log").partition("-")
        self.ordinal, self.attempt = int(ordinal), int(attempt)
        self.path = steps.path / name
        self._steps = steps  # kept open: single I/Os are read on demand
        with steps.by_name():
            self.log = _core.read_log(steps.existing_path(name), keep_interval_histograms=histograms)
        self.measured: _core.Measurement = self.log.measurement
        self.pauses: tuple[Pause, ...] = ()
        """Pauses of ssdlab; unknown for an attempt that was cut short."""

    def check_whole(self) -> None:
        """Check that the log of a finished step is complete: it was synced before the end was recorded.

        Raises
        ------
        HostError
            The log is truncated.
        """
        if self.log.torn:
            raise HostError(
                f"{self.path} is damaged: step {self.ordinal + 1} is finished, but its log is truncated",
                "check that disk; restore the file from a copy, or run the method again",
                path=str(self.path),
                ordinal=self.ordinal,
                damaged=True,
            )

    def paused(self, start_ns: Any, end_ns: Any) -> Any:  # noqa: ANN401 - arrays, one entry a row
        """Return for each row whether ssdlab was paused during it."""
        if not self.pauses:
            return np.zeros(len(start_ns), dtype=np.bool_)
        zero_ns = self.measured.summary()["started"]["monotonic_ns"]
        rows_ns = zip(start_ns.tolist(), end_ns.tolist(), strict=True)
        return np.asarray(paused_rows(self.pauses, zero_ns, rows_ns), dtype=np.bool_)

    def key(self, lines: int, stream: Any, direction: Any, row: Any) -> dict[str, Any]:  # noqa: ANN401
        def column(value: Any, kind: Any) -> Any:  # noqa: ANN401
            return np.broadcast_to(np.asarray(value, dtype=kind), (lines,))

        return {
            "ordinal": column(self.ordinal, np.int32),
            "attempt": column(self.attempt, np.int32),
            "row": column(row, np.int32),
            "stream": column(stream, np.object_),
            "direction": column(direction, np.object_),
        }


def _attempts(folder: HeldFolder, pauses: Mapping[tuple[int, int], tuple[Pause, ...]]) -> list[_Attempt]:
    """Read the step logs, except logs that were cut off before the end of their header.

    `pauses` has the pauses of each attempt, by ordinal and attempt.
    """
    found = []
    steps = folder.folder(STEPS)
    for name in step_logs(folder):
        steps.existing_path(name)
        try:
            read = _Attempt(steps, name)
        except LabError as error:
            raise_shortage(error)
            continue
        read.pauses = pauses.get((read.ordinal, read.attempt), ())
        found.append(read)
    return found


def _series(attempt: _Attempt) -> list[tables.Columns]:
    parts = []
    for stream in attempt.measured.streams:
        for direction in DIRECTIONS:
            rows = attempt.measured.rows(stream, direction)
            if not _used(rows):
                continue
            part = {name: rows[name] for name in rows if name in tables.SERIES_COLUMNS}
            part["end_ns"] = rows["start_ns"] + rows["duration_ns"]
            part["paused"] = attempt.paused(rows["start_ns"], part["end_ns"])
            for clock in _CLOCKS:
                part[f"{clock}_p999_ns"] = rows[f"{clock}_p99_9_ns"]
            parts.append({**part, **attempt.key(len(rows["ios"]), stream, direction, rows["index"])})
    return parts


def _used(rows: tables.Columns) -> bool:
    return any(rows[name].any() for name in ("ios", "failed", "dropped"))


def _hist(attempt: _Attempt) -> list[tables.Columns]:
    return _whole_hist(attempt) + _row_hist(attempt)


def _whole_hist(attempt: _Attempt) -> list[tables.Columns]:
    measured = attempt.measured
    parts = []
    for stream in measured.streams:
        for direction in COMMANDS:
            for clock in _CLOCKS:
                low, count = measured.histogram(direction, clock, stream).buckets()
                if len(low):
                    parts.append(_buckets(attempt, stream, direction, tables.TOTAL_ROW, clock, low, count))
    return parts


def _row_hist(attempt: _Attempt) -> list[tables.Columns]:
    measured = attempt.measured
    found = measured.interval_histograms()
    if not len(found["row"]):
        return []
    names = [np.array(values, dtype=np.object_) for values in (measured.streams, COMMANDS, _CLOCKS)]
    streams, directions, clocks = (
        names[i][found[key]] for i, key in enumerate(("stream", "direction", "kind"))
    )
    of_rows = _buckets(
        attempt, streams, directions, found["row"], clocks, found["bucket_low_ns"], found["count"]
    )
    return [{**of_rows, "sum_ns": found["sum_ns"]}]


def _ios(attempt: _Attempt) -> list[tables.Columns]:
    found = attempt.log.ios()
    lines = len(found["submit_ns"])
    if not lines:
        return []
    streams, directions = (
        np.array(names, dtype=np.object_) for names in (attempt.measured.streams, DIRECTIONS)
    )
    key = attempt.key(lines, streams[found["stream"]], directions[found["direction"]], 0)
    return [{**{name: found[name] for name in tables.IO_COLUMNS if name in found}, **key}]


def _flushes(attempt: _Attempt) -> list[tables.Columns]:
    parts = []
    for stream in attempt.measured.streams:
        rows = attempt.measured.rows(stream, FLUSH)
        if not _used(rows):
            continue
        part = {name: rows[name] for name in ("start_ns", "ramp", "partial", "failed")}
        part |= {"flushes": rows["ios"], "end_ns": rows["start_ns"] + rows["duration_ns"]}
        part |= {f"{name}_ns": rows[f"service_{name}_ns"] for name in ("p50", "p99", "max")}
        part["p999_ns"] = rows["service_p99_9_ns"]
        parts.append({**part, **attempt.key(len(rows["ios"]), stream, FLUSH, rows["index"])})
    return parts


def _buckets(
    attempt: _Attempt,
    stream: Any,  # noqa: ANN401
    direction: Any,  # noqa: ANN401
    row: Any,  # noqa: ANN401
    clock: Any,  # noqa: ANN401
    low: Any,  # noqa: ANN401
    count: Any,  # noqa: ANN401
) -> tables.Columns:
    return {
        **attempt.key(len(low), stream, direction, row),
        "clock": np.broadcast_to(np.asarray(clock, dtype=np.object_), (len(low),)),
        "low_ns": low,
        "high_ns": low + bucket_width(low),
        "count": count,
    }


def bucket_width(low_ns: Any) -> Any:  # noqa: ANN401 - an array of integers in, one out
    """Return the width of the histogram bucket that starts at each latency."""
    _, exponent = np.frexp(np.maximum(low_ns, 1).astype(np.float64))
    shift = np.maximum(exponent - 1 - _SUB_BUCKET_BITS, 0).astype(np.uint64)
    return np.left_shift(np.uint64(1), shift)


def rows_fault(step: Step, series: tables.Columns) -> str | None:
    """Return how the rows of a finished step contradict its record; None: they match it."""
    summary = step.summary
    if summary is None or step.result.segments:
        return None
    of_step = (series["ordinal"] == step.ordinal) & (series["attempt"] == step.attempt) & ~series["ramp"]
    for direction in DIRECTIONS:
        stated = (summary.side(direction) or NO_SIDE).ios
        kept = int(series["ios"][of_step & (series["direction"] == direction)].sum())
        if kept != stated:
            return f"the rows of step {step.ordinal + 1} hold {kept} {direction}s, but its record {stated}"
    return None


def _check_beside(steps: HeldFolder, step: Step) -> None:
    read_samples(steps, samples_name(step.ordinal, step.attempt), ended=True)
    if steps.exists(name := power_name(step.ordinal, step.attempt)):
        read_power(steps, name)


def _check_steps(folder: HeldFolder, attempts: Sequence[_Attempt], series: tables.Columns) -> None:
    """Check that all files of each finished step are complete, and that its rows add up to its record."""
    ended = {(each.ordinal, each.attempt): each for each in attempts}
    steps = folder.folder(STEPS)
    for step in RunFolder(folder.path).steps():
        _check_beside(steps, step)
        if (log := ended.get((step.ordinal, step.attempt))) is not None:
            log.check_whole()
        if (fault := rows_fault(step, series)) is not None:
            raise HostError(
                fault,
                "the step log is damaged: check that disk; restore it from a copy, or run the method again",
                ordinal=step.ordinal,
                damaged=True,
            )


def check_logs(run: RunFolder) -> None:
    """Check that the logs of all finished steps of a run without tables are complete and consistent.

    The log of an interrupted step is not checked: it counts up to its first torn frame.

    Raises
    ------
    Refused
        A log is damaged.
    """
    measured = [step for step in run.steps() if step.result.measurement is not None]
    with HeldFolder(run.path) as folder:
        kept = set(step_logs(folder))
        if folder.exists(STEPS):
            with folder.folder(STEPS) as steps, _damage_refused():
                for step in run.steps():
                    _check_beside(steps, step)
        elif measured and run.manifest.status == "finished":
            raise _no_rows(run.path)
        for step in measured:
            if (name := log_name(step.ordinal, step.attempt)) not in kept:
                path = run.path / STEPS / name
                what = f"{path} is missing: it held the rows of step {step.ordinal + 1}, which is finished"
                raise Refused(what, RESTORE, path=str(path))
            with _damage_refused():
                fault = rows_fault(step, rows_of_logs(folder, step))
            if fault is not None:
                raise Refused(f"the logs in {run.path / STEPS} are damaged: {fault}", RESTORE)


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Turn a `HostError` about a log, or about a file of samples, into `Refused`."""
    try:
        yield
    except HostError as error:
        raise_shortage(error)
        raise Refused(error.what, RESTORE, **error.facts) from error


def _no_rows(folder: Path) -> Refused:
    what = f"{folder} is damaged: it has neither tables nor the logs of its steps"
    return Refused(what, RESTORE, path=str(folder), damaged=True)


def close_run(folder: HeldFolder, manifest: Manifest) -> None:
    """Make the files of a run read-only, and remove its logs."""
    with library_errors(folder.path):
        for name in (MANIFEST, JOURNAL, *(table.name for table in manifest.tables)):
            folder.set_mode(name, _READ_ONLY)
        folder.remove_folder(STEPS)
        folder.remove(LIVE)
        folder.sync()


def main(descriptor: int, path: Path) -> int:
    """Compact a run, update its manifest, enter it in the catalogue, and make it immutable.

    This process does all of it, so that the run is complete even if the parent is killed. It prints JSON for
    the parent. If the manifest already lists the tables, an earlier compaction was killed after writing them:
    the logs may be gone, and are not read again.

    Parameters
    ----------
    descriptor, path
        The run folder, as opened by the parent, and its path.
    """
    from ssdlab.results import catalogue

    try:
        folder = HeldFolder.of_descriptor(descriptor, path, writing=True)
        manifest = read_manifest(path)
        if not manifest.tables:
            manifest = manifest.model_copy(update={"tables": tuple(compact(folder))})
            write_manifest(folder, manifest)
        catalogue.add(folder.parent(), path)
        close_run(folder, manifest)
    except LabError as error:
        print(json.dumps(error.as_dict()))
        return error.exit_status
    print(json.dumps({"tables": [info.name for info in manifest.tables]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2])))
