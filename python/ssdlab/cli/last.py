"""`ssdlab last`: the run that was begun last, for scripts."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line

SCHEMA = "ssdlab.last/1"


def last(*, library: Path | None = None, json: bool = False) -> None:
    """Print the folder of the run that was begun last; of a suite that of the suite.

    The word `last` means the same wherever a run is named: `ssdlab show last`.

    Parameters
    ----------
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print what it is as JSON, schema ssdlab.last/1.
    """
    from ssdlab.results.run_folder import read_manifest
    from ssdlab.results.store import LAST, actual_status, find_run

    folder = find_run(LAST, library_of(library))
    if not json:
        print_line(str(folder))
        return
    manifest = read_manifest(folder)
    print_json(
        {
            "schema": SCHEMA,
            "folder": str(folder),
            "run_id": manifest.run_id,
            "method": manifest.method.name,
            "drive": manifest.drive.name,
            "created": manifest.created,
            "status": actual_status(folder, manifest),
        }
    )
