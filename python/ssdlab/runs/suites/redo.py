"""Repeats parts of a finished suite: new runs replace the old ones, and both are kept.

The suite's manifest first lists the parts to repeat (`redoing`). Its result stays until all are finished, so
the suite is complete at any moment and a kill loses nothing. A comparison that includes the suite lists it in
`redoing`, too, as the comparison's seal covers the suite's manifest. The seal is not checked meanwhile, and
is renewed afterwards.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from ssdlab.model.errors import Refused, unknown
from ssdlab.model.printable import quoted
from ssdlab.model.units import and_listed
from ssdlab.results.catalogue import enter
from ssdlab.results.catalogue_row import simulator_of
from ssdlab.results.journal import now
from ssdlab.results.lease import RunLock
from ssdlab.results.remarks import span_of
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.schema import Replaced
from ssdlab.results.store import actual_status, add_note, new_run_id, run_words, write_manifest
from ssdlab.runs.consent_record import Renewal, consented, keeps_nothing
from ssdlab.runs.provenance import tool_of
from ssdlab.runs.session_record import SessionRecord, first_session, nothing_left
from ssdlab.runs.suites import several
from ssdlab.runs.suites.children import check_version
from ssdlab.runs.suites.forks import Forks
from ssdlab.runs.suites.session import (
    check_drive,
    concluded,
    judged_anew,
    one_after_another,
    runs_side_by_side,
    writes,
)
from ssdlab.runs.suites.session_of_runs import SessionOfRuns, entered
from ssdlab.runs.suites.side_by_side import side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ssdlab.results.schema import Child, Manifest, Status
    from ssdlab.runs.session import RunEnvironment
    from ssdlab.runs.suites.session_of_runs import SuiteObserver


_OF_CONSENT = frozenset({"no-consent", "wrong-consent"})


def ask_again(
    folder: Path,
    parts: Sequence[str],
    environment: RunEnvironment | None = None,
    *,
    renewal: Renewal | None = None,
    on_wait: Callable[[str], object] | None = None,
) -> None:
    """Record which parts of a finished suite to repeat; `go_on` repeats them.

    In a comparison this applies to the suite of each drive that has these parts. The drive is checked as for
    a new run: earlier consent does not count.

    Parameters
    ----------
    folder, parts
        The suite or comparison, and names of its parts. A name without a repeat number means all repeats.
    environment
        See `start_suite`.
    renewal
        Consent, if a part writes.
    on_wait
        Called with the reason for waiting, if a process on another host may still hold the suite.

    Raises
    ------
    UsageError
        There is no such part.
    Refused
        The suite is not finished, a part was left out or now has another version, the drive is another one,
        or the guard refuses it. Nothing is recorded then.
    """
    library, manifest = folder.parent, RunFolder(folder).manifest
    if not manifest.children:
        raise Refused(
            f"run {manifest.run_id} is not a suite, so --redo has no parts to name",
            f"run {manifest.method.name} again, or name a suite or review",
            run=manifest.run_id,
        )
    _check_finished(folder, manifest)
    above = _above(folder, manifest)
    suites = [library / each.run_id for each in manifest.children] if manifest.several_drives else [folder]
    with ExitStack() as held:

        def locked(path: Path) -> RunLock:
            lock = RunLock(path, on_wait=on_wait)
            held.callback(lock.release)
            lock.folder.check_plain()
            return lock

        top = None if above is None else locked(above)
        locks = [locked(each) for each in suites]
        known = dict.fromkeys(name for each in suites for name in _names(each))
        for name in parts:
            if name not in known:
                raise unknown("part", name, known)
        marked = [
            (lock, made)
            for lock in locks
            if (made := _marked(lock, parts, environment, renewal, several_drives=len(locks) > 1)) is not None
        ]
        if top is not None:
            _name_in(top, [made.run_id for _, made in marked])
        for lock, made in marked:
            write_manifest(lock.folder, made)


def is_asked_again(folder: Path) -> bool:
    """Whether parts of a suite or comparison are still to be repeated, or the comparison's seal renewed."""
    manifest = read_manifest(folder)
    if manifest.redoing or not manifest.children:
        return bool(manifest.redoing)
    above = _above(folder, manifest)
    return above is not None and manifest.run_id in _named_in(read_manifest(above))


