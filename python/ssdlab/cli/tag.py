"""`ssdlab tag` and `ssdlab note`: words beside a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError, unknown

SCHEMA = "ssdlab.tag/1"

Words = Annotated[tuple[str, ...], Parameter(metavar="WORD", negative=())]


def tag(
    run: RunName, /, *words: str, remove: Words = (), library: Path | None = None, json: bool = False
) -> None:
    """Give a run words to be found by; the run itself is not changed.

    `ssdlab runs --tag WORD` lists what has it, and `rank` and `compare` take it.

    Parameters
    ----------
    run
        The run: its folder, its id, the beginning of its id or of its last letters, or `last`.
    words
        Letters and digits, with . + @ : / - _ within. Without any its tags are shown.
    remove
        A word that it is to have no longer. May be given several times.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
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
        raise UsageError(f"{min(both)!r} is given and taken away", "do one of the two")
    for word in words:
        check_tag(word)
    folder = find_run(run, library_of(library))
    check_run(RunFolder(folder))
    tags = read_tags(folder)
    for word in remove:
        if word not in tags:
            raise unknown("tag", word, tags, elsewhere="" if tags else "the run has none")
    if words or remove:
        with HeldFolder(folder.parent, follow=True) as held, settling(held, runs=[folder.name]):
            tags = change_tags(folder, words, remove)
    if json:
        print_json({"schema": SCHEMA, "run": folder.name, "tags": tags})
    else:
        print_line(f"{folder.name}: {' '.join(tags) or 'no tags'}")


NOTE_SCHEMA = "ssdlab.note/1"


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
        print_json({"schema": NOTE_SCHEMA, "run": folder.name, **added.model_dump()})
    else:
        print_line(f"{added.at}  {added.text}")
