"""Plans a purge, and opens a drive for one, even during a sanitize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives.opening import look, open_drive, resolved
from ssdlab.drives.purge import nvme
from ssdlab.drives.purge.choice import Choice, choose, methods_of
from ssdlab.drives.purge.method import Subject
from ssdlab.drives.purge.purging import subject_of
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.drives.trim.medium import SAMPLE_BYTES, SAMPLES
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import DriveError, LabError, Refused, UsageError

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.drives.base import Drive


@dataclass(frozen=True, slots=True)
class DescribedMethod:
    """A purge method of a drive: why it cannot be used, or a remark on it."""

    method: PurgeMethodName
    obstacle: str | None
    note: str | None
    erases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a purge would be refused now."""

    what: str
    advice: str

    @classmethod
    def of(cls, error: LabError) -> Objection:
        """Return what an error says."""
        return cls(error.what, error.advice)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a purge would do.

    Attributes
    ----------
    method, commands, siblings, limit_s
        The method it would use, what it would send, what else it would erase, and for how long it would wait;
        without a method there is none, see `refusals`.
    following
        The sanitize that goes on already and would be followed.
    marks, sample_bytes
        Samples written and read back, before and after.
    ways
        All methods of its interface, as JSON holds them.
    refusals
        What the purge itself would raise.
    """

    drive: str
    method: PurgeMethodName | None
    following: PurgeMethodName | None
    commands: tuple[str, ...]
    siblings: tuple[str, ...]
    limit_s: float | None
    marks: int
    sample_bytes: int
    ways: tuple[DescribedMethod, ...]
    refusals: tuple[LabError, ...]

    @property
    def objections(self) -> tuple[Objection, ...]:
        """Objections, in words."""
        return tuple(map(Objection.of, self.refusals))

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "refusals"}
        ways, objections = ([asdict(each) for each in found] for found in (self.ways, self.objections))
        return {**plain, "ways": ways, "objections": objections}


def rehearse(
    text: str,
    method: PurgeMethodName | None,
    consents: Sequence[str],
    limit_s: float | None = None,
    *,
    wipe_signatures: bool = False,
    files: HostFiles | None = None,
    port: AdminPort | None = None,
) -> DryRun:
    """Plan a purge; the drive is queried but not changed.

    Parameters
    ----------
    text, method, consents, limit_s, wipe_signatures
        As for a purge.
    files, port
        The host, and where commands are sent; others for tests.

    Raises
    ------
    UsageError
        The text names no block device.
    """
    files = files or HostFiles()
    destroy = _own(text, consents, files)
    found = look(text, destroy=destroy, files=files, wipe_signatures=wipe_signatures)
    identity = found.identity
    node = None if identity is None else files.node_named(identity.name)
    if identity is None or node is None or identity.kind not in {"block", "partition"}:
        raise UsageError(
            f"{text} is not a block device: no command can purge it",
            "name a drive, see `ssdlab drives`",
        )
    subject = subject_of(identity, files, node, port)
    refusals: list[LabError] = [] if found.writing is None else [found.writing.error(text)]
    choice = _choice(subject, method, (identity.consent_id, *consents), limit_s, refusals)
    candidate = None if choice is None else choice.methods[0]
    block = identity.logical_block_bytes
    return DryRun(
        drive=identity.path,
        method=None if candidate is None else candidate.name,
        following=None if choice is None or choice.following is None else choice.following.name,
        commands=() if candidate is None else candidate.commands,
        siblings=() if candidate is None else tuple(sibling.name for sibling in candidate.hits),
        limit_s=None if candidate is None else candidate.limit_s,
        marks=min(SAMPLES, identity.capacity_bytes // max(SAMPLE_BYTES, block)),
        sample_bytes=max(SAMPLE_BYTES, block),
        ways=tuple(
            DescribedMethod(each.name, each.obstacle, each.named_only, tuple(hit.name for hit in each.hits))
            for each in methods_of(subject)
        ),
        refusals=tuple(refusals),
    )


def open_for_purge(text: str, consents: Sequence[str], *, wipe_signatures: bool = False) -> Drive:
    """Open a drive for a purge; one that is sanitizing cannot be read, and has nothing left to protect.

    Raises
    ------
    UsageError, Refused, DriveError
        As `open_drive` does.
    """
    text = resolved(text)  # once: what is looked at first must be what is opened in the end
    destroy = _own(text, consents, HostFiles())
    try:
        return open_drive(text, destroy=destroy, writing=True, wipe_signatures=wipe_signatures)
    except Refused as error:
        if error.facts.get("reason") != "signatures-unknown" or not _sanitizing(text):
            raise
        return open_drive(text, destroy=destroy, writing=True, wipe_signatures=True)


def _own(text: str, consents: Sequence[str], files: HostFiles) -> str | None:
    """Return which of the identifiers given is that of the drive itself; else the first, to be refused."""
    if not consents or text.startswith("sim:"):
        return next(iter(consents), None)
    identity = look(text, files=files).identity
    own = None if identity is None else identity.consent_id
    return own if own in consents else consents[0]


def _sanitizing(text: str) -> bool:
    files, identity = HostFiles(), look(text).identity
    node = None if identity is None else files.node_named(identity.name)
    if identity is None or node is None:
        return False
    return nvme.running(subject_of(identity, files, Path(node))) is not None


def _choice(
    subject: Subject,
    method: PurgeMethodName | None,
    consents: tuple[str, ...],
    limit_s: float | None,
    refusals: list[LabError],
) -> Choice | None:
    try:
        return choose(subject, method, consents, limit_s)
    except (Refused, DriveError) as error:
        refusals.append(error)
        return None
