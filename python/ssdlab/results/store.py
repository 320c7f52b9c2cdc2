"""The library, a folder of run folders: creates, finds and lists runs."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder, hold, read_whole
from ssdlab.model.errors import HostError, LabError, Refused, UsageError, excerpt, unknown
from ssdlab.results.journal import now
from ssdlab.results.lines import parse_journal, parse_notes
from ssdlab.results.run_folder import APART, JOURNAL, MANIFEST, NOTES, STEPS, RunFolder, read_sealed_manifest
from ssdlab.results.schema import RUN_SCHEMA, Note, Sealed
from ssdlab.results.seal import file_digest, seal_document
from ssdlab.results.unwritten_tables import lacks_tables
from ssdlab.results.unwritten_tables import run_words as run_words
from ssdlab.results.unwritten_tables import short_id as short_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ssdlab.results.schema import ActualStatus, Manifest


def sealed_of(folder: HeldFolder, manifest: Manifest) -> Sealed:
    """Return the seals of a newly finished run.

    Raises
    ------
    Refused
        The journal, or a run of the suite, is damaged.
    """
    from ssdlab.results.tables import (
        FLUSHES,
        HIST,
        IOS,
        SERIES,
        TELEMETRY,
    )  # imports numpy, which most readers do not need

    apart = APART | {FLUSHES, HIST, IOS, SERIES, TELEMETRY}  # the manifest's list of tables seals those
    data = folder.read_bytes(JOURNAL) if folder.exists(JOURNAL) else b""
    journal = parse_journal(data, folder.path / JOURNAL, manifest.run_id)
    others = (name for name in folder.names() if name not in apart and not name.startswith("."))
    files = {name: file_digest(folder, name) for name in others if folder.is_file(name)}
    runs: dict[str, str] = {}
    children = [child.run_id for child in manifest.children if child.left_out is None]
    for run_id in (*children, *(each.old.run_id for each in manifest.replaced if not each.old.standing)):
        found = read_sealed_manifest(folder.path.parent / run_id)[1]
        if found is not None:
            runs[run_id] = found
    return Sealed(journal_lines=journal.chain.lines, journal_seal=journal.chain.seal, files=files, runs=runs)


_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, without letters that could be mistaken for digits."""
_ID_LETTERS = 6
_STAMP = re.compile(r"\d{8}-\d{4}-")
_RUN_ID = re.compile(rf"\d{{8}}-\d{{4}}-[a-z0-9][a-z0-9-]{{0,63}}-[{_LETTERS}]{{{_ID_LETTERS}}}")
_STAMP_CHARACTERS = len("20261121-0912-")
_NEWEST_NAMED = 3
LAST = "last"
"""What a user gives for RUN to mean the run that was started last."""


def new_run_id(method: str, moment: datetime | None = None) -> str:
    """Return a new id such as `20261121-0912-qd1-k7f3qa`: time, method, and random letters."""
    stamp = (moment or datetime.now(UTC)).strftime("%Y%m%d-%H%M")
    letters = "".join(secrets.choice(_LETTERS) for _ in range(_ID_LETTERS))
    return f"{stamp}-{method}-{letters}"


def check_run_id(text: str) -> str:
    """Return a run id that the user chose, if it has the form of `new_run_id`.

    Raises
    ------
    UsageError
        The text does not have that form.
    """
    if not _RUN_ID.fullmatch(text):
        raise UsageError(
            f"{excerpt(text)!r} is not a run id",
            "write time, method and six letters or digits: 20261121-0912-qd1-k7f3qa",
        )
    return text


