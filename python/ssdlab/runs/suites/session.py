"""Plans, starts or resumes a suite, and carries it through to its end.

A suite's run folder contains only its manifest, which names every run before the first starts. So the suite
can be killed at any moment. When resumed, finished runs are recognised, interrupted runs resumed, and the
others started with their planned ids.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from ssdlab.drives import look
from ssdlab.drives.guard.endurance import cap_of, rating_of
from ssdlab.drives.ratings import rated_values
from ssdlab.lab.found import find_method
from ssdlab.lab.verbs.stream_bounds import layout_bounds
from ssdlab.lab.verbs.verb import NOTHING
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError, Refused
from ssdlab.results.journal import now
from ssdlab.results.lease import RunLock
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Manifest
from ssdlab.results.store import begin_run, new_run_id, run_words
from ssdlab.runs.conditions.variant import misfit, variant_info, with_variant
from ssdlab.runs.consent_record import Given, Renewal, consented, record_consent, standing_consent
from ssdlab.runs.meters import chosen_meter
from ssdlab.runs.provenance import identity_info, lasting_text, tool
from ssdlab.runs.resume_checks import check_attached
from ssdlab.runs.session_record import first_session, nothing_left, resumed_manifest
from ssdlab.runs.suites import outcome
from ssdlab.runs.suites.children import Before, after, is_finished, kept_options, last_given, work_on
from ssdlab.runs.suites.forks import Forks
from ssdlab.runs.suites.ordering import PlannedChild, SuiteOrder, identity_at, planned_children
from ssdlab.runs.suites.session_of_runs import SessionOfRuns
from ssdlab.runs.suites.side_by_side import processes, side_by_side
from ssdlab.runs.suites.suite_plan import SuitePlan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ssdlab.drives.guard.endurance import Rating
    from ssdlab.drives.opening import Look
    from ssdlab.host.held_folder import HeldFolder
    from ssdlab.host.identity import Identity
    from ssdlab.results.schema import Child
    from ssdlab.runs.session import RunEnvironment
    from ssdlab.runs.suites.session_of_runs import SuiteObserver


def one_after_another(
    suite: Manifest,
    folder: HeldFolder,
    children: Sequence[Child],
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
    renewal: Renewal | None = None,
) -> None:
    """Execute each unfinished run in order, and pass on whether earlier runs wrote the whole span.

    Raises
    ------
    LabError
        The error of the run that stopped. Later runs are not started.
    """
    library, before = folder.path.parent, Before()
    begun_on = standing_consent(folder, suite).given
    for number, child in enumerate(children, start=1):
        run = library / child.run_id
        found = is_finished(run)
        if not found:
            observers = observer.began(child, number, len(children))
            work_on(
                suite,
                library,
                child,
                observers,
                environment,
                before=replace(before, written_by=None) if child.variant else before,
                begun_on=begun_on,
                renewal=renewal,
            )
        observer.ended(child, number, len(children), already_finished=found)
        if child.standing:
            continue  # done at another time, so it says nothing about the drive as it is now
        before = after(run, before)
        if child.variant:
            before = replace(before, written_by=None)  # a variant may have written less than the whole drive
        begun_on = last_given(begun_on, run)


def plan_suite(order: SuiteOrder, library: Path | None = None) -> SuitePlan:
    """Plan a suite: inspect the drive without changing it.

    Parameters
    ----------
    library
        Library whose earlier runs show the drive's speed.

    Raises
    ------
    UsageError, Refused
        See `order.plan_order`.
    """
    found = _look(order)
    children = planned_children(order, order.like.seed or 1, found, library)
    if found is None:
        return SuitePlan(children)
    rating = _rating(order, found)
    beside = runs_side_by_side(order.drive)
    made_bytes = found.identity.capacity_bytes if found.identity is not None and not found.exists else 0
    return SuitePlan(
        children,
        _guarded(order, found) or _objection(order, children, found),
        endurance_bytes=None if rating is None else rating.endurance_bytes,
        cap_bytes=None if rating is None else rating.max_bytes,
        at_once=processes() if beside else 1,
        preparation=layout_bounds(made_bytes) if made_bytes else NOTHING,
        preparation_bytes=made_bytes,
    )


def start_suite(
    order: SuiteOrder, library: Path, observer: SuiteObserver, environment: RunEnvironment | None = None
) -> Path:
    """Run a suite from the beginning and return its run folder.

    Raises
    ------
    UsageError, Refused
        Before anything was touched.
    Interrupted, DriveError, HostError
        During the run. The suite can be resumed. `run` and `folder` are facts of the error.
    """
    manifest = ready(order, environment)
    folder = begin_suite(manifest, library)
    lock = RunLock(folder)
    try:
        return _Suite(lock, manifest, environment, observer).run()
    finally:
        lock.release()


def ready(order: SuiteOrder, environment: RunEnvironment | None = None) -> Manifest:
    """Return the first manifest of a suite, if nothing speaks against it; touches nothing.

    Raises
    ------
    UsageError, Refused
        Why the suite cannot run.
    """
    found = _look(order, environment)
    if found is not None and (refused := _guarded(order, found)) is not None:
        raise refused
    seed = order.like.seed if order.like.seed is not None else secrets.randbits(63)
    children = planned_children(order, seed, found)
    if not any(map(order.asks_for, order.parts)):
        raise Refused(
            f"--only {','.join(sorted(order.only))} selects nothing for {order.drive}: variants are for "
            "the drives that the review names",
            "name a part for all drives, or leave this drive out",
        )
    if all(each.plan is None and not each.child.standing for each in children):
        reasons = "; ".join(dict.fromkeys(each.child.left_out or "" for each in children))
        raise Refused(f"no part of {order.suite.name} fits this drive: {reasons}", "name another drive")
    if found is not None and (objection := _objection(order, children, found)) is not None:
        raise objection
    return _first_manifest(order, seed, children, found)


def begin_suite(manifest: Manifest, library: Path) -> Path:
    """Create the folder of a suite with its manifest and consent, and return it.

    Raises
    ------
    HostError
        The library cannot be written.
    """
    return begin_run(library, manifest, lambda held: record_consent(held, manifest, manifest.drive))


def resume_suite(
    folder: Path,
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
    *,
    renewal: Renewal | None = None,
    on_wait: Callable[[str], object] | None = None,
) -> Path:
    """Resume a suite where it stopped and return its folder.

    Parameters
    ----------
    folder, observer, environment
        See `start_suite`.
    renewal
        Renewed consent for all runs of the suite, if the earlier one is no longer valid.
    on_wait
        Called with the reason for waiting, if a process on another host may still hold the suite.

    Raises
    ------
    Refused
        The suite is finished or running, or one of its runs cannot be resumed.
    """
    lock = RunLock(folder, on_wait=on_wait)
    try:
        lock.folder.check_plain()
        manifest = RunFolder(folder).manifest
        if manifest.status == "finished":
            raise nothing_left(manifest, folder)
        to_do = [child for child in manifest.children if child.left_out is None and not child.standing]
        writing = any(map(writes, to_do))
        manifest, given = consented(lock.folder, manifest, renewal, writes=writing, words=run_words(folder))
        again = resumed_manifest(manifest)
        if to_do and (renewal is not None or given is not None):
            check_drive(again, given, lock.folder, environment)
        return _Suite(lock, again, environment, observer, renewal).run()
    finally:
        lock.release()


class _Suite(SessionOfRuns):
    """A session of a suite, which executes the remaining runs."""

    def do(self) -> dict[str, object]:
        suite, library, observer = self._record.manifest, self._library, self._observer
        children = tuple(child for child in suite.children if child.left_out is None)
        if runs_side_by_side(suite.drive.text):
            side_by_side(self._folder, children, Forks(suite, library), observer)
        else:
            one_after_another(suite, self._held, children, observer, self._environment, self._renewal)
        return concluded(library, suite)


def concluded(library: Path, suite: Manifest) -> dict[str, object]:
    """Return the changes of a suite's manifest when all its runs are finished."""
    runs = outcome.finished_children(library, suite.children)
    return {
        "environment": outcome.environment(runs),
        "result": outcome.conclude(library, suite).model_dump(mode="json"),
        "departures": outcome.departures(library, suite),
    }


