"""`ssdlab runs`: the runs of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.kinds import Count
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import on_terminal, one_line, print_json, print_line, print_table, say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.library.index import Columns

SCHEMA = "ssdlab.runs/1"
SHOWN = 40
_TITLES = ("run", "begun", "status", "method", "drive", "identifier", "tags")

Part = Annotated[str | None, Parameter(metavar="TEXT")]
Word = Annotated[str | None, Parameter(metavar="WORD")]
Moment = Annotated[str | None, Parameter(metavar="TIME")]


def runs(
    *,
    drive: Part = None,
    method: Word = None,
    since: Moment = None,
    tag: Word = None,
    status: Literal["running", "interrupted", "not begun", "tables not written", "finished", "failed"]
    | None = None,
    limit: Count | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """List the runs of the library, newest first.

    A terminal too narrow for the table is spared columns and the ends of long names; a pipe gets all of it,
    its cells parted by tabs, so that the longest name widens no other line.

    Parameters
    ----------
    drive
        Only of drives with this in their identifier or name.
    method
        Only of this method.
    since
        Only those begun then or later: 2026-11-01, 7d, 36h.
    tag
        Only those with this tag.
    status
        Only those that are so.
    limit
        So many; by default 40 in words, and all as JSON.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print them as JSON, schema ssdlab.runs/1.
    """
    from ssdlab.library.choosing import Choice, since_of
    from ssdlab.library.listing import list_runs
    from ssdlab.results.unwritten_tables import NOT_WRITTEN, continue_words

    folder = library_of(library)
    choice = Choice(drive, method, tag, None if since is None else since_of(since), status)
    found = list_runs(folder, choice, limit if json else limit or SHOWN)
    if json:
        unreadable = [{"run": name, "why": why} for name, why in found.unreadable]
        print_json(
            {
                "schema": SCHEMA,
                "library": str(folder),
                "total": found.total,
                "runs": found.runs,
                "unreadable": unreadable,
            }
        )
        return
    _print(found.runs)
    for line in found.runs:
        if line["status"] == NOT_WRITTEN:
            warn(f"{line['folder']}: {NOT_WRITTEN}", continue_words(folder / line["folder"]))
    for name, why in found.unreadable:
        warn(f"{name} is left out: {why}")
    if not found.runs:
        asked = choice != Choice()
        print_line(f"{folder}: no run is so" if asked else f"{folder}: no run yet; ssdlab run makes one")
    elif found.total > len(found.runs):
        say(f"the newest {len(found.runs)} of {found.total}; more with --limit")


def _print(found: Sequence[Columns]) -> None:
    """Print a table of runs: on a terminal no wider than it is, elsewhere with tabs between its cells."""
    rows = [_cells(line) for line in found]
    if not rows:
        return
    if not on_terminal():
        for row in (_TITLES, *rows):
            print_line("\t".join(" ".join(one_line(cell).split("\t")) for cell in row))
        return
    from shutil import get_terminal_size

    from ssdlab.cli.fitting import fitted

    # The name of a run begins with its time, and `show` of it has the identifier of its drive.
    print_table(
        *fitted(
            rows,
            _TITLES,
            get_terminal_size().columns,
            spared=("begun", "identifier"),
            shortened=("drive", "tags"),
        )
    )


def _cells(line: Columns) -> tuple[str, ...]:
    quick = " quick" if line["quick"] else ""
    of_suite = " (part)" if line["suite"] else ""
    begun = line["created"][:16].replace("T", " ")
    tags = " ".join(line["tags"])
    return (
        line["folder"],
        begun,
        line["status"] + quick,
        line["method"] + of_suite,
        line["drive_name"],
        line["drive_id"],
        tags,
    )
