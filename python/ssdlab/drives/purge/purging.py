"""One purge of an open device, from the choice of a method to the proof.

Each purge has a permanent file (`Ledger`). It is written before the purge starts, with the marks that must
vanish. A sanitize outlives the program that began it, and an ATA erase may leave a password. So after a kill,
the next purge of the drive finds the started purge and its marks there.
"""

from __future__ import annotations

import fcntl
import json
import re
import secrets
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives.admin.port import AdminPort, KernelPort
from ssdlab.drives.details import read_details
from ssdlab.drives.purge import ata, method, nvme, scsi
from ssdlab.drives.purge.choice import Choice, choose
from ssdlab.drives.purge.method import Clock, PurgeMethod, PurgeRejected, Sibling, Subject, Watch, Work
from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethodName, PurgeProgress, PurgeRecord, Sampling
from ssdlab.drives.trim.medium import DeviceMedium, Medium, kinds_of, pattern, places, read_all, unit_of
from ssdlab.host import durable
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles
from ssdlab.host.user_folders import state_folder
from ssdlab.model.errors import DriveError, HostError, LabError, Refused

if TYPE_CHECKING:
    import ssdlab._core as _core


@dataclass(frozen=True, slots=True)
class Marks:
    """Offsets of the samples, and those that were seen to hold their pattern before the purge."""

    seed: int
    sample_bytes: int
    offsets: tuple[int, ...]
    marked: tuple[int, ...]


def mark(medium: Medium, seed: int) -> Marks:
    """Write a pattern at offsets spread over the drive, make it durable, and read it back.

    An offset that cannot be written is left unmarked: a drive whose sanitize failed rejects writes, but must
    still be purged.
    """
    unit = unit_of(medium)
    offsets = places(0, medium.size_bytes, unit, seed)
    for at in offsets:
        with suppress(OSError):
            medium.write(at, pattern(seed, at, unit))
    with suppress(OSError):
        medium.flush()
    held = read_all(medium, offsets, unit)
    return Marks(seed, unit, offsets, tuple(at for at in offsets if held[at] == pattern(seed, at, unit)))


def read_back(medium: Medium, marks: Marks) -> Sampling:
    """Read the samples after a purge, and count them by content."""
    unit = marks.sample_bytes
    after = read_all(medium, marks.offsets, unit)
    found = kinds_of({at: pattern(marks.seed, at, unit) for at in marks.offsets}, after)
    survived = sum(after[at] == pattern(marks.seed, at, unit) for at in marks.marked)
    return Sampling(
        samples=len(marks.offsets),
        sample_bytes=unit,
        marked=len(marks.marked),
        survived=survived,
        zero=found.zero,
        ones=found.ones,
        other=found.other + found.unchanged - survived,
        unreadable=found.unreadable,
    )


SCHEMA = "ssdlab.purge/1"
_OPEN = ("running", "left")


@dataclass(frozen=True, slots=True)
class Entry:
    """The record of one purge, finished or not.

    Attributes
    ----------
    status
        `running`; `left` if the wait ended before the drive was done; `done`; `failed`; `turned-down` if the
        drive did not begin; or `superseded` by a later purge.
    drive
        Identity of the drive: `path id model serial firmware capacity_bytes`.
    record, failure
        The result of the purge, and the error that ended it; None if there is none.
    """

    status: str
    drive: dict[str, Any]
    method: PurgeMethodName
    consents: tuple[str, ...]
    marks: Marks
    begun: str
    ended: str | None = None
    record: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None


