"""Which ways a drive has to be purged, and which of them is gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ssdlab.drives.purge import ata, host, nvme, scsi
from ssdlab.drives.purge.record import PurgeMethod
from ssdlab.drives.purge.way import Sibling, Subject, Way
from ssdlab.host.attributes import disk_of
from ssdlab.model.errors import DriveError, Refused, Unsupported
from ssdlab.model.printable import quoted


@dataclass(frozen=True, slots=True)
class Choice:
    """What a purge will do.

    Attributes
    ----------
    ways
        Those to be tried, in order; the next only where the drive turns one down.
    passed_over
        Stronger ones, and why each is not used.
    following
        A sanitize that goes on in the drive already, and is followed first.
    """

    ways: tuple[Way, ...]
    passed_over: tuple[tuple[str, str], ...]
    following: Way | None = None


def ways_of(subject: Subject) -> tuple[Way, ...]:
    """Return the ways of a drive's interface in order, those that it does not have too.

    A partition has only the substitutes: the drive's own commands would erase its neighbours.
    """
    if subject.identity.kind == "partition":
        return host.ways(subject)
    if subject.details.nvme is not None:
        own = nvme.ways(subject)
    elif subject.details.ata is not None:
        own = ata.ways(subject)
        if subject.details.ata.device is None:  # nor is it ATA, whatever its pages say
            own += _scsi_ways(subject)
    else:
        own = _scsi_ways(subject)
    in_order = sorted(own, key=lambda way: way.method == "nvme-sanitize-overwrite")
    return (*in_order, *host.ways(subject))


def choose(
    subject: Subject,
    method: PurgeMethod | None,
    consents: Collection[str],
    limit_s: float | None = None,
) -> Choice:
    """Choose the strongest way, or take the one that is named.

    Parameters
    ----------
    subject, method
        The drive, and the way named.
    consents
        Identifiers of everything that may be erased; for other namespaces, too.
    limit_s
        Time limit instead of the way's own.

    Raises
    ------
    Unsupported
        The drive has no such way, or an obstacle stands in it.
    Refused
        It would erase namespaces without consent to that.
    DriveError
        There is no way at all (`reason` "no-purge").
    """
    ways = ways_of(subject)
    if limit_s is not None:
        ways = tuple(replace(way, limit_s=limit_s) for way in ways)
    running = nvme.running(subject)
    following = next((way for way in ways if way.method == running), None)
    if method is not None:
        return Choice((_named(subject, ways, method, consents),), (), following)
    passed_over: list[tuple[str, str]] = []
    fitting = []
    for way in ways:
        why = way.obstacle or way.named_only or _unconsented_text(way, consents)
        if why is None:
            fitting.append(way)
        elif not fitting:
            passed_over.append((way.method, why))
    if not fitting:
        raise DriveError(
            f"{subject.identity.path} has no way to be purged: {_offers_text(ways)}",
            "see what stands in each way: ssdlab purge --dry-run",
            reason="no-purge",
            target=subject.identity.path,
        )
    return Choice(tuple(fitting), tuple(passed_over), following)


def _scsi_ways(subject: Subject) -> tuple[Way, ...]:
    """Return the ways of a SCSI drive; none behind USB, where some bridges fall over such questions."""
    speaks = (disk_of(subject.node) / "device" / "scsi_level").exists()
    return scsi.ways(subject) if speaks and subject.identity.transport not in {"usb", "sata"} else ()


def _named(subject: Subject, ways: Sequence[Way], method: PurgeMethod, consents: Collection[str]) -> Way:
    path = subject.identity.path
    way = next((way for way in ways if way.method == method), None)
    if way is None or way.obstacle is not None:
        why = "it is a way of other drives" if way is None else str(way.obstacle)
        offers = [each.method for each in ways if each.obstacle is None]
        raise Unsupported(
            f"{path} cannot be purged by {method}: {why}",
            f"it offers: {', '.join(offers)}; without --method the first that fits is taken",
            reason="no-such-way",
            target=path,
            method=method,
            offers=offers,
        )
    if missing := _unconsented(way, consents):
        named = ", ".join(sibling.name for sibling in missing)
        given = " ".join(f"--destroy {quoted(sibling.consent_id)}" for sibling in missing)
        raise Refused(
            f"{method} of {path} erases {named} as well, and nothing says that it may",
            f"if all data there may be lost too, give each identifier beside this one: {given}",
            reason="siblings",
            target=path,
            siblings=[sibling.name for sibling in missing],
        )
    return way


def _unconsented(way: Way, consents: Collection[str]) -> list[Sibling]:
    return [sibling for sibling in way.hits if sibling.consent_id not in consents]


def _unconsented_text(way: Way, consents: Collection[str]) -> str | None:
    missing = _unconsented(way, consents)
    if not missing:
        return None
    named = ", ".join(f"{sibling.name} (--destroy {quoted(sibling.consent_id)})" for sibling in missing)
    return f"it would erase {named} as well, without consent"


def _offers_text(ways: Sequence[Way]) -> str:
    return "; ".join(f"{way.method}: {way.obstacle or way.named_only}" for way in ways)
