"""A trim with its proof: whether it reached the device, and what a trimmed block returns.

Samples are read before and after, and nothing is written: a trim is often part of what is measured. Where
they were blank before, what they return afterwards tells nothing.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.drives.trim.medium import Medium
from ssdlab.drives.trim.samples import Kinds, kinds_of, places, read_all, unit_of
from ssdlab.model.errors import DriveError, LabError, UsageError
from ssdlab.model.units import bytes_text

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.host.sysfs import HostFiles

_SEED = 1
_PART_BYTES = 16 << 30
"""Discarded at a time, so that a large drive can be stopped in between."""
_READS = {"zero": "zeroes", "ones": "ones", "unchanged": "unchanged", "other": "other"}

OnShare = Callable[[float], object]
"""Called with the share that is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class TrimRecord:
    """A trim that was done, and what is known of its effect.

    Attributes
    ----------
    start, length
        The range, in bytes.
    seconds
        How long it took (drive time for a simulated one).
    reached_device
        Whether the device took discards of the whole range; False if it took none, or of less; None where
        nothing shows it.
    evidence
        What shows it: `tracepoint` (the kernel's block events), `counters` (`/sys/block/*/stat`),
        `simulated`, or None.
    discards, discarded_bytes
        Requests that the device took, and their bytes; None where nothing shows it.
    reads
        What trimmed blocks return: `zeroes`, `ones`, `unchanged` (what they held before), `other`, `mixed`,
        `unreadable`; None where the samples were blank before, so that nothing can be concluded.
    samples
        How many were read of each kind, of those that were not blank before; None for a simulated drive.
    sample_bytes, blank_before
        Bytes of a sample, and how many were left out as they were blank before.
    """

    start: int
    length: int
    seconds: float
    reached_device: bool | None
    evidence: str | None
    discards: int | None
    discarded_bytes: int | None
    reads: str | None
    samples: Kinds | None = None
    sample_bytes: int = 0
    blank_before: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def check_range(start: int, length: int, capacity_bytes: int, unit_bytes: int) -> None:
    """Raise `UsageError` for a range that is empty, beyond the drive, or not of whole logical blocks."""
    if length <= 0 or start < 0 or start + length > capacity_bytes:
        raise UsageError(
            f"bytes {start} to {start + length} are no range of a drive of {bytes_text(capacity_bytes)}",
            "give a span within the drive, such as 0..25%",
            start=start,
            length=length,
            capacity_bytes=capacity_bytes,
        )
    if start % unit_bytes or length % unit_bytes:
        raise UsageError(
            f"bytes {start} to {start + length} are not whole logical blocks of {bytes_text(unit_bytes)}",
            f"use multiples of {unit_bytes}",
            start=start,
            length=length,
            logical_block_bytes=unit_bytes,
        )


def trim(
    medium: Medium,
    start: int,
    length: int,
    *,
    files: HostFiles,
    node: Path | None,
    on_share: OnShare | None = None,
) -> TrimRecord:
    """Discard a range and find out what came of it.

    Parameters
    ----------
    medium, start, length
        Where.
    files, node
        The host, and the sysfs folder of the device that the discards should reach; None if there is none.
    on_share
        Called now and then; what it raises ends the trim.

    Raises
    ------
    DriveError
        The device takes no discard.
    """
    from ssdlab.drives.trim.witness import DiscardWitness, Seen, granularity_of

    unit = unit_of(medium)
    before = read_all(medium, places(start, length, unit, _SEED), unit)
    began = time.monotonic()
    if node is None:
        _discard(medium, start, length, on_share)
        seen, slack = Seen(None), 0
    else:
        with DiscardWitness(files, node) as witness:
            _discard(medium, start, length, on_share)
            if medium.in_file_system:
                medium.flush()  # one that passes discards on does so when its journal is written
            seen = witness.seen()
        slack = 2 * granularity_of(node)  # parts of units at both ends need not be passed on
    seconds = time.monotonic() - began
    telling = {at: content for at, content in before.items() if content is None or len(set(content)) > 1}
    found = kinds_of(telling, read_all(medium, telling, unit))
    return TrimRecord(
        start=start,
        length=length,
        seconds=seconds,
        reached_device=None if seen.bytes is None else seen.bytes > 0 and seen.bytes + slack >= length,
        evidence=seen.source,
        discards=seen.requests,
        discarded_bytes=seen.bytes,
        reads=_reads(found),
        samples=found,
        sample_bytes=unit,
        blank_before=len(before) - len(telling),
    )


def reach_text(record: TrimRecord) -> str:
    """Return in words whether it reached the device."""
    if record.reached_device is None:
        return "whether it reached the device is not known: neither tracepoints nor counters show it"
    by = {"tracepoint": "by the kernel's block events", "counters": "by the kernel's counters"}
    source = by.get(str(record.evidence), "by the simulation")
    if record.reached_device:
        return f"it reached the device, {source}"
    discarded = "none" if record.discarded_bytes is None else bytes_text(record.discarded_bytes)
    return f"it did not reach the device: {discarded} of {bytes_text(record.length)}, {source}"


def _discard(medium: Medium, start: int, length: int, on_share: OnShare | None) -> None:
    for at in range(start, start + length, _PART_BYTES):
        try:
            medium.discard(at, min(_PART_BYTES, start + length - at))
        except LabError as error:
            if error.facts.get("errno") not in (errno.EOPNOTSUPP, errno.ENOTTY):
                raise
            path = error.facts.get("device", "it")
            raise DriveError(
                f"{path} takes no discards",
                "leave the trim out; behind a bridge or a volume, attach the drive directly",
                reason="no-trim",
                device=path,
            ) from error
        if on_share is not None:
            on_share(min(1.0, (at + _PART_BYTES - start) / length))


def _reads(found: Kinds) -> str | None:
    kinds = [name for name in Kinds.__slots__ if getattr(found, name)]
    if not kinds:
        return None
    return _READS.get(kinds[0], kinds[0]) if len(kinds) == 1 else "mixed"
