"""A trim with its proof: whether it reached the device, and what a trimmed block reads as.

Samples are read before and after. Nothing is written, because a trim is often part of a measurement. Samples
that were blank before show nothing afterwards.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ssdlab.drives.trim.medium import Kinds, Medium, kinds_of, places, read_all, unit_of
from ssdlab.host.attributes import disk_of
from ssdlab.host.block_queue import IoCounters, read_counters
from ssdlab.host.sysfs import HostFiles, names, number, text
from ssdlab.host.tracefs import instance_name, place_with, remove_dead
from ssdlab.model.errors import DriveError, LabError, UsageError
from ssdlab.model.units import bytes_text

# Whether a discard reached the device: the kernel's own block tracepoints show it, else its counters.
#
# Sources: Documentation/trace/ftrace.rst (instances, filters), include/trace/events/block.h,
# Documentation/block/stat.rst. A device with hardware queues has an event for each completed request
# (`block_rq_complete`); a device without, such as zram, for each queued bio (`block_bio_queue`).

_SECTOR_BYTES = 512
_BUFFER_KIB = 1024
"""Per CPU; holds some ten thousand events."""
_EVENTS = ("block_rq_complete", "block_bio_queue")
_LINE = re.compile(
    r"(block_rq_complete|block_bio_queue): \d+,\d+ [A-Z]*D[A-Z]* (?:\(.*?\) )?\d+ \+ (\d+).*\[(-?\w[^\]]*)\]$"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Discards that were seen at a device.

    Attributes
    ----------
    source
        `tracepoint` or `counters`; None if the kernel shows nothing.
    requests, bytes
        Discards that the device took without error.
    """

    source: str | None
    requests: int | None = None
    bytes: int | None = None


class DiscardWitness:
    """Watches the discards of one device, as a context manager.

    Parameters
    ----------
    node
        The device's folder in sysfs.
    """

    def __init__(self, files: HostFiles, node: Path) -> None:
        self._disk = disk_of(node)
        self._devices = {found for folder in (node, self._disk) if (found := text(folder / "dev"))}
        places = (files.sys / "kernel/tracing", files.sys / "kernel/debug/tracing")
        place = place_with("instances", places)
        writable = place is not None and os.access(place / "instances", os.W_OK)
        self._tracing = place if writable else None
        self._instance: Path | None = None
        self._before: IoCounters | None = None

    def __enter__(self) -> Self:
        self._before = read_counters(self._disk)
        if self._tracing is not None and self._devices:
            remove_dead(self._tracing / "instances")
            instance = self._tracing / "instances" / instance_name(self._disk.name)
            try:
                instance.mkdir(exist_ok=True)
                self._instance = instance
                self._watch(instance)
            except OSError:
                self._end()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def seen(self) -> Seen:
        """Return the discards since the context was entered."""
        traced = self._instance is not None and not self._lost(self._instance)
        if self._instance is not None and traced:
            found = seen_in((self._instance / "trace").read_text().splitlines())
            if found is not None:
                return found
        counted = self._counted()
        if counted is not None and counted.requests:
            return counted
        if traced:
            return Seen("tracepoint", 0, 0)
        # A driver without hardware queues need not count discards: zram does not.
        return counted if counted is not None and names(self._disk / "mq") else Seen(None)

    def _counted(self) -> Seen | None:
        before, after = self._before, read_counters(self._disk)
        if before is None or before.discards is None or before.discarded_bytes is None:
            return None
        if after is None or after.discards is None or after.discarded_bytes is None:
            return None
        return Seen(
            "counters", after.discards - before.discards, after.discarded_bytes - before.discarded_bytes
        )

    def _watch(self, instance: Path) -> None:
        (instance / "buffer_size_kb").write_text(str(_BUFFER_KIB))
        chosen = " || ".join(f"dev == {_kernel_number(device)}" for device in sorted(self._devices))
        for event in _EVENTS:
            folder = instance / "events" / "block" / event
            (folder / "filter").write_text(f'({chosen}) && rwbs ~ "*D*"')
            (folder / "enable").write_text("1")

    def _lost(self, instance: Path) -> bool:
        """Return whether events were overwritten before they were read."""
        folder = instance / "per_cpu"
        stats = ((folder / name / "stats").read_text() for name in names(folder))
        return any(re.search(r"^(overrun|dropped events): [1-9]", each, re.MULTILINE) for each in stats)

    def _end(self) -> None:
        if self._instance is not None:
            with suppress(OSError):
                self._instance.rmdir()
            self._instance = None


