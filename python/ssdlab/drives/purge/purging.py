"""One purge from the choice of a way to the proof."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace

from ssdlab.drives.details import read_details
from ssdlab.drives.purge import ata, host, nvme, scsi
from ssdlab.drives.purge.ledger import Ledger, Page
from ssdlab.drives.purge.marks import Marks, mark, read_back
from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethod, PurgeProgress, PurgeRecord, Sampling
from ssdlab.drives.purge.watch import Clock, Watch
from ssdlab.drives.purge.way import Sibling, Subject, TurnedDown, Way, Work
from ssdlab.drives.purge.ways import Choice, choose
from ssdlab.drives.trim.medium import Medium
from ssdlab.drives.trim.samples import places, unit_of
from ssdlab.model.errors import DriveError, HostError, LabError

_ERASERS: dict[PurgeMethod, Callable[[Work], str | None]] = {
    **dict.fromkeys(nvme.SANITIZES, nvme.sanitize),
    **dict.fromkeys(nvme.FORMATS, nvme.format_namespace),
    **dict.fromkeys(ata.OPTIONS, ata.erase),
    **dict.fromkeys(scsi.METHODS, scsi.erase),
    "discard": host.discard,
    "zero-fill": host.zero_fill,
}
_NO_MARKS = 0


class NotPurged(DriveError):
    """The drive was proven not to be purged, or nothing proves that it was."""


@dataclass(slots=True)
class Purging:
    """A drive, and what a purge of it needs.

    Attributes
    ----------
    subject, medium
        The drive.
    consents
        Identifiers of everything that may be erased.
    hold
        Claims another namespace, after the guard has found nothing against it, for as long as it is entered.
    on_progress
        Told about once a second.
    limit_s
        Time limit instead of the way's own.
    clock, ledger
        Others for tests.
    """

    subject: Subject
    medium: Medium
    consents: tuple[str, ...]
    hold: Callable[[Sibling], AbstractContextManager[object]] = lambda _: nullcontext()
    on_progress: Callable[[PurgeProgress], object] | None = None
    limit_s: float | None = None
    clock: Clock = field(default_factory=Clock)
    ledger: Ledger = field(default_factory=Ledger)

    def purge(self, method: PurgeMethod | None = None) -> PurgeRecord:
        """Purge by the way named, or the strongest there is; see `Drive.purge`."""
        self._clear_password()
        choice = choose(self.subject, method, self.consents, self.limit_s)
        if choice.following is not None:
            followed = self._follow(choice.following)
            if method in (None, choice.following.method):
                return followed
        return self._try_each(choice, named=method is not None)

    def _try_each(self, choice: Choice, *, named: bool) -> PurgeRecord:
        passed_over = list(choice.passed_over)
        for way in choice.ways:
            try:
                return self._go(way, tuple(passed_over))
            except TurnedDown as error:
                if named:
                    raise self._turned_down(way, str(error)) from error
                passed_over.append((way.method, str(error)))
            except NotPurged as error:
                # A drive need not return zeroes for what was discarded; all others have promised to erase.
                if named or way.method != "discard":
                    raise
                passed_over.append((way.method, error.what))
            except HostError as error:
                if named or error.facts.get("reason") != "no-tool":
                    raise
                passed_over.append((way.method, f"{error.what} ({error.advice})"))
        raise self._turned_down(choice.ways[-1], "; ".join(f"{name}: {why}" for name, why in passed_over))

    def _go(self, way: Way, passed_over: tuple[tuple[str, str], ...]) -> PurgeRecord:
        with ExitStack() as held:
            for sibling in way.hits:
                held.enter_context(self.hold(sibling))
            marks = mark(self.medium, secrets.randbits(32))
            if not marks.marked and way.method not in nvme.SANITIZES:
                raise NotPurged(
                    f"{self.subject.identity.path} keeps nothing that is written: no purge can be proven",
                    "look into the kernel's log (dmesg); the drive may be failing, or write-protected",
                    reason="unprovable",
                    method=way.method,
                )
            page = self.ledger.begin(self.subject.identity, way.method, self.consents, marks)
            work = self._work(way)
            return self._prove(work, page, passed_over, _ERASERS[way.method])

    def _follow(self, way: Way) -> PurgeRecord:
        """Follow a sanitize that was begun before, by ssdlab with marks that are known, or by another."""
        unfinished = self.ledger.unfinished(self.subject.identity.consent_id)
        ours = next((page for page in unfinished if page.entry.method == way.method), None)
        if ours is None:
            unit = unit_of(self.medium)
            offsets = places(0, self.medium.size_bytes, unit, _NO_MARKS)
            blank = Marks(_NO_MARKS, unit, offsets, ())
            ours = self.ledger.begin(self.subject.identity, way.method, self.consents, blank)
        return self._prove(self._work(way), ours, (), nvme.follow, followed=True)

    def _work(self, way: Way) -> Work:
        watch = Watch(way.method, way.limit_s, self.on_progress, self.clock)
        return Work(self.subject, way, self.medium, watch)

    def _prove(
        self,
        work: Work,
        page: Page,
        passed_over: tuple[tuple[str, str], ...],
        eraser: Callable[[Work], str | None],
        *,
        followed: bool = False,
    ) -> PurgeRecord:
        """Erase, read the marks back, and record what came of it."""
        try:
            said = eraser(work)
            sampling = read_back(self.medium, page.entry.marks)
        except BaseException as error:
            page.failed(_explained(error, work), _status_of(error))
            raise
        record = PurgeRecord(
            method=work.way.method,
            substitute=work.way.method in SUBSTITUTES,
            passed_over=passed_over,
            sampling=sampling,
            drive_log=said,
            elapsed_s=work.watch.elapsed_s,
            siblings=tuple(sibling.name for sibling in work.way.hits),
            followed=followed,
            commands=tuple(work.sent),
            kept=str(page.path),
        )
        if sampling.survived:
            refuted = _refuted(work, record, sampling)
            page.failed(refuted, "failed", record)
            raise refuted
        page.done(record)
        return record

    def _clear_password(self) -> None:
        """Take away the password of an ATA erase that was killed, and ask the drive anew what it can do."""
        told = self.subject.details.ata
        if told is None or told.device is None or not told.device.security.enabled:
            return
        unfinished = self.ledger.unfinished(self.subject.identity.consent_id)
        ours = next((page for page in unfinished if page.entry.method in ata.OPTIONS), None)
        if ours is not None:
            ata.clear_password(self._work(Way(ours.entry.method)))
            subject = self.subject
            details = read_details(subject.identity, subject.node, subject.port)
            self.subject = replace(subject, details=details)

    def _turned_down(self, way: Way, why: str) -> DriveError:
        return DriveError(
            f"{self.subject.identity.path} was not purged by {way.method}: {why}",
            "nothing was erased by it; try another way (--method), `ssdlab purge --dry-run` lists them",
            reason="turned-down",
            method=way.method,
        )


def _explained(error: BaseException, work: Work) -> BaseException:
    if isinstance(error, LabError):
        error.facts.setdefault("method", work.way.method)
        error.facts.setdefault("commands", list(work.sent))
    return error


def _status_of(error: BaseException) -> str:
    """Return how an entry ends with an error: `left` where the drive may still be at work."""
    if isinstance(error, TurnedDown):
        return "turned-down"
    hung = isinstance(error, LabError) and error.facts.get("reason") == "hung"
    return "failed" if isinstance(error, DriveError | HostError) and not hung else "left"


def _refuted(work: Work, record: PurgeRecord, sampling: Sampling) -> NotPurged:
    doubt = f" ({work.way.named_only})" if work.way.named_only else ""
    log = "" if record.drive_log is None else f"; it says: {record.drive_log}"
    return NotPurged(
        f"{work.way.method} reported success and did not purge {work.subject.identity.path}: "
        f"{sampling.survived} of {sampling.marked} marks are still there{doubt}{log}",
        "do not trust this way on this drive; try another (--method)",
        reason="not-purged",
        method=work.way.method,
        record=record.as_dict(),
    )
