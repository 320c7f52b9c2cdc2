"""A method to purge a drive: whether it is supported, what else it erases, how long it may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ssdlab.drives.admin.port import AdminPort
from ssdlab.drives.details import Details
from ssdlab.drives.purge.record import PurgeMethodName
from ssdlab.drives.purge.watch import Watch
from ssdlab.drives.trim.medium import Medium
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import HostFiles

_MINUTE_S, _HOUR_S = 60.0, 3600.0
_SLOWEST_MB_S = 20.0
"""A drive that is overwritten and is slower than this has other troubles."""


class PurgeRejected(Exception):
    """The drive did not begin; nothing was erased, and another method may be tried."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another namespace that a command hits: its name, its identifier for consent, its node if it has one."""

    name: str
    consent_id: str
    node: Path | None


@dataclass(frozen=True, slots=True)
class PurgeMethod:
    """How a drive can be purged.

    Attributes
    ----------
    name
        Its name.
    obstacle
        Why it is not supported; None if it is.
    named_only
        Why it is used only when it is named; None where it may be chosen.
    hits
        Namespaces that lose their data too.
    limit_s
        How long it may take before it counts as hung: from the drive's own estimate where it gives one.
    estimate_s
        That estimate.
    commands
        What is sent, as a person would write it.
    """

    name: PurgeMethodName
    obstacle: str | None = None
    named_only: str | None = None
    hits: tuple[Sibling, ...] = ()
    limit_s: float = 2 * _HOUR_S
    estimate_s: float | None = None
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A drive that is to be purged, and what it reported about itself."""

    identity: Identity
    files: HostFiles
    node: Path
    port: AdminPort
    details: Details


@dataclass(slots=True)
class Work:
    """A purge going on: what an eraser needs, and the commands that it has sent."""

    subject: Subject
    method: PurgeMethod
    medium: Medium
    watch: Watch
    sent: list[str] = field(default_factory=list)


def patience_s(estimate_s: float | None, otherwise_s: float = 2 * _HOUR_S) -> float:
    """Return a time limit from a drive's own estimate: twice that and ten minutes."""
    return otherwise_s if estimate_s is None else 2 * estimate_s + 10 * _MINUTE_S


def overwrite_s(capacity_bytes: int) -> float:
    """Return how long it may take to write a whole drive."""
    return capacity_bytes / _SLOWEST_MB_S / 1e6 + 10 * _MINUTE_S
