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
"""Purge methods, in the order in which they are chosen within an interface.

Methods that reach the whole medium and leave it fresh come first. Overwriting wears flash as a fill does, so
formats come before it."""

METHODS: tuple[PurgeMethodName, ...] = get_args(PurgeMethodName)

SUBSTITUTES: frozenset[PurgeMethodName] = frozenset({"discard", "zero-fill"})
"""Methods that free or overwrite only the blocks that the host can address."""


def check_method(text: str) -> PurgeMethodName:
    """Return the purge method of that name.

    Raises
    ------
    UsageError
        There is no such method; the error names the nearest.
    """
    found = next((method for method in METHODS if method == text), None)
    if found is None:
        raise unknown("purge method", text, METHODS)
    return found


@dataclass(frozen=True, slots=True)
class PurgeProgress:
    """Progress of a purge; `share` is 0 to 1 as reported by the drive, None if it does not report it."""

    method: PurgeMethodName
    elapsed_s: float
    share: float | None
    what: str

    @property
    def text(self) -> str:
        share = "" if self.share is None else f", {share_text(self.share)}"
        return f"{self.method}: {self.what}{share}"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Samples read back after a purge, counted by content.

    Attributes
    ----------
    samples, sample_bytes
        Number of samples, spread over the drive, and bytes of each.
    marked
        Samples that held a known pattern before the purge, so that they must have changed.
    survived
        Samples that still hold that pattern.
    zero, ones, other
        Samples that read as all 00h, all FFh, and anything else.
    unreadable
        Samples that could not be read; a drive may refuse reads of erased blocks.
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
    substitute
        Whether the method is only a substitute (discard, zero fill), which touches no more than the host can
        address.
    passed_over
        Stronger methods, each with the reason for not using it.
    sampling
        Samples read back; None for a simulated drive, whose state is known.
    drive_log
        The drive's own log or status page afterwards, in words; None if the drive has none.
    elapsed_s
        Wall-clock seconds; for a simulated drive, seconds of its own clock.
    siblings
        Other namespaces that were erased too.
    followed
        Whether the purge was already running, so that ssdlab only waited for its end.
    commands
        Commands sent to the drive, in order.
    kept
        Path of the file with this record; None for a simulated drive.
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
        return asdict(self)
