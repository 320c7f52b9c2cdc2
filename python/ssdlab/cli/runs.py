"""`ssdlab runs`, `last` and `show`: the runs of the library, the newest of them, and the result of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Count, Library
from ssdlab.cli.ordering import library_of, print_run
from ssdlab.cli.output import on_terminal, one_line, print_json, print_line, print_table, say, warn
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.cli.printed import RunsDocument, Unreadable
    from ssdlab.library.choosing import Listing
    from ssdlab.library.index import Line

SCHEMA: Final = "ssdlab.runs/1"
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
    status: Literal[
        "running", "interrupted", "not begun", "tables not written", "finished", "failed", "replaced"
    ]
    | None = None,
    limit: Count | None = None,
    parts: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """List the runs of the library, newest first; a review is one line, with its number of parts.

    Parts have their own lines if their review does not match.

    A narrow terminal gets fewer columns and shortened names; a pipe gets the whole table, separated by tabs.

    Parameters
    ----------
    drive
        Only drives with this in their identifier or name.
    method
        Only runs of this method.
    since
        Only runs started since: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    status
        Only runs with this status.
    limit
        Maximum rows (default 40; JSON: all).
    parts
        Also list the parts of reviews.
    json
        Print them as JSON, schema ssdlab.runs/1: with parts, each with the run_id of its review as `suite`.
    """
    from ssdlab.library.choosing import Choice, list_runs, since_of
    from ssdlab.results.unwritten_tables import NOT_WRITTEN, continue_words

    folder = library_of(library)
    choice = Choice(drive, method, tag, None if since is None else since_of(since), status)
    found = list_runs(folder, choice, limit if json else limit or SHOWN, folded=not (json or parts))
    if json:
        unreadable: list[Unreadable] = [{"run": name, "why": why} for name, why in found.unreadable]
        document: RunsDocument = {
            "schema": SCHEMA,
            "library": str(folder),
            "total": found.total,
            "runs": found.runs,
            "unreadable": unreadable,
        }
        print_json(document)
        return
    _print(found)
    for line in found.runs:
        if line["status"] == NOT_WRITTEN:
            warn(f"{line['folder']}: {NOT_WRITTEN}", continue_words(folder / line["folder"]))
    for name, why in found.unreadable:
        warn(f"{name} is left out: {why}")
    if not found.runs:
        asked = choice != Choice()
        print_line(f"{folder}: no matching run" if asked else f"{folder}: no run yet; ssdlab run makes one")
    elif found.total > len(found.runs):
        say(f"showing the newest {len(found.runs)} of {found.total}; more with --limit")


def _print(found: Listing) -> None:
    """Print a table of runs: fitted to a terminal, elsewhere separated by tabs."""
    rows = [_cells(line, *found.parts.get(line["run_id"], (0, 0))) for line in found.runs]
    if not rows:
        return
    if not on_terminal():
        for row in (_TITLES, *rows):
            print_line("\t".join(" ".join(one_line(cell).split("\t")) for cell in row))
        return
    from shutil import get_terminal_size

    from ssdlab.cli.fitting import fitted

    # A run's name starts with its time, and `show` has its drive's identifier.
    print_table(
        *fitted(
            rows,
            _TITLES,
            get_terminal_size().columns,
            spared=("begun", "identifier"),
            shortened=("drive", "tags"),
        )
    )


def _cells(line: Line, drives: int, parts: int) -> tuple[str, ...]:
    quick = " quick" if line["quick"] else ""
    has = [counted(drives, "drive")] * bool(drives) + [counted(parts, "part")] * bool(parts)
    of_suite = f" ({', '.join(has)})" if has else " (part)" if line["suite"] else ""
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


LAST_SCHEMA = "ssdlab.last/1"


def last(*, library: Library = None, json: bool = False) -> None:
    """Print the folder of the newest run; for a suite, that of the suite.

    `last` names this run in every command: `ssdlab show last`.

    Parameters
    ----------
    json
        Print it as JSON, schema ssdlab.last/1.
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
            "schema": LAST_SCHEMA,
            "folder": str(folder),
            "run_id": manifest.run_id,
            "method": manifest.method.name,
            "drive": manifest.drive.name,
            "created": manifest.created,
            "status": actual_status(folder, manifest),
        }
    )


def show(
    run: RunName,
    /,
    *,
    all: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Show a run's result or progress on one screen: at most six figures, or a review's tiles.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    all
        Show everything: parts, points, all figures, ratings, departures, notes.
    json
        Print it as JSON, schema ssdlab.show/1: the manifest with the typed result, steps, voided attempts,
        notes.
    """
    from ssdlab.results.store import find_run

    print_run(find_run(run, library_of(library)), json=json, whole=all)
