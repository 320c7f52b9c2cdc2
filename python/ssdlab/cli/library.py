"""`ssdlab library`, `rm` and `import`: check, pack and clean up the folder of runs; import fio results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.completion import RunName
from ssdlab.cli.flags import DriveText, Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, print_table, warn
from ssdlab.cli.runs import Words
from ssdlab.model.errors import Refused, UsageError
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.results.verifying import Verified
    from ssdlab.runs.importing import Import

SCHEMA = "ssdlab.library/1"
VERIFY_SCHEMA = "ssdlab.verify/1"
PACK_SCHEMA = "ssdlab.pack/1"
UNPACK_SCHEMA = "ssdlab.unpack/1"
DAMAGED = Refused.exit_status
"""Exit status of `verify` if a run is damaged, the same as that of `show`."""


def rebuild(*, library: Library = None, json: bool = False) -> None:
    """Rebuild the library's catalogue from its runs.

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
    """Read every run of the library, and check each file against its seal.

    A seal detects damage and careless edits. It is not a signature: anyone can edit a run and reseal it.
    Exit status 2 if a run is damaged.

    Parameters
    ----------
    json
        Print what was found as JSON, schema ssdlab.verify/1. Each run has its seal ("sealed", "unfinished",
        "not sealed"; null if damaged) and its damage. It also has the bytes of an incomplete last record, the
        unsealed files, and whether its tables are written.
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
        left_out = ", left out of rankings until they verify" if damaged else ""
        print_line(f"{folder}: runs: {len(found)}, damaged: {damaged}{left_out}")
    return DAMAGED if damaged else 0


def pack(
    *runs: RunName,
    output: Annotated[Path, Parameter(name=("--output", "-o"), metavar="FILE")],
    redact: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Pack runs into one archive, a gzipped tar of their folders; a suite includes its runs.

    Parameters
    ----------
    runs
        Run folders, ids or prefixes of ids, or `last`.
    output
        Archive to write; it must not exist.
    redact
        Replace serial numbers, world-wide names, host names and names under /dev/disk/by-id with irreversible
        pseudonyms, and reseal the runs. A note in each run records this. Other paths and your notes are kept.
    json
        Print what was packed as JSON, schema ssdlab.pack/1.
    """
    from ssdlab.host.output_files import OutputFile
    from ssdlab.library.packing import pack as packed
    from ssdlab.results.store import find_run

    if not runs:
        raise UsageError("no run is named", "name the runs to pack; ssdlab runs lists them")
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
    print_line(f"{path}: runs: {len(names)}{', redacted and resealed' if redact else ''}")


def unpack(archive: Path, /, *, library: Library = None, json: bool = False) -> None:
    """Unpack an archive of runs into the library: all of them, or none.

    An archive with links, names outside its folders, or a damaged run is refused as a whole. Runs that are
    already in the library are skipped.

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
    print_line(f"runs: {len(done.written)}, already in the library: {len(done.there)}")


def _words(found: Verified) -> str:
    if found.seal is None:
        return f"damaged: {found.damage}"
    unknown = f"; unsealed files: {', '.join(found.unknown)}" if found.unknown else ""
    torn = f"; the last {found.torn_bytes} bytes of its journal are incomplete and left out"
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
            f"no library at {folder}",
            "give the folder of runs with --library; the first run creates it",
            path=str(folder),
        )
    return folder


TRASH_SCHEMA = "ssdlab.rm/1"


def rm(*runs: RunName, restore: bool = False, library: Library = None, json: bool = False) -> None:
    """Move runs to the library's trash, a suite with its runs, or restore them.

    Nothing is deleted: the trash is the folder `.trash` in the library; empty it by hand.

    Parameters
    ----------
    runs
        Run folders, ids or prefixes of ids, or `last`.
    restore
        Restore runs from the trash.
    json
        Print what was moved as JSON, schema ssdlab.rm/1.
    """
    from ssdlab.library.trash import TRASH, remove_runs, restore_runs
    from ssdlab.results.store import find_run

    if not runs:
        raise UsageError("no run is named", "name the runs to move: ssdlab rm RUN; ssdlab runs lists them")
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
        print_line(f"restore: ssdlab rm --restore {back}{other}", "dim")


IMPORT_SCHEMA = "ssdlab.import/1"


def import_results(
    *files: Path,
    drive: DriveText = None,
    name: Annotated[str | None, Parameter(metavar="TEXT")] = None,
    tag: Words = (),
    dry_run: bool = False,
    library: Library = None,
    json: bool = False,
) -> None:
    """Import fio results as runs: JSON, JSON+ or terse output, with the logs in the same folder.

    Each file becomes a run, marked "imported, state unproven". Show, report, rank, compare, changes and
    export accept it; it is ranked only among imports. All files are read before the first run is written.
    Results that are already in the library are skipped.

    Parameters
    ----------
    files
        Results of fio 2.0 to 3.x. Logs that their options name are read from the same folder.
    drive
        Name of the drive [default: its path in the jobs].
    name
        Name of the job: results with the same job name and load are repeats.
    tag
        Tag for each run, also for runs that are already in the library. May be given several times.
    dry_run
        Read the files, show what would be imported, and write nothing.
    json
        Print file, run and headline figures of each import as JSON, schema ssdlab.import/1.
    """
    from ssdlab.results.tags import check_tag
    from ssdlab.runs.importing import read_imports, save_import

    if not files:
        raise UsageError("no file is named", "name fio results: ssdlab import RESULT.json")
    for word in tag:
        check_tag(word)
    place = library_of(library)
    found = read_imports(files, place, drive=drive, name=name)
    if not dry_run:
        for each in found:
            save_import(place, each, tag)
    if json:
        print_json(
            {"schema": IMPORT_SCHEMA, "dry_run": dry_run, "imports": [_import_json(each) for each in found]}
        )
        return
    print_table([_import_line(each, dry_run=dry_run) for each in found], ("file", "run", "drive", "jobs", ""))
    notes: dict[str, list[str]] = {}
    for each in found:
        for why in each.result.notes:
            notes.setdefault(why, []).append(each.path.name)
    for why, named in notes.items():
        print_line(f"{named[0] if len(named) == 1 else counted(len(named), 'file')}: {why}", "dim")


def _import_line(found: Import, *, dry_run: bool) -> tuple[str, ...]:
    state = "already in the library" if found.known else "not written" if dry_run else ""
    jobs = counted(len({point.job for point in found.result.points}), "job")
    return found.path.name, _imported_run(found), found.manifest.drive.name, jobs, state


def _imported_run(found: Import) -> str:
    return found.manifest.run_id if found.known is None else found.known.name


def _import_json(found: Import) -> dict[str, object]:
    return {
        "file": str(found.path),
        "run": _imported_run(found),
        "new": found.known is None,
        "drive": found.manifest.drive.name,
        "program": found.result.program,
        "figures": [
            {"name": each.name, "label": each.label, "value": each.value, "unit": each.unit}
            for each in found.result.scalars
        ],
        "notes": list(found.result.notes),
    }
