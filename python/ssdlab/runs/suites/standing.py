"""What stands in the library of a drive: its finished runs, taken as they are for the parts of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.library.index import Index
from ssdlab.results.journal import now
from ssdlab.results.remarks import span_of, span_within
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.runs.conditions.variant import Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ssdlab.lab.method import Params
    from ssdlab.lab.suites.suite import Suite
    from ssdlab.results.schema import DriveInfo, Manifest


def drive_in_library(library: Path, name: str) -> DriveInfo | None:
    """Return the drive of that identifier as its newest finished run has it; None if no run is of it."""
    for run in _runs_of(library, name, None):
        if run.manifest.drive.variant is None:
            return run.manifest.drive
    return None


def standing_parts(
    library: Path,
    drive: DriveInfo,
    suite: Suite,
    params: Mapping[str, Params],
    *,
    quick: bool,
    subject: bool,
) -> dict[str, RunFolder]:
    """Return for each part of a suite the newest run of a drive that is just that part, where there is one.

    It has the method in the version of now, the same parameters, is quick or not as asked for, of the same
    variant and part of the drive, and finished.
    """
    found: dict[str, RunFolder] = {}
    used_bytes = suite.used_bytes(quick=quick)
    for part in suite.parts_of(subject=subject):
        method, wanted = suite.method(part), params[part.like or part.label].model_dump(mode="json")
        asked = Variant.model_validate(dict(part.variant)).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        for run in _runs_of(library, drive.id, part.method):
            manifest = run.manifest
            alike = (
                manifest.method.version == method.version
                and manifest.params == wanted
                and manifest.quick == quick
                and _asked(manifest) == asked
                and span_of(manifest) == span_within(used_bytes, manifest.drive.capacity_bytes)
            )
            if alike:
                found[part.label] = run
                break
    return found


def _asked(manifest: Manifest) -> dict[str, object]:
    variant = manifest.drive.variant
    return {} if variant is None else dict(variant.asked)


def _runs_of(library: Path, drive_id: str, method: str | None) -> Iterator[RunFolder]:
    """Yield the finished runs of a drive, newest first, and behind them those begun later than now."""
    if not library.is_dir():
        return
    more = "" if method is None else " AND method = ?"
    with Index(library) as index:
        folders = index.ask(
            f"SELECT folder FROM runs WHERE drive_id = ? AND status = 'finished'{more} "
            "ORDER BY created <= ? DESC, created DESC",
            [drive_id, *([] if method is None else [method]), now()],
        )
    for (folder,) in folders:
        if (library / folder / MANIFEST).is_file():
            run = RunFolder(library / folder)
            if run.manifest.status == "finished" and not run.manifest.children:
                yield run