def go_on(
    folder: Path,
    observer: SuiteObserver,
    environment: RunEnvironment | None = None,
    *,
    renewal: Renewal | None = None,
    on_wait: Callable[[str], object] | None = None,
) -> Path:
    """Repeat the recorded parts of a suite or comparison, and return its folder.

    Parameters
    ----------
    folder, observer, environment
        See `start_suite`.
    renewal
        Renewed consent, if the earlier one is no longer valid.
    on_wait
        Called with the reason for waiting, if a process on another host may still hold the suite.

    Raises
    ------
    LabError
        The error of the run that stopped. The earlier result stays, and `go_on` can be called again.
    """
    manifest = RunFolder(folder).manifest
    above = _above(folder, manifest)
    with ExitStack() as held:
        if above is None:
            return _do_again(folder, observer, environment, renewal, on_wait)
        top = RunLock(above, on_wait=on_wait)
        held.callback(top.release)
        names = _named_in(read_manifest(above)) if manifest.several_drives else [manifest.run_id]
        _name_in(top, names)
        for name in names:
            suite = folder.parent / name
            if read_manifest(suite).redoing:
                own = several.renewal_of(suite, renewal) if manifest.several_drives else renewal
                _do_again(suite, observer, environment, own, on_wait)
            _renew(top, name)
    return folder


def _do_again(
    folder: Path,
    observer: SuiteObserver,
    environment: RunEnvironment | None,
    renewal: Renewal | None,
    on_wait: Callable[[str], object] | None,
) -> Path:
    lock = RunLock(folder, on_wait=on_wait)
    try:
        lock.folder.check_plain()
        manifest = RunFolder(folder).manifest
        if not manifest.redoing:
            raise nothing_left(manifest, folder)
        manifest, given = consented(
            lock.folder,
            manifest,
            renewal,
            writes=any(map(writes, manifest.redoing)),
            words=run_words(folder),
        )
        again = _in_session(manifest)
        if renewal is not None or given is not None:
            check_drive(again, given, lock.folder, environment)
        return _Redo(lock, again, environment, observer, renewal).run()
    finally:
        lock.release()


class _FinishedRecord(SessionRecord):
    """The manifest of a suite that stays finished, with its old result, until all repeats are done."""

    def _end(self, status: Status, changes: dict[str, object]) -> None:
        self.note(ended=now(), status=status)
        if status == "finished":
            self.manifest = self.manifest.model_copy(update=changes)
        self.write()


class _Redo(SessionOfRuns):
    """A session that runs the remaining parts to repeat."""

    record_type = _FinishedRecord

    def do(self) -> dict[str, object]:
        suite, library, observer = self._record.manifest, self._library, self._observer
        if runs_side_by_side(suite.drive.text):
            alone = suite.model_copy(update={"children": suite.redoing})
            side_by_side(self._folder, suite.redoing, Forks(alone, library), observer)
        else:
            one_after_another(suite, self._held, suite.redoing, observer, self._environment, self._renewal)
        anew = {child.part: child for child in suite.redoing}
        replaced = tuple(
            Replaced(old=child, run_id=anew[child.part].run_id, at=now())
            for child in suite.children
            if child.part in anew
        )
        for each in replaced:
            _tell_old(library, suite, each)
        made = suite.model_copy(
            update={
                "children": tuple(anew.get(child.part, child) for child in suite.children),
                "replaced": (*suite.replaced, *replaced),
                "redoing": (),
            }
        )
        kept = {name: getattr(made, name) for name in ("children", "replaced", "redoing")}
        return {**kept, **concluded(library, made), "sealed": None}

    def seal(self) -> None:
        """Enter replaced runs and their replacements in the catalogue; rankings count only the new runs."""
        super().seal()
        for each in self._record.manifest.replaced:
            for run_id in (each.old.run_id, each.run_id):
                with suppress(Refused):  # a damaged run does not count in any case
                    enter(self._library / run_id)


def _tell_old(library: Path, suite: Manifest, replaced: Replaced) -> None:
    """Add a note to a replaced run; only once, even if `resume` repeats this."""
    old = library / replaced.old.run_id
    text = f"replaced as {replaced.old.part} of {suite.run_id}"
    if not any((note.text, note.run) == (text, replaced.run_id) for note in RunFolder(old).notes()):
        add_note(old, text, run=replaced.run_id)


