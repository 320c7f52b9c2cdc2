"""How much of a drive's rated endurance a run may use up: the cap on bytes written, and who counts them.

The rating stands in the drive record (:mod:`ssdlab.drives.drive_record`). What counts is what the kernel's
own counters say was written to the disk; where it keeps none, all bytes of an I/O stream that writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.drives.drive_record import find_record
from ssdlab.host.identity import Identity
from ssdlab.model.errors import Refused
from ssdlab.model.units import capacity_text

DEFAULT_SHARE = 0.10
"""A tenth of its life: 180 capacities of a drive of one drive write a day over five years, 18 of one of 0.1.
Preconditioning and a whole suite take 5 to 50."""


@dataclass(frozen=True, slots=True)
class EnduranceCap:
    """What may be written.

    Attributes
    ----------
    share
        Of the rated endurance, 0 to 1; above 1 lifts it beyond the rating.
    bytes_written
        What earlier sessions of the same run have written.
    """

    share: float = DEFAULT_SHARE
    bytes_written: int = 0


def cap_of(share: float | None, bytes_written: int = 0) -> EnduranceCap:
    """Return the cap that a user asked for; the default for None."""
    return EnduranceCap(DEFAULT_SHARE if share is None else share, bytes_written)


@dataclass(frozen=True, slots=True)
class Rating:
    """The rated endurance of a drive in bytes, and what of it may be written in all."""

    endurance_bytes: int
    cap: EnduranceCap

    @property
    def max_bytes(self) -> int:
        """Bytes that may be written."""
        return round(self.endurance_bytes * self.cap.share)

    def check(self, path: str, written_bytes: int, *, planned: bool = False) -> None:
        """Refuse once what was written, or with `planned` surely will be, is beyond the cap.

        Raises
        ------
        Refused
            It is; the facts say how much.
        """
        total = written_bytes + self.cap.bytes_written
        if total <= self.max_bytes:
            return
        verb = "would write" if planned else "has written"
        raise Refused(
            f"this run {verb} {capacity_text(total)} to {path}: {total / self.endurance_bytes:.1%} of its "
            f"rated endurance, {capacity_text(self.endurance_bytes)}, and the cap is {self.cap.share:.0%}",
            "if that much of its life may go, raise the cap: --endurance-cap 50%",
            reason="endurance",
            target=path,
            bytes_written=total,
            endurance_bytes=self.endurance_bytes,
            cap_bytes=self.max_bytes,
        )


def rating_of(identity: Identity, cap: EnduranceCap | None = None) -> Rating | None:
    """Return the rating of a drive; None where nobody noted one.

    Raises
    ------
    UsageError, HostError
        The drive's record is wrong.
    """
    record = find_record(identity.model, identity.serial)
    if record is None:
        return None
    endurance_bytes = record.endurance_bytes(identity.capacity_bytes)
    return None if endurance_bytes is None else Rating(endurance_bytes, cap or EnduranceCap())
