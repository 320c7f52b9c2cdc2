"""The record of a purge: its method, the methods not used, and its proof."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from ssdlab.model.errors import unknown
from ssdlab.model.units import share_text

PurgeMethodName = Literal[
    "nvme-sanitize-block",
    "nvme-sanitize-crypto",
    "nvme-format-crypto",
    "nvme-format-user-data",
    "nvme-sanitize-overwrite",
    "ata-security-erase-enhanced",
    "ata-security-erase",
    "scsi-sanitize-block",
    "scsi-sanitize-crypto",
    "scsi-format",
    "discard",
    "zero-fill",
    "simulated",
]
"""How a drive can be purged, in the order in which they are chosen within an interface: those first that
reach all of the medium and leave it fresh. To overwrite wears flash as a fill does, so formats come before
it."""

METHODS: tuple[PurgeMethodName, ...] = get_args(PurgeMethodName)

SUBSTITUTES: frozenset[PurgeMethodName] = frozenset({"discard", "zero-fill"})
"""Methods that free or overwrite only what the host can address."""


def check_method(text: str) -> PurgeMethodName:
    """Return the method of that name.

    Raises
    ------
    UsageError
        There is none; it names the nearest.
    """
    found = next((method for method in METHODS if method == text), None)
    if found is None:
        raise unknown("purge method", text, METHODS)
    return found


@dataclass(frozen=True, slots=True)
class PurgeProgress:
    """How far a purge is: the share done (0 to 1) as the drive tells it, None where it does not."""

    method: PurgeMethodName
    elapsed_s: float
    share: float | None
    what: str

    @property
    def text(self) -> str:
        """Say it in words."""
        share = "" if self.share is None else f", {share_text(self.share)}"
        return f"{self.method}: {self.what}{share}"


@dataclass(frozen=True, slots=True)
class Sampling:
    """What samples read back after a purge showed.

    Attributes
    ----------
    samples, sample_bytes
        How many were read, spread over the drive, and the bytes of each.
    marked
        How many of them held a pattern that was written before the purge, so that they must have changed.
    survived
        How many still held that pattern.
    zero, ones, other
        How many read as all 00h, all FFh, and something else.
    unreadable
        How many failed to read (a drive may refuse reads of erased blocks).
    """

    samples: int
    sample_bytes: int
    marked: int
    survived: int
    zero: int
    ones: int
    other: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class PurgeRecord:
    """A completed and proven purge.

    Attributes
    ----------
    method
        What was done.
    substitute
        Whether it is only a substitute (discard, zero fill): no more than what the host can address was
        touched.
    passed_over
        Stronger methods and why each was not used.
    sampling
        What reading back showed; None for a simulated drive, whose state is known.
    drive_log
        What the drive's own log or status page said afterwards, in words; None where it keeps none.
    elapsed_s
        Wall-clock seconds (drive time for a simulated one).
    siblings
        Other namespaces that were erased along with it.
    followed
        Whether it was found going on, begun before, and followed to its end.
    commands
        What was sent to the drive, in order.
    kept
        File that this record is kept in; None for a simulated drive.
    """

    method: PurgeMethodName
    substitute: bool
    passed_over: tuple[tuple[str, str], ...]
    sampling: Sampling | None
    drive_log: str | None
    elapsed_s: float
    siblings: tuple[str, ...] = ()
    followed: bool = False
    commands: tuple[str, ...] = ()
    kept: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)
