"""The cap on the bytes that a run writes, by default a share of the drive's rated endurance.

The rating is in the drive record (:mod:`ssdlab.drives.drive_record`). A drive without one is assumed to have
the lowest rating sold; to write more than the default share of it, the user must give a cap in bytes. Loop
devices, RAM disks, arrays, maps and files have no rating, and are capped only in bytes. Written bytes come
from the kernel's counters of the disk; without counters, and for files, from the workload.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.drive_record import find_record
from ssdlab.host.identity import Identity
from ssdlab.model.capabilities import is_made_up
from ssdlab.model.errors import Refused
from ssdlab.model.units import capacity_text, fixed_share_text, share_text

DEFAULT_SHARE = 0.10
"""A tenth of the rated endurance: 180 capacities at one drive write a day over five years, 18 at 0.1.

Preconditioning and a whole suite take 5 to 50."""
MIN_RATED_CAPACITIES = 180
"""Lowest rated endurance sold, in capacities: a tenth of the drive a day over five years."""
NEVER_MATTERS_BYTES = 10**12
"""A few per cent of the rated endurance of the smallest drives."""


@dataclass(frozen=True, slots=True)
class EnduranceCap:
    """How much may be written.

    Attributes
    ----------
    share
        Share of the rated endurance, 0 to 1; above 1 allows more than the rating.
    max_bytes
        Bytes that may be written, in place of the share and whatever the rating.
    bytes_written
        Bytes that earlier sessions of the same run have written.
    """

    share: float = DEFAULT_SHARE
    bytes_written: int = 0
    max_bytes: int | None = None


def cap_of(asked: float | None, bytes_written: int = 0) -> EnduranceCap:
    """Return the cap that a user gave, as a share or as bytes (an `int`); the default for None."""
    if isinstance(asked, int):
        return EnduranceCap(DEFAULT_SHARE, bytes_written, asked)
    return EnduranceCap(DEFAULT_SHARE if asked is None else asked, bytes_written)


@dataclass(frozen=True, slots=True)
class Rating:
    """The rated endurance of a drive in bytes (None if not on record), and its cap."""

    endurance_bytes: int | None
    cap: EnduranceCap
    capacity_bytes: int = 0

    @property
    def max_bytes(self) -> int:
        """Bytes that may be written in all."""
        if self.cap.max_bytes is not None:
            return self.cap.max_bytes
        if self.endurance_bytes is None:
            return max(round(DEFAULT_SHARE * MIN_RATED_CAPACITIES * self.capacity_bytes), NEVER_MATTERS_BYTES)
        return round(self.endurance_bytes * self.cap.share)

    def check(self, path: str, written_bytes: int, *, planned: bool = False) -> None:
        """Refuse if the bytes written, or with `planned` certain to be written, exceed the cap.

        Raises
        ------
        Refused
            The cap is exceeded; the facts say by how much.
        """
        total = written_bytes + self.cap.bytes_written
        if total <= self.max_bytes:
            return
        verb = "would write" if planned else "has written"
        raise Refused(
            f"this run {verb} {capacity_text(total)} to {path}: {self._why(total)}",
            self._advice(total),
            reason="endurance",
            target=path,
            bytes_written=total,
            endurance_bytes=self.endurance_bytes,
            cap_bytes=self.max_bytes,
        )

    def _why(self, total: int) -> str:
        cap = capacity_text(self.max_bytes)
        if self.endurance_bytes is None:
            return f"its rated endurance is unknown, and the cap is {cap}"
        share = f"{share_text(total / self.endurance_bytes)} of its rated endurance"
        rated = capacity_text(self.endurance_bytes)
        cap = fixed_share_text(self.cap.share) if self.cap.max_bytes is None else cap
        return f"{share}, {rated}, and the cap is {cap}"

    def _advice(self, total: int) -> str:
        if self.endurance_bytes is None:
            enough = capacity_text(2 * total).replace(" ", "")
            return f"allow it with --endurance-cap {enough}, or note its tbw in a drive record"
        return "if so much endurance may be used, raise the cap: --endurance-cap 50%"


def rating_of(identity: Identity, cap: EnduranceCap | None = None) -> Rating | None:
    """Return the rating of a drive; None for a device that does not wear and has neither rating nor cap.

    Raises
    ------
    UsageError, HostError
        A drive record is invalid, or cannot be read.
    """
    cap = cap or EnduranceCap()
    capacity_bytes = identity.capacity_bytes
    record = find_record(identity.model, identity.serial)
    endurance_bytes = None if record is None else record.endurance_bytes(capacity_bytes)
    made_up = is_made_up(identity.transport, identity.name)
    wears = not made_up and not identity.capabilities.on_file_system
    if endurance_bytes is None and not wears and cap.max_bytes is None:
        return None
    return Rating(endurance_bytes, cap, capacity_bytes)
