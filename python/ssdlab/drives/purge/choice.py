"""Lists the purge methods of a drive, and chooses among them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ssdlab.drives.purge import ata, method, nvme, scsi
from ssdlab.drives.purge.method import PurgeMethod, Sibling, Subject
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.host.attributes import disk_of
from ssdlab.host.sysfs import there
from ssdlab.model.errors import DriveError, Refused, Unsupported
from ssdlab.model.printable import quoted


@dataclass(frozen=True, slots=True)
class Choice:
    """The plan of a purge.

    Attributes
    ----------
    methods
        Methods to try, in order; the next is tried only if the drive rejects one.
    passed_over
        Stronger methods that are not used, each with the reason.
    following
        A sanitize already running in the drive, which is awaited first.
    """

    methods: tuple[PurgeMethod, ...]
    passed_over: tuple[tuple[str, str], ...]
    following: PurgeMethod | None = None


def methods_of(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return the purge methods of a drive's interface in order, including unsupported ones.

    A partition has only the substitutes, because the drive's own commands would erase other partitions too.
    """
    if subject.identity.kind == "partition":
        return method.purge_methods(subject)
    if subject.details.nvme is not None:
        own = nvme.purge_methods(subject)
    elif subject.details.ata is not None:
        own = ata.purge_methods(subject)
        if subject.details.ata.device is None:  # it does not answer ATA commands: perhaps a SCSI drive
            own += _scsi_methods(subject)
    else:
        own = _scsi_methods(subject)
    in_order = sorted(own, key=lambda candidate: candidate.name == "nvme-sanitize-overwrite")
    return (*in_order, *method.purge_methods(subject))


def choose(
    subject: Subject,
    method: PurgeMethodName | None,
    consents: Collection[str],
    limit_s: float | None = None,
) -> Choice:
    """Choose the named method, or the strongest that applies.

    Parameters
    ----------
    method
        None chooses the strongest.
    consents
        Identifiers of everything that may be erased, including other namespaces.
    limit_s
        Time limit instead of the method's own.

    Raises
    ------
    Unsupported
        The drive does not support the named method, or not now.
    Refused
        The named method would erase namespaces without consent.
    DriveError
        No method applies (`reason` "no-purge").
    """
    candidates = methods_of(subject)
    if limit_s is not None:
        candidates = tuple(replace(candidate, limit_s=limit_s) for candidate in candidates)
    running = nvme.running(subject)
    following = next((candidate for candidate in candidates if candidate.name == running), None)
    if method is not None:
        return Choice((_named(subject, candidates, method, consents),), (), following)
    passed_over: list[tuple[str, str]] = []
    fitting = []
    for candidate in candidates:
        why = candidate.obstacle or candidate.named_only or _unconsented_text(candidate, consents)
        if why is None:
            fitting.append(candidate)
        elif not fitting:
            passed_over.append((candidate.name, why))
    if not fitting:
        raise DriveError(
            f"{subject.identity.path} has no purge method: {_offers_text(candidates)}",
            "see what prevents each method: ssdlab purge --dry-run",
            reason="no-purge",
            target=subject.identity.path,
        )
    return Choice(tuple(fitting), tuple(passed_over), following)


def _scsi_methods(subject: Subject) -> tuple[PurgeMethod, ...]:
    """Return the purge methods of a SCSI drive; none behind USB, as some bridges hang on these commands."""
    speaks = there(disk_of(subject.node) / "device" / "scsi_level")
    return scsi.purge_methods(subject) if speaks and subject.identity.transport not in {"usb", "sata"} else ()


def _named(
    subject: Subject, candidates: Sequence[PurgeMethod], method: PurgeMethodName, consents: Collection[str]
) -> PurgeMethod:
    path = subject.identity.path
    candidate = next((candidate for candidate in candidates if candidate.name == method), None)
    if candidate is None or candidate.obstacle is not None:
        why = "the method is for other kinds of drive" if candidate is None else str(candidate.obstacle)
        offers = [each.name for each in candidates if each.obstacle is None]
        raise Unsupported(
            f"{path} cannot be purged by {method}: {why}",
            f"it offers: {', '.join(offers)}; without --method the first that fits is used",
            reason="no-such-way",
            target=path,
            method=method,
            offers=offers,
        )
    if missing := _unconsented(candidate, consents):
        named = ", ".join(sibling.name for sibling in missing)
        given = " ".join(f"--destroy {quoted(sibling.consent_id)}" for sibling in missing)
        raise Refused(
            f"{method} of {path} also erases {named}, without consent",
            f"if all data there may be lost too, also give each identifier: {given}",
            reason="siblings",
            target=path,
            siblings=[sibling.name for sibling in missing],
        )
    return candidate


def _unconsented(candidate: PurgeMethod, consents: Collection[str]) -> list[Sibling]:
    return [sibling for sibling in candidate.hits if sibling.consent_id not in consents]


def _unconsented_text(candidate: PurgeMethod, consents: Collection[str]) -> str | None:
    missing = _unconsented(candidate, consents)
    if not missing:
        return None
    named = ", ".join(f"{sibling.name} (--destroy {quoted(sibling.consent_id)})" for sibling in missing)
    return f"it would also erase {named}, without consent"


def _offers_text(candidates: Sequence[PurgeMethod]) -> str:
    return "; ".join(
        f"{candidate.name}: {candidate.obstacle or candidate.named_only}" for candidate in candidates
    )
