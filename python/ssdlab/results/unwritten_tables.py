"""Names runs in advice, and refuses runs whose tables are not written yet.

The rows of such a run are still in its step logs. `ssdlab resume` writes the tables, without the drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.defaults import is_default_library
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.schema import Manifest


def short_id(run_id: str) -> str:
    """Return the letters at the end of a run id, which identify the run."""
    return run_id.rpartition("-")[2]


def run_words(folder: Path) -> str:
    """Return a run's name for use in a command: its letters in the default library, else its path."""
    return short_id(folder.name) if is_default_library(folder.parent) else str(folder)


STEPS = "steps"
"""The folder of step logs in a run folder, until the tables are written."""
NOT_WRITTEN = "tables not written"


def lacks_tables(folder: Path, manifest: Manifest) -> bool:
    """Whether a finished run has no tables yet, also while they are being written."""
    done = manifest.status == "finished" and not manifest.children
    return done and not manifest.tables and (folder / STEPS).is_dir()


def continue_words(folder: Path) -> str:
    return f"continue with: ssdlab resume {run_words(folder)}"


def not_written(folder: Path, manifest: Manifest) -> Refused:
    """Return the error for work that needs the tables."""
    return Refused(
        f"the tables of run {manifest.run_id} are not written: it was stopped after its last step",
        continue_words(folder),
        run=manifest.run_id,
        status=NOT_WRITTEN,
    )


def no_file(folder: Path, manifest: Manifest, name: str) -> Refused:
    """Return the error for a file that is missing, or that the manifest does not list."""
    if lacks_tables(folder, manifest):
        return not_written(folder, manifest)
    return Refused(
        f"run {manifest.run_id} has no {name}",
        "the folder is damaged; restore it from a copy, or run the method again",
        run=manifest.run_id,
        path=str(folder / name),
    )
