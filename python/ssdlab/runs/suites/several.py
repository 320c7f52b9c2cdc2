"""A comparison: one suite on several drives, one after the other, with one report.

Its folder contains only a manifest, which names the suite of each drive. Each suite has its own folder from
the start, with the consent for its drive. The comparison itself holds no consent; resuming it resumes its
suites.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.model.errors import Refused, UsageError, of_drive
from ssdlab.results.journal import now
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.schema import Child, Manifest, Member
from ssdlab.results.store import begin_run, new_run_id
from ssdlab.runs.provenance import tool
from ssdlab.runs.session_record import first_session, nothing_left, resumed_manifest
from ssdlab.runs.suites import outcome
from ssdlab.runs.suites.session import begin_suite, ready, resume_suite
from ssdlab.runs.suites.session_of_runs import SessionOfRuns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ssdlab.runs.consent_record import Renewal
    from ssdlab.runs.session import RunEnvironment
    from ssdlab.runs.suites.ordering import SuiteOrder
    from ssdlab.runs.suites.session_of_runs import SuiteObserver

MAX_DRIVES = 32


def start_several(
    orders: Sequence[SuiteOrder],
    library: Path,
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
) -> Path:
    """Run a suite on several drives and return the folder of the comparison.

    Raises
    ------
    UsageError, Refused
        Before anything was touched on any drive.
    Interrupted, DriveError, HostError
        During the run. The comparison can be resumed. `run` and `folder` are facts of the error.
    """
    run_id = new_run_id(orders[0].suite.name)
    members = [
        Member(suite=run_id, part=f"drive {number}", preparation_seed=0)
        for number, _ in enumerate(orders, start=1)
    ]
    suites = []
    for order, member in zip(orders, members, strict=True):
        with of_drive(order.drive, orders):
            suites.append(ready(replace(order, member=member), environment))
    check_apart(suites)
    manifest = _manifest(run_id, orders, suites)
    folder = begin_run(library, manifest)
    for suite in suites:
        begin_suite(_waiting(suite), library)
    lock = RunLock(folder)
    try:
        return _Comparison(lock, manifest, environment, observer).run()
    finally:
        lock.release()


def resume_several(
    folder: Path,
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
    *,
    renewal: Renewal | None = None,
) -> Path:
    """Resume a comparison where it stopped and return its folder.

    Parameters
    ----------
    folder, observer, environment
        See `start_several`.
    renewal
        Renewed consent, for the suite of the drive that it names.

    Raises
    ------
    Refused
        The comparison is finished or running, or one of its suites cannot be resumed.
    """
    lock = RunLock(folder)
    try:
        lock.folder.check_plain()
        manifest = RunFolder(folder).manifest
        if manifest.status == "finished":
            raise nothing_left(manifest, folder)
        return _Comparison(lock, resumed_manifest(manifest), environment, observer, renewal).run()
    finally:
        lock.release()


def check_apart(suites: Sequence[Manifest]) -> None:
    """Refuse a drive that is named twice with the same variant, and more than `MAX_DRIVES` drives.

    Raises
    ------
    UsageError
        With the drive or the number.
    """
    if len(suites) > MAX_DRIVES:
        raise UsageError(f"{len(suites)} drives are more than {MAX_DRIVES}", "compare fewer at a time")
    entries = [(suite.drive.id, suite.open_options.get("variant")) for suite in suites]
    if twice := next((drive for drive, asked in entries if entries.count((drive, asked)) > 1), None):
        raise UsageError(f"{twice} is named twice", "name each drive once; --repeat runs it several times")


class _Comparison(SessionOfRuns):
    """A session that runs the remaining suites."""

    def do(self) -> dict[str, object]:
        manifest = self._record.manifest
        for number, child in enumerate(manifest.children, start=1):
            self._one(child, number, len(manifest.children))
        return concluded(self._library, manifest)

    def _one(self, child: Child, number: int, total: int) -> None:
        folder = self._library / child.run_id
        if not (folder / MANIFEST).exists():
            raise Refused(
                f"the comparison was killed before {child.drive} was recorded",
                "start it again",
                drive=child.drive,
            )
        found = read_manifest(folder).status == "finished"
        if not found:
            self._observer.began(child, number, total)
            renewal = renewal_of(folder, self._renewal)
            resume_suite(folder, self._observer, self._environment, renewal=renewal)
        self._observer.ended(child, number, total, already_finished=found)


def renewal_of(folder: Path, renewal: Renewal | None) -> Renewal | None:
    """Return renewed consent if it names the drive of a suite; else None."""
    drive = read_manifest(folder).drive
    names = (drive.id, str(drive.identity.get("consent_id")))
    return renewal if renewal is not None and renewal.destroy in names else None


def concluded(library: Path, comparison: Manifest) -> dict[str, object]:
    """Return the changes of a comparison's manifest when all its suites are finished."""
    runs = outcome.finished_children(library, comparison.children)
    left_out = (
        part.model_copy(update={"what": f"{run.manifest.drive.name}: {part.what}"})
        for run in runs
        for part in outcome.departures(library, run.manifest)
    )
    return {
        "environment": outcome.environment(runs),
        "result": outcome.conclude(library, comparison).model_dump(mode="json"),
        "departures": tuple(left_out),
    }


def _manifest(run_id: str, orders: Sequence[SuiteOrder], suites: Sequence[Manifest]) -> Manifest:
    """Return the manifest of a comparison; its drive is that of the first suite."""
    first, started = suites[0], now()
    children = tuple(
        Child(
            part=suite.member.part if suite.member is not None else "",
            run_id=suite.run_id,
            method=suite.method.name,
            version=suite.method.version,
            title=suite.drive.name,
            params={},
            quick=suite.quick,
            seed=suite.seed,
            preparation_seed=0,
            drive=suite.drive.text,
            state="any",
            suite=True,
        )
        for suite in suites
    )
    return Manifest(
        run_id=run_id,
        status="running",
        method=orders[0].suite.info(orders[0].params),
        quick=first.quick,
        params=first.params,
        drive=first.drive,
        open_options={},
        engine=first.engine,
        seed=first.seed,
        environment={},
        tool=tool(),
        created=started,
        sessions=(first_session(started),),
        children=children,
        review=first.review,
    )


def _waiting(suite: Manifest) -> Manifest:
    """Return the manifest of a suite that waits for its turn, with the status "interrupted"."""
    (session,) = suite.sessions
    waiting = session.model_copy(update={"ended": session.started, "status": "interrupted"})
    return suite.model_copy(update={"status": "interrupted", "sessions": (waiting,)})
