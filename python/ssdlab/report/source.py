"""Reads the data of a page from run folders: manifests, Results, rows and histograms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ssdlab.lab.outcome import read_result, warned_of
from ssdlab.model.errors import HostError, Refused, raise_shortage
from ssdlab.results import tables
from ssdlab.results.records import BeginRecord, EndRecord
from ssdlab.results.run_folder import MANIFEST, STEPS, RunFolder, Step, read_manifest, step_logs
from ssdlab.results.schema import Departure
from ssdlab.results.store import actual_status, run_words
from ssdlab.results.unwritten_tables import NOT_WRITTEN, not_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ssdlab.lab.kinds import SuiteResult
    from ssdlab.results.schema import Manifest, Note, ResultBase, Warned


_UNENDED = "unended"
_POWER_SHOWN = ("ordinal", "attempt", "end_ns", "mean_w")


@dataclass(frozen=True)
class SuiteRun:
    manifest: Manifest
    result: SuiteResult
    runs: tuple[Run, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class SeveralDrives:
    """A finished review of several drives, with the suite of each drive."""

    manifest: Manifest
    suites: tuple[SuiteRun, ...]
    notes: tuple[Note, ...] = ()

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(run for suite in self.suites for run in suite.runs)


@dataclass(frozen=True)
class Run:
    """One finished run, read in full; `series` and `hist` have only attempts that count."""

    manifest: Manifest
    result: ResultBase
    steps: tuple[Step, ...]
    series: tables.Columns
    hist: tables.Columns
    telemetry: tables.Columns
    power: tables.Columns
    """Mean power in W for each second; see `tables.power_by_second`."""
    warnings: tuple[Warned, ...]
    notes: tuple[Note, ...]
    voided: tuple[str, ...]
    """Attempts that do not count, one sentence each."""
    times: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """Start and end of each step, by its ordinal."""
    review: str = ""
    """Run id of the outermost review or suite through which the run was read; empty: none."""

    def step(self, ordinal: int | None) -> Step | None:
        return next((step for step in self.steps if step.ordinal == ordinal), None)

    def rows(self, ordinal: int | None) -> tables.Columns:
        """Return the interval rows of one step, in order."""
        return _lines(self.series, ordinal)

    def samples(self, ordinal: int | None) -> tables.Columns:
        """Return the drive's telemetry samples during one step, in order."""
        return _lines(self.telemetry, ordinal)

    def watts(self, ordinal: int | None) -> tables.Columns:
        """Return the mean power in W for each second of one step, in order."""
        return _lines(self.power, ordinal)

    def buckets(self, ordinal: int | None) -> tables.Columns:
        """Return the histogram buckets of one step as a whole."""
        return _lines(self.hist, ordinal)


def read_run(folder: Path) -> Run:
    """Read a finished run, or the finished steps of a run that failed or was stopped.

    Raises
    ------
    Refused
        The folder is no run folder, is damaged or from a newer ssdlab; or the run is still running, has no
        finished step, or has no tables.
    """
    return _read_run(RunFolder(folder))


def _read_run(found: RunFolder) -> Run:
    found.verify()
    if actual_status(found.path, found.manifest) in ("failed", "interrupted"):
        return _read_unfinished(found)
    result = _result(found)
    steps = found.steps()
    attempts = {step.ordinal: step.result.segments or (step.attempt,) for step in steps}
    series = _table(found, tables.SERIES, "true", "ordinal, attempt, row, stream, direction")
    hist = _table(
        found, tables.HIST, f"row = {tables.TOTAL_ROW}", "ordinal, stream, direction, clock, low_ns"
    )
    return _run(found, result, _counting(series, attempts), _counting(hist, attempts))


def _read_unfinished(found: RunFolder) -> Run:
    """Read the finished steps of an unfinished run; its rows are still in the step logs."""
    from ssdlab.lab.job import finished_steps
    from ssdlab.results.compaction import buckets_of_logs, rows_fault, rows_of_logs

    measured = [step for step in found.steps() if step.result.measurement is not None]
    if not measured or not step_logs(found.path):
        _result(found)  # raises an error, as there is nothing to show
    path = found.path
    try:
        series = tables.concatenate([rows_of_logs(path, step) for step in measured], tables.SERIES_COLUMNS)
        hist = tables.concatenate([buckets_of_logs(path, step) for step in measured], tables.HIST_COLUMNS)
    except HostError as error:
        raise_shortage(error)
        raise Refused(error.what, "restore it from a copy, or run the method again", **error.facts) from error
    if faults := [fault for step in measured if (fault := rows_fault(step, series)) is not None]:
        raise Refused(
            f"the logs of {path} are damaged: {faults[0]}",
            "restore them from a copy, or run the method again",
            path=str(path / STEPS),
        )
    totals = hist["row"] == tables.TOTAL_ROW
    whole = {name: column[totals] for name, column in hist.items()}
    return _run(found, finished_steps(found), series, whole, (_unended(found.manifest),))


def _unended(manifest: Manifest) -> Departure:
    why = "" if manifest.failure is None else f": {manifest.failure.what}"
    return Departure(
        code=_UNENDED,
        what=f"the run is unfinished{why}",
        why="these are its finished steps, without the method's conclusion",
    )


def is_unended(manifest: Manifest) -> bool:
    """Return whether a run was read that did not reach its end."""
    return any(each.code == _UNENDED for each in manifest.departures)


