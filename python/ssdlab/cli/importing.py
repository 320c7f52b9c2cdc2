"""`ssdlab import`: fio results as runs of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.cli.flags import DriveText, Library
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, print_table
from ssdlab.cli.tag import Words
from ssdlab.model.errors import UsageError
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.runs.importing import Import

SCHEMA = "ssdlab.import/1"


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

    Each file becomes a run, marked "imported, state unproven", for show, report, rank, compare, changes and
    export; it is ranked only among imports. All files are read before the first run is written. Results that
    are already in the library are skipped.

    Parameters
    ----------
    files
        Results of fio 2.0 to 3.x. Logs that their options name are read from the same folder.
    drive
        Name of the drive [default: its path in the jobs].
    name
        Name of the job: results with the same job name and load are repeats.
    tag
        Tag for each run, also of those in the library already. May be given several times.
    dry_run
        Read the files, show what would be imported, and write nothing.
    json
        Print file, run and headline figures of each as JSON, schema ssdlab.import/1.
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
        print_json({"schema": SCHEMA, "dry_run": dry_run, "imports": [_as_json(each) for each in found]})
        return
    print_table([_line(each, dry_run=dry_run) for each in found], ("file", "run", "drive", "jobs", ""))
    notes: dict[str, list[str]] = {}
    for each in found:
        for why in each.result.notes:
            notes.setdefault(why, []).append(each.path.name)
    for why, named in notes.items():
        print_line(f"{named[0] if len(named) == 1 else counted(len(named), 'file')}: {why}", "dim")


def _line(found: Import, *, dry_run: bool) -> tuple[str, ...]:
    state = "already in the library" if found.known else "not written" if dry_run else ""
    jobs = counted(len({point.job for point in found.result.points}), "job")
    return found.path.name, _run(found), found.manifest.drive.name, jobs, state


def _run(found: Import) -> str:
    return found.manifest.run_id if found.known is None else found.known.name


def _as_json(found: Import) -> dict[str, object]:
    return {
        "file": str(found.path),
        "run": _run(found),
        "new": found.known is None,
        "drive": found.manifest.drive.name,
        "program": found.result.program,
        "figures": [
            {"name": each.name, "label": each.label, "value": each.value, "unit": each.unit}
            for each in found.result.scalars
        ],
        "notes": list(found.result.notes),
    }
