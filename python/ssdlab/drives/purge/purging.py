"""One purge of an open device, from the choice of a method to the proof."""

from __future__ import annotations

import fcntl
import secrets
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives.admin.port import AdminPort, KernelPort
from ssdlab.drives.details import read_details
from ssdlab.drives.purge import ata, method, nvme, scsi
from ssdlab.drives.purge.choice import Choice, choose
from ssdlab.drives.purge.ledger import Ledger, Marks, Page, mark, read_back
from ssdlab.drives.purge.method import Clock, PurgeMethod, PurgeRejected, Sibling, Subject, Watch, Work
from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethodName, PurgeProgress, PurgeRecord, Sampling
from ssdlab.drives.trim.medium import DeviceMedium, Medium, places, unit_of
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import DriveError, HostError, LabError

if TYPE_CHECKING:
    import ssdlab._core as _core

_ERASERS: dict[PurgeMethodName, Callable[[Work], str | None]] = {
    **dict.fromkeys(nvme.SANITIZES, nvme.sanitize),
    **dict.fromkeys(nvme.FORMATS, nvme.format_namespace),
    **dict.fromkeys(ata.OPTIONS, ata.erase),
    **dict.fromkeys(scsi.METHODS, scsi.erase),
    "discard": method.discard,
    "zero-fill": method.zero_fill,
}
_NO_MARKS = 0


