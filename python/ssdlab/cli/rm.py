"""`ssdlab rm`: runs into the library's trash, and out of it."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.completers import RunName
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError

SCHEMA = "ssdlab.rm/1"


def rm(*runs: RunName, restore: bool = False, library: Path | None = None, json: bool = False) -> None:
    """Move runs to the trash of the library, a suite with its runs, or bring them back.

    Nothing is deleted: the trash is the folder `.trash` in the library, and is emptied by hand.

    Parameters
    ----------
    runs
        Each a folder, an id, the beginning of an id or of its last letters, or `last`.
    restore
        Bring them back from the trash.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print what was moved as JSON, schema ssdlab.rm/1.
    """
    from ssdlab.library.trash import TRASH, remove_runs, restore_runs
    from ssdlab.results.store import find_run

    if not runs:
        raise UsageError("no run is named", "name those to move: ssdlab rm RUN; ssdlab runs lists them")
    place = library_of(library)
    if restore:
        moved = restore_runs(place, [find_run(run, place / TRASH) for run in runs])
    else:
        moved = remove_runs([find_run(run, place) for run in runs])
    if json:
        print_json(
            {
                "schema": SCHEMA,
                "restored": restore,
                "runs": [each.name for each in moved],
                "library": str(place),
            }
        )
        return
    for each in moved:
        print_line(f"{each.name}: {'is back' if restore else 'in the trash'}")
    if not restore:
        back = " ".join([*runs] if "last" not in runs else [each.name for each in moved])
        other = "" if library is None else f" --library {place}"
        print_line(f"bring back: ssdlab rm --restore {back}{other}", "dim")
