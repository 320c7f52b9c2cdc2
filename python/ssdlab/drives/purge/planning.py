"""Plans a purge, and opens a drive for one, even during a sanitize.

The maximum time of a purge is known before it starts, from the drive's estimate or its write speed. Estimates
come from the Sanitize Status log of NVMe, and from words 89 and 90 of ATA's IDENTIFY DEVICE. Without an
estimate, a drive's own erase takes at most the time after which it counts as hung.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.drives.opening import look, open_drive, resolved
from ssdlab.drives.purge import nvme
from ssdlab.drives.purge.choice import Choice, choose, methods_of
from ssdlab.drives.purge.method import PurgeMethod, Subject
from ssdlab.drives.purge.purging import subject_of
from ssdlab.drives.purge.record import SUBSTITUTES, PurgeMethodName
from ssdlab.drives.trim.medium import SAMPLE_BYTES, SAMPLES
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import DriveError, LabError, Refused, UsageError

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort
    from ssdlab.drives.base import Drive


@dataclass(frozen=True, slots=True)
class DescribedMethod:
    """A purge method of a drive: the obstacle to it, a remark, and other namespaces that it erases."""

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
        return cls(error.what, error.advice)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a purge would do.

    Attributes
    ----------
    method, commands, siblings, limit_s
        The method, its commands, other namespaces that it erases, and its time limit. If `method` is None,
        there is none that applies; see `refusals`.
    following
        A sanitize already running, which would be awaited.
    marks, sample_bytes
        Number of samples written before the purge and read back after it, and bytes of each.
    ways
        All methods of the drive's interface.
    refusals
        Errors that the purge itself would raise.
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
        return tuple(map(Objection.of, self.refusals))

    def as_dict(self) -> dict[str, Any]:
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
        The host, and access to the drive; tests pass others.

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
    """Open a drive for a purge, even while it sanitizes.

    A sanitizing drive cannot be read for signatures, and has no data left to protect.

    Raises
    ------
    UsageError, Refused, DriveError
        As for `open_drive`.
    """
    text = resolved(text)  # once, so that the drive that is inspected is the one that is opened
    destroy = _own(text, consents, HostFiles())
    try:
        return open_drive(text, destroy=destroy, writing=True, wipe_signatures=wipe_signatures)
    except Refused as error:
        if error.facts.get("reason") != "signatures-unknown" or not _sanitizing(text):
            raise
        return open_drive(text, destroy=destroy, writing=True, wipe_signatures=True)


def _own(text: str, consents: Sequence[str], files: HostFiles) -> str | None:
    """Return the given identifier that is the drive's own; else the first, which will be refused."""
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


MARGIN_S = 60.0
"""Drives estimate in steps of one or two minutes, and the end of an erase is found by polling."""
LOOKS_AT_MARKS = 3
"""Passes over the marks: written, read back, and read again after the purge."""


def longest_s(
    identity: Identity,
    method: PurgeMethodName | None,
    write_bytes_s: float,
    command_s: float,
    files: HostFiles | None = None,
    *,
    discard_bytes_s: float | None = None,
) -> float | None:
    """Return the maximum time of a purge of a block device.

    Parameters
    ----------
    method
        The named method; None for the strongest.
    write_bytes_s
        Lowest sequential write speed of the device, in bytes/s.
    command_s
        Longest time of one command on a mark, in seconds.
    files
        The host; tests pass another root.
    discard_bytes_s
        Lowest discard speed, in bytes/s, of a device that is known to accept discards; None if unknown.

    Returns
    -------
    float or None
        Seconds; None if the device cannot be purged, or does not report its purge methods.
    """
    files = files or HostFiles()
    node = files.node_named(identity.name)
    if node is None:
        return None
    try:
        subject = subject_of(identity, files, node)
        return longest_of(subject, method, write_bytes_s, command_s, discard_bytes_s)
    except LabError:
        return None


def longest_of(
    subject: Subject,
    method: PurgeMethodName | None,
    write_bytes_s: float,
    command_s: float,
    discard_bytes_s: float | None = None,
) -> float:
    """Return the maximum time in seconds of a purge of a drive that was already queried; see `longest_s`.

    Raises
    ------
    LabError
        The drive cannot be purged by this method.
    """
    choice = choose(subject, method, (subject.identity.consent_id,))
    first, *others = choice.methods
    seen = first.name == "discard" and discard_bytes_s is not None
    # A device often reports support of discards but rejects them; the next method is then used instead.
    candidates = [first, *(others if first.name in SUBSTITUTES and not seen else ())]
    following = 0.0 if choice.following is None else MARGIN_S + choice.following.limit_s
    bytes_s = discard_bytes_s if seen and discard_bytes_s is not None else write_bytes_s
    whole_s = subject.identity.capacity_bytes / bytes_s
    marks_s = LOOKS_AT_MARKS * SAMPLES * command_s
    return following + marks_s + max(_longest_s(each, whole_s) for each in candidates)


def _longest_s(method: PurgeMethod, whole_s: float) -> float:
    if method.name in SUBSTITUTES:
        return min(method.limit_s, whole_s)
    return MARGIN_S + (
        method.limit_s if method.estimate_s is None else min(method.limit_s, method.estimate_s)
    )
