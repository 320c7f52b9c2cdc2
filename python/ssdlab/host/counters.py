"""The kernel's I/O counters of a block device: an independent check of ssdlab's own.

Source: Documentation/block/stat.rst. `in_flight_ns` is its `time_in_queue`: the time of every request added
up, so that its growth divided by the time that passed is the mean number of requests in flight at the device.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import disk_of
from ssdlab.host.sysfs import text

_SECTOR_BYTES = 512
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class IoCounters:
    """What a block device has completed since it was attached, at a moment of the monotonic clock, in ns.

    Requests count after merging and splitting, so that one I/O may be several or share one.
    """

    at_ns: int
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    discards: int | None
    discarded_bytes: int | None
    in_flight_ns: int


def read_counters(node: Path) -> IoCounters | None:
    """Read the counters of the disk of a block device's sysfs folder; None where it keeps none."""
    disk = disk_of(node)
    if text(disk / "queue" / "iostats") == "0":
        return None
    fields = [int(word) for word in (text(disk / "stat") or "").split()]
    if len(fields) < 11:
        return None
    return IoCounters(
        at_ns=time.monotonic_ns(),
        reads=fields[0],
        read_bytes=fields[2] * _SECTOR_BYTES,
        writes=fields[4],
        written_bytes=fields[6] * _SECTOR_BYTES,
        discards=fields[11] if len(fields) > 13 else None,
        discarded_bytes=fields[13] * _SECTOR_BYTES if len(fields) > 13 else None,
        in_flight_ns=fields[10] * _NS_PER_MS,
    )