def _run(
    found: RunFolder,
    result: ResultBase,
    series: tables.Columns,
    hist: tables.Columns,
    more: tuple[Departure, ...] = (),
) -> Run:
    manifest = found.manifest
    return Run(
        manifest=manifest.model_copy(update={"departures": (*manifest.departures, *more)}),
        result=result,
        steps=tuple(found.steps()),
        series=series,
        hist=hist,
        telemetry=_counting(_samples(found), _attempts(found)),
        power=_counting(_power(found), _attempts(found)),
        warnings=warned_of(found),
        notes=tuple(found.notes()),
        voided=tuple(
            f"step {v.ordinal + 1} ({v.label}), attempt {v.attempt}: {v.why}" for v in found.voided()
        ),
        times=_times(found),
    )


def _times(found: RunFolder) -> dict[int, tuple[str, str]]:
    """Return start and end of each step; a step of several attempts starts with the first that counts."""
    records = found.journal()
    begun = {(each.ordinal, each.attempt): each.at for each in records if isinstance(each, BeginRecord)}
    ended = {(each.ordinal, each.attempt): each.at for each in records if isinstance(each, EndRecord)}
    return {
        step.ordinal: (
            begun[step.ordinal, (*step.result.segments, step.attempt)[0]],
            ended[step.ordinal, step.attempt],
        )
        for step in found.steps()
    }


Reported = Run | SuiteRun | SeveralDrives


def read(folder: Path) -> Reported:
    """Read a finished run, a suite with all its runs, or a review of several drives with all its suites.

    Raises
    ------
    Refused
        As by `read_run`.
    """
    found = RunFolder(folder)
    if not found.manifest.children:
        return _read_run(found)
    from ssdlab.lab.kinds import SuiteResult

    found.verify()
    if found.manifest.several_drives:
        _result(found)  # raises an error if it is unfinished
        suites = [read(folder.parent / child.run_id) for child in found.manifest.children]
        return SeveralDrives(
            found.manifest,
            tuple(
                replace(each, runs=_of_review(each.runs, found.manifest))
                for each in suites
                if isinstance(each, SuiteRun)
            ),
            tuple(found.notes()),
        )
    result = _result(found)
    assert isinstance(result, SuiteResult)  # a run with children has this result
    done = [folder.parent / each.run_id for each in result.outcomes if each.left_out is None]
    parts = _of_review(map(read_run, done), found.manifest)
    return SuiteRun(found.manifest, result, parts, tuple(found.notes()))


def _of_review(runs: Iterable[Run], review: Manifest) -> tuple[Run, ...]:
    return tuple(replace(run, review=review.run_id) for run in runs)


def _result(found: RunFolder) -> ResultBase:
    manifest = found.manifest
    status = actual_status(found.path, manifest)
    if status == NOT_WRITTEN:
        raise not_written(found.path, manifest)
    if status != "finished" or manifest.result is None:
        advice = {
            "running": f"wait until it ends: ssdlab watch {run_words(found.path)}",
            "interrupted": f"resume it: ssdlab resume {run_words(found.path)}",
            "not begun": f"start it: ssdlab resume {run_words(found.path)}",
            "failed": f"it has no finished step; see why: ssdlab show {run_words(found.path)}",
        }.get(status, f"analyse it again: ssdlab show {run_words(found.path)}")
        if parts := _finished_parts(found):
            advice += f"; or report its finished parts: ssdlab report {' '.join(parts)}"
        raise Refused(
            f"run {manifest.run_id} has no result to report: it is {status}",
            advice,
            run=manifest.run_id,
            status=status,
        )
    result = read_result(found)
    assert result is not None
    return result


def _finished_parts(found: RunFolder) -> list[str]:
    """Return the names of a suite's or review's finished parts, at all levels."""
    named: list[str] = []
    for child in found.manifest.children:
        part = found.path.parent / child.run_id
        if not (part / MANIFEST).exists():
            continue
        if actual_status(part, read_manifest(part)) == "finished":
            named.append(run_words(part))
        else:
            named += _finished_parts(RunFolder(part))
    return named


def _table(found: RunFolder, name: str, where: str, order: str) -> tables.Columns:
    columns = tables.SERIES_COLUMNS if name == tables.SERIES else tables.HIST_COLUMNS
    return found.read_table(name, columns, where, order)


def _samples(found: RunFolder) -> tables.Columns:
    """Return the drive's telemetry; for an unfinished run, the samples logged so far."""
    if any(each.name == tables.TELEMETRY for each in found.manifest.tables):
        return found.read_table(tables.TELEMETRY, tables.TELEMETRY_COLUMNS, "true", "ordinal, attempt, at_ns")
    if found.manifest.tables or not step_logs(found.path):
        return tables.empty(tables.TELEMETRY_COLUMNS)
    from ssdlab.results.compaction import telemetry_of_logs

    return telemetry_of_logs(found.path)


def _power(found: RunFolder) -> tables.Columns:
    """Return the mean power for each second; empty for an unfinished run."""
    if all(each.name != tables.POWER for each in found.manifest.tables):
        return tables.empty({name: tables.POWER_COLUMNS[name] for name in _POWER_SHOWN})
    return found.power_by_second()


def _attempts(found: RunFolder) -> dict[int, tuple[int, ...]]:
    return {step.ordinal: step.result.segments or (step.attempt,) for step in found.steps()}


def _counting(lines: tables.Columns, attempts: dict[int, tuple[int, ...]]) -> tables.Columns:
    pairs = zip(lines["ordinal"].tolist(), lines["attempt"].tolist(), strict=True)
    kept = np.fromiter((attempt in attempts.get(ordinal, ()) for ordinal, attempt in pairs), dtype=bool)
    return {name: column[kept] for name, column in lines.items()}


def _lines(lines: tables.Columns, ordinal: int | None) -> tables.Columns:
    if ordinal is None:
        return {name: column[:0] for name, column in lines.items()}
    kept = lines["ordinal"] == ordinal
    return {name: column[kept] for name, column in lines.items()}