def _guarded(order: SuiteOrder, found: Look) -> Refused | None:
    refusal = found.writing if order.writes or order.like.variant.destroys else found.reading
    return None if refusal is None else refusal.error(order.drive)


def _objection(order: SuiteOrder, children: tuple[PlannedChild, ...], found: Look) -> LabError | None:
    """Return another reason against a suite: an impossible variant, an unsuitable meter, too many writes."""
    assert found.identity is not None  # `_look` has checked it
    misfits = misfit(order.like.variant, found.identity, writing=order.writes)
    return misfits or _no_meter(order, found.identity) or _too_much(order, children, found)


def _no_meter(order: SuiteOrder, identity: Identity) -> LabError | None:
    simulated = identity.capabilities.virtual_time
    try:
        chosen_meter(order.like.meter, order.like.rig, simulated=simulated, in_suite=True)
    except LabError as error:
        return error
    return None


def _too_much(order: SuiteOrder, children: tuple[PlannedChild, ...], found: Look) -> Refused | None:
    """Return a refusal if all runs of a suite together would exceed the endurance cap."""
    rating = _rating(order, found)
    if rating is None:
        return None
    lower = sum(each.plan.bytes_written.lower for each in children if each.plan is not None)
    try:
        rating.check(order.drive, round(lower), planned=True)
    except Refused as error:
        return error
    return None


