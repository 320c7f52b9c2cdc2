"""What a run has written so far, by the rows of its step logs: each attempt counts, standing or not."""

from __future__ import annotations

from pathlib import Path

from ssdlab.model.errors import LabError
from ssdlab.results.run_folder import STEPS


def written_by_run(folder: Path) -> int:
    """Return the bytes that the attempts of a run have written to its drive, ramps included.

    Parameters
    ----------
    folder
        The run folder, before compaction.
    """
    return sum(_written(path) for path in (folder / STEPS).glob("*.log"))


def _written(path: Path) -> int:
    from ssdlab import _core

    try:
        log = _core.read_log(path).measurement
    except LabError:
        return 0  # nothing whole is in it: killed before its first row
    return sum(int(log.rows(stream, "write")["bytes"].sum()) for stream in log.streams)
