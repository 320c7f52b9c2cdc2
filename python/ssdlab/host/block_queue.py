"""What the kernel tells of a block device's queue: settings that numbers depend on, and counters of I/O.

Sources: Documentation/ABI/stable/sysfs-block and Documentation/block/queue-sysfs.rst; for the link,
sysfs-bus-pci; for the drive's own queue, Documentation/scsi/scsi_mid_low_api.rst.
Of the counters, an independent check of ssdlab's own, Documentation/block/stat.rst. `in_flight_ns` is its
`time_in_queue`: the time of every request added up, so that its growth divided by the time that passed is the
mean number of requests in flight at the device.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from ssdlab.host.attributes import controller_of, disk_of
from ssdlab.host.sysfs import flag, number, text
from ssdlab.model.host_load import Conditions


def read_conditions(node: Path) -> Conditions:
    """Read the settings of the disk that a block device's sysfs folder belongs to."""
    disk = disk_of(node)
    queue = disk / "queue"
    scheduler, schedulers = _schedulers(text(queue / "scheduler"))
    controller = controller_of(disk)
    return Conditions(
        device=disk.name.replace("!", "/"),
        scheduler=scheduler,
        schedulers=schedulers,
        write_cache=text(queue / "write_cache"),
        fua=flag(queue / "fua"),
        nr_requests=number(queue / "nr_requests"),
        queue_depth=number(disk / "device" / "queue_depth"),
        max_io_bytes=_kibibytes(queue / "max_sectors_kb"),
        max_io_hardware_bytes=_kibibytes(queue / "max_hw_sectors_kb"),
        nomerges=number(queue / "nomerges"),
        writeback_throttle_us=number(queue / "wbt_lat_usec"),
        io_poll=flag(queue / "io_poll"),
        rq_affinity=number(queue / "rq_affinity"),
        discard_granularity_bytes=number(queue / "discard_granularity"),
        discard_max_bytes=number(queue / "discard_max_bytes"),
        read_ahead_bytes=_kibibytes(queue / "read_ahead_kb"),
        rotational=flag(queue / "rotational"),
        zoned=text(queue / "zoned"),
        iostats=flag(queue / "iostats"),
        add_random=flag(queue / "add_random"),
        link=_link(controller),
        runtime_power=text(controller / "power" / "control"),
    )


def _schedulers(line: str | None) -> tuple[str | None, tuple[str, ...]]:
    """Split `none [mq-deadline] kyber` into the one in force and all.

    >>> _schedulers("none [mq-deadline] kyber")
    ('mq-deadline', ('none', 'mq-deadline', 'kyber'))
    """
    if line is None:
        return None, ()
    chosen = re.search(r"\[([^\]]+)\]", line)
    offered = tuple(line.replace("[", "").replace("]", "").split())
    return (chosen.group(1) if chosen else line if len(offered) == 1 else None), offered


def _kibibytes(path: Path) -> int | None:
    value = number(path)
    return None if value is None else value * 1024


def _link(controller: Path) -> str | None:
    """Return speed and width of the nearest PCI ancestor."""
    for folder in (controller, *controller.parents):
        speed, width = text(folder / "current_link_speed"), text(folder / "current_link_width")
        if speed is not None and width is not None:
            capable = f"{text(folder / 'max_link_speed')} x{text(folder / 'max_link_width')}"
            return f"{speed} x{width} of {capable}".replace(" PCIe", "")
    return None


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
