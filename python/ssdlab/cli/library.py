"""`ssdlab library` and `ssdlab rm`: the folder of runs, and its trash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.completers import RunName
from ssdlab.cli.flags import Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, warn
from ssdlab.model.errors import Refused, UsageError

if TYPE_CHECKING:
    from ssdlab.results.verifying import Verified

SCHEMA = "ssdlab.library/1"
VERIFY_SCHEMA = "ssdlab.verify/1"
PACK_SCHEMA = "ssdlab.pack/1"
UNPACK_SCHEMA = "ssdlab.unpack/1"
DAMAGED = Refused.exit_status
"""What `verify` exits with if a run is damaged: what `show` of it would."""


def rebuild(*, library: Library = None, json: bool = False) -> None:
    """Make the library's catalogue anew from the runs in it.

    Parameters
    ----------
    json
        Print what was found as JSON, schema ssdlab.library/1.
    """
    from ssdlab.results import catalogue

    folder = _existing(library)
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
    print_line(f"{folder}: runs: {done.runs}, figures: {done.figures}")
    for name in done.unreadable:
        warn(f"{name} cannot be read and is left out", f"see why with ssdlab show {name}")


def verify(*, library: Library = None, json: bool = False) -> int:
    """Read every run of the library whole, and hold each file against its seal.

    A seal tells damage and careless edits. It is no signature: whoever edits on purpose can seal anew.
    Exit status 2 if a run is damaged.

    Parameters
    ----------
    json
        Print what was found as JSON, schema ssdlab.verify/1: of each run its seal ("sealed", "unfinished",
        "not sealed"; null if it is damaged), the damage, the bytes of a torn last record, names that
        were not sealed with it, and whether its tables are written.
    """
    from ssdlab.results.verifying import verify_library

    folder = _existing(library)
    found = list(verify_library(folder))
    damaged = sum(each.seal is None for each in found)
    if json:
        runs = [
            {
                "run": each.folder.name,
                "seal": each.seal,
                "damage": each.damage,
                "torn_bytes": each.torn_bytes,
                "unknown": list(each.unknown),
                "tables_written": each.tables_written,
            }
            for each in found
        ]
        print_json({"schema": VERIFY_SCHEMA, "library": str(folder), "damaged": damaged, "runs": runs})
    else:
        for each in found:
            print_line(f"{each.folder.name}: {_words(each)}", "bad" if each.seal is None else None)
        left_out = ", left out of rankings until found whole" if damaged else ""
        print_line(f"{folder}: runs: {len(found)}, damaged: {damaged}{left_out}")
    return DAMAGED if damaged else 0


def pack(
    *runs: RunName,
    output: Annotated[Path, Parameter(name=("--output", "-o"), metavar="FILE")],
    redact: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Write runs as one archive, a gzipped tar of their folders; a suite goes with its runs.

    Parameters
    ----------
    runs
        Each a folder, an id, the beginning of an id or of its last letters, or `last`.
    output
        The archive, which must not exist.
    redact
        Replace serial numbers and host names by words that nobody can look up. The runs are sealed anew, and
        a note says so. Other paths and notes of yours stay.
    json
        Print what was packed as JSON, schema ssdlab.pack/1.
    """
    from ssdlab.host.output_files import OutputFile
    from ssdlab.library.packing import pack as packed
    from ssdlab.results.store import find_run

    if not runs:
        raise UsageError("no run is named", "name those to pack; ssdlab runs lists them")
    folders = [find_run(run, library_of(library)) for run in runs]
    with OutputFile(output, noun="archive") as file:
        try:
            with file.new() as out:
                names = packed(folders, out, redact=redact)
        except BaseException:
            file.remove()
            raise
        path = file.path
    if json:
        print_json({"schema": PACK_SCHEMA, "archive": str(path), "redacted": redact, "runs": names})
        return
    print_line(f"{path}: runs: {len(names)}{', redacted and sealed anew' if redact else ''}")


def unpack(archive: Path, /, *, library: Library = None, json: bool = False) -> None:
    """Put the runs of an archive into the library: all of them, or none.

    An archive with links, or with names that lead out of its folders, is refused whole, as is one with a
    damaged run. Runs that the library has already stay as they are.

    Parameters
    ----------
    archive
        A file that `ssdlab library pack` wrote.
    json
        Print what was unpacked as JSON, schema ssdlab.unpack/1.
    """
    from ssdlab.host.documents import user_path
    from ssdlab.library.packing import unpack as unpacked

    done = unpacked(user_path(archive), library_of(library))
    if json:
        print_json({"schema": UNPACK_SCHEMA, "runs": done.written, "there_already": done.there})
        return
    for name in done.written:
        print_line(name)
    print_line(f"runs: {len(done.written)}, there already: {len(done.there)}")


def _words(found: Verified) -> str:
    if found.seal is None:
        return f"damaged: {found.damage}"
    unknown = f"; not sealed with it: {', '.join(found.unknown)}" if found.unknown else ""
    torn = f"; the last {found.torn_bytes} bytes of its journal are torn and left out"
    return found.seal + (torn if found.torn_bytes else "") + unknown + _unwritten(found)


def _unwritten(found: Verified) -> str:
    if found.tables_written:
        return ""
    from ssdlab.results.unwritten_tables import NOT_WRITTEN, continue_words

    return f"; {NOT_WRITTEN}: {continue_words(found.folder)}"


def _existing(library: Path | None) -> Path:
    folder = library_of(library)
    if not folder.is_dir():
        raise UsageError(
            f"there is no library at {folder}",
            "name the folder of runs with --library; a first run makes it",
            path=str(folder),
        )
    return folder


TRASH_SCHEMA = "ssdlab.rm/1"


def rm(*runs: RunName, restore: bool = False, library: Library = None, json: bool = False) -> None:
    """Move runs to the trash of the library, a suite with its runs, or bring them back.

    Nothing is deleted: the trash is the folder `.trash` in the library, and is emptied by hand.

    Parameters
    ----------
    runs
        Each a folder, an id, the beginning of an id or of its last letters, or `last`.
    restore
        Bring them back from the trash.
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
                "schema": TRASH_SCHEMA,
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
