"""`ssdlab library`: the folder of runs."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, warn
from ssdlab.model.errors import UsageError

SCHEMA = "ssdlab.library/1"


def rebuild(*, library: Path | None = None, json: bool = False) -> None:
    """Make the library's catalogue anew from the runs in it.

    Parameters
    ----------
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print what was found as JSON, schema ssdlab.library/1.
    """
    from ssdlab.results import catalogue

    folder = library_of(library)
    if not folder.is_dir():
        raise UsageError(
            f"there is no library at {folder}",
            "name the folder of runs with --library; a first run makes it",
            path=str(folder),
        )
    done = catalogue.rebuild(folder)
    if json:
        print_json(
            {
                "schema": SCHEMA,
                "library": str(folder),
                "runs": done.runs,
                "figures": done.figures,
                "unreadable": list(done.unreadable),
            }
        )
        return
    print_line(f"{folder}: {done.runs} runs, {done.figures} figures")
    for name in done.unreadable:
        warn(f"{name} cannot be read and is left out", f"see why with ssdlab show {name}")