def make_run_folder(library: Path, run_id: str) -> Path:
    """Create the folder of a new run, durably.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    with library_errors(library / run_id), _new_folder(library, run_id):
        return library / run_id


_NOT_TO_BE_MADE = {
    errno.ENOTDIR: "it or its parent is not a folder",
    errno.ENOENT: "the file system there cannot hold folders",
    errno.EACCES: "this user may not write there",
    errno.EPERM: "this user may not write there",
    errno.EROFS: "the file system there is read-only",
    errno.ELOOP: "symbolic links form a loop",
    errno.ENAMETOOLONG: "a name in it is too long",
}
"""Why a folder cannot be created at a path, for errors that a retry cannot cure."""


def hold_library(library: Path) -> HeldFolder:
    """Open the folder of a library, and create it if missing.

    Raises
    ------
    HostError
        The path cannot be a folder.
    OSError
        The file system fails or is full.
    """
    try:
        return HeldFolder(library, make=FOLDER_MODE)
    except OSError as error:
        why = _NOT_TO_BE_MADE.get(error.errno or 0)
        if why is None:
            raise
        raise HostError(
            f"cannot create a library at {library}: {why}",
            "name another folder with --library; it and its parents are created",
            path=str(library),
            errno=error.errno,
        ) from error


@contextmanager
def _new_folder(library: Path, run_id: str) -> Iterator[HeldFolder]:
    """Create the folder of a run, and remove it if the block fails."""
    with hold_library(library) as place:
        folder = place.new_folder(run_id)
        try:
            folder.folder(STEPS, make=True).close()
            folder.sync()
            place.sync()
            yield folder
        except BaseException:
            place.remove_tree(run_id)
            raise


def begin_run(
    library: Path, manifest: Manifest, before: Callable[[HeldFolder], None] = lambda _: None
) -> Path:
    """Create the folder of a new run with its first manifest, or no folder at all.

    Parameters
    ----------
    before
        Writes the files that are needed before the manifest.

    Raises
    ------
    Refused
        The library already has a run with that id.
    HostError
        The library cannot be written.
    """
    folder = library / manifest.run_id
    if folder.exists():
        raise Refused(
            f"run {folder.name} already exists",
            "resume it, or give another --run-id",
            run=folder.name,
            library=str(library),
        )
    with library_errors(folder):
        hold_library(library).close()
        try:
            with _new_folder(library, manifest.run_id) as held:
                before(held)
                write_manifest(held, manifest)
        except HostError as error:
            error.advice = (
                "nothing was started: free some space and start again, or name another folder with --library"
            )
            raise
    from ssdlab.results.catalogue import begun  # not needed for reading runs

    begun(library, folder.name)
    return folder


def write_manifest(folder: Path | HeldFolder, manifest: Manifest) -> Manifest:
    """Replace the manifest durably, and return it with its seals.

    The seals of a finished run cover its journal up to the end, and do not change again.

    Raises
    ------
    Refused
        The journal is damaged.
    HostError
        The library cannot be written.
    """
    path = folder if isinstance(folder, Path) else folder.path
    with library_errors(path / MANIFEST):
        held = hold(folder, writing=True)
        sealed = (manifest.sealed or sealed_of(held, manifest)) if manifest.status == "finished" else None
        manifest = manifest.model_copy(update={"schema_version": RUN_SCHEMA, "sealed": sealed})
        held.replace(MANIFEST, seal_document(manifest.model_dump_json(by_alias=True, indent=1)))
    return manifest


def run_folders(library: Path) -> list[Path]:
    """Return all run folders of a library, oldest first by their ids."""
    if not library.is_dir():
        return []
    return sorted(path for path in library.iterdir() if (path / MANIFEST).is_file())


def newest_first(names: Iterable[str]) -> list[str]:
    """Sort names that start with a time, newest first.

    Names with a future time, from a wrong clock, come last.
    """
    present = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return sorted(names, key=lambda name: (name[: len(present)] <= present, name), reverse=True)


def find_run(text: str, library: Path) -> Path:
    """Return the folder of the run that a user's RUN means.

    RUN is a path, `last`, or the beginning of a run's id or of its last letters. Only a text with a slash is
    a path. `last` is the run that was started last, not counting parts of suites.

    Raises
    ------
    UsageError
        No run fits, or several do; the error lists them.
    Refused
        RUN is `last`, and one of the newest folders is damaged or from a newer ssdlab.
    """
    if "/" in text:
        path = Path(text)
        if (path / MANIFEST).is_file():
            return path.resolve()
        raise UsageError(
            f"{text} is not a run folder: it has no {MANIFEST}", "name a run by its folder or its id"
        )
    if text == LAST and (found := _last(library)):
        return found
    names = _folder_names(library)
    exact = [name for name in names if text in (name, short_id(name))]
    fits = [
        library / name
        for name in exact or [n for n in names if n.startswith(text) or short_id(n).startswith(text)]
        if (library / name / MANIFEST).is_file()
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        listed = ", ".join(f.name for f in fits[:12]) + (" ..." if len(fits) > 12 else "")
        raise UsageError(
            f"{text!r} matches {len(fits)} runs", f"give more letters: {listed}", runs=[f.name for f in fits]
        )
    runs = (folder for folder in _newest_first(library) if (folder / MANIFEST).is_file())
    newest = [folder.name for folder in islice(runs, _NEWEST_NAMED)]
    advice = (
        f"the newest are: {', '.join(newest)}"
        if newest
        else "it is empty: name another library with --library"
    )
    raise UsageError(f"there is no run {text!r} in {library}", advice, given=text, library=str(library))


def _folder_names(library: Path) -> list[str]:
    if not library.is_dir():
        return []
    return sorted(path.name for path in library.iterdir() if not path.name.startswith("."))


def _newest_first(library: Path) -> Iterator[Path]:
    """Yield folders of runs, newest first: by the minute in their ids, then by their manifests."""
    for _, names in groupby(newest_first(_folder_names(library)), key=lambda name: name[:_STAMP_CHARACTERS]):
        yield from sorted((library / name for name in names), key=_begun, reverse=True)


def _begun(folder: Path) -> str:
    """Return the time at which a run was started; empty: not a run, or damaged."""
    try:
        return RunFolder(folder).manifest.created if (folder / MANIFEST).is_file() else ""
    except LabError:
        return ""


def _last(library: Path) -> Path | None:
    """Return the run that was started last: by the minute in its id, then by its manifest.

    Parts of suites are skipped. A run with a future time, from a wrong clock, is taken only if there is no
    other.
    """
    present = now()
    stamped = [name for name in _folder_names(library) if _STAMP.match(name)]
    for _, names in groupby(newest_first(stamped), key=lambda name: name[:_STAMP_CHARACTERS]):
        folders = [library / name for name in names if (library / name / MANIFEST).is_file()]
        begun = [(RunFolder(folder).manifest, folder) for folder in folders]
        own = [(manifest.created, folder) for manifest, folder in begun if manifest.member is None]
        if own:
            return max(own, key=lambda each: (each[0] <= present, *each))[1]
    return None


def actual_status(folder: Path, manifest: Manifest) -> ActualStatus:
    """Return the actual status of a run: one that no process holds is not running."""
    if manifest.status == "interrupted" and _waits(manifest):
        return "not begun"
    unwritten = lacks_tables(folder, manifest)
    if manifest.status != "running" and not unwritten:
        return manifest.status
    from ssdlab.results.lease import is_running  # not needed for finished runs, which are most

    if is_running(folder):
        return "running"
    return "tables not written" if unwritten else "interrupted"


def _waits(manifest: Manifest) -> bool:
    """Whether this is the suite of one drive of a comparison, recorded but not begun."""
    (first, *others) = manifest.sessions
    of_comparison = bool(manifest.children) and manifest.member is not None
    return of_comparison and not others and first.ended == first.started


def require_finished(folder: Path) -> RunFolder:
    """Open a finished run.

    Raises
    ------
    Refused
        The run is not finished.
    """
    run = RunFolder(folder)
    if (status := actual_status(folder, run.manifest)) != "finished":
        raise Refused(
            f"run {run.manifest.run_id} is {status}",
            "wait until it ends" if status == "running" else f"resume it: ssdlab resume {run_words(folder)}",
            run=run.manifest.run_id,
            status=status,
        )
    return run


def add_note(
    folder: Path,
    text: str,
    *,
    day: str | None = None,
    chapter: str | None = None,
    run: str | None = None,
) -> Note:
    """Add a dated note to a run, durably, without changing the run.

    Parameters
    ----------
    day
        Date of the note, as `2026-05-20`; by default now.
    chapter
        Heading of a chapter on the review's page.
    run
        Id of a linked run.

    Raises
    ------
    UsageError
        The note is empty, or the run does not have that chapter.
    Refused
        Earlier notes are damaged.
    HostError
        The library cannot be written.
    """
    if not text.strip():
        raise UsageError("the note is empty", "give its text, in quotes")
    if chapter is not None:
        _check_chapter(RunFolder(folder).manifest, chapter)
    note = Note(at=now(), text=text.strip(), day=day, chapter=chapter, run=run)
    with library_errors(folder / NOTES), HeldFolder(folder, writing=True) as held:
        with os.fdopen(held.append_to(NOTES), "a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            before = parse_notes(read_whole(file, folder / NOTES), folder / NOTES)
            file.truncate(before.good_bytes)
            file.write(before.chain.write(note.model_dump_json()))
            file.flush()
            os.fsync(file.fileno())
        held.sync()
    return note


def _check_chapter(manifest: Manifest, title: str) -> None:
    chapters = manifest.review.get("chapters")
    known = (
        [str(each["title"]) for each in chapters if isinstance(each, dict)]
        if isinstance(chapters, list)
        else []
    )
    if not known:
        raise UsageError(
            f"run {manifest.run_id} has no chapters",
            "leave --chapter out, or name a review with chapters",
            run=manifest.run_id,
        )
    if title not in known:
        raise unknown("chapter", title, known)
