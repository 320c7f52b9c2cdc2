"""`ssdlab note`: a dated note beside a run."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.completers import RunName
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line

SCHEMA = "ssdlab.note/1"


def note(run: RunName, text: str, /, *, library: Path | None = None, json: bool = False) -> None:
    """Put a dated note beside a run: a correction, "superseded by". The run itself is not changed.

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    text
        The note.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the note as JSON, schema ssdlab.note/1.
    """
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import add_note, find_run
    from ssdlab.results.verifying import check_run

    folder = find_run(run, library_of(library))
    check_run(RunFolder(folder))
    added = add_note(folder, text)
    if json:
        print_json({"schema": SCHEMA, "run": folder.name, **added.model_dump()})
    else:
        print_line(f"{added.at}  {added.text}")
