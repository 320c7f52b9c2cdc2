"""What a run has written so far, by the rows of its step logs: each attempt counts, standing or not."""

from __future__ import annotations

from pathlib import Path

from ssdlab.host.held_folder import HeldFolder, hold
from ssdlab.model.errors import LabError
from ssdlab.results.run_folder import STEPS, step_logs


def written_by_run(folder: Path | HeldFolder) -> int:
    """Return the bytes that the attempts of a run have written to its drive, ramps included.

    Parameters
    ----------
    folder
        The run folder, before compaction.
    """
    held = hold(folder)
    if not (names := step_logs(held)):
        return 0
    with held.folder(STEPS) as steps:
        return sum(_written(steps, name) for name in names)


def _written(steps: HeldFolder, name: str) -> int:
    import ssdlab._core as _core

    with steps.readable(name) as path:
        try:
            log = _core.read_log(path).measurement
        except LabError:
            return 0  # nothing whole is in it: killed before its first row
    return sum(int(log.rows(stream, "write")["bytes"].sum()) for stream in log.streams)