class NotPurged(DriveError):
    """The drive was proven not purged, or the purge is unproven."""


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
        Called about once a second.
    limit_s
        Time limit instead of the method's own.
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

    def purge(self, method: PurgeMethodName | None = None) -> PurgeRecord:
        """Purge by the method named, or the strongest there is; see `Drive.purge`."""
        self._clear_password()
        choice = choose(self.subject, method, self.consents, self.limit_s)
        if choice.following is not None:
            followed = self._follow(choice.following)
            if method in (None, choice.following.name):
                return followed
        return self._try_each(choice, named=method is not None)

    def _try_each(self, choice: Choice, *, named: bool) -> PurgeRecord:
        passed_over = list(choice.passed_over)
        for candidate in choice.methods:
            try:
                return self._go(candidate, tuple(passed_over))
            except PurgeRejected as error:
                if named:
                    raise self._rejection(candidate, str(error)) from error
                passed_over.append((candidate.name, str(error)))
            except NotPurged as error:
                # A drive need not return zeroes for what was discarded; all others have promised to erase.
                if named or candidate.name != "discard":
                    raise
                passed_over.append((candidate.name, error.what))
            except HostError as error:
                if named or error.facts.get("reason") != "no-tool":
                    raise
                passed_over.append((candidate.name, f"{error.what} ({error.advice})"))
        raise self._rejection(choice.methods[-1], "; ".join(f"{name}: {why}" for name, why in passed_over))

    def _go(self, candidate: PurgeMethod, passed_over: tuple[tuple[str, str], ...]) -> PurgeRecord:
        with ExitStack() as held:
            for sibling in candidate.hits:
                held.enter_context(self.hold(sibling))
            marks = mark(self.medium, secrets.randbits(32))
            if not marks.marked and candidate.name not in nvme.SANITIZES:
                raise NotPurged(
                    f"{self.subject.identity.path} does not retain written data: no purge can be verified",
                    "check the kernel log (dmesg); the drive may be failing, or write-protected",
                    reason="unprovable",
                    method=candidate.name,
                )
            page = self.ledger.begin(self.subject.identity, candidate.name, self.consents, marks)
            work = self._work(candidate)
            return self._prove(work, page, passed_over, _ERASERS[candidate.name])

    def _follow(self, candidate: PurgeMethod) -> PurgeRecord:
        """Follow a sanitize that was begun before, by ssdlab with marks that are known, or by another."""
        unfinished = self.ledger.unfinished(self.subject.identity.consent_id)
        ours = next((page for page in unfinished if page.entry.method == candidate.name), None)
        if ours is None:
            unit = unit_of(self.medium)
            offsets = places(0, self.medium.size_bytes, unit, _NO_MARKS)
            blank = Marks(_NO_MARKS, unit, offsets, ())
            ours = self.ledger.begin(self.subject.identity, candidate.name, self.consents, blank)
        return self._prove(self._work(candidate), ours, (), nvme.follow, followed=True)

    def _work(self, candidate: PurgeMethod) -> Work:
        watch = Watch(candidate.name, candidate.limit_s, self.on_progress, self.clock)
        return Work(self.subject, candidate, self.medium, watch)

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
            drive_log = eraser(work)
            sampling = read_back(self.medium, page.entry.marks)
        except BaseException as error:
            page.failed(_explained(error, work), _status_of(error))
            raise
        record = PurgeRecord(
            method=work.method.name,
            substitute=work.method.name in SUBSTITUTES,
            passed_over=passed_over,
            sampling=sampling,
            drive_log=drive_log,
            elapsed_s=work.watch.elapsed_s,
            siblings=tuple(sibling.name for sibling in work.method.hits),
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
        ata_details = self.subject.details.ata
        if ata_details is None or ata_details.device is None or not ata_details.device.security.enabled:
            return
        unfinished = self.ledger.unfinished(self.subject.identity.consent_id)
        ours = next((page for page in unfinished if page.entry.method in ata.OPTIONS), None)
        if ours is not None:
            ata.clear_password(self._work(PurgeMethod(ours.entry.method)))
            subject = self.subject
            details = read_details(subject.identity, subject.node, subject.port)
            self.subject = replace(subject, details=details)

    def _rejection(self, candidate: PurgeMethod, why: str) -> DriveError:
        return DriveError(
            f"{self.subject.identity.path} was not purged by {candidate.name}: {why}",
            "try another method (--method; `ssdlab purge --dry-run` lists them); this one erased nothing",
            reason="turned-down",
            method=candidate.name,
        )


def _explained(error: BaseException, work: Work) -> BaseException:
    if isinstance(error, LabError):
        error.facts.setdefault("method", work.method.name)
        error.facts.setdefault("commands", list(work.sent))
    return error


def _status_of(error: BaseException) -> str:
    """Return how an entry ends with an error: `left` where the drive may still be at work."""
    if isinstance(error, PurgeRejected):
        return "turned-down"
    hung = isinstance(error, LabError) and error.facts.get("reason") == "hung"
    return "failed" if isinstance(error, DriveError | HostError) and not hung else "left"


def _refuted(work: Work, record: PurgeRecord, sampling: Sampling) -> NotPurged:
    doubt = f" ({work.method.named_only})" if work.method.named_only else ""
    log = "" if record.drive_log is None else f"; it says: {record.drive_log}"
    return NotPurged(
        f"{work.method.name} reported success but did not purge {work.subject.identity.path}: "
        f"{sampling.survived} of {sampling.marked} marks are still there{doubt}{log}",
        "do not trust this method on this drive; try another (--method)",
        reason="not-purged",
        method=work.method.name,
        record=record.as_dict(),
    )


_BLKRRPART = 0x125F
"""`_IO(0x12, 95)` of linux/fs.h."""


def read_partitions_again(descriptor: int) -> None:
    """Let the kernel read the partition table of a device that is held, claimed or not.

    What holds no partitions, or has one in use, is left as it is.
    """
    with suppress(OSError):
        fcntl.ioctl(descriptor, _BLKRRPART)


def subject_of(identity: Identity, files: HostFiles, node: Path, port: AdminPort | None = None) -> Subject:
    """Ask a block device what it can do; nothing is changed.

    Parameters
    ----------
    identity, files, node
        Who it is, the host, and its folder in sysfs.
    port
        Where commands are sent; another for tests.
    """
    port = port or KernelPort.of(Path(identity.path), node)
    return Subject(identity, files, node, port, read_details(identity, node, port))


def purge_device(
    target: _core.Target,
    subject: Subject,
    *,
    hold: Callable[[Sibling], AbstractContextManager[object]],
    method: PurgeMethodName | None,
    consents: Collection[str],
    limit_s: float | None,
    on_progress: Callable[[PurgeProgress], object] | None,
) -> PurgeRecord:
    """Purge a block device that is held for writing, with consent; see `Drive.purge`.

    Parameters
    ----------
    target
        Held, and claimed, until it is done.
    subject
        The same device.
    hold
        Claims another namespace, after the guard has found nothing against it.
    method, consents, limit_s, on_progress
        As for `Drive.purge`.
    """
    given = tuple(dict.fromkeys((subject.identity.consent_id, *consents)))
    with DeviceMedium(target) as medium:
        return Purging(subject, medium, given, hold=hold, on_progress=on_progress, limit_s=limit_s).purge(
            method
        )