class Ledger:
    """The purges of this user on this host.

    Parameters
    ----------
    folder
        By default `ssdlab/purges` in the XDG state folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or state_folder() / "purges"

    def begin(
        self, identity: Identity, method: PurgeMethodName, consents: tuple[str, ...], marks: Marks
    ) -> Page:
        """Record durably that a purge is about to begin, and close earlier records of the drive.

        Raises
        ------
        HostError
            The record could not be written, so the purge must not begin.
        """
        for page in self.unfinished(identity.consent_id):
            page.put(replace(page.entry, status="superseded", ended=_now()))
        shown = ("path", "model", "serial", "firmware", "capacity_bytes")
        drive = {"id": identity.consent_id, **{name: getattr(identity, name) for name in shown}}
        entry = Entry("running", drive, method, consents, marks, begun=_now())
        name = re.sub(r"[^\w.-]", "_", identity.consent_id)
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        page = Page(self._folder / f"{stamp}-{name}.json", entry)
        with durable.library_errors(page.path):
            HeldFolder(self._folder, make=FOLDER_MODE).close()
            page.put(entry)
        return page

    def unfinished(self, consent_id: str) -> list[Page]:
        """Return the purges of a drive that began and have no known end, the latest first."""
        found = []
        for path in sorted(self._folder.glob("*.json"), reverse=True):
            entry = _read(path)
            if entry is not None and entry.status in _OPEN and entry.drive.get("id") == consent_id:
                found.append(Page(path, entry))
        return found


class Page:
    """The file of one purge."""

    def __init__(self, path: Path, entry: Entry) -> None:
        self.path = path
        self.entry = entry

    def put(self, entry: Entry) -> None:
        """Replace the file atomically."""
        self.entry = entry
        content = {"schema": SCHEMA, **asdict(entry)}
        durable.replace(self.path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def done(self, record: PurgeRecord) -> None:
        self.put(replace(self.entry, status="done", ended=_now(), record=record.as_dict()))

    def failed(self, error: BaseException, status: str, record: PurgeRecord | None = None) -> None:
        """Record any other end, and add the path of the file to the error."""
        explained: dict[str, Any] = {"what": f"{type(error).__name__}: {error}"}
        if isinstance(error, LabError):
            error.facts["kept"] = str(self.path)
            explained = {name: value for name, value in error.as_dict().items() if name != "exit_status"}
        ended = None if status == "left" else _now()
        kept = None if record is None else record.as_dict()
        self.put(replace(self.entry, status=status, ended=ended, record=kept, failure=explained))


def _read(path: Path) -> Entry | None:
    """Return an entry; None if the file is not this user's, is invalid, or is of another version."""
    try:
        with HeldFolder(path.parent, writing=True) as folder:
            content = json.loads(folder.read_bytes(path.name, own=True))
        if content.pop("schema") != SCHEMA:
            return None
        marks = content.pop("marks")
        seen = {**marks, **{name: tuple(marks[name]) for name in ("offsets", "marked")}}
        return Entry(**{**content, "consents": tuple(content["consents"]), "marks": Marks(**seen)})
    except (OSError, Refused, ValueError, TypeError, KeyError, AttributeError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
    """The drive was proven not purged, or the purge cannot be proven."""


@dataclass(slots=True)
class Purging:
    """A drive, and what a purge of it needs.

    Attributes
    ----------
    consents
        Identifiers of everything that may be erased.
    hold
        Context manager that claims another namespace, after the guard has found nothing against it.
    on_progress
        Called about once a second.
    limit_s
        Time limit instead of the method's own.
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
        """Purge by the named method, or by the strongest that applies; see `Drive.purge`."""
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
                # A drive may return old data for discarded blocks; all other methods promise to erase.
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
        """Wait for a sanitize that is already running: our own with known marks, or another program's."""
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
        """Erase, read the marks back, and record the result."""
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
        """Remove the password of a killed ATA erase, and query the drive again."""
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
    """Return the status of an entry after an error: `left` if the drive may still be working."""
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
    """Make the kernel read the partition table of an open device again.

    A device that has no partitions, or has one in use, is left as it is.
    """
    with suppress(OSError):
        fcntl.ioctl(descriptor, _BLKRRPART)


def subject_of(identity: Identity, files: HostFiles, node: Path, port: AdminPort | None = None) -> Subject:
    """Query a block device for its purge methods, without changing it.

    Parameters
    ----------
    node
        The device's folder in sysfs.
    port
        Access to the drive; tests pass another.
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
        The device, held and claimed until the purge is done.
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
