"""`ssdlab tag` and `ssdlab note`: tags and notes of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Library, RunText
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError, excerpt, unknown

SCHEMA = "ssdlab.tag/1"

Title = Annotated[str | None, Parameter(metavar="TITLE")]
Day = Annotated[str | None, Parameter(metavar="DATE")]
Words = Annotated[tuple[str, ...], Parameter(metavar="WORD")]


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
        print_json({"schema": SCHEMA, "run": folder.name, "tags": tags})
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

    `show` and the report show it. A run may be a review, a drive's suite in it, or one of their parts.

    Parameters
    ----------
    noted
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    text
        The note.
    chapter
        Chapter heading in the review's report that it belongs to.
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
        It is not a date.
    """
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date().isoformat()
    except ValueError:
        raise UsageError(
            f"--date is {excerpt(text)!r}, which is not a date", "write year, month and day: 2026-05-20"
        ) from None
