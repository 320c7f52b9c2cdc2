"""`ssdlab runs`, `last`, `show`, `tag` and `note`: list the runs of the library, and show or annotate one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from ssdlab.cli.completion import RunName
from ssdlab.cli.flags import Count, Library, RunText
from ssdlab.cli.ordering import library_of, print_run
from ssdlab.cli.output import on_terminal, one_line, print_json, print_line, print_table, say, warn
from ssdlab.model.errors import UsageError, excerpt, unknown
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.cli.printed import RunsDocument, Unreadable
    from ssdlab.library.choosing import Listing
    from ssdlab.library.index import Line

SCHEMA: Final = "ssdlab.runs/1"
SHOWN = 40
_TITLES = ("run", "begun", "status", "method", "drive", "identifier", "tags")

Title = Annotated[str | None, Parameter(metavar="TITLE")]
Day = Annotated[str | None, Parameter(metavar="DATE")]
Words = Annotated[tuple[str, ...], Parameter(metavar="WORD")]
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

    A part has its own line if its review does not match.

    A narrow terminal gets fewer columns and shortened names; a pipe gets the whole table, separated by tabs.

    Parameters
    ----------
    drive
        Only drives with this in their identifier or name.
    method
        Only runs of this method.
    since
        Only runs started since this date, or within this time: 2026-11-01, 7d, 36h.
    tag
        Only runs with this tag.
    status
        Only runs with this status.
    limit
        Maximum rows (default 40; JSON: all).
    parts
        Also list the parts of reviews.
    json
        Print the runs as JSON, schema ssdlab.runs/1. Parts are included, with the run_id of their review as
        `suite`.
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

    # These columns can be dropped: a run's name starts with its time, and `show` prints the identifier.
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
    """Print the folder of the newest run; for a suite, the folder of the suite.

    `last` names this run in every command: `ssdlab show last`.

    Parameters
    ----------
    json
        Print JSON, schema ssdlab.last/1.
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
        Print JSON, schema ssdlab.show/1: the manifest with the typed result, steps, voided attempts and
        notes.
    """
    from ssdlab.results.store import find_run

    print_run(find_run(run, library_of(library)), json=json, whole=all)


TAG_SCHEMA = "ssdlab.tag/1"


def tag(
    run: RunName, /, *words: str, remove: Words = (), library: Library = None, json: bool = False
) -> None:
    """Tag a run with words to find it by; the run itself is not changed.

    `ssdlab runs --tag WORD` lists the runs with a tag, and `rank` and `compare` accept it.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    words
        Tags: letters and digits, with . + @ : / - _ within [default: show the run's tags].
    remove
        Tag to remove. May be given several times.
    json
        Print the run's tags as JSON, schema ssdlab.tag/1.
    """
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.settling import settling
    from ssdlab.results.store import find_run
    from ssdlab.results.tags import change_tags, check_tag, read_tags
    from ssdlab.results.verifying import check_run

    both = set(words) & set(remove)
    if both:
        raise UsageError(f"{min(both)!r} is both added and removed", "do one of the two")
    for word in words:
        check_tag(word)
    folder = find_run(run, library_of(library))
    check_run(RunFolder(folder))
    tags = read_tags(folder)
    for word in remove:
        if word not in tags:
            raise unknown("tag", word, tags, elsewhere="" if tags else "the run has no tags")
    if words or remove:
        with HeldFolder(folder.parent, follow=True) as held, settling(held, runs=[folder.name]):
            tags = change_tags(folder, words, remove)
    if json:
        print_json({"schema": TAG_SCHEMA, "run": folder.name, "tags": tags})
    else:
        print_line(f"{folder.name}: {' '.join(tags) or 'no tags'}")


NOTE_SCHEMA = "ssdlab.note/1"


def note(
    noted: Annotated[RunName, Parameter(name="RUN")],
    text: str,
    /,
    *,
    chapter: Title = None,
    date: Day = None,
    run: RunText = None,
    library: Library = None,
    json: bool = False,
) -> None:
    """Add a dated note to a run, such as a correction or "superseded by". The run itself is not changed.

    `show` and the report show the note. The run can be a review, a drive's suite in a review, or a part of
    either.

    Parameters
    ----------
    noted
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    text
        The note.
    chapter
        Heading of the chapter in the review's report to which the note belongs.
    date
        Date of the note, such as 2026-05-20 [default: now].
    run
        A run to link to, such as a new one of the same drive.
    json
        Print the note as JSON, schema ssdlab.note/1.
    """
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import add_note, find_run
    from ssdlab.results.verifying import check_run

    place = library_of(library)
    folder = find_run(noted, place)
    check_run(RunFolder(folder))
    leads_to = None if run is None else RunFolder(find_run(run, place)).manifest.run_id
    if leads_to == folder.name:
        raise UsageError(f"--run {run} is the run that has the note", "name another run")
    day = None if date is None else _day(date)
    added = add_note(folder, text, day=day, chapter=chapter, run=leads_to)
    if json:
        print_json({"schema": NOTE_SCHEMA, "run": folder.name, **added.model_dump()})
    else:
        print_line(f"{added.when}  {added.words}")


def _day(text: str) -> str:
    """Return a date in ISO form.

    Raises
    ------
    UsageError
        The text is not a date.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        raise UsageError(
            f"--date is {excerpt(text)!r}, which is not a date", "write year, month and day: 2026-05-20"
        ) from None
