"""Names a run in a command, and refuses a run whose tables are not written yet.

Its rows are still in its step logs. `ssdlab resume` writes the tables, without the drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.defaults import is_default_library
from ssdlab.model.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.results.schema import Manifest


def short_id(run_id: str) -> str:
    """Return the letters at the end of an id, which identify the run."""
    return run_id.rpartition("-")[2]


def run_words(folder: Path) -> str:
    """Return a run's name for a command: its letters in the default library, else its path."""
    return short_id(folder.name) if is_default_library(folder.parent) else str(folder)


STEPS = "steps"
"""The folder of step logs in a run folder, until the tables are written."""
NOT_WRITTEN = "tables not written"
"""Name of its status."""


def lacks_tables(folder: Path, manifest: Manifest) -> bool:
    """Whether a run has no tables yet, including while they are being written."""
    done = manifest.status == "finished" and not manifest.children
    return done and not manifest.tables and (folder / STEPS).is_dir()


def continue_words(folder: Path) -> str:
    """Return the advice for it."""
    return f"continue with: ssdlab resume {run_words(folder)}"


def not_written(folder: Path, manifest: Manifest) -> Refused:
    """Return the refusal of work that needs the tables."""
    return Refused(
        f"the tables of run {manifest.run_id} are not written: it was stopped after its last step",
        continue_words(folder),
        run=manifest.run_id,
        status=NOT_WRITTEN,
    )


def no_file(folder: Path, manifest: Manifest, name: str) -> Refused:
    """Return the refusal of a file that is missing, or not listed in the manifest."""
    if lacks_tables(folder, manifest):
        return not_written(folder, manifest)
    return Refused(
        f"run {manifest.run_id} has no {name}",
        "the folder is damaged; restore it from a copy, or run the method again",
        run=manifest.run_id,
        path=str(folder / name),
    )