def _rating(order: SuiteOrder, found: Look) -> Rating | None:
    identity = found.identity
    if identity is None or identity.capabilities.virtual_time:
        return None
    return rating_of(identity, cap_of(order.like.endurance_cap))


def runs_side_by_side(text: str) -> bool:
    """Whether runs can go in parallel: each has its own temporary simulated drive."""
    from ssdlab.drives.simulated.text import SimulatedText

    return text.startswith(SIMULATED_PREFIX) and SimulatedText.parse(text).state is None


def writes(child: Child) -> bool:
    method = find_method(child.method)
    return method.writes(method.params.model_validate(child.params))


def check_drive(
    suite: Manifest, given: Given | None, folder: HeldFolder, environment: RunEnvironment | None
) -> None:
    """Refuse to continue a suite on another drive, and record renewed consent.

    Raises
    ------
    Refused
        Another drive now has its name, or the guard refuses the drive.
    """
    text, found = suite.drive.text, _look_again(suite, environment)
    refusal = found.reading if suite.open_options.get("destroy") is None else found.writing
    if found.identity is None or (given is None and refusal is not None):
        assert refusal is not None  # a drive without identity is always refused
        raise refusal.error(text)
    info = identity_info(text, found.identity)
    if given is None:
        record_consent(folder, suite, info)
    else:
        check_attached(given, info, "suite", suite.run_id)


def judged_anew(
    suite: Manifest, folder: HeldFolder, environment: RunEnvironment | None, *, writing: bool
) -> None:
    """Check a suite's drive as for a new run, and record the consent.

    Raises
    ------
    Refused
        It is another drive, or the guard refuses it.
    """
    text, found = suite.drive.text, _look_again(suite, environment)
    refusal = (found.writing if writing else None) or found.reading
    if refusal is not None:
        raise refusal.error(text)
    assert found.identity is not None  # a drive without identity is always refused
    if suite.drive.capabilities.on_file_system and not found.exists:
        raise Refused(f"{text}, the file of {suite.run_id}, is missing", "restore it", path=text)
    info = identity_info(text, found.identity)
    if info.id != suite.drive.id or info.capacity_bytes != suite.drive.capacity_bytes:
        raise Refused(
            f"{text} is not the drive of {suite.run_id}: it is {info.id}, not {suite.drive.id}",
            "attach the original drive under the same name, or run the review on this one",
            begun=suite.drive.id,
            found=info.id,
        )
    record_consent(folder, suite, info)


def _look_again(suite: Manifest, environment: RunEnvironment | None) -> Look:
    options = suite.open_options
    return (look if environment is None else environment.look)(
        lasting_text(suite.drive.text, suite.drive),
        size=cast("int | None", options.get("size_bytes")),
        destroy=cast("str | None", options.get("destroy")),
        wipe_signatures=bool(options.get("wipe_signatures")),
    )


def _look(order: SuiteOrder, environment: RunEnvironment | None = None) -> Look | None:
    """Inspect the drive of a suite; None if the drive is known only from its runs."""
    if order.known is not None:
        return None
    looked = look if environment is None else environment.look
    like = order.like
    found = looked(
        like.drive,
        size=like.size_bytes,
        destroy=like.destroy,
        wipe_signatures=like.wipe_signatures,
        formats=like.variant.destroys,
    )
    if found.identity is None or not found.identity.capacity_bytes:
        assert found.reading is not None  # a drive without identity or size is always refused
        raise found.reading.error(order.drive)
    return found


def _first_manifest(
    order: SuiteOrder, seed: int, children: tuple[PlannedChild, ...], found: Look | None
) -> Manifest:
    if found is None:
        assert order.known is not None
        info, ratings = order.known, next(iter(order.standing.values())).manifest.ratings
    else:
        identity = identity_at(order.drive, order, found)
        info, ratings = identity_info(order.drive, identity), rated_values(identity)
    lasting = partial(lasting_text, info=info)
    started = now()
    made = Manifest(
        run_id=order.like.run_id or new_run_id(order.suite.name),
        status="running",
        method=order.suite.info(order.params),
        quick=order.like.quick,
        params={label: params.model_dump(mode="json") for label, params in order.params.items()},
        drive=info,
        open_options=kept_options(order.like),
        engine="sim" if info.capabilities.virtual_time else "sync",
        seed=seed,
        environment={},
        tool=tool(),
        ratings=ratings,
        review=dict(order.suite.page),
        member=order.member,
        created=started,
        sessions=(first_session(started),),
        children=tuple(
            replace(each, child=each.child.model_copy(update={"drive": lasting(each.child.drive)})).child
            for each in children
        ),
    )
    if found is None:
        return made
    return with_variant(made, variant_info(order.like.variant, identity, writing=order.writes))
