"""Reuses a drive's finished runs in the library as parts of a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.simulated.drive import simulator
from ssdlab.library.index import Index
from ssdlab.results.catalogue_row import simulator_of
from ssdlab.results.journal import now
from ssdlab.results.remarks import span_of, span_within
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, with_own

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ssdlab.lab.method import Params
    from ssdlab.lab.suites.suite import Part, Suite
    from ssdlab.results.schema import DriveInfo, Manifest, ParameterInfo


def drive_in_library(library: Path, name: str) -> DriveInfo | None:
    """Return the drive with this identifier, from its newest finished run; None if there is none."""
    for run in _runs_of(library, name, None):
        if run.manifest.drive.variant is None:
            return run.manifest.drive
    return None


def standing_parts(
    library: Path,
    drive: DriveInfo,
    suite: Suite,
    parts: Sequence[Part],
    params: Mapping[str, Params],
    *,
    quick: bool,
    variant: Variant = AS_IT_IS,
) -> dict[str, RunFolder]:
    """Return the newest matching finished run of a drive for each part of a suite, if there is one.

    A run matches if method version, simulator, parameters, presets, variant and used part of the drive are
    the same. A run with more points than needed is used if no run has exactly the needed points
    (`more_points`).
    """
    found: dict[str, RunFolder] = {}
    used_bytes = suite.used_bytes(quick=quick)
    simulated_by = simulator(drive.text) if drive.capabilities.made_to_order else ""
    for part in parts:
        method, wanted = suite.method(part), params[part.like or part.label]
        asked = with_own(variant, part.variant, drive.id).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        for run in _runs_of(library, drive.id, part.method):
            manifest = run.manifest
            alike = (
                manifest.method.version == method.version
                and simulator_of(manifest) == simulated_by
                and manifest.quick == quick
                and _asked(manifest) == asked
                and span_of(manifest) == span_within(used_bytes, manifest.drive.capacity_bytes)
            )
            more = more_points(manifest, wanted) if alike else None
            if more is not None and (part.label not in found or not more):
                found[part.label] = run
            if more == ():
                break
    return found


def more_points(manifest: Manifest, wanted: Params) -> tuple[ParameterInfo, ...] | None:
    """Return the parameters in which a run has more points than needed; None: its parameters do not match.

    A parameter that the run's ssdlab lacked counts as today's preset: a change that affects figures always
    raises the method's version.
    """
    more = []
    for info in wanted.table():
        value = wanted.model_dump(mode="json")[info.name]
        had = manifest.params.get(info.name, info.quick if manifest.quick else info.default)
        if had == value:
            continue
        if info.points is None or not isinstance(had, list) or not set(value) <= set(had):
            return None
        more.append(info)
    return tuple(more)


def _asked(manifest: Manifest) -> dict[str, object]:
    variant = manifest.drive.variant
    return {} if variant is None else dict(variant.asked)


def _runs_of(library: Path, drive_id: str, method: str | None) -> Iterator[RunFolder]:
    """Yield the finished runs of a drive, newest first; runs dated in the future come last."""
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