def seen_in(lines: Iterable[str]) -> Seen | None:
    """Add up the successful discards of a trace; None if there are none.

    >>> seen_in(["x [000] d.h1. 1.2: block_rq_complete: 259,0 DS () 0 + 2048 none,0,0 [0]"])
    Seen(source='tracepoint', requests=1, bytes=1048576)
    """
    sizes: dict[str, list[int]] = {event: [] for event in _EVENTS}
    for line in lines:
        match = _LINE.search(line)
        if match is not None and (match[1] == "block_bio_queue" or match[3] == "0"):
            sizes[match[1]].append(int(match[2]) * _SECTOR_BYTES)
    found = next((sizes[event] for event in _EVENTS if sizes[event]), None)
    return None if found is None else Seen("tracepoint", len(found), sum(found))


def granularity_of(node: Path) -> int:
    """Return a device's discard granularity in bytes; 0 if it has none."""
    return number(disk_of(node) / "queue" / "discard_granularity") or 0


def _kernel_number(device: str) -> int:
    """Return `major:minor` as tracepoints hold it: 12 bits and 20 bits.

    >>> _kernel_number("259:1")
    271581185
    """
    major, _, minor = device.partition(":")
    return int(major) << 20 | int(minor)


_SEED = 1
_PART_BYTES = 16 << 30
"""Bytes discarded at a time, so that the trim of a large drive can be stopped in between."""
_READS = {"zero": "zeroes", "ones": "ones", "unchanged": "unchanged", "other": "other"}

OnShare = Callable[[float], object]
"""Called with the share done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class TrimRecord:
    """A finished trim, and its known effect.

    Attributes
    ----------
    start, length
        The range in bytes.
    seconds
        Duration; for a simulated drive, on its own clock.
    reached_device
        True if the device took discards of the whole range, False if of less or none, None if nothing shows
        it.
    evidence
        What shows it: `tracepoint` (the kernel's block events), `counters` (`/sys/block/*/stat`),
        `simulated`, or None.
    discards, discarded_bytes
        Requests that the device took, and their bytes; None if nothing shows it.
    reads
        What trimmed blocks read as: `zeroes`, `ones`, `unchanged` (their content before), `other`, `mixed`,
        `unreadable`. None if the samples were blank before, so that nothing can be concluded.
    samples
        Number of samples of each kind, without those that were blank before; None for a simulated drive.
    sample_bytes, blank_before
        Bytes of a sample, and number of samples that are left out because they were blank before.
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
        return asdict(self)


def check_range(start: int, length: int, capacity_bytes: int, unit_bytes: int) -> None:
    """Raise `UsageError` if a range is empty, exceeds the drive, or is not whole logical blocks."""
    if length <= 0 or start < 0 or start + length > capacity_bytes:
        raise UsageError(
            f"bytes {start} to {start + length} are not a range of a drive of {bytes_text(capacity_bytes)}",
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
    """Discard a range and find out its effect.

    Parameters
    ----------
    files, node
        The host, and the sysfs folder of the device that the discards should reach; None if there is none.
    on_share
        Called with the share done after each part. An exception from it ends the trim.

    Raises
    ------
    DriveError
        The device does not support discards.
    """
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
                medium.flush()  # a file system passes discards on when it writes its journal, if at all
            seen = witness.seen()
        slack = 2 * granularity_of(node)  # partial units at both ends need not reach the device
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
    if record.reached_device is None:
        return "unknown whether it reached the device: neither tracepoints nor counters show it"
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
                f"{path} does not support discards",
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
