"""How a run is called in a command, by its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.host.state_folder import default_library

if TYPE_CHECKING:
    from pathlib import Path


def short_id(run_id: str) -> str:
    """Return the letters at the end of an id, which alone name the run."""
    return run_id.rpartition("-")[2]


def run_words(folder: Path) -> str:
    """Return how to name a run in a command: its letters in the default library, else its path."""
    return short_id(folder.name) if folder.parent == default_library() else str(folder)
