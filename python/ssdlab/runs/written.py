"""What a run has written to its drive: the rows of all its attempts, ramps too, whether they count or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.held_folder import hold
from ssdlab.results.records import VoidedWrites
from ssdlab.results.run_folder import STEPS, RunFolder, step_logs
from ssdlab.results.step_log import log_name, log_written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.records import VoidedAttempt


def written_by_run(folder: Path | HeldFolder) -> int:
    """Return the bytes that the attempts of a run have written: from its tables, before those from its logs.

    Parameters
    ----------
    folder
        The run folder.

    Raises
    ------
    Refused
        The run is damaged.
    """
    held = hold(folder)
    run = RunFolder(held.path)
    if run.manifest.tables:  # of the logs some may be gone by now
        return _by_table(run)
    if not (names := step_logs(held)):
        return 0
    with held.folder(STEPS) as steps:
        return sum(_by_log(steps, name) for name in names)


def voided_writes(folder: HeldFolder, voided: Sequence[VoidedAttempt]) -> tuple[VoidedWrites, ...]:
    """Return what the attempts that do not count have written, by their logs, which are still there.

    Parameters
    ----------
    folder
        The run folder, before its tables are written.
    voided
        Those attempts.
    """
    there = set(step_logs(folder))
    names = [(each, log_name(each.ordinal, each.attempt)) for each in voided]
    if not any(name in there for _, name in names):
        return ()
    with folder.folder(STEPS) as steps:
        return tuple(VoidedWrites(each.place, _by_log(steps, name)) for each, name in names if name in there)


def _by_table(run: RunFolder) -> int:
    from ssdlab.results.tables import SERIES  # numpy, which most readers of a run do without

    if SERIES not in [table.name for table in run.manifest.tables]:
        return 0
    return int(run.read_table(SERIES, {"bytes": "BIGINT"}, "direction = 'write'", "bytes")["bytes"].sum())


def _by_log(steps: HeldFolder, name: str) -> int:
    with steps.readable(name) as path:
        return log_written(path)