def _marked(
    lock: RunLock,
    parts: Sequence[str],
    environment: RunEnvironment | None,
    renewal: Renewal | None,
    *,
    several_drives: bool,
) -> Manifest | None:
    """Return the suite's manifest with the parts to repeat; None if the suite has none of them."""
    folder = lock.folder.path
    manifest = RunFolder(folder).manifest
    chosen = [child for child in manifest.children if {child.part, child.label} & set(parts)]
    if not chosen:
        return None
    _check_finished(folder, manifest)
    redoing = tuple(_again(folder.parent, manifest, child) for child in chosen)
    for child in redoing:
        check_version(manifest, child)
    allowed = {
        "destroy": None if renewal is None else renewal.destroy,
        "wipe_signatures": renewal is not None and renewal.wipe_signatures,
        "endurance_cap": None if renewal is None else renewal.endurance_cap,
    }
    made = manifest.model_copy(
        update={"redoing": redoing, "open_options": {**manifest.open_options, **allowed}}
    )
    if not keeps_nothing(made):
        try:
            judged_anew(_in_session(made), lock.folder, environment, writing=any(map(writes, redoing)))
        except Refused as error:
            if several_drives and error.facts.get("reason") in _OF_CONSENT:
                words = " ".join(f"--redo {quoted(part)}" for part in parts)
                error.advice = (
                    f"repeat it on this drive only: ssdlab resume {run_words(folder)} {words} --destroy ID"
                )
            raise
    return made


def _check_finished(folder: Path, manifest: Manifest) -> None:
    status = actual_status(folder, manifest)
    if status == "finished" and (not manifest.redoing or manifest.several_drives):
        return
    noun, state = "review" if manifest.several_drives else "suite", f"is {status}"
    if status == "finished":
        state = f"is not finished with {and_listed([child.part for child in manifest.redoing])}"
    raise Refused(
        f"{noun} {manifest.run_id} {state}",
        f"finish that first: ssdlab resume {run_words(folder)}",
        run=manifest.run_id,
    )


def _check_simulator(run: Manifest) -> None:
    """Refuse to mix runs of a suite with those of another simulator version or a changed profile."""
    before, after = simulator_of(run), tool_of(run.drive).get("simulator", "")
    if before and before != after:
        raise Refused(
            f"{run.run_id} used simulator version {before}; this ssdlab has {after}",
            "run the review again, with --only for single parts",
            run=run.run_id,
        )


def _again(library: Path, suite: Manifest, child: Child) -> Child:
    """Return a part to repeat, with a new run id."""
    if child.left_out is not None:
        raise Refused(
            f"{child.part} of {suite.run_id} was left out: {child.left_out}",
            "run the review again, with --only for single parts",
            run=suite.run_id,
            part=child.part,
        )
    _check_simulator(read_manifest(library / child.run_id))
    run_id = new_run_id(child.method)
    if not child.standing:
        return child.model_copy(update={"run_id": run_id})
    span_bytes = span_of(RunFolder(library / child.run_id).manifest)
    return child.model_copy(update={"run_id": run_id, "standing": False, "span_bytes": span_bytes})


def _in_session(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"sessions": (*manifest.sessions, first_session())})


def _names(suite: Path) -> Iterator[str]:
    for child in read_manifest(suite).children:
        yield from (child.label, child.part)


# --- the comparison to which a suite belongs ---


def _above(folder: Path, manifest: Manifest) -> Path | None:
    """Return the comparison whose seal covers a suite: itself, or the finished one to which it belongs."""
    if manifest.several_drives:
        return folder
    above = None if manifest.member is None else folder.parent / manifest.member.suite
    if above is None or not (above / MANIFEST).is_file() or read_manifest(above).status != "finished":
        return None
    return above


def _named_in(comparison: Manifest) -> list[str]:
    return [child.run_id for child in comparison.redoing]


def _name_in(top: RunLock, suites: Sequence[str]) -> None:
    """Record in a comparison which of its suites are being repeated in part."""
    manifest = RunFolder(top.folder.path).manifest
    if missing := set(suites) - set(_named_in(manifest)):
        more = tuple(child for child in manifest.children if child.run_id in missing)
        top.check()
        write_manifest(top.folder, manifest.model_copy(update={"redoing": (*manifest.redoing, *more)}))


def _renew(top: RunLock, suite: str) -> None:
    """Conclude and seal a comparison again, after one of its suites was repeated in part."""
    manifest = RunFolder(top.folder.path).manifest
    left = tuple(child for child in manifest.redoing if child.run_id != suite)
    changes = {"redoing": left, "sealed": None, **several.concluded(top.folder.path.parent, manifest)}
    top.check()
    write_manifest(top.folder, manifest.model_copy(update=changes))
    entered(top.folder)
