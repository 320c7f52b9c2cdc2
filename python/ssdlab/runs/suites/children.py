"""One run of a suite: started, resumed, or recognised as finished."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.model.errors import Refused
from ssdlab.model.meter_text import MeterText
from ssdlab.model.workload import Mix
from ssdlab.results.evidence import unprepared
from ssdlab.results.lease import is_running
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.schema import Member
from ssdlab.runs.conditions.variant import Variant
from ssdlab.runs.consent_record import Given, Renewal, standing_consent
from ssdlab.runs.order import Order
from ssdlab.runs.provenance import written_by_run
from ssdlab.runs.session import RunEnvironment, resume, start

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.lab.method import Method
    from ssdlab.results.progress import Observer
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Child, Manifest

_OWN = frozenset({"method", "params", "drive", "quick", "seed", "run_id", "member", "begun_on", "meter"})
"""Fields of `Order` that each run has for itself, and the meter, which the manifest stores as text."""
_STOPS_WITHIN_S = 10.0
"""If a suite was killed, its run stops by itself; a resume waits this long for it."""
_LOOK_S = 0.1


@dataclass(frozen=True)
class Before:
    """What earlier runs of a suite did to a drive.

    Attributes
    ----------
    written_by
        Run that wrote the whole span; since then there were only reads.
    bytes_written
        Bytes written by all earlier runs.
    """

    written_by: str | None = None
    bytes_written: int = 0


def is_finished(folder: Path) -> bool:
    """Whether a run is finished and its tables are written."""
    if not (folder / MANIFEST).exists():
        return False
    manifest = read_manifest(folder)
    return manifest.status == "finished" and bool(manifest.tables)


def work_on(
    suite: Manifest,
    library: Path,
    child: Child,
    observers: Sequence[Observer] = (),
    environment: RunEnvironment | None = None,
    *,
    before: Before | None = None,
    begun_on: Given | None = None,
    renewal: Renewal | None = None,
) -> Path:
    """Start or resume a run of a suite, and return its folder.

    Parameters
    ----------
    suite, library, child, observers, environment
        The suite, its library, the run in it, and the run's observers and environment.
    before
        What the runs before it have done to the drive.
    begun_on
        The suite's consent, with its drive.
    renewal
        Renewed consent for all runs.

    Raises
    ------
    LabError
        See `start` and `resume` of `runs.session`.
    """
    folder = library / child.run_id
    if not (folder / MANIFEST).exists():
        # Killed before the run had a manifest: nothing was done on the drive.
        with HeldFolder(library, follow=True) as place:
            place.remove_tree(child.run_id)
        order = replace(_order(suite, child, before or Before()), begun_on=begun_on)
        return start(order, library, observers, environment)
    _wait_until_stopped(folder)
    if is_finished(folder):
        return folder
    return resume(folder, observers, environment, renewal=renewal)


def last_given(before: Given | None, folder: Path) -> Given | None:
    """Return the newer of two consents, each with its drive: `before`, or that of a run finished since."""
    with HeldFolder(folder) as held:
        given = standing_consent(held, RunFolder(folder).manifest).given
    newer = given is not None and (before is None or given.at > before.at)
    return given if newer else before


def span_writer(steps: Iterable[Step], run_id: str, before: str | None) -> str | None:
    """Return the run that has written the whole span, with only reads since; None if there is none.

    Parameters
    ----------
    steps, run_id
        Steps and id of the run that has just finished.
    before
        The answer before that run.
    """
    writer = before
    for step in steps:
        if step.verb == "fill":
            if not step.result.facts.get("already_written"):
                writer = None if unprepared([step], step.ordinal + 1) else run_id
        elif step.verb in ("purge", "trim", "limit") or _writes(step):
            writer = None
    return writer


def after(folder: Path, before: Before) -> Before:
    """Return what is known about the drive after a finished run."""
    run = RunFolder(folder)
    writer = span_writer(run.steps(), run.manifest.run_id, before.written_by)
    return Before(writer, before.bytes_written + written_by_run(folder))


def _writes(step: Step) -> bool:
    streams = () if step.workload is None else step.workload.streams
    return any(not isinstance(stream.ops, Mix) or stream.ops.read_pct < 100 for stream in streams)


def check_version(suite: Manifest, child: Child) -> Method:
    """Return the method of a part, if its version is still that of the suite.

    Raises
    ------
    Refused
        This ssdlab has another version.
    """
    method = find_method(child.method)
    if method.version != child.version:
        raise Refused(
            f"suite {suite.run_id} was started with version {child.version} of {child.method}; "
            f"this ssdlab has version {method.version}",
            "resume with the ssdlab that started it, or start a new suite",
            begun=child.version,
            known=method.version,
        )
    return method


def _order(suite: Manifest, child: Child, before: Before) -> Order:
    method = check_version(suite, child)
    member = Member(
        suite=suite.run_id,
        part=child.part,
        preparation_seed=child.preparation_seed,
        span_bytes=child.span_bytes,
        written_by=before.written_by,
        spent_bytes=before.bytes_written,
    )
    return Order(
        method=method,
        params=method.params.model_validate(child.params),
        drive=child.drive,
        quick=child.quick,
        seed=child.seed,
        run_id=child.run_id,
        member=member,
        **_options(suite.open_options, child),
    )


def kept_options(like: Order) -> dict[str, JsonValue]:
    """Return the options of all runs of a suite, as its manifest stores them: consent, sizes, limits."""
    kept = {each.name: getattr(like, each.name) for each in fields(Order) if each.name not in _OWN}
    variant = like.variant.model_dump(mode="json", by_alias=True, exclude_none=True)
    rig = None if like.rig is None else str(like.rig)
    meter = {} if like.meter is None else {"meter": str(like.meter)}
    return {**kept, "rig": rig, "variant": variant, **meter}


def _options(kept: Mapping[str, JsonValue], child: Child) -> dict[str, Any]:
    rig, whole = kept.get("rig"), kept.get("variant")
    asked = {**(whole if isinstance(whole, dict) else {}), **child.variant}
    return {
        **kept,
        "rig": None if rig is None else Path(str(rig)),
        "variant": Variant.model_validate(asked),
        "meter": None if kept.get("meter") is None else MeterText.parse(str(kept["meter"])),
    }


def _wait_until_stopped(folder: Path) -> None:
    end = time.monotonic() + _STOPS_WITHIN_S
    while is_running(folder) and time.monotonic() < end:
        time.sleep(_LOOK_S)
