"""`ssdlab show`: the result of a run."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.completers import RunName
from ssdlab.cli.ordering import library_of, print_run


def show(run: RunName, /, *, library: Path | None = None, json: bool = False) -> None:
    """Show the result of a run, or how far it came.

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print it as JSON, schema ssdlab.show/1: the manifest with the typed result, steps, voided attempts,
        notes.
    """
    from ssdlab.results.store import find_run

    print_run(find_run(run, library_of(library)), json=json)
